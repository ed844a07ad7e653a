"""What code cites of the semantics and of the contract is there, and every paragraph is cited."""

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
SEMANTICS = (ROOT / "docs" / "semantics.md").read_text("utf-8")
CONTRACT = (ROOT / "docs" / "contract.md").read_text("utf-8")
SOURCES = (ROOT / "docs" / "sources.md").read_text("utf-8")
ANCHORS = {*re.findall(r'<a id="([^"]+)">', SEMANTICS)}
NOT_BUILT = "*Not built yet.*"
PARAGRAPH = re.compile(r"[srcp]\d+a?")
_CITED = re.compile(r"SEMANTICS,?((?:[^.;()\"'`]|'(?! ))*)")
_RULES = re.compile(r"\brules? (\d+)(?:(?:-| to )(\d+))?(?:(?:, \d+)*)(?: and (\d+))?")
_RANGE = re.compile(r"\b([SRCP]?)(\d+) to \1(\d+)\b")
_NUMBER = re.compile(r"\b([SRCP])(\d+a?)\b")
_SECTION = re.compile(r"(?<![\w*-])(\d+)(?![\w*-])")
_BRACKETED = re.compile(r"\(((?:[SRCP]\d+a?(?:, | and | to )?)+)[);,]")
_INSIDE = re.compile(r"\(((?:rules? |[SRCP]\d+a?|\d+|, | and | to )+)\)")
_POINT = re.compile(r'CONTRACT, "([^"]+)"(?:, (\d+))?')


def texts() -> Iterator[tuple[str, str]]:
    """Files of code, each as one line."""
    for room in ("clwl_spark", "tests", "benchmarks"):
        for path in sorted((ROOT / room).rglob("*.py")):
            if path != Path(__file__):
                text = re.sub(r"\s*\n\s*(?:# )?", " ", path.read_text("utf-8"))
                yield path.relative_to(ROOT).as_posix(), text


def cited(words: str) -> Iterator[str]:
    """The anchors that a citation names."""
    for first, last, other in _RULES.findall(words):
        yield from (f"rule-{x}" for x in (first, last, other) if x)
    words = _RULES.sub("", words)
    for letter, first, last in _RANGE.findall(words):
        for number in range(int(first), int(last) + 1):
            yield f"{letter.lower()}{number}" if letter else f"section-{number}"
    words = _RANGE.sub("", words)
    yield from (f"{letter}{number}".lower() for letter, number in _NUMBER.findall(words))
    yield from (f"section-{x}" for x in _SECTION.findall(_NUMBER.sub("", words)))


def citations() -> Iterator[tuple[str, str]]:
    """(file, anchor) of all that is cited."""
    for name, text in texts():
        for words in (*_CITED.findall(_INSIDE.sub(r", \1", text)), *_BRACKETED.findall(text)):
            yield from ((name, x) for x in cited(words))


def known(anchor: str) -> bool:
    """Rules 8 to 11 are one paragraph."""
    return anchor in ANCHORS or anchor in {"rule-9", "rule-10", "rule-11"}


def test_citations_of_the_semantics_lead_to_a_paragraph():
    found = [*citations()]
    assert len(found) > 200
    assert [x for x in found if not known(x[1])] == []


def test_every_paragraph_is_cited_or_said_not_to_be_built():
    parts = re.split(r'<a id="([^"]+)"></a>', SEMANTICS)
    unbuilt = {x for x, text in zip(parts[1::2], parts[2::2], strict=True) if NOT_BUILT in text}
    numbered = {x for x in ANCHORS if PARAGRAPH.fullmatch(x)}
    assert numbered - unbuilt - {anchor for _, anchor in citations()} == set()


def test_citations_of_the_contract_lead_to_a_heading_and_its_point():
    headings = {*re.findall(r"^##+ (.+)$", CONTRACT, re.MULTILINE)}
    found = [(name, *x) for name, text in texts() for x in _POINT.findall(text)]
    assert len(found) > 20
    assert [x for x in found if x[1] not in headings] == []
    assert [x for x in found if x[2] and f'<a id="texts-{x[2]}">' not in CONTRACT] == []


def test_sources_are_called_by_their_names():
    """Not by a number that nobody knows."""
    for source in ("IBM's algorithm page", "Dick's article", "Hughson's deck"):
        assert source in SOURCES
    assert [name for name, text in texts() if re.search(r"\b[Ss]eeds? [0-4]\b(?!\")", text)] == []
