"""Suites as files: what is wrong in one is told with file and line."""

import pytest

from clwl_spark.checks.quality.expectations import check_words
from clwl_spark.checks.quality.positions import read_yaml
from clwl_spark.checks.quality.results import Scope, Severity
from clwl_spark.checks.quality.suites import load_gates
from clwl_spark.errors import SettingsError

RULE = """\
suite: ours
rules:
  - id: ours.named
    title: Queues begin with APP.
    severity: warn
    sql: SELECT qmgr, queue FROM queues WHERE queue NOT LIKE 'APP.%'
"""
EXPECTATION = """\
suite: ours
table: queues
expectations:
  - id: ours.prty
    title: No priorities.
    expect: expect_column_values_to_be_between
    with: {column: clwlprty, min_value: 0, max_value: 0}
"""
WRONG = {
    "unknown key": (
        RULE.replace("severity:", "severty:"),
        ":5: unknown key 'severty': did you mean 'severity'",
    ),
    "unknown key of the file": (
        RULE.replace("suite:", "suit:"),
        ":1: unknown key 'suit': did you mean 'suite'",
    ),
    "unknown word": (
        RULE.replace("warn", "low"),
        ":5: rules.0.severity: Input should be 'error' or 'warn'",
    ),
    "missing key": (
        RULE.replace("    title: Queues begin with APP.\n", ""),
        ":3: rules.0.title: Field required",
    ),
    "unknown table": (
        EXPECTATION.replace("table: queues", "table: queus"),
        ":2: unknown table 'queus': did you mean 'queues'",
    ),
    "no table": (
        EXPECTATION.replace("table: queues\n", ""),
        ":2: expectations need a `table:`",
    ),
    "unknown column": (
        EXPECTATION.replace("clwlprty", "clwlpty"),
        ":7: ours.prty: table 'queues' has no column 'clwlpty': did you mean 'clwlprty'",
    ),
    "a gate twice": (
        RULE.replace("ours.named", "bind-on-open"),
        ":3: the gate 'bind-on-open' is there already",
    ),
    "severity of nobody": (
        RULE + "severities: {bind-on-opn: off}\n",
        ":7: unknown gate 'bind-on-opn': did you mean 'bind-on-open'",
    ),
    "a key twice": (
        RULE + "suite: again\n",
        ":7: 'suite' is there twice",
    ),
    "no YAML": (
        "suite: [a\n",
        ":2: no YAML: ",
    ),
    "a control character": (
        RULE.replace("begin", "be\agin"),
        ":4: no YAML: the character U+0007: remove it",
    ),
    "no such day": (
        RULE.replace("Queues begin with APP.", "2026-09-31"),
        ":4: no YAML: day is out of range for month",
    ),
    "a key that is a list": (
        RULE + "[severities]: low\n",
        ":7: a key that is no word",
    ),
    "no mapping": (
        "- a\n",
        ":1: the file: ",
    ),
    "nothing": (
        "",
        ":1: the file: ",
    ),
}


def loaded(folder, text, scope=Scope.TOPOLOGY):
    path = folder / "ours.yml"
    path.write_text(text)
    return load_gates(scope, [path])


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_file_is_refused_with_its_line(what, tmp_path):
    text, said = WRONG[what]
    with pytest.raises(SettingsError) as refused:
        loaded(tmp_path, text)
    assert f"{tmp_path / 'ours.yml'}{said}" in str(refused.value)
    assert refused.value.exit_code == 2


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("values_to_be_between", "values_to_be_nice", "has no 'expect_column_values_to_be_nice'"),
        ("max_value: 0", "maximum: 0", "does not take these arguments: 1 validation error"),
    ],
)
def test_what_great_expectations_does_not_have_is_refused(before, after, said, tmp_path):
    gates = loaded(tmp_path, EXPECTATION.replace(before, after))
    with pytest.raises(SettingsError) as refused:
        check_words(gates.expectations)
    assert f"{tmp_path / 'ours.yml'}:4: ours.prty: " in str(refused.value)
    assert said in str(refused.value)


def test_files_and_folders_of_users_are_added(tmp_path):
    (tmp_path / "b.yaml").write_text(EXPECTATION)
    gates = loaded(tmp_path, RULE)
    both = load_gates(Scope.TOPOLOGY, [tmp_path])
    assert "ours.named" in gates.ids
    assert set(both.ids) - set(gates.ids) == {"ours.prty"}
    own = next(x for x in both.rules if x.words.id == "ours.named")
    assert (own.severity, own.words.runs_on) == (Severity.WARN, "spark")


def test_a_gate_is_switched_off_or_weighed_by_users(tmp_path):
    plain = load_gates(Scope.TOPOLOGY)
    gates = loaded(tmp_path, "suite: ours\nseverities: {bind-on-open: off, single-way: error}\n")
    assert set(plain.ids) - set(gates.ids) == {"bind-on-open"}
    assert next(x for x in gates.rules if x.words.id == "single-way").severity == Severity.ERROR


def test_what_is_not_there_is_refused(tmp_path):
    with pytest.raises(SettingsError, match="no such file"):
        load_gates(Scope.TOPOLOGY, [tmp_path / "none.yml"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(SettingsError, match="no suites"):
        load_gates(Scope.TOPOLOGY, [tmp_path / "empty"])


def test_every_value_has_its_line():
    document = read_yaml("a: 1\nb:\n  - c: x\n    d: y\n", "f.yml")
    assert document.content == {"a": 1, "b": [{"c": "x", "d": "y"}]}
    assert document.where(("b", 0, "d")) == "f.yml:4"
    assert document.where(("b", 0, "e")) == "f.yml:3"
