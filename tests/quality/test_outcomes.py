"""Gates on outcomes: each reports what was done to its own queue manager, and nothing else.

A queue manager of each name puts 40 messages to a queue on two servers of its own cluster, all in
one lake: one validation shows which gates speak of which.
"""

from collections import defaultdict
from datetime import timedelta

import pytest
from small_worlds import NOON, message, queue, rcvr, tables
from waiting_worlds import routed_lake
from worlds import put_rows

from clwl_spark.cli import main
from clwl_spark.quality.results import Scope, Verdict
from clwl_spark.quality.suites import load_gates
from clwl_spark.quality.validate import ValidateOptions, validate_outcomes

PUTS = 40
DAY = timedelta(days=1)
CORRUPTIONS = {
    "ONCE": "INSERT INTO {outcomes} SELECT * FROM {outcomes} WHERE {first}",
    "LOST": "DELETE FROM {outcomes} WHERE {first}",
    "ORPHAN": "DELETE FROM {messages} WHERE {first}",
    "TWICE": "INSERT INTO {messages} SELECT * FROM {messages} WHERE {first}",
    "ELSEWHERE": "UPDATE {outcomes} SET dest_qmgr = 'NOWHERE' WHERE {first}",
    "NOPLAN": "UPDATE {outcomes} SET plan_id = -1 WHERE {first}",
    "STRAY": "UPDATE {outcomes} SET dest_qmgr = IF(dest_qmgr = 'STRAY1', 'STRAY2', 'STRAY1'), "
    "channel = IF(channel = 'TO.STRAY1', 'TO.STRAY2', 'TO.STRAY1') WHERE {first}",
    "UNBOUND": "UPDATE {outcomes} SET bound = true WHERE {first}",
    "UNEVEN": "UPDATE {outcomes} SET dest_qmgr = 'UNEVEN1', channel = 'TO.UNEVEN1' "
    "WHERE qmgr = 'UNEVEN' AND put_seq < 30",
}
REPORTED = {
    "outcomes.once": {"ONCE"},
    "outcomes.lost": {"LOST"},
    "outcomes.orphan": {"ORPHAN"},
    "messages.unique": {"TWICE"},
    "outcomes.eliminated": {"ELSEWHERE"},
    "outcomes.plan": {"NOPLAN"},
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
    "outcomes.rejected": {"WRONG", ""},
    "outcomes.volume": {"FEWER"},
    **{gate: {None if gate == "messages.qmgr" else "WRONG"} for gate in WRONG},
}


def _topology():
    for name in (*CORRUPTIONS, "GOOD", "FAILING", "FEWER", "WRONG"):
        yield rcvr(name, cluster=name)
        for server in (f"{name}1", f"{name}2"):
            yield rcvr(server, cluster=name)
            yield queue(server, f"{name}.Q", name, defbind="NOTFIXED")


def _messages():
    for name in (*CORRUPTIONS, "GOOD", "FAILING"):
        bind = {"bind": "ON_OPEN"} if name == "STRAY" else {}
        for seq in range(1, PUTS + 1):
            unknown = name == "FAILING" and seq % 10 == 0
            to = "NOBODYS.Q" if unknown else f"{name}.Q"
            yield message(name, to, seq, open_id=(seq - 1) // 10, **bind)
    for day, count in enumerate((1_000, 100, 100)):
        for at in range(count):
            when = NOON + day * DAY + timedelta(seconds=at)
            yield message("FEWER", "FEWER.Q", day * 1_000 + at + 1, put_time=when)
    for at, words in enumerate(WRONG.values(), 1):
        yield message("WRONG", "WRONG.Q", at) | words


def _reported(lake, rows=1_500_000):
    """Queue managers by gate that failed; what is about none is left out."""
    report = validate_outcomes(lake, ValidateOptions(in_memory_rows=rows))
    assert report.broken == []
    found = defaultdict(set)
    for result in report.having(Verdict.FAILED):
        found[result.gate] |= {row.get("qmgr") for row in result.found.rows}
    return dict(found)


@pytest.fixture(scope="module")
def lake(spark, tmp_path_factory):
    folder = tmp_path_factory.mktemp("outcomes") / "lake"
    return routed_lake(spark, folder, tables(*_topology()), [*_messages()])


def test_every_gate_on_outcomes_kills_its_mutant(spark, lake):
    assert _reported(lake) == AS_PUT

    names = {x: lake.sql_name(x) for x in ("outcomes", "messages")}
    for name, statement in CORRUPTIONS.items():
        # The tenth message of a queue manager is bound where any of it are.
        first = f"qmgr = '{name}' AND put_seq = 10"
        spark.sql(statement.format(first=first, **names))
    found = _reported(lake)
    assert found == AS_PUT | REPORTED
    gates = set(load_gates(Scope.OUTCOMES).ids)
    assert gates == set(found) | {"outcomes.waiting"}

    in_spark = _reported(lake, rows=10)
    assert set(in_spark) == set(found)
    assert {gate: in_spark[gate] for gate in REPORTED} == REPORTED
    assert main(["validate", "--lake", lake.root, "--outcomes", "--quiet"]) == 1
    assert {x.scope for x in lake.read("gate_results").collect()} == {"outcomes"}

    put_rows(lake, "messages", [message("GOOD", "GOOD.Q", PUTS + 1)])
    with_one_more = _reported(lake)
    assert set(with_one_more) - set(found) == {"outcomes.waiting"}
    assert "LOST" in with_one_more["outcomes.lost"]
