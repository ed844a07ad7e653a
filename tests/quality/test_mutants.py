"""Every gate kills its mutant: of a good snapshot, corrupted, it reports, and nothing else does."""

import pytest
from quality.gate_worlds import (
    adding,
    changed,
    complaints,
    good_world,
    judged,
    rows_of,
    setting,
)
from quality.mutants import LINT, MUTANTS
from small_worlds import rcvr

from clwl_spark.checks.quality.results import Scope, Verdict
from clwl_spark.checks.quality.suites import load_gates
from clwl_spark.checks.quality.validate import judge_rows

GATES = load_gates(Scope.TOPOLOGY)


def test_every_gate_has_a_mutant():
    assert set(GATES.ids) == set(MUTANTS)
    assert set(GATES.only_lint().ids) == set(LINT)
    assert len(LINT) >= 30


def test_no_gate_says_anything_of_a_good_snapshot():
    results = judge_rows(None, rows_of(good_world()), GATES)
    assert {x.gate: x.found.error for x in results if x.verdict != Verdict.PASSED} == {}
    assert [x.gate for x in results] == GATES.ids


@pytest.mark.parametrize("gate", MUTANTS)
def test_a_corruption_is_reported_by_its_gate_and_no_other(gate):
    changes, expected = MUTANTS[gate]
    assert gate in expected
    assert complaints(changed(*changes), GATES) == expected


@pytest.mark.parametrize("gate", LINT)
def test_failing_rows_say_what_is_wrong(gate):
    found = next(
        x for x in judged(changed(*LINT[gate][0]), GATES.only_lint()) if x.gate == gate
    ).found
    assert found.failing == len(found.rows) > 0
    assert all(row["detail"] for row in found.rows)


@pytest.mark.parametrize(("clwlmruc", "found"), [(3, 0), (2, 2)])
def test_channels_to_a_queue_manager_itself_need_no_place_among_the_recent(clwlmruc, found):
    """QM1 has two CLUSRCVRs in K, and sends over those of three others there, as in L."""
    world = changed(
        adding(rcvr("QM1", channel="TO.QM1.B")),
        setting("queue_managers", {"qmgr": "QM1"}, clwlmruc=clwlmruc),
    )
    told = [x for x in judged(world, GATES.only_lint()) if x.gate == "few-recent-channels"]
    assert [x.found.failing for x in told] == [found]


@pytest.mark.parametrize(
    ("gate", "of_fr1", "found"),
    [
        ("sender-conname", {"conname": "FR2"}, 0),
        ("sender-conname", {"conname": "fr2 (1414)"}, 0),
        ("sender-conname", {"conname": "r2(1414)"}, 1),
        ("sender-conname", {"conname": "fr2(1415)"}, 1),
        ("conname-of-two", {"conname": "QM1"}, 1),
        ("conname-of-two", {"conname": "qm1(1415)"}, 0),
    ],
)
def test_a_conname_without_a_port_is_that_of_1414(gate, of_fr1, found):
    """Whole names are compared, and their case does not count."""
    channel = {"channel": "TO.FR2", "cluster": "K"}
    where = {"cluster_senders": {"qmgr": "FR1", **channel}, "cluster_channels": {"qmgr": "QM2"}}
    table = "cluster_senders" if gate == "sender-conname" else "cluster_channels"
    world = changed(setting(table, where[table], **of_fr1))
    told = [x for x in judged(world, GATES.only_lint()) if x.gate == gate]
    assert [x.found.failing for x in told] == [found]


def test_every_gate_says_why_and_what_to_do():
    for gate in (*GATES.expectations, *GATES.rules):
        words = gate.words
        assert words.title.endswith("."), words.id
        assert words.why.endswith("."), words.id
        assert words.remedy.endswith("."), words.id
