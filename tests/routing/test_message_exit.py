"""The exit that is asked for each message: what it is told, what it changes, what is refused."""

import random
from collections import Counter

import message_exits
import pytest
from lakes import lake_with
from random_clusters import merged_tables, random_case
from small_worlds import at, messages, qmgr, queue, rcvr, snapshot, tables
from worlds import put_rows

from clwl_spark.cli import main
from clwl_spark.errors import ExitFunctionError
from clwl_spark.routing.run import RouteOptions, route

COMPARED = ("qmgr", "put_seq", "message_id", "reason", "dest_qmgr", "channel", "xmitq", "bound")
HOSTS = ("QM1", "QM2", "QM3")
EXIT = "message_exits:"


def routed(spark, folder, rows, exit_="", engine="auto"):
    """Outcomes and history."""
    lake = lake_with(spark, folder)
    for name, found in rows.items():
        put_rows(lake, name, found)
    route(lake, RouteOptions(state_partitions=2, message_exit=exit_, engine=engine))
    outcomes = lake.read("outcomes").select(*COMPARED).collect()
    return Counter(map(tuple, outcomes)), sorted(map(tuple, lake.read("balance_history").collect()))


def world(count=60, **attributes):
    """GATE puts to Q on three queue managers."""
    there = [qmgr("GATE"), *(rcvr(x) for x in ("GATE", "QM1", "QM2"))]
    hosts = [rcvr("QM3", **attributes), *(queue(x, "Q", "K", defbind="NOTFIXED") for x in HOSTS)]
    rows = tables(snapshot("S1"), *at("S1", *there, *hosts))
    return {**rows, "messages": messages(count, "GATE", "Q")}


@pytest.fixture(scope="module")
def random_rows():
    """Random clusters; rule 15 takes destinations away of which an exit is told nevertheless."""
    cases = [random_case(random.Random(x // 3 * 100 + x % 3), f"C{x}_") for x in range(18)]
    rows = merged_tables(cases)
    rows["queue_managers"] = [{**x, "clwlmruc": None} for x in rows["queue_managers"]]
    rows["messages"] = [x for case in cases for x in case.messages]
    return rows


@pytest.fixture(scope="module")
def without(spark, tmp_path_factory, random_rows):
    """What comes of them without an exit."""
    return routed(spark, tmp_path_factory.mktemp("without"), random_rows)


@pytest.mark.parametrize("exit_", ["leave", "by_hand"])
def test_it_is_told_what_the_algorithm_looks_at(spark, tmp_path, random_rows, without, exit_):
    """An exit that works the choice out anew, from what it is told, changes nothing."""
    assert routed(spark, tmp_path, random_rows, f"{EXIT}{exit_}") == without


def played(count, weights):
    """What every_fifth makes of the messages, one after the other."""
    standing = dict.fromkeys(HOSTS, (0, 0))
    weighted = any(x != 50 for x in weights.values())
    went = Counter()
    for number in range(1, count + 1):

        def order(host):
            seq, factor = standing[host]
            return (factor if weighted else 0, seq, host)

        to = "QM3" if number % 5 == 0 else min(HOSTS, key=order)
        standing[to] = (number, standing[to][1] + 1000 // weights[to])
        went[number] = to
    return went, standing


@pytest.mark.parametrize("weight", [50, 20])
def test_what_it_chooses_counts_in_the_history(spark, tmp_path, weight):
    rows = world(clwlwght=weight)
    outcomes, history = routed(spark, tmp_path, rows, f"{EXIT}every_fifth:QM3")
    went, standing = played(60, {"QM1": 50, "QM2": 50, "QM3": weight})
    assert {x[1]: x[4] for x in outcomes} == went
    assert {x[1]: tuple(x[3:5]) for x in history} == standing


def test_parts_make_no_difference(spark, tmp_path, monkeypatch):
    rows = world(clwlwght=20)
    whole = routed(spark, tmp_path / "whole", rows, f"{EXIT}every_fifth:QM3")
    monkeypatch.setattr("clwl_spark.routing.state.asking.AT_ONCE", 7)
    assert routed(spark, tmp_path / "parts", rows, f"{EXIT}every_fifth:QM3") == whole


def described():
    """GATE's puts, some persistent, some long; and those that persistent_and_long sends to QM3."""
    rows = world()
    sized = [
        {**x, "persistent": (True, None, False)[at % 3], "msg_length": at * 50 if at % 7 else None}
        for at, x in enumerate(rows["messages"])
    ]
    meant = {x["put_seq"] for x in sized if x["persistent"] and (x["msg_length"] or 0) >= 1_000}
    assert 0 < len(meant) < len(sized) / 3
    return {**rows, "messages": sized}, meant


def test_it_is_told_what_the_message_is(spark, tmp_path):
    rows, meant = described()
    plain, _ = routed(spark, tmp_path / "plain", rows)
    told, _ = routed(spark, tmp_path / "told", rows, f"{EXIT}persistent_and_long:QM3")
    assert meant <= {x[1] for x in told if x[4] == "QM3"}
    assert not meant <= {x[1] for x in plain if x[4] == "QM3"}


@pytest.mark.spark
@pytest.mark.parametrize("engine", ["arrow", "spark"])
@pytest.mark.parametrize("exit_", ["every_fifth:QM3", "persistent_and_long:QM3"])
def test_it_is_asked_on_spark_as_well(spark, tmp_path, engine, exit_):
    spark.sparkContext.addPyFile(message_exits.__file__)
    rows, _ = described()
    here = routed(spark, tmp_path / "here", rows, f"{EXIT}{exit_}", "embedded")
    assert routed(spark, tmp_path / "there", rows, f"{EXIT}{exit_}", engine) == here


@pytest.mark.parametrize(
    ("exit_", "said"),
    [
        ("asks_for_what_is_not_there", "expiry"),
        ("raises", "raised ValueError:"),
        ("takes_all", "takes 3 destinations for choice 0"),
        ("too_few", "returned 1 flags for 180 rows"),
        ("nobody", "cannot be imported"),
    ],
)
def test_what_it_may_not_do_is_refused_and_nothing_is_routed(spark, tmp_path, capsys, exit_, said):
    with pytest.raises(ExitFunctionError, match=said):
        routed(spark, tmp_path, world(), f"{EXIT}{exit_}")
    words = ["route", "--lake", str(tmp_path), "--message-exit", f"{EXIT}{exit_}"]
    assert main(words) == 2
    told = capsys.readouterr().err
    assert f"message exit '{EXIT}{exit_}'" in told
    assert said in told
    assert main(["route", "--lake", str(tmp_path), "--quiet"]) == 0


def test_one_that_is_not_there_is_refused_before_there_are_messages_for_it(spark, tmp_path):
    lake = lake_with(spark, tmp_path)
    with pytest.raises(ExitFunctionError, match="cannot be imported"):
        route(lake, RouteOptions(message_exit=f"{EXIT}nobody"))
