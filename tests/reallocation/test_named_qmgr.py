"""Which messages are bound to a named queue manager, worked out by hand from P22, P23, P42."""

from datetime import timedelta

import pytest
from small_worlds import NOON, message, qmgr, queue, rcvr, remote, sender, tables
from waiting_worlds import FIRST, SECOND, routed_lake

from clwl_spark.algorithm.semantics import Semantics
from clwl_spark.cli import main
from clwl_spark.mq.vocabulary import Algorithm, Edition
from clwl_spark.planning.plans import Ladder
from clwl_spark.studies.reallocate.events import ChannelEvent
from clwl_spark.studies.reallocate.run import reallocate
from clwl_spark.tables.moments import micros

V7 = Semantics(Algorithm.V7, Edition.SECOND)
ALONE = ("NOT_ELIGIBLE", "NAMED_QMGR", None)
MOVED = ("MOVED", None, None)
PUTS = {
    "QM1": "names a queue manager",
    "BOTH": "an alias that QM1 and QM2 host",
    "ANY": "a local alias of no queue manager: the choice is by the queue's name",
    "ONE": "an alias that QM1 hosts, and QM2 in a cluster that GATE is not in",
    "SHUT": "an alias that QM1 hosts, and QM2 put-disabled",
    "LIKED": "an alias that QM1 hosts with a priority, and QM2 without",
}


@pytest.fixture(scope="module")
def rows():
    hosts = ("QM1", "QM2")
    return tables(
        qmgr("GATE"),
        rcvr("GATE"),
        *(rcvr(x) for x in hosts),
        rcvr("QM2", "FAR", "FAR.QM2"),
        *(queue(x, "Q", "K", defbind="NOTFIXED") for x in hosts),
        *(remote(x, "BOTH", "", "", cluster="K") for x in hosts),
        remote("GATE", "ANY", "", ""),
        remote("QM1", "ONE", "", "", cluster="K"),
        remote("QM2", "ONE", "", "", cluster="FAR"),
        remote("QM1", "SHUT", "", "", cluster="K"),
        remote("QM2", "SHUT", "", "", cluster="K", put_enabled=False),
        remote("QM1", "LIKED", "", "", cluster="K", clwlprty=5),
        remote("QM2", "LIKED", "", "", cluster="K"),
        sender("GATE", "QM2", "RETRYING"),
    )


def outcomes(lake, semantics):
    """What became of the messages by what they named; TO.QM2 was down, so all wait for TO.QM1."""
    at = micros(NOON + timedelta(hours=1))
    stop = ChannelEvent("GATE", "TO.QM1", "STOPPED", at, backlog=100)
    reallocate(lake, [stop], Ladder(semantics))
    found = {row.put_seq: row for row in lake.read("reallocations").collect()}
    named = {name: found[number] for number, name in enumerate(PUTS, 1)}
    return {
        name: (row.outcome, row.ineligible_reason, row.deciding_rule) for name, row in named.items()
    }


def puts():
    return [message("GATE", "Q", number, object_qmgr=name) for number, name in enumerate(PUTS, 1)]


def test_only_a_name_that_leads_to_one_queue_manager_binds(spark, tmp_path, rows, capsys):
    lake = routed_lake(spark, tmp_path, rows, puts(), SECOND)
    # TO.QM2 is RETRYING, which is better than STOPPED; rank and priority of an alias come first
    # and last: SHUT is decided by rule 5, LIKED by the status, before the priority.
    assert outcomes(lake, SECOND) == {
        "QM1": ALONE, "BOTH": MOVED, "ANY": MOVED, "ONE": ALONE,
        "SHUT": ("STILL_FAVOURED", None, 5), "LIKED": MOVED,
    }  # fmt: skip
    moved = lake.read("reallocations").where("outcome = 'MOVED'").collect()
    assert {(row.to_qmgr, row.to_channel) for row in moved} == {("QM2", "TO.QM2")}
    capsys.readouterr()
    story = ["explain-reallocation", (b"%8d" % 2).hex(), "--lake", lake.root]
    assert main(story) == 0
    assert "TO.QM1   STOPPED   rule 10: channel STOPPED" in capsys.readouterr().out


def test_v7_has_put_disabled_aliases_away_before(spark, tmp_path, rows):
    lake = routed_lake(spark, tmp_path, rows, puts(), V7)
    assert outcomes(lake, V7) == {
        "QM1": ALONE, "BOTH": MOVED, "ANY": MOVED, "ONE": ALONE, "SHUT": ALONE, "LIKED": MOVED,
    }  # fmt: skip


def test_in_the_first_edition_every_name_binds(spark, tmp_path, rows):
    lake = routed_lake(spark, tmp_path, rows, puts())
    assert set(outcomes(lake, FIRST).values()) == {ALONE}
