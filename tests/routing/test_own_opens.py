"""A message put ON_OPEN that names no open is one of its own, and the run says how many are."""

import pytest
from lakes import lake_with
from small_worlds import at, message, qmgr, queue, rcvr, snapshot, tables
from worlds import put_rows

from clwl_spark.cli import main
from clwl_spark.routing.run import RouteOptions, route


def lake_of_opens(spark, folder):
    there = [qmgr("GATE"), *(rcvr(x) for x in ("GATE", "QM1", "QM2"))]
    hosts = [queue(x, "Q", "K", defbind="OPEN") for x in ("QM1", "QM2")]
    hosts.append(queue("QM1", "SOLE", "K", defbind="OPEN"))
    lake = lake_with(spark, folder)
    for name, rows in tables(snapshot("S1"), *at("S1", *there, *hosts)).items():
        put_rows(lake, name, rows)
    return lake


@pytest.mark.spark
@pytest.mark.parametrize("engine", ["arrow", "spark"])
def test_spark_counts_them_too(spark, tmp_path, engine):
    lake = lake_of_opens(spark, tmp_path / "lake")
    put_rows(lake, "messages", [message("GATE", "Q", n, bind="ON_OPEN") for n in range(4)])
    assert route(lake, RouteOptions(state_partitions=2, engine=engine)).own_opens == 4
    assert [x["own_opens"] for x in lake.rows("runs")] == [4]


@pytest.mark.spark
@pytest.mark.parametrize("engine", ["arrow", "spark"])
def test_what_spark_says_of_a_stream_is_in_its_run(spark, tmp_path, engine):
    lake = lake_of_opens(spark, tmp_path / "lake")
    for first in (0, 4):
        put_rows(lake, "messages", [message("GATE", "Q", first + n) for n in range(4)])
        summary = route(lake, RouteOptions(state_partitions=2, engine=engine))
        assert summary.messages == 4
    runs = lake.rows("runs")
    told = [dict(x["stream"]) for x in runs]
    assert [x["status"] for x in runs] == ["DONE", "DONE"]
    assert [x["numInputRows"] for x in told] == [4, 4]
    for figures in told:
        assert figures["durationMs.addBatch"] <= figures["durationMs.triggerExecution"]
        assert {"durationMs.queryPlanning", "durationMs.walCommit"} <= figures.keys()
        assert figures["stateOperators.numRowsTotal"] == 1
        assert figures["stateOperators.memoryUsedBytes"] > 0


def test_no_stream_says_anything_where_none_routes(spark, tmp_path):
    lake = lake_of_opens(spark, tmp_path / "lake")
    put_rows(lake, "messages", [message("GATE", "Q", 1)])
    route(lake, RouteOptions(state_partitions=2))
    assert [x["stream"] for x in lake.rows("runs")] == [None]


def test_messages_without_an_open_id_are_counted_and_told(spark, tmp_path, capsys):
    lake = lake_of_opens(spark, tmp_path / "lake")

    def put(first, **more):
        put_rows(lake, "messages", [message("GATE", "Q", first + n, **more) for n in range(4)])

    put(1, bind="ON_OPEN", open_id=7)
    put(5, bind="ON_OPEN")
    put(9, bind="AS_Q_DEF")
    put(13)
    puts = [message("GATE", x, 30 + at, bind="ON_OPEN") for at, x in enumerate(("SOLE", "NONE"))]
    put_rows(lake, "messages", puts)
    summary = route(lake, RouteOptions(state_partitions=2))
    assert (summary.own_opens, summary.to_json()["own_opens"]) == (8, 8)
    assert lake.read("outcomes").where("bound").count() == 3
    put(37)
    assert route(lake, RouteOptions(state_partitions=2)).own_opens == 0
    put(41, bind="ON_OPEN")
    capsys.readouterr()
    assert main(["route", "--lake", lake.root]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "put ON_OPEN without an open_id: 4, each taken as an open of its own" in shown
