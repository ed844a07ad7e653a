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
from small_worlds import alias, qmgr, queue, rcvr, remote, sender

from clwl_spark.checks.quality.results import Scope, Verdict
from clwl_spark.checks.quality.suites import Gates, load_gates
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


def _second_of_qm2(**attributes):
    """A second CLUSRCVR of QM2 in K."""
    return adding(rcvr("QM2", channel="TO.QM2.B", conname="qm2(1415)", **attributes))


def _channels(qmgr, **attributes):
    return setting("cluster_channels", {"qmgr": qmgr, "observer": "*"}, **attributes)


_RANKED = [_channels("QM1", clwlrank=5), _channels("QM2", clwlrank=5)]
_QUEUE_RANK = setting("queues", {"qmgr": "QM2", "queue": "APP.Q"}, clwlrank=5)
_LOW_RANK = adding(rcvr("QM3"), queue("QM3", "APP.Q", "K", defbind="NOTFIXED"))
_OUTSIDE = adding(
    rcvr("XX", "Z"), rcvr("XY", "Z"), sender("XX", "QM2", "STOPPED"), sender("XX", "QM1", "STOPPED")
)
_NEITHER = {"rank-behind-stopped": 0, "queue-rank-behind-stopped": 0}


def _pattern(clchname, name="FITS"):
    return adding(queue("FR1", name, usage="XMITQ", clchname=clchname))


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ([*_RANKED, _QUEUE_RANK, _LOW_RANK], {**_NEITHER, "queue-rank-behind-stopped": 1}),
        ([*_RANKED, _LOW_RANK], _NEITHER),
        ([_QUEUE_RANK, _channels("QM1", clwlrank=5)], _NEITHER),
        ([_QUEUE_RANK, _OUTSIDE], {**_NEITHER, "queue-rank-behind-stopped": 1}),
        ([_channels("QM2", clwlrank=5), _OUTSIDE], {**_NEITHER, "rank-behind-stopped": 2}),
        ([_second_of_qm2(netprty=0), _channels("QM2", netprty=4)], {"double-share": 2}),
        ([_channels("QM2", clwlprty=4), _second_of_qm2()], {"double-share": 0}),
        ([_channels("QM2", clwlrank=4), _second_of_qm2()], {"double-share": 0}),
        ([_channels("QM1", clwlprty=4), _second_of_qm2()], {"double-share": 0}),
        ([setting("queues", {"qmgr": "QM2"}, clwlprty=4), _second_of_qm2()], {"double-share": 0}),
        ([setting("queues", {"qmgr": "QM1"}, put_enabled=False), _second_of_qm2()],
         {"double-share": 0}),
        ([_channels("QM2", netprty=4)], {"netprty-alone": 2}),
        ([_channels("QM2", netprty=4), _second_of_qm2()], {"netprty-alone": 0}),
        ([_pattern("TO.F*1"), _pattern("TO.FR1", "ALSO")],
         {"overlapping-clchname": 0, "clchname-without-channel": 2}),
        ([_OUTSIDE, _pattern("TO.X*"), _pattern("TO.XX", "ALSO")],
         {"overlapping-clchname": 0, "clchname-without-channel": 2}),
        ([_pattern("TO.qm1")], {"overlapping-clchname": 0, "clchname-without-channel": 1}),
        ([_pattern("*QM1")], {"overlapping-clchname": 1, "clchname-without-channel": 0}),
        ([setting("topics", {"qmgr": "FR1"}, pub_scope="QMGR")], {"topic-definitions-differ": 1}),
        ([setting("topics", {"qmgr": "FR1"}, sub_scope="ALL")], {"topic-definitions-differ": 1}),
        ([setting("topics", {"qmgr": "FR1"}, sub_enabled=False)], {"topic-definitions-differ": 1}),
        ([setting("topics", {"qmgr": "FR1"}, sub_enabled=True)], {"topic-definitions-differ": 0}),
        ([setting("topics", {"qmgr": "FR1"}, topicstr="/new")], {"topic-definitions-differ": 1}),
        ([setting("queues", {"queue": "APP.ALIAS"}, target="MGR"),
          adding(remote("QM1", "MGR", "", "QM1", cluster="K"))], {"alias-target": 1}),
        ([adding(alias("QM1", "TO.NEWS", "NEWS"))], {"alias-target": 0}),
        ([setting("cluster_channels", {"observer": "*"}, suspended=True), _second_of_qm2()],
         {"all-suspended": 2}),
        ([setting("cluster_channels", {"qmgr": "QM2"}, suspended=True), _second_of_qm2()],
         {"all-suspended": 0}),
    ],
)  # fmt: skip
def test_what_a_rule_is_about_and_near_misses(changes, found):
    told = {x.gate: x.found.failing for x in judged(changed(*changes), Gates((), GATES.rules))}
    assert {gate: told[gate] for gate in found} == found


@pytest.mark.parametrize(
    ("gate", "change"),
    [
        ("queues.qmgr", adding(queue("", "A"))),
        ("cluster_channels.qmgr", adding(rcvr("", channel="TO.NOBODY"))),
        ("queues.name-characters", adding(queue("FR1", "A\n"))),
        ("cluster_channels.name-characters", adding(rcvr("FR1", channel="TO.FR1\n"))),
        ("queue_managers.name-characters", adding(qmgr("FR1\n"))),
    ],
)
def test_what_looks_like_a_name_and_is_none_is_told(gate, change):
    assert gate in complaints(changed(change), GATES)


def test_a_stale_queue_is_told_with_what_is_seen_of_put():
    world = changed(setting("queues", {"observer": "QM1"}, put_enabled=False))
    (told,) = (x for x in judged(world, Gates((), GATES.rules)) if x.gate == "stale-queue")
    assert [x["detail"] for x in told.found.rows] == [
        "seen with CLWLRANK 0, CLWLPRTY 0, DEFBIND NOTFIXED, PUT(DISABLED)"
    ]


def test_every_gate_says_why_and_what_to_do():
    for gate in (*GATES.expectations, *GATES.rules):
        words = gate.words
        assert words.title.endswith("."), words.id
        assert words.why.endswith("."), words.id
        assert words.remedy.endswith("."), words.id
