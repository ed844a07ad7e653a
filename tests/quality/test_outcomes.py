"""Gates on outcomes: each reports what was done to its own queue manager, and nothing else.

A queue manager of each name puts 40 messages to a queue on two servers of its own cluster, all in
one lake: one validation shows which gates speak of which.
"""

from collections import defaultdict
from datetime import timedelta

import pytest
from deltalake import DeltaTable, write_deltalake
from small_worlds import NOON, message, proxy, queue, rcvr, remote, tables, topic
from waiting_worlds import routed_lake
from worlds import put_rows

from clwl_spark.checks.quality.results import Scope, Verdict
from clwl_spark.checks.quality.suites import load_gates
from clwl_spark.checks.quality.validate import ValidateOptions, validate_outcomes
from clwl_spark.cli import main

PUTS = 40
DAY = timedelta(days=1)
CORRUPTIONS = {
    "ONCE": ("outcomes", "INSERT"),
    "REJECTED": ("rejected_messages", "INSERT"),
    "LOST": ("outcomes", "DELETE"),
    "ORPHAN": ("messages", "DELETE"),
    "TWICE": ("messages", "INSERT"),
    "ELSEWHERE": ("outcomes", {"dest_qmgr": "'NOWHERE'"}),
    "NOPLAN": ("outcomes", {"plan_id": "-1"}),
    "STRAY": (
        "outcomes",
        {
            "dest_qmgr": "CASE dest_qmgr WHEN 'STRAY1' THEN 'STRAY2' ELSE 'STRAY1' END",
            "channel": "CASE channel WHEN 'TO.STRAY1' THEN 'TO.STRAY2' ELSE 'TO.STRAY1' END",
        },
    ),
    "UNBOUND": ("outcomes", {"bound": "true"}),
    "UNEVEN": ("outcomes", {"dest_qmgr": "'UNEVEN1'", "channel": "'TO.UNEVEN1'"}),
    "FAILED": ("outcomes", {"reason": "2085"}),
    "STAYED": ("outcomes", {"dest_object": "'OTHER.Q'"}),
    "SENT": ("outcomes", {"xmitq": "'OTHER.XMITQ'"}),
    "COPIED": ("outcomes", {"dest_qmgr": "'COPIED1'", "channel": "'TO.COPIED1'"}),
    "UNCHOSEN": ("route_candidates", "DELETE"),
}
OBJECTS = {"COPIED": "copied"}
REPORTED = {
    "outcomes.once": {"ONCE", "REJECTED"},
    "outcomes.lost": {"LOST"},
    "outcomes.orphan": {"ORPHAN"},
    "messages.unique": {"TWICE", "DOUBLE"},
    "outcomes.eliminated": {"ELSEWHERE"},
    "outcomes.plan": {"NOPLAN", "UNCHOSEN"},
    "outcomes.ends": {"FAILED", "STAYED", "SENT", "COPIED"},
    "outcomes.binding": {"STRAY", "UNBOUND"},
    "outcomes.shares": {"UNEVEN"},
}
WRONG = {
    "messages.object_name": {"object_name": None},
    "messages.put_time": {"put_time": None},
    "messages.object_type": {"object_type": "PIPE"},
    "messages.bind": {"bind": "SOMETIMES"},
    "messages.via": {"via": "PIGEON"},
    "messages.qmgr": {"qmgr": None},
}
AS_PUT = {
    "outcomes.reasons": {"FAILING"},
    "outcomes.rejected": {"WRONG", "BLANK", "REJECTED", ""},
    "outcomes.volume": {"FEWER"},
    "outcomes.order": {"ORDERED"},
    "messages.unique": {"DOUBLE"},
    **{gate: {None if gate == "messages.qmgr" else "WRONG"} for gate in WRONG},
    "messages.object_name": {"WRONG", "BLANK"},
    "messages.via": {"WRONG", "REJECTED"},
}


def _topology():
    others = ("GOOD", "FAILING", "FEWER", "WRONG", "ORDERED", "BOUND", "NAMED", "DOUBLE")
    for name in (*CORRUPTIONS, *others):
        yield rcvr(name, cluster=name)
        for server in (f"{name}1", f"{name}2"):
            yield rcvr(server, cluster=name)
            if name not in ("STAYED", "SENT", "COPIED"):
                yield queue(server, f"{name}.Q", name, defbind="NOTFIXED")
            if name == "COPIED":
                yield proxy(name, "copied", server)
    yield queue("STAYED", "STAYED.Q")
    yield remote("SENT", "SENT.Q", "TARGET.Q", "SENT1", xmitq="SENT.XMITQ")
    yield queue("SENT", "SENT.XMITQ", usage="XMITQ")
    yield topic("COPIED", "COPIED.T", "copied", "COPIED", clroute="DIRECT")


def _messages():
    for name, bind in (("ORDERED", "AS_Q_DEF"), ("BOUND", "ON_OPEN")):
        for seq in range(1, PUTS + 1):
            yield message(name, f"{name}.Q", seq, bind=bind, open_id=1, logical_order=True)
    yield message("GOOD", "GOOD.Q", 2 * PUTS, logical_order=True)
    for seq in range(1, PUTS + 1):
        to = {"object_qmgr": "NAMED1", "logical_order": True} if seq % 2 else {}
        yield message("NAMED", "NAMED.Q", seq, bind="NOT_FIXED", **to)
    for name in (*CORRUPTIONS, "GOOD", "FAILING"):
        words = {"bind": "ON_OPEN"} if name == "STRAY" else {}
        words |= {"via": "PIGEON"} if name == "REJECTED" else {}
        words |= {"object_type": "TOPIC"} if name == "COPIED" else {}
        for seq in range(1, PUTS + 1):
            unknown = name == "FAILING" and seq % 10 == 0
            to = "NOBODYS.Q" if unknown else OBJECTS.get(name, f"{name}.Q")
            yield message(name, to, seq, open_id=(seq - 1) // 10, **words)
    yield from _doubled()
    for day, count in enumerate((1_000, 100, 100)):
        for at in range(count):
            when = NOON + day * DAY + timedelta(seconds=at)
            yield message("FEWER", "FEWER.Q", day * 1_000 + at + 1, put_time=when)
    for at, words in enumerate(WRONG.values(), 1):
        yield message("WRONG", "WRONG.Q", at) | words
    for _ in range(2):
        yield message("", "WRONG.Q")
    yield message("BLANK", "")


def _doubled():
    """Several messages of one put_seq: which of them chose for an open cannot be told."""
    later = NOON + 60 * DAY
    yield message("DOUBLE", "DOUBLE.Q", 2 * PUTS, bind="NOT_FIXED", put_time=later)
    for at in range(16):
        to = {"bind": "ON_OPEN", "open_id": at}
        yield message("DOUBLE", "DOUBLE.Q", at // 2 + 1, **to)
        yield message("DOUBLE", "DOUBLE.Q", at + PUTS, **to)
        yield message("DOUBLE", "DOUBLE.Q", at + 3 * PUTS, put_time=later, **to)


def _reported(lake, rows=1_500_000):
    """Queue managers by gate that failed; what is about none is left out."""
    report = validate_outcomes(lake, ValidateOptions(in_memory_rows=rows))
    assert report.broken == []
    found = defaultdict(set)
    for result in report.having(Verdict.FAILED):
        found[result.gate] |= {row.get("qmgr") for row in result.found.rows}
        assert all(row["detail"] for row in result.found.rows), result.gate
    return dict(found)


@pytest.fixture(scope="module")
def lake(spark, tmp_path_factory):
    folder = tmp_path_factory.mktemp("outcomes") / "lake"
    return routed_lake(spark, folder, tables(*_topology()), [*_messages()])


def _corrupt(lake, name):
    """Do to a queue manager's rows what its name says."""
    table, change = CORRUPTIONS[name]
    found = DeltaTable(lake.path(table))
    # The tenth message of a queue manager is bound where any of it are.
    which = "put_seq < 30" if name == "UNEVEN" else "put_seq = 10"
    whose = "dest_qmgr LIKE 'UNCHOSEN_'" if name == "UNCHOSEN" else f"qmgr = '{name}' AND {which}"
    if change == "DELETE":
        found.delete(whose)
    elif change == "INSERT":
        rows = found.to_pyarrow_table(filters=[("qmgr", "=", name), ("put_seq", "=", 10)])
        write_deltalake(found, rows, mode="append")
    else:
        found.update(change, predicate=whose)


@pytest.mark.spark
def test_every_gate_on_outcomes_kills_its_mutant_on_spark(lake):
    check_gates(lake)


def test_every_gate_on_outcomes_kills_its_mutant(lake):
    check_gates(lake)


def check_gates(lake):
    assert _reported(lake) == AS_PUT

    for name in CORRUPTIONS:
        _corrupt(lake, name)
    found = _reported(lake)
    assert found == AS_PUT | REPORTED
    gates = set(load_gates(Scope.OUTCOMES).ids)
    assert gates == set(found) | {"outcomes.waiting"}

    in_spark = _reported(lake, rows=10)
    assert set(in_spark) == set(found)
    assert {gate: in_spark[gate] for gate in REPORTED} == REPORTED
    assert main(["validate", "--lake", lake.root, "--outcomes", "--quiet"]) == 1
    assert {x.scope for x in lake.read("gate_results").collect()} == {"outcomes"}

    put_rows(lake, "messages", [message("GOOD", "GOOD.Q", 3 * PUTS)])
    with_one_more = _reported(lake)
    assert set(with_one_more) - set(found) == {"outcomes.waiting"}
    assert "LOST" in with_one_more["outcomes.lost"]
