"""The page on coverage: what it names is there, and what it counts are its rows."""

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "concepts" / "coverage.md").read_text(encoding="utf-8")
HEADS = {"what it says", "source"}
STATES = ("done", "partly", "not done")
NOTHING = "-"
SHOWN = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)(?:\[([^\]]+)\])?`")
PLACES = ("clwl_spark/", "conf/", "docs/")


class Item(NamedTuple):
    """A row."""

    source: str
    says: str
    lives_in: str
    shown_by: str
    state: str
    reason: str


def _items():
    source = ""
    for line in PAGE.splitlines():
        if line.startswith("## "):
            source = line.removeprefix("## ")
        cells = [x.strip() for x in line.strip("|").split(" | ")]
        if source and line.startswith("| ") and cells[0] not in HEADS:
            assert len(cells) == 4, line
            state, _, reason = cells[3].removesuffix(" |").partition(":")
            yield Item(source, *cells[:3], state, reason.strip())


ITEMS = [*_items()]


@cache
def source_of(path):
    return (ROOT / path).read_text(encoding="utf-8")


@cache
def functions(path):
    """Names of a module's functions."""
    return {x.name for x in ast.walk(ast.parse(source_of(path))) if isinstance(x, ast.FunctionDef)}


@cache
def cases():
    """Folders of scenarios, and gates."""
    folders = {x.name for x in (ROOT / "tests").rglob("scenarios/*") if x.is_dir()}
    texts = (x.read_text(encoding="utf-8") for x in (ROOT / "conf" / "gates").glob("*.yml"))
    return folders | {x for text in texts for x in re.findall(r"\bid: ([\w.-]+)", text)}


def is_place(words):
    if words.startswith("`clwl "):
        command = words.strip("`").removeprefix("clwl ").replace("-", "_")
        return (ROOT / "clwl_spark" / "cli" / f"{command}.py").is_file()
    path = words.strip("`")
    return path.startswith(PLACES) and (ROOT / path).is_file()


def is_test(words):
    found = SHOWN.fullmatch(words)
    if not found or not (ROOT / found[1]).is_file() or found[2] not in functions(found[1]):
        return False
    case = re.sub(r"-\d+$", "", found[3] or "")
    return not case or case in cases() or f'"{case}"' in source_of(found[1])


def test_every_place_is_there():
    assert [x for x in ITEMS if x.lives_in != NOTHING and not is_place(x.lives_in)] == []


def test_every_test_is_there():
    assert len({x.shown_by for x in ITEMS}) > 200
    assert [x for x in ITEMS if x.shown_by != NOTHING and not is_test(x.shown_by)] == []


@pytest.mark.parametrize("words", ["`clwl fly`", "`clwl_spark/no.py`", "`tests/docs`", "text", ""])
def test_what_is_no_place_is_known(words):
    assert not is_place(words)


@pytest.mark.parametrize(
    "words",
    [
        "`tests/docs/test_coverage.py`",
        "`tests/docs/test_coverage.py::test_nothing`",
        "`tests/docs/test_nothing.py::test_every_test_is_there`",
        "`tests/docs/test_coverage.py::test_every_test_is_there[no-such-case]`",
    ],
)
def test_what_is_no_test_is_known(words):
    assert not is_test(words)


def test_every_item_has_a_state_and_what_is_missing():
    assert [x for x in ITEMS if x.state not in STATES] == []
    assert [x for x in ITEMS if (x.state == "done") == bool(x.reason)] == []


def test_what_is_done_or_partly_done_has_a_place_and_a_test():
    built = [x for x in ITEMS if x.state != "not done"]
    assert [x for x in built if NOTHING in (x.lives_in, x.shown_by)] == []


def test_an_item_is_said_once_in_a_source():
    said = Counter((x.source, x.says) for x in ITEMS)
    assert [x for x, count in said.items() if count > 1] == []


def test_the_counts_are_those_of_the_rows():
    counts = Counter(x.state for x in ITEMS)
    told = ", ".join(f"{counts[state]} {state}" for state in STATES)
    assert f"{len(ITEMS)} items: {told}." in PAGE
    of_source = Counter((x.source, x.state) for x in ITEMS)
    for source in dict.fromkeys(x.source for x in ITEMS):
        numbers = " | ".join(str(of_source[source, state]) for state in STATES)
        assert re.search(
            rf"(?m)^\| \[{re.escape(source)}\]\(#[\w-]+\) \| {re.escape(numbers)} \|$", PAGE
        )


def test_every_source_of_the_package_is_covered():
    sources = source_of("docs/sources.md").split("## Others")[0]
    assert re.findall(r"\(\.\./sources\.md#([\w-]+)\)\.$", PAGE, re.MULTILINE) == re.findall(
        r'<a id="([\w-]+)">', sources
    )
