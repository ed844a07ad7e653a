"""Files of assertions: what they say, and everything that is wrong with them at once."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from clwl_spark.checks.assertions.files import AssertionFilesError, load_assertions
from clwl_spark.checks.assertions.parse import parse
from clwl_spark.checks.assertions.source import read_written

GOOD = """\
# what the auditors want
assertions:
  - share(ORDERS from APP1 to QM1) <= 0.4 when QM2 down
  - name: audit stays inside
    fact: never crosses cluster PUBLIC (AUDIT from APP1)
    why: the auditors said so
  - {fact: "reachable(topic 'a: #b' from APP1)", name: 2085}
"""
LINE = "  - reachable(ORDERS from APP1)\n"


def written(folder, text, name="facts.yml"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def problems_of(*paths):
    with pytest.raises(AssertionFilesError) as refused:
        load_assertions(paths)
    assert refused.value.exit_code == 2
    return [str(x) for x in refused.value.problems]


def test_a_file_is_read(tmp_path):
    path = written(tmp_path, GOOD)
    first, second, third = load_assertions([path])
    assert first.name == "share(ORDERS from APP1 to QM1) <= 0.4 when queue manager QM2 down"
    assert (first.file, first.line, first.why) == (str(path), 3, "")
    assert (second.name, second.line) == ("audit stays inside", 4)
    assert second.why == "the auditors said so"
    assert second.statement == parse("never crosses cluster PUBLIC (AUDIT from APP1)")
    assert (third.name, third.statement.fact.request.object_name) == ("2085", "a: #b")


def test_files_of_a_folder_are_read_by_name_and_each_once(tmp_path):
    later = written(tmp_path, "assertions:\n  - hops(Q from A) <= 1\n", "z.yaml")
    written(tmp_path, "assertions:\n" + LINE, "a.yml")
    written(tmp_path, "no facts", "a.txt")
    found = load_assertions([later, tmp_path])
    assert [x.name for x in found] == ["hops(Q from A) <= 1", "reachable(ORDERS from APP1)"]


WRONG_FACTS = {
    "plain": ("  - hops(Q from A) >= x\n", 2, 23),
    "plain, in two lines": ("  - hops(Q from A)\n      >= x\n", 3, 10),
    "single quotes": ("  - 'hops(''Q'' from A) >= x'\n", 2, 28),
    "double quotes": ('  - "hops(Q from A) >= x"\n', 2, 24),
    "literal": ("  - |\n    hops(Q from A)\n    >= x\n", 4, 8),
    "folded, of a key": ("  - fact: >-\n      hops(Q from A)\n      >= x\n", 4, 10),
    "at the end": ("  - 'hops(Q from A'  \n", 2, 19),
    "in the first column": ("  -   xhops(Q from A) = 1\n", 2, 7),
    "an escape before": ('  - "h\\x6fps(Q from A) >= x"\n', 2, 5),
}


@pytest.mark.parametrize("style", WRONG_FACTS)
def test_what_is_wrong_in_a_fact_is_told_with_line_and_column(style, tmp_path):
    text, line, column = WRONG_FACTS[style]
    path = written(tmp_path, "assertions:\n" + text)
    (problem,) = problems_of(path)
    assert problem.startswith(f"{path}:{line}:{column}: expected ")


WRONG_FILES = {
    "assertons:\n" + LINE: ":1:1: unknown key 'assertons': did you mean 'assertions'?",
    "assertions:\n" + LINE + "facts: x\n": ":3:1: unknown key 'facts': there are assertions",
    "assertions:\n  - fakt: hops(Q from A) = 1\n": ":2:5: unknown key 'fakt': did you mean 'fact'?",
    "assertions:\n  - name: x\n": ":2:5: the key 'fact' is missing: add it",
    "assertions:\n  - fact: hops(Q from A) = 1\n    why: [x]\n": ":3:10: why: expected a text",
    "assertions:\n  - reachable(topic 'a: b' from A)\n": ":2:5: a fact with ': ' in it: put it in",
    "assertions:\n  - [x]\n": ":2:5: expected a fact, or fact, name and why",
    "assertions:\n  -\n": ":2:4: fact: expected a text",
    "assertions: []\n": ":1:13: expected `assertions:` with a list of facts, like `- reachable(",
    "assertions: x\n": ":1:13: expected `assertions:` with a list of facts",
    "{}\n": ":1:1: expected `assertions:` with a list of facts",
    "- hops(Q from A) = 1\n": ":1:1: expected `assertions:` with a list of facts",
    "# nothing\n": ":1:1: nothing in it: write `assertions:` with a list",
    "assertions:\n" + LINE + "assertions:\n" + LINE: ":3:1: the key 'assertions' is there twice",
    "assertions:\n  - fact: hops(Q from A) = 1\n    fact: x\n": ":3:5: the key 'fact' is there twi",
    "assertions:\n" + LINE + LINE: ":3:5: 'reachable(ORDERS from APP1)' is there already (line 2)",
    "assertions: [a\n": ":2:1: no YAML: ",
    "a: b\n\x07\n": ":2:1: no YAML: the character U+0007: remove it",
    "--- a\n--- b\n": ":2:1: no YAML: ",
    "assertions: &a\n  - *a\n": ":1:13: no YAML: found unconstructable recursive node",
}


@pytest.mark.parametrize("text", WRONG_FILES)
def test_a_wrong_file_is_refused_with_its_place(text, tmp_path):
    path = written(tmp_path, text)
    assert any(x.startswith(f"{path}{WRONG_FILES[text]}") for x in problems_of(path))


def test_all_that_is_wrong_in_all_files_is_told_at_once(tmp_path):
    first = written(
        tmp_path,
        "assertion: []\nassertions:\n  - hops(\n  - nme: x\n    fact: hop\n  - 'x'\n",
        "a.yml",
    )
    second = written(tmp_path, "assertions: [reachable(]\n", "b.yml")
    none = tmp_path / "none.yml"
    problems = problems_of(first, second, none)
    places = [x.removeprefix(str(tmp_path)).split(": ")[0] for x in problems]
    assert places == [
        "/a.yml:1:1",
        "/a.yml:3:10",
        "/a.yml:4:5",
        "/a.yml:5:11",
        "/a.yml:6:6",
        "/b.yml:1:24",
        "/none.yml:1:1",
    ]


def test_the_message_counts_the_errors(tmp_path):
    path = written(tmp_path, "assertions:\n  - x\n  - y\n")
    with pytest.raises(AssertionFilesError) as refused:
        load_assertions([path])
    assert str(refused.value).splitlines()[0] == "2 errors in assertions:"
    assert len(str(refused.value).splitlines()) == 3


def test_what_is_not_there_or_no_text_is_refused(tmp_path):
    assert problems_of(tmp_path)[0].startswith(f"{tmp_path}:1:1: cannot be read: Is a directory: ")
    zero = problems_of(Path("/dev/zero"))[0]
    assert zero.startswith("/dev/zero:1:1: cannot be read: a pipe or a device, not a file: ")
    (tmp_path / "latin.yml").write_bytes(b"assertions: \xff")
    assert "give a file in UTF-8" in problems_of(tmp_path)[0]


TEXTS = st.lists(st.text(st.sampled_from("ab'(\"<=#:%"), min_size=1, max_size=12), min_size=1)


@settings(deadline=None, max_examples=300)
@given(TEXTS, st.sampled_from((None, "'", '"', "|", ">")))
def test_every_character_is_found_where_it_is_written(words, style):
    value = " ".join(words)
    text = yaml.dump({"assertions": [value]}, default_style=style, width=20)
    place = ("assertions", 0)
    file = read_written(text, "f.yml")
    assert file.content == {"assertions": [value]}
    lines = text.split("\n")
    for offset, character in enumerate(value):
        spot = file.spot_within(place, offset)
        is_told = character != " " and "\\" not in text
        assert not is_told or lines[spot.line - 1][spot.column - 1] == character
