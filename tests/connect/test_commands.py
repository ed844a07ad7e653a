"""Whole commands over Spark Connect, of serverless compute, give what they give without Java."""

import shutil
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from connect.allowed import refused
from connect.recorder import kinds_of
from connect.sides import INGEST, Clwl, clwl, comparable, process, put, rows, serverless, tables
from deltalake import DeltaTable
from pyspark.sql.connect.proto import base_pb2 as base
from pyspark.sql.connect.proto import commands_pb2 as commands

from clwl_spark.snapshots.reading import FEW_FILES
from clwl_spark.tables import SNAPSHOTS, TOPOLOGY

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

HALF = 2000
MANY = [
    "ingest",
    "--snapshot",
    "many",
    "--observer",
    "{stem}",
    "--valid-from",
    "2026-09-14T06:00:00Z",
]
PUT = ["--from", "SHOP1", "--object", "PARCEL.IN"]
DOWN = "STOP CHANNEL(FREIGHT.DEPOT1) ON DEPOT1"


def worked_on(run: Clwl, folder: Path, scripts: Path) -> dict[str, Any]:
    """What each command says that is run on a lake, one after the other."""
    lake = folder / "lake"
    at = ["--lake", str(lake)]
    said = dict(zip(("ingest", "validate"), run([[*INGEST, *at], ["validate", *at]]), strict=True))
    put(lake, 0, HALF)
    (said["route"],) = run([["route", *at]])
    put(lake, HALF, 10_000)
    others = {
        "route on": ["route", *at, "--hops", "2"],
        "nothing to route": ["route", *at],
        "explain": ["explain", *at, *PUT],
        "what-if": ["what-if", *at, "--change", DOWN],
        "report": ["report", *at, "--out", str(folder / "report")],
        "ask": ["ask", "busiest-channels", *at],
        "many files": [*MANY, str(scripts), "--lake", str(folder / "of many")],
    }
    return said | dict(zip(others, run([*others.values()]), strict=True))


@pytest.fixture(scope="module")
def scripts(tmp_path_factory):
    """More files than are read by one process; rows tell where they are from."""
    scripts = tmp_path_factory.mktemp("scripts")
    for at in range(FEW_FILES + 1):
        words = f"DEFINE QLOCAL(Q) CLUSTER(ALL)\nDEFINE QLOCAL(Q.{at})\nDEFINE NONSENSE\n"
        (scripts / f"QM{at}.mqsc").write_text(words)
    return scripts


@pytest.fixture(scope="module")
def embedded(scripts, tmp_path_factory):
    folder = tmp_path_factory.mktemp("embedded")
    return folder, worked_on(clwl(None), folder, scripts)


@pytest.fixture(scope="module")
def connect(server, scripts, tmp_path_factory):
    folder = tmp_path_factory.mktemp("connect")
    return folder, worked_on(serverless(server, folder / "asked"), folder, scripts)


def test_commands_say_the_same(embedded, connect):
    assert connect[1]["route"]["messages"] == HALF
    for command, said in embedded[1].items():
        assert comparable(connect[1][command]) == comparable(said), command


def test_tables_are_the_same(embedded, connect):
    for name in ("lake", "of many"):
        lakes = [folder / name for folder, _ in (embedded, connect)]
        assert tables(lakes[1]) == tables(lakes[0])
        for table in tables(lakes[0]):
            assert rows(lakes[1], table) == rows(lakes[0], table), table


def test_nothing_is_asked_for_that_serverless_compute_refuses(connect):
    asked = set((connect[0] / "asked").read_text().splitlines())
    assert not [x for x in asked if refused(x)]
    assert {"process of a stream", "trigger available_now", "function of python_udf"} <= asked
    assert {"set spark.sql.shuffle.partitions", "sql MERGE INTO", "view own"} <= asked


@pytest.mark.parametrize(
    "request_",
    [
        commands.Command(checkpoint_command=commands.CheckpointCommand(local=True)),
        commands.Command(create_dataframe_view=commands.CreateDataFrameViewCommand(is_global=True)),
        commands.Command(write_stream_operation_start={"processing_time_interval": "1 second"}),
        commands.Command(sql_command={"input": {"sql": {"query": "CACHE TABLE outcomes"}}}),
        commands.Command(sql_command={"input": {"sql": {"query": "SELECT input_file_name()"}}}),
        base.AnalyzePlanRequest(persist={}),
        base.ConfigRequest.Operation(set={"pairs": [{"key": "spark.sql.codegen.wholeStage"}]}),
        base.ConfigRequest.Operation(get={"keys": ["spark.sql.parquet.outputTimestampType"]}),
        base.AddArtifactsRequest(batch={"artifacts": [{"name": "jars/ours.jar"}]}),
    ],
)
def test_what_serverless_compute_refuses_is_told(request_):
    assert [x for x in kinds_of(request_) if refused(x)]


def test_no_rows_are_left_that_steps_shared(connect):
    lakes = [connect[0] / name for name in ("lake", "of many")]
    assert all((x / "_checkpoints" / "rows").is_dir() for x in lakes)
    assert not [y for x in lakes for y in (x / "_checkpoints" / "rows").iterdir()]


def test_what_spark_says_of_its_streams_is_told_over_connect_too(embedded, connect):
    without, told = (
        DeltaTable(x / "lake" / "runs").to_pyarrow_table() for x, _ in (embedded, connect)
    )
    assert without["stream"].null_count == without.num_rows
    batches = dict(
        zip(told["batch_id"].to_pylist(), map(dict, told["stream"].to_pylist()), strict=True)
    )
    assert [batches[x]["numInputRows"] for x in (0, 1)] == told.sort_by("batch_id")[
        "messages"
    ].to_pylist()
    assert batches[1]["durationMs.addBatch"] > 0
    assert batches[1]["stateOperators.numRowsTotal"] > 0


def test_a_client_that_is_killed_loses_and_doubles_nothing(embedded, server, tmp_path):
    """Its server goes on without it; the next one takes over."""
    done, lake = embedded[0] / "lake", tmp_path / "lake"
    for table in (*TOPOLOGY, SNAPSHOTS):
        shutil.copytree(done / table.name, lake / table.name)
    put(lake, 0, 10_000)
    words = ["route", "--lake", str(lake)]
    with process(server, words) as client:
        written = lake / "outcomes" / "_delta_log" / f"{1:020}.json"
        while client.poll() is None and not written.exists():
            time.sleep(0.05)
        client.kill()
    assert client.returncode == -signal.SIGKILL
    clwl(server)([words])
    for table in ("outcomes", "rejected_messages", "balance_history", "route_candidates"):
        assert rows(lake, table) == rows(done, table), table
    (run,) = DeltaTable(lake / "runs").to_pyarrow_table().to_pylist()
    assert (run["status"], run["messages"]) == ("DONE", 4212)


def test_nothing_is_left_of_a_what_if(connect):
    assert not [*connect[0].glob("lake/_checkpoints/what-if*")]
