"""The tables outside Spark, in a catalog, and as others write them."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from pyspark.sql import DataFrame, SparkSession
from worlds import put_rows

from clwl_spark.delta.lake import Lake
from clwl_spark.delta.versions import versions_of
from clwl_spark.errors import MissingColumnsError, MissingLakeError
from clwl_spark.planning.plans import Plans, make_plans
from clwl_spark.routing.plans import plan_maker
from clwl_spark.routing.run import WRITTEN, RouteOptions, follow, route
from clwl_spark.tables import CLUSTER_CHANNELS, MESSAGES, OUTCOMES, QUEUES, SNAPSHOTS, TABLES

AT = datetime(2026, 1, 1, tzinfo=UTC)
SNAPSHOT = {"snapshot_id": "S", "valid_from": AT, "status": "VALID"}
MINE = {"snapshot_id": "S", "observer": "*"}
NAMES = ["QM 'one'", "QM%2", "QM/3.x", "QMÄ", "Q" * 48]


def _tables() -> dict[str, list[dict[str, Any]]]:
    """One cluster of queue managers with odd names; each but the first hosts a queue."""
    return {
        "snapshots": [SNAPSHOT],
        "cluster_channels": [
            MINE | {"qmgr": name, "channel": f"TO.{at}", "cluster": "K"}
            for at, name in enumerate(NAMES)
        ],
        "queues": [
            MINE | {"qmgr": name, "queue": "A 'b'.%/", "cluster": "K", "qtype": "QLOCAL"}
            for name in NAMES[1:]
        ],
    }


def _messages(count: int, first: int = 1) -> list[dict[str, Any]]:
    return [
        {"qmgr": NAMES[0], "put_seq": first + at, "put_time": AT, "object_name": "A 'b'.%/"}
        | {"bind": "NOT_FIXED"}
        for at in range(count)
    ]


def _fill(lake: Lake) -> None:
    lake.create([SNAPSHOTS, CLUSTER_CHANNELS, QUEUES, MESSAGES])
    for name, rows in _tables().items():
        put_rows(lake, name, rows)
    put_rows(lake, "messages", _messages(8))


def test_delta_rs_and_duckdb_read_what_was_routed(spark: SparkSession, tmp_path: Path) -> None:
    lake = Lake(spark, str(tmp_path))
    _fill(lake)
    assert route(lake, RouteOptions(state_partitions=1)).by_reason == {"0": 8}
    routed = DeltaTable(lake.path("outcomes")).to_pyarrow_table()
    rows = duckdb.sql("SELECT dest_qmgr, count(*) FROM routed GROUP BY ALL").fetchall()
    assert sorted(rows) == sorted((name, 2) for name in NAMES[1:])
    assert routed.column_names == OUTCOMES.names


@pytest.mark.spark
def test_a_catalog_lake_gives_the_same(spark: SparkSession, tmp_path: Path) -> None:
    spark.sql(f"CREATE SCHEMA IF NOT EXISTS clwl_test LOCATION '{tmp_path / 'schema'}'")
    lake = Lake(spark, "spark_catalog.clwl_test", True, str(tmp_path / "checkpoints"))
    try:
        _fill(lake)
        assert route(lake, RouteOptions(state_partitions=1)).outcomes == 8
        comments = spark.sql("DESCRIBE TABLE spark_catalog.clwl_test.outcomes").collect()
        assert all(row["comment"] for row in comments if row["col_name"] in OUTCOMES.names)
    finally:
        spark.sql("DROP SCHEMA clwl_test CASCADE")


def test_messages_that_another_writer_made_are_routed(spark: SparkSession, tmp_path: Path) -> None:
    lake = Lake(spark, str(tmp_path))
    lake.create([SNAPSHOTS, CLUSTER_CHANNELS, QUEUES])
    for name, rows in _tables().items():
        put_rows(lake, name, rows)
    rows = [{name: row.get(name) for name in MESSAGES.names} for row in _messages(4)]
    schema = pa.schema(
        [
            (x.name, {"string": pa.string(), "bigint": pa.int64(), "int": pa.int64()}.get(x.type)
             or {"binary": pa.binary(), "boolean": pa.bool_()}.get(x.type)
             or pa.timestamp("us", tz="UTC"))
            for x in MESSAGES.columns
        ]
    )  # fmt: skip
    write_deltalake(lake.path("messages"), pa.Table.from_pylist(rows, schema=schema))
    assert route(lake, RouteOptions(state_partitions=1)).by_reason == {"0": 4}


@pytest.mark.spark
def test_following_takes_what_comes_and_a_snapshot_from_its_moment_on(
    spark: SparkSession, tmp_path: Path
) -> None:
    lake = Lake(spark, str(tmp_path))
    _fill(lake)
    routed: list[int] = []
    for summary in follow(lake, RouteOptions(state_partitions=1), 0.1, lambda: len(routed) > 1):
        routed.append(summary.outcomes)
        if len(routed) == 1:
            later = SNAPSHOT | {"snapshot_id": "T", "valid_from": AT.replace(hour=1)}
            put_rows(lake, "snapshots", [later])
            new = [row | {"put_time": AT.replace(hour=2)} for row in _messages(3, 9)]
            put_rows(lake, "messages", new)
    assert routed == [8, 3]
    reasons = lake.read("outcomes").where("snapshot_id = 'T'").select("reason").distinct()
    assert [row["reason"] for row in reasons.collect()] == [2085]


@pytest.mark.fault(14)
def test_missing_tables_and_columns_are_named(spark: SparkSession, tmp_path: Path) -> None:
    lake = Lake(spark, str(tmp_path))
    with pytest.raises(MissingLakeError, match="no table 'messages'"):
        route(lake, RouteOptions())
    write_deltalake(lake.path("messages"), pa.table({"id": [1]}))
    with pytest.raises(MissingColumnsError, match="'qmgr'"):
        route(lake, RouteOptions())


def test_every_table_and_column_says_what_it_is() -> None:
    assert all(table.comment and table.columns for table in TABLES.values())
    assert all(column.comment for table in TABLES.values() for column in table.columns)


def test_a_run_with_nothing_new_commits_nothing(spark: SparkSession, tmp_path: Path) -> None:
    lake = Lake(spark, str(tmp_path))
    _fill(lake)
    assert route(lake, RouteOptions(state_partitions=1)).messages == 8
    before = versions_of(lake, [x.name for x in WRITTEN])
    assert before is not None
    idle = route(lake, RouteOptions(state_partitions=1))
    assert (idle.batch_id, idle.messages) == (None, 0)
    assert versions_of(lake, [x.name for x in WRITTEN]) == before
    put_rows(lake, "messages", _messages(2, 9))
    assert route(lake, RouteOptions(state_partitions=1)).messages == 2


def test_messages_that_were_only_moved_are_nothing_new(spark: SparkSession, tmp_path: Path) -> None:
    lake = Lake(spark, str(tmp_path))
    _fill(lake)
    put_rows(lake, "messages", _messages(2, 9))
    assert route(lake, RouteOptions(state_partitions=1)).messages == 10
    messages = DeltaTable(lake.path("messages"))
    messages.optimize.compact()
    messages.delete("put_seq = 1")
    for _ in range(2):
        assert route(lake, RouteOptions(state_partitions=1)).messages == 0
    assert lake.read("runs").where("status = 'RUNNING'").isEmpty()
    put_rows(lake, "messages", _messages(2, 11))
    assert route(lake, RouteOptions(state_partitions=1)).messages == 2
    assert lake.read("outcomes").count() == 12


def test_what_was_planned_is_not_planned_again_while_following(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The outcomes are those of a single run."""
    planned: list[int] = []

    def plans(requests: DataFrame, *others: Any) -> Plans:
        planned.append(requests.count())
        return make_plans(requests, *others)

    followed, single = Lake(spark, str(tmp_path / "a")), Lake(spark, str(tmp_path / "b"))
    unknown = {"object_name": "B"}
    waiting = [
        _messages(3, 9),
        [*_messages(2, 12), _messages(1, 14)[0] | unknown],
        [*_messages(1, 15), _messages(1, 16)[0] | unknown],
    ]
    for lake in (followed, single):
        _fill(lake)
    for rows in waiting:
        put_rows(single, "messages", rows)
    route(single, RouteOptions(state_partitions=1))
    monkeypatch.setattr(plan_maker, "make_plans", plans)
    routed: list[int] = []
    for summary in follow(followed, RouteOptions(state_partitions=1), 0.1, lambda: not waiting):
        routed.append(summary.messages)
        put_rows(followed, "messages", waiting.pop(0))
    route(followed, RouteOptions(state_partitions=1))
    assert routed == [8, 3, 3]
    for name in ("outcomes", "balance_history", "route_plans"):
        found, expected = (sorted(map(str, x.read(name).collect())) for x in (followed, single))
        assert found == expected
    assert planned == [1, 1]
