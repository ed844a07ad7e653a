"""Tables of messages that other programs have written, routed by each engine that has Spark."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from connect.sides import PROGRAM
from deltalake import DeltaTable, write_deltalake
from deltalake.transaction import AddAction
from lakes import share_plans, template
from pyspark.sql import SparkSession
from worlds import put_rows

from clwl_spark.delta.lake import Lake
from clwl_spark.errors import InputError
from clwl_spark.routing.run import RouteOptions, RunSummary, route
from clwl_spark.spark.conf import with_settings
from clwl_spark.tables import CLUSTER_CHANNELS, MESSAGES, QUEUES, SNAPSHOTS
from clwl_spark.tables.moments import FIRST, LAST
from clwl_spark.tables.require import require

pytestmark = pytest.mark.spark

AT = datetime(2026, 1, 1, 12, tzinfo=UTC)
YEAR_ONE = datetime(1, 1, 1, tzinfo=UTC)
MINE = {"snapshot_id": "S", "observer": "*"}
TOPOLOGY = {
    "snapshots": [{"snapshot_id": "S", "valid_from": YEAR_ONE, "status": "VALID"}],
    "cluster_channels": [
        MINE | {"qmgr": name, "channel": f"TO.{name}", "cluster": "K"} for name in ("A", "B", "C")
    ],
    "queues": [
        MINE | {"qmgr": name, "queue": "Q", "cluster": "K", "qtype": "QLOCAL"}
        for name in ("B", "C")
    ],
}
ENGINES = pytest.mark.parametrize("engine", ["spark", "arrow"])
APPEND: Any = {"mode": "append", "schema_mode": "merge"}
COUNT = 10


def four_columns(first: int) -> pa.Table:
    """Messages with the columns that must be there, in some order."""
    return pa.table(
        {
            "object_name": ["Q"] * COUNT,
            "put_time": pa.array([AT] * COUNT, pa.timestamp("us", "UTC")),
            "put_seq": pa.array(range(first, first + COUNT)),
            "qmgr": ["A"] * COUNT,
        }
    )


def lake_in(spark: SparkSession, root: Path) -> Lake:
    """A lake with a topology and no messages, in which puts of A to Q are planned."""
    lake = Lake(spark, str(root))
    lake.create([SNAPSHOTS, CLUSTER_CHANNELS, QUEUES])
    for name, rows in TOPOLOGY.items():
        put_rows(lake, name, rows)
    planned = template(spark, TOPOLOGY, partial(_planned, spark))
    share_plans(Lake(spark, str(planned)), lake)
    return lake


def _planned(spark: SparkSession, root: Path) -> None:
    lake = Lake(spark, str(root))
    lake.create([SNAPSHOTS, CLUSTER_CHANNELS, QUEUES, MESSAGES])
    for name, rows in TOPOLOGY.items():
        put_rows(lake, name, rows)
    put_rows(lake, "messages", four_columns(1).to_pylist())
    route(lake, RouteOptions(state_partitions=1))


def routed(lake: Lake, engine: str) -> RunSummary:
    summary = route(lake, RouteOptions(state_partitions=1, engine=engine))
    assert summary.engine == engine
    return summary


def rows(lake: Lake, table: str) -> list[dict[str, Any]]:
    """A table's rows as delta-rs reads them, without the moment at which they were set aside."""
    found = DeltaTable(lake.path(table)).to_pyarrow_table().to_pylist()
    return sorted(({x: y for x, y in row.items() if x != "rejected_at"} for row in found), key=repr)


def by_pyspark(spark: SparkSession, folder: str) -> None:
    spark.createDataFrame(four_columns(1)).write.format("delta").mode("append").save(folder)


def by_delta_rs(_: SparkSession, folder: str) -> None:
    write_deltalake(folder, four_columns(11), **APPEND)


def by_duckdb(_: SparkSession, folder: str) -> None:
    four = four_columns(21)  # noqa: F841  (DuckDB finds it by its name)
    write_deltalake(folder, duckdb.sql("SELECT * FROM four").to_arrow_table(), **APPEND)


def by_polars(_: SparkSession, folder: str) -> None:
    four = pl.DataFrame(four_columns(31))
    four.write_delta(folder, mode="append", delta_write_options={"schema_mode": "merge"})


WRITERS: dict[str, Callable[[SparkSession, str], None]] = {
    "PySpark": by_pyspark,
    "delta-rs": by_delta_rs,
    "DuckDB": by_duckdb,
    "Polars": by_polars,
}


@pytest.mark.parametrize(
    ("engine", "made_by"),
    [("spark", "Polars"), ("arrow", None), ("arrow", "PySpark"), ("arrow", "Polars")],
)
def test_the_columns_that_must_be_there_are_enough(
    spark: SparkSession, tmp_path: Path, made_by: str | None, engine: str
) -> None:
    lake = lake_in(spark, tmp_path)
    if made_by is None:
        lake.create([MESSAGES])
    for name in sorted(WRITERS, key=lambda x: x != made_by):
        WRITERS[name](spark, lake.path("messages"))
    assert routed(lake, engine).outcomes == len(WRITERS) * COUNT
    assert {x["object_type"] for x in rows(lake, "outcomes")} == {"QUEUE"}


def commit(folder: str, files: dict[str, pa.Table], **options: Any) -> None:
    """Parquet files become part of a table, whatever is in them."""
    added = []
    for name, table in files.items():
        path = Path(folder, name)
        pq.write_table(table, path, **options)
        said = json.dumps({"numRecords": table.num_rows})
        added.append(AddAction(name, path.stat().st_size, {}, 0, True, said))
    found = DeltaTable(folder)
    found.create_write_transaction(added, "append", found.schema())


ODD = pa.table(
    {
        "theirs": pa.array([1.5] * 6),
        "qmgr": pa.array([b"A"] * 6, pa.binary()),
        "put_seq": pa.array([Decimal(x) for x in (1, 2, 3, 4, 5, 10**19)], pa.decimal128(20, 0)),
        "put_time": pa.array(
            [
                "2026-01-01",
                "2026-01-01 12:00:00.1234567+01:00",
                "soon",
                None,
                "2026-02-30",
                "2026-01-01",
            ]
        ),
        "object_name": pa.array(["Q"] * 6).dictionary_encode(),
        "open_id": pa.array([1, None, 1, 1, 1, 1], pa.int16()),
        "bind": pa.array([b"ON_OPEN"] * 6, pa.binary()),
        "logical_order": pa.array([0, 1, None, 1, 0, 1], pa.int8()),
        "msg_length": pa.array([1, 2**40, 3, 2**40, 5, 6]),
        "message_id": pa.array([bytes([x]) * 24 for x in range(6)], pa.binary(24)),
    }
)


@pytest.fixture(scope="module")
def odd_lakes(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Lake]:
    """Messages of odd types, routed by each engine."""
    lakes = {}
    for engine in ("spark", "arrow"):
        lake = lake_in(spark, tmp_path_factory.mktemp(engine))
        write_deltalake(lake.path("messages"), ODD)
        summary = routed(lake, engine)
        assert (summary.outcomes, summary.rejected) == (2, 4)
        lakes[engine] = lake
    return lakes


def test_odd_types_are_routed_alike(odd_lakes: dict[str, Lake]) -> None:
    for table in ("outcomes", "rejected_messages", "balance_history", "route_plans"):
        assert rows(odd_lakes["arrow"], table) == rows(odd_lakes["spark"], table)
    outcomes = {x["put_seq"]: x for x in rows(odd_lakes["arrow"], "outcomes")}
    assert outcomes[2]["put_time"] == datetime(2026, 1, 1, 11, 0, 0, 123_456, tzinfo=UTC)
    rejected = rows(odd_lakes["arrow"], "rejected_messages")
    assert {(x["put_seq"], x["error"]) for x in rejected} == {
        (3, "BAD_PUT_TIME"),
        (4, "NO_PUT_TIME"),
        (5, "BAD_PUT_TIME"),
        (None, "BAD_NUMBER"),
    }


@pytest.mark.fault(14)
@ENGINES
def test_a_type_that_means_nothing_is_refused_before_anything_is_routed(
    spark: SparkSession, tmp_path: Path, engine: str
) -> None:
    lake = lake_in(spark, tmp_path)
    table = four_columns(1)
    wrong = table.set_column(2, "put_seq", table["put_seq"].cast(pa.float64()))
    write_deltalake(lake.path("messages"), wrong.drop_columns(["qmgr"]))
    words = (
        r"table 'messages': column 'qmgr' \(string\) is missing, "
        r"column 'put_seq' is double and must be bigint; "
        r"write the table with .* as by CAST\(put_seq AS bigint\)$"
    )
    with pytest.raises(InputError, match=words):
        route(lake, RouteOptions(engine=engine))
    assert not Path(lake.path("runs")).exists()


def bytes_as_text(*texts: bytes) -> pa.Array:
    """A column of strings that says so of any bytes."""
    return pa.array(texts, pa.binary()).view(pa.string())


SEQ = [*range(1, 8)]
BAD = pa.table(
    {
        "put_seq": pa.array(SEQ),
        "put_time": pa.array([LAST, LAST - 400, FIRST, LAST + 1, FIRST - 1, 0, 0]).view(
            pa.timestamp("us", "UTC")
        ),
        "qmgr": bytes_as_text(*[b"A"] * 5, b"A", b"\xff\xfeA"),
        "object_name": bytes_as_text(*[b"Q"] * 5, b"\xc3Q\xed\xa0\x80", b"Q"),
        "message_id": pa.array([b"\xff" * 24] * 7),
    }
)


@pytest.fixture(scope="module")
def bad_lakes(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Lake]:
    """Some messages that cannot be represented, among others, routed by each engine."""
    lakes = {}
    for engine in ("spark", "arrow"):
        lake = lake_in(spark, tmp_path_factory.mktemp(engine))
        lake.create([MESSAGES])
        commit(lake.path("messages"), {"part-1.parquet": BAD})
        summary = routed(lake, engine)
        assert (summary.messages, summary.outcomes, summary.rejected) == (7, 3, 4)
        put_rows(lake, "messages", four_columns(9).slice(0, 1).to_pylist())
        assert routed(lake, engine).outcomes == 1
        lakes[engine] = lake
    return lakes


@pytest.mark.fault(8)
def test_bad_cells_are_set_aside_alike(bad_lakes: dict[str, Lake]) -> None:
    for table in ("outcomes", "rejected_messages", "balance_history", "route_plans"):
        assert rows(bad_lakes["arrow"], table) == rows(bad_lakes["spark"], table)
    kept = ("put_seq", "error", "put_time", "qmgr", "object_name")
    rejected = [tuple(x[y] for y in kept) for x in rows(bad_lakes["arrow"], "rejected_messages")]
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    assert sorted(rejected) == [
        (4, "BAD_PUT_TIME", None, "A", "Q"),
        (5, "BAD_PUT_TIME", None, "A", "Q"),
        (6, "NOT_UTF8", epoch, "A", b"\xc3Q\xed\xa0\x80".decode(errors="replace")),
        (7, "NOT_UTF8", epoch, "\ufffd\ufffdA", "Q"),
    ]


@pytest.mark.parametrize("engine", ["spark", "arrow"])
def test_moments_are_numbers_of_microseconds_in_every_file(
    bad_lakes: dict[str, Lake], engine: str
) -> None:
    lake = bad_lakes[engine]
    for table in ("outcomes", "rejected_messages", "runs"):
        for file in Path(lake.path(table)).glob("*.parquet"):
            found = pq.ParquetFile(file).schema
            types = {found.column(at).physical_type for at in range(len(found))}
            assert "INT96" not in types, (table, file.name)
    assert pl.read_delta(lake.path("outcomes"))["put_time"].min() == YEAR_ONE
    latest = DeltaTable(lake.path("outcomes")).to_pyarrow_dataset()
    after = pc.field("put_time") > datetime(9999, 12, 31, 23, 59, 59, 999_500, tzinfo=UTC)
    assert latest.to_table(filter=after).num_rows == 2
    assert lake.read("outcomes").where("put_time > '9999-12-31T23:59:59.9995Z'").count() == 2


PLACES = ["a b'c", "100 %", "#hash?", "[x]{y}", "ü\u00a0ß\u2003€𝄞", 'quo"te`s', "a+b@c&d=e;f,g"]
NAMES = ["part-1 %20.parquet", "part-#[x]{y}.parquet", "part-ü\u00a0'.parquet"]


@ENGINES
def test_places_and_files_of_any_name(spark: SparkSession, tmp_path: Path, engine: str) -> None:
    lake = lake_in(spark, tmp_path.joinpath(*PLACES))
    lake.create([MESSAGES])
    commit(lake.path("messages"), {x: four_columns(COUNT * at) for at, x in enumerate(NAMES)})
    assert routed(lake, engine).outcomes == len(NAMES) * COUNT
    assert rows(lake, "rejected_messages") == []


def test_a_place_that_delta_rs_does_not_find_is_left_to_spark(
    spark: SparkSession, tmp_path: Path
) -> None:
    lake = lake_in(spark, tmp_path / "per%20cent")
    by_pyspark(spark, lake.path("messages"))
    summary = route(lake, RouteOptions(state_partitions=1))
    assert (summary.engine, summary.outcomes) == ("spark", COUNT)


def test_neither_locale_nor_zone_matters(spark: SparkSession, tmp_path: Path) -> None:
    """A process of its own, whose Java and Python know ASCII only and live elsewhere."""
    lakes = {x: lake_in(spark, tmp_path / f"lake of ü by {x}") for x in ("spark", "arrow")}
    times = pa.array(["2026-01-01 12:00"] * COUNT)
    for lake in lakes.values():
        write_deltalake(lake.path("messages"), four_columns(1).set_column(1, "put_time", times))
    commands = [
        ["route", "--lake", lake.root, "--json", "--engine", engine]
        for engine, lake in lakes.items()
    ]
    elsewhere = {"LANG": "C", "LC_ALL": "C", "TZ": "America/New_York"}
    done = subprocess.run(
        [sys.executable, str(PROGRAM)],
        input=json.dumps(commands),
        env={**os.environ, **elsewhere},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for (code, said, complaint), (engine, lake) in zip(
        json.loads(done.stdout), lakes.items(), strict=True
    ):
        assert code == 0, complaint
        told = json.loads(said)
        assert (told["engine"], told["outcomes"]) == (engine, COUNT)
        assert {x["put_time"] for x in rows(lake, "outcomes")} == {AT}


@pytest.mark.parametrize("given", ["INT96", None])
def test_a_given_session_writes_moments_as_numbers_too(
    spark: SparkSession, tmp_path: Path, given: str | None
) -> None:
    lake = Lake(spark, str(tmp_path))
    name = "spark.sql.parquet.outputTimestampType"
    with with_settings(spark, {name: given or "INT96"}):
        if given is None:
            spark.conf.unset(name)
        lake.append("messages", require(spark.createDataFrame(four_columns(1)), MESSAGES))
        assert spark.conf.get(name, None) == given
    files = [*Path(lake.path("messages")).glob("*.parquet")]
    assert files
    assert all("INT96" not in str(pq.ParquetFile(x).schema) for x in files)
