"""`clwl init`: every table, empty; and what others then append to `messages`."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import polars as pl
import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from clwl_spark.cli import main
from clwl_spark.delta.lake import Lake
from clwl_spark.present.questions.texts import all_views
from clwl_spark.tables import MESSAGES, QUEUES, TABLES

AT = datetime(2026, 9, 14, 6, tzinfo=UTC)
ROW = {"qmgr": "QM1", "put_seq": 1, "put_time": AT, "object_name": "ORDERS"}
MERGED = {"mode": "append", "schema_mode": "merge"}
"""delta-rs takes a table without all columns only if it may merge schemas."""


def document(capsys, words):
    assert main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.fixture
def lake(spark, tmp_path):
    made = Lake(spark, str(tmp_path / "lake"))
    made.create([MESSAGES])
    return made


def by_pyspark(lake):
    types = "qmgr string, put_seq bigint, put_time timestamp, object_name string"
    frame = lake.spark.createDataFrame([tuple(ROW.values())], types)
    frame.write.format("delta").mode("append").save(lake.path("messages"))


def by_delta_rs(lake):
    write_deltalake(lake.path("messages"), pa.Table.from_pylist([ROW]), **MERGED)


def by_duckdb(lake):
    sql = "SELECT 'QM1' qmgr, 1::BIGINT put_seq, $1::TIMESTAMPTZ put_time, 'ORDERS' object_name"
    with duckdb.connect() as connection:
        rows = connection.sql(sql, params=[AT]).to_arrow_table()
    write_deltalake(lake.path("messages"), rows, **MERGED)


def by_polars(lake):
    options = {"schema_mode": "merge"}
    pl.DataFrame([ROW]).write_delta(
        lake.path("messages"), mode="append", delta_write_options=options
    )


def described(folder):
    table = DeltaTable(folder)
    metadata = table.metadata()
    return table.schema().to_json(), metadata.id, metadata.description, metadata.configuration


@pytest.mark.parametrize("append", [by_delta_rs, by_duckdb, by_polars])
def test_the_four_columns_are_enough_for_those_who_append_messages(lake, append):
    check_appended(lake, append)


@pytest.mark.spark
def test_the_four_columns_are_enough_for_pyspark(lake):
    check_appended(lake, by_pyspark)


def check_appended(lake, append):
    before = described(lake.path("messages"))
    append(lake)
    append(lake)
    assert described(lake.path("messages")) == before
    (one, other) = lake.rows("messages")
    assert one == other == dict.fromkeys(MESSAGES.names) | ROW


def test_init_makes_every_table_with_constraints_and_comments(capsys, spark, tmp_path):
    folder = tmp_path / "a lake, made"
    told = document(capsys, ["init", "--lake", str(folder)])
    assert (told["made"], told["there"], told["added_columns"]) == ([*TABLES], [], {})
    assert told["engine"] == "embedded"
    lake = Lake(spark, str(folder))
    assert all(lake.rows(name) == [] for name in TABLES)
    assert DeltaTable(folder / "queues").metadata().description == QUEUES.comment
    fields = DeltaTable(folder / "queues").schema().fields
    assert {x.name: x.metadata.get("comment") for x in fields} == {
        x.name: x.comment for x in QUEUES.columns
    }
    assert "delta.constraints.clwlrank_in_range" in (
        DeltaTable(folder / "queues").metadata().configuration
    )


def test_tables_that_are_there_stay_and_get_the_optional_columns(capsys, lake):
    by_delta_rs(lake)
    optional = next(x for x in TABLES["snapshots"].columns if x.optional)
    older = [x for x in TABLES["snapshots"].columns if x.name != optional.name]
    types = {"string": pa.string(), "timestamp": pa.timestamp("us", "UTC"), "boolean": pa.bool_()}
    fields = [pa.field(x.name, types[x.type], not x.required) for x in older]
    write_deltalake(lake.path("snapshots"), pa.schema(fields).empty_table())
    told = document(capsys, ["init", "--lake", lake.root])
    assert told["there"] == ["snapshots", "messages"]
    assert told["added_columns"] == {"snapshots": [optional.name]}
    assert len(lake.rows("messages")) == 1
    again = document(capsys, ["init", "--lake", lake.root])
    assert (again["made"], again["added_columns"]) == ([], {})
    assert main(["init", "--lake", lake.root]) == 0
    assert f"0 tables made in {lake.root}, {len(TABLES)} were there" in capsys.readouterr().out


def test_the_sql_is_printed_without_a_session(tmp_path):
    program = (
        "import sys; from clwl_spark.cli import main; main(sys.argv[1:]);"
        "from pyspark.sql import SparkSession as S; sys.exit(S.getActiveSession() is not None)"
    )
    words = [sys.executable, "-c", program, "init", "--ddl"]
    done, in_folder = (
        subprocess.run([*words, *x], capture_output=True, text=True, check=True, cwd=tmp_path)
        for x in (["--catalog", "main.mq"], ["--lake", "new"])
    )
    assert done.stdout.startswith("CREATE SCHEMA IF NOT EXISTS `main`.`mq`;\n\nUSE `main`.`mq`;\n")
    assert done.stdout.count("CREATE OR REPLACE VIEW `main`.`mq`.") == len(all_views())
    assert done.stdout.count("CREATE TABLE IF NOT EXISTS `main`.`mq`.") == len(TABLES)
    assert "`put_seq` bigint COMMENT 'Grows per queue manager in put order'" in done.stdout
    assert f"delta.`{os.fspath(tmp_path)}/new/messages`" in in_folder.stdout
    assert list(Path(tmp_path).iterdir()) == []


def test_the_sql_as_a_document_and_for_a_place_that_is_not_named(capsys):
    told = document(capsys, ["init", "--ddl", "--catalog", "a.b"])
    assert told["ddl"].keys() == TABLES.keys()
    assert told["schema"] == "CREATE SCHEMA IF NOT EXISTS `a`.`b`"
    assert told["views"].keys() == all_views().keys()
    assert main(["init", "--ddl"]) == 2
    assert "where is the lake? give --lake DIR" in capsys.readouterr().err


@pytest.mark.spark
def test_spark_makes_the_same_tables_by_the_sql(capsys, spark, tmp_path):
    folder = tmp_path / "by_sql"
    ddl = document(capsys, ["init", "--ddl", "--lake", str(folder)])["ddl"]
    for name in ("messages", "queues"):
        spark.sql(ddl[name])
    lake = Lake(spark, str(tmp_path / "by_init"))
    lake.create([MESSAGES, QUEUES])
    for name in ("messages", "queues"):
        schema, _, comment, properties = described(str(folder / name))
        as_made = described(lake.path(name))
        assert (json.loads(schema), comment) == (json.loads(as_made[0]), as_made[2])
        assert as_made[3].items() <= properties.items()
