"""Where a message is: it waits exactly where a re-allocation would find it waiting."""

import json
import shutil
from dataclasses import replace
from datetime import timedelta

import pytest
from reallocation.test_who_waits import event, half, moment, run, waited, world
from scenario_files import START
from small_worlds import alias, at, message, qmgr, queue, rcvr, sender, snapshot, tables
from tracing.way_files import definitions, lake_of
from waiting_worlds import SECOND, routed_lake
from worlds import put_rows

from clwl_spark.algorithm.semantics import Wanted as WantedSemantics
from clwl_spark.cli import main
from clwl_spark.delta.writes import append_rows
from clwl_spark.errors import UsageError
from clwl_spark.mq.vocabulary import Edition
from clwl_spark.routing.hops.journeys import follow_messages
from clwl_spark.routing.run import RouteOptions, route
from clwl_spark.studies.where.find import (
    UnknownMessageError,
    Wanted,
    wanted_message,
    where_is,
)
from clwl_spark.studies.where.wording import Place, State, summary
from clwl_spark.tables import REALLOCATIONS, TABLES
from clwl_spark.tables.moments import micros

PUTS = {1: 1, 2: 2, 3: 3, 4: 5, 5: 7, 6: 9, 7: 9.5}


@pytest.fixture
def lake(spark, tmp_path):
    puts = [message("GATE", "SOLE", x, put_time=half(y)) for x, y in PUTS.items()]
    return routed_lake(spark, tmp_path, world(), puts, SECOND)


def states(lake, when, numbers=PUTS, edition=Edition.SECOND, **told):
    wanted = {x: Wanted(micros(half(when)), None, "GATE", x, **told) for x in numbers}
    return {x: where_is(lake, y, edition)[0]["state"] for x, y in wanted.items()}


@pytest.mark.parametrize("when", [1.5, 2.5, 5.5, 7.5, 9.2, 10])
def test_it_waits_where_a_reallocation_finds_it(lake, when):
    found = states(lake, when)
    (summary,) = run(lake, event(when))
    assert [x for x, state in found.items() if state == "WAITS"] == waited(lake, summary)
    assert {x for x, state in found.items() if state == "NOT_PUT_YET"} == {
        x for x, put in PUTS.items() if put > when
    }


def test_a_put_that_fails_has_not_been_made_before_its_time(spark, tmp_path):
    lake = routed_lake(
        spark, tmp_path, world(), [message("GATE", "NOWHERE", 1, put_time=half(3))], SECOND
    )
    assert states(lake, 2, (1,)) == {1: "NOT_PUT_YET"}
    assert states(lake, 3, (1,)) == {1: "FAILED"}


def test_one_that_was_set_aside_is_told_beside_one_that_was_routed(spark, tmp_path):
    puts = [
        message("GATE", "SOLE", n, put_time=half(x)) | {"message_id": b"same"}
        for n, x in ((8, 3), (7, -9))
    ]
    lake = routed_lake(spark, tmp_path, world(), puts, SECOND)
    aside, routed = where_is(lake, Wanted(micros(half(5)), b"same"), Edition.SECOND)
    assert (aside["put_seq"], aside["state"], aside["hops"]) == (7, "REJECTED", [])
    assert (routed["put_seq"], len(routed["hops"])) == (8, 1)


def test_since_and_backlog_say_who_waits_and_the_first_edition_has_all_wait(lake):
    assert states(lake, 7.5, (3, 4, 5), since=micros(half(3))) == {
        3: "SENT", 4: "WAITS", 5: "WAITS"
    }  # fmt: skip
    assert states(lake, 7.5, (3, 4, 5), backlog=1) == {3: "SENT", 4: "SENT", 5: "WAITS"}
    assert states(lake, 7.5, (1, 5), edition=Edition.FIRST) == {1: "WAITS", 5: "WAITS"}


def test_why_is_told(lake, capsys):
    words = ["where", "--lake", lake.root, "GATE:3", "--at", moment(5.5)]
    assert main([*words, "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["qmgr"], found["put_seq"], found["state"]) == ("GATE", 3, "WAITS")
    (hop,) = found["hops"]
    assert hop["chosen_from"] == [{"dest_qmgr": "QM1", "channel": "TO.QM1", "clwlwght": 50}]
    assert hop["why"] == f"TO.QM1 is down since {moment(2)}, and it was put then or later"
    capsys.readouterr()
    assert main(words) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "It waits on SYSTEM.CLUSTER.TRANSMIT.QUEUE of GATE for TO.QM1." in shown
    (counted,) = where_is(lake, Wanted(micros(half(9.2)), None, "GATE", 6), Edition.SECOND)
    assert counted["hops"][0]["why"] == (
        "TO.QM1 had 2 messages left to send, and this one is number 1 from the end"
    )
    assert main([*words, "--since", moment(1), "--backlog", "1"]) == 2
    assert "exclude each other" in capsys.readouterr().err


def test_a_message_that_was_moved_waits_where_it_is_now(spark, tmp_path):
    there = (qmgr("GATE"), *(rcvr(x) for x in ("GATE", "QM1", "QM2")))
    rows = [queue(x, "TWICE", "K", defbind="NOTFIXED") for x in ("QM1", "QM2")]
    links = [sender("GATE", x, "RETRYING") for x in ("QM1", "QM2")]
    puts = [message("GATE", "TWICE", x, put_time=half(1)) for x in (1, 2)]
    heads = [snapshot("S1", 0), *at("S1", *there, *rows, *links)]
    lake = routed_lake(spark, tmp_path, tables(*heads), puts, SECOND)
    before = [
        where_is(lake, Wanted(micros(half(1.5)), None, "GATE", x), Edition.SECOND) for x in (1, 2)
    ]
    assert {x["hops"][0]["dest_qmgr"] for (x,) in before} == {"QM1", "QM2"}
    (of_one,) = (x["put_seq"] for (x,) in before if x["hops"][0]["dest_qmgr"] == "QM1")
    run(lake, event(2, channel="TO.QM1"))
    (now,) = where_is(lake, Wanted(micros(half(3)), None, "GATE", of_one), Edition.SECOND)
    hop = now["hops"][0]
    assert (hop["channel"], hop["dest_qmgr"], hop["state"]) == ("TO.QM2", "QM2", "WAITS")
    told = f"re-allocated at {moment(2)}, to QM1 by TO.QM1 before; TO.QM2 is down since"
    assert hop["why"].startswith(told)
    assert hop["moved_from"] == {"dest_qmgr": "QM1", "channel": "TO.QM1"}


def two_ways(spark, tmp_path):
    """What ANY names is ONE on QM1 in K, from 13:00 to 14:00 TWO on QM2 in L; SOLE is on QM1."""
    there = (qmgr("GATE"), rcvr("GATE"), rcvr("QM1"), rcvr("QM2", "L"))
    there += (rcvr("GATE", "L", "L.GATE"), queue("QM2", "TWO", "L"))
    there += tuple(queue("QM1", x, "K") for x in ("ONE", "SOLE"))
    links = [sender("GATE", x, "RETRYING") for x in ("QM1", "QM2")]
    rows = [snapshot(f"S{x}", x) for x in range(3)]
    for number, target in enumerate(("ONE", "TWO", "ONE")):
        rows += at(f"S{number}", *there, *links, alias("GATE", "ANY", target))
    puts = [message("GATE", name, x, put_time=half(1)) for x, name in ((1, "ANY"), (2, "SOLE"))]
    return routed_lake(spark, tmp_path, tables(*rows), puts, SECOND)


def hop_of(lake, when, number=1):
    (found,) = where_is(lake, Wanted(micros(half(when)), None, "GATE", number), Edition.SECOND)
    return found["hops"][0]


def new_way(hop):
    return tuple(hop[x] for x in ("dest_qmgr", "dest_object", "channel", "cluster"))


@pytest.mark.parametrize("told", [{}, {"backlog": 2}])
def test_where_it_was_before_a_reallocation_stays_the_answer_after_it(spark, tmp_path, told):
    lake = two_ways(spark, tmp_path)
    wanted = [Wanted(micros(half(1.5)), None, "GATE", x, **told) for x in (1, 2)]
    before = [where_is(lake, x, Edition.SECOND) for x in wanted]
    (summary,) = run(lake, event(2.5))
    assert (summary.counts["moved"], summary.counts["still_favoured"]) == (1, 1)
    assert [where_is(lake, x, Edition.SECOND) for x in wanted] == before
    assert [x["state"] for (x,) in before] == ["WAITS", "WAITS"]


def test_a_message_that_was_moved_has_the_object_and_cluster_of_its_new_way(spark, tmp_path):
    lake = two_ways(spark, tmp_path)
    assert new_way(hop_of(lake, 1.5)) == ("QM1", "ONE", "TO.QM1", "K")
    run(lake, event(2.5))
    assert new_way(hop_of(lake, 3)) == ("QM2", "TWO", "TO.QM2", "L")


def test_events_of_an_earlier_version_do_not_tell_the_cluster_and_later_ones_do(spark, tmp_path):
    lake = two_ways(spark, tmp_path)
    run(lake, event(2.5))
    rows = lake.in_memory("reallocations").drop_columns(["to_object", "to_cluster"])
    earlier = replace(
        REALLOCATIONS, columns=tuple(x for x in REALLOCATIONS.columns if not x.optional)
    )
    shutil.rmtree(lake.path("reallocations"))
    lake.create([earlier])
    assert append_rows(lake.path("reallocations"), earlier, rows)
    assert new_way(hop_of(lake, 3)) == ("QM2", "ONE", "TO.QM2", None)
    run(lake, event(4.5, channel="TO.QM2"))
    assert new_way(hop_of(lake, 5)) == ("QM1", "ONE", "TO.QM1", "K")
    assert new_way(hop_of(lake, 3)) == ("QM2", "ONE", "TO.QM2", None)


def test_it_goes_on_hop_by_hop_until_it_waits(spark, tmp_path):
    """QMA puts to what a gateway sends on, whose channels carry its own puts as well."""
    lake = lake_of(spark, tmp_path / "lake", {"S1": definitions("between_clusters_4")})
    lake.create([TABLES["messages"]])
    more = {"put_time": START}
    puts = [message("QMA", "ACQ1", x, message_id=bytes([x]) * 24, **more) for x in range(1, 7)]
    late = START + timedelta(seconds=1)
    puts += [message("QMC", "CQ1", x, bind="NOT_FIXED", put_time=late) for x in range(1, 10)]
    put_rows(lake, "messages", puts)
    options = RouteOptions(state_partitions=2, wanted=WantedSemantics(edition=Edition.SECOND))
    route(lake, options)
    (alone,) = where_is(lake, wanted_message("01" * 24, micros(START)), Edition.SECOND)
    assert [x["hop"] for x in alone["hops"]] == [1]
    follow_messages(lake, options, 5)
    (found,) = where_is(lake, wanted_message("QMA:1", micros(START)), Edition.SECOND)
    last = found["hops"][-1]
    assert [x["hop"] for x in found["hops"]] == list(range(1, len(found["hops"]) + 1))
    assert len(found["hops"]) > 1
    assert [x["state"] for x in found["hops"]] == [
        *["SENT"] * (len(found["hops"]) - 1), "ARRIVED"
    ]  # fmt: skip
    assert found["summary"].startswith(
        f"It is on the queue {last['dest_object']} of {last['qmgr']}"
    )
    (waits,) = where_is(lake, Wanted(micros(START), None, "QMA", 1, backlog=10), Edition.SECOND)
    assert [x["state"] for x in waits["hops"]] == ["WAITS", *["NOT_YET"] * (len(found["hops"]) - 1)]
    assert waits["hops"][0]["why"] == (
        "the last 10 wait, and this one is number 6 from the end; only 6 are known here"
    )
    for at_gateway, told in ((START, "2 from the end; only 2 are"), (late, "5 from the end")):
        wanted = Wanted(micros(at_gateway), None, "QMA", 1, backlog=5)
        (waits,) = where_is(lake, wanted, Edition.SECOND)
        assert [x["state"] for x in waits["hops"][:2]] == ["SENT", "WAITS"]
        assert f"this one is number {told}" in waits["hops"][1]["why"]


def test_every_copy_that_was_sent_is_told():
    row = {"object_type": "TOPIC", "object_name": "news", "qmgr": "PUB"}
    copies = [Place(1, {**row, "dest_qmgr": x}, State.SENT) for x in ("QM1", "QM2")]
    home = Place(1, {**row, "dest_qmgr": "PUB"}, State.ARRIVED)
    sent = "it was sent to QM1, for its subscribers to news; it was sent to QM2, for its"
    assert summary(copies) == f"Its 2 copies: {sent} subscribers to news."
    assert summary([*copies, home]).startswith(f"Its 3 copies: {sent}")
    on = Place(2, {**row, "qmgr": "QM1"}, State.ARRIVED)
    assert summary([copies[0], on]).startswith("It is with the subscribers to news of QM1")


def test_what_has_no_outcome_is_told(lake):
    before = message("GATE", "SOLE", 20, put_time=half(-9))
    put_rows(lake, "messages", [before])
    wanted = Wanted(micros(half(5)), None, "GATE", 20)
    (found,) = where_is(lake, wanted, Edition.SECOND)
    assert (found["state"], found["hops"]) == ("NOT_ROUTED", [])
    route(lake, RouteOptions(state_partitions=2))
    (found,) = where_is(lake, wanted, Edition.SECOND)
    assert (found["state"], found["summary"]) == ("REJECTED", "It was set aside: NO_SNAPSHOT.")
    with pytest.raises(UnknownMessageError, match="no message GATE:77"):
        where_is(lake, Wanted(0, None, "GATE", 77), Edition.SECOND)
    for text in ("GATE:x", "GATE:²", f"GATE:{2**63}", ""):
        with pytest.raises(UsageError, match="names no message"):
            wanted_message(text, 0)
