"""Which engine answers, and how it ends."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path

import grpc
import pytest
from lakes import lake_with
from pyspark.errors import PySparkException
from pyspark.sql.connect.client.retries import Retrying
from worlds import put_rows

from clwl_spark.cli.failures import failure, refusals_named
from clwl_spark.delta import sessions
from clwl_spark.delta.lake import Lake
from clwl_spark.delta.sessions import Engine, choose_engine
from clwl_spark.errors import EngineError, MissingLakeError, PlanRefusedError
from clwl_spark.settings import read_settings
from clwl_spark.spark import embedded
from clwl_spark.spark.embedded import SAIL, plain_path, why_not_here

TABLE = "snapshots"
SNAPSHOT = {"snapshot_id": "S1", "status": "VALID"}


@pytest.fixture
def folder(spark, tmp_path):
    """A lake's folder with one row."""
    lake = lake_with(spark, tmp_path / "lake", [TABLE])
    put_rows(lake, TABLE, [SNAPSHOT])
    return Path(lake.root)


@pytest.fixture
def alone(monkeypatch):
    """As in a process without a session."""
    monkeypatch.setattr(sessions, "running_session", lambda: None)
    for name in ("SPARK_REMOTE", "PYSPARK_GATEWAY_PORT"):
        monkeypatch.delenv(name, raising=False)


def settings(folder, *assignments):
    return read_settings(None, assignments, {"lake": str(folder)})


def needing(folder, *features):
    """Make the table one that asks its readers for features."""
    log = folder / TABLE / "_delta_log" / f"{0:020}.json"
    actions = [json.loads(line) for line in log.read_text().splitlines()]
    protocol = {"minReaderVersion": 3, "minWriterVersion": 7}
    named = {"readerFeatures": list(features), "writerFeatures": list(features)}
    kept = [{"protocol": protocol | named} if "protocol" in x else x for x in actions]
    log.write_text("".join(f"{json.dumps(x)}\n" for x in kept))


@pytest.mark.usefixtures("alone")
def test_a_small_lake_in_a_folder_is_answered_by_the_engine_embedded(folder):
    choice = choose_engine(settings(folder), [TABLE, "queues"])
    assert (choice.engine, choice.why, choice.rows) == (Engine.EMBEDDED, "", 1)


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize(
    ("assignments", "why"),
    [
        (["embedded_rows=0"], "1 rows are to be read, more than embedded_rows = 0"),
        (["engine=spark"], "engine spark is asked for"),
        (["engine=arrow"], "engine arrow is asked for"),
    ],
)
def test_settings_lead_to_spark(folder, assignments, why):
    choice = choose_engine(settings(folder, *assignments), [TABLE])
    assert (choice.engine, choice.why, choice.rows) == (Engine.SPARK, why, 1)


@pytest.mark.usefixtures("alone")
def test_other_places_lead_to_spark():
    places = ({"lake": "hdfs://names/lake"}, {"lake": "file:///a/lake"}, {"catalog": "main.mq"})
    for place in places:
        named = read_settings(None, (), place)
        choice = choose_engine(named, [TABLE])
        assert choice.engine is Engine.SPARK
        assert next(iter(place.values())) in choice.why
        is_elsewhere = "hdfs" in choice.why
        assert ("is no folder of this machine" in choice.why) is is_elsewhere
        with pytest.raises(EngineError, match="give --engine spark"):
            choose_engine(named.model_copy(update={"engine": "embedded"}), [TABLE])


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("feature", ["deletionVectors", "columnMapping", "v2Checkpoint"])
def test_a_table_with_features_that_are_not_known_leads_to_spark(folder, feature):
    needing(folder, feature)
    choice = choose_engine(settings(folder), [TABLE])
    assert choice.engine is Engine.SPARK
    assert TABLE in choice.why
    with pytest.raises(EngineError, match=TABLE) as caught:
        choose_engine(settings(folder, "engine=embedded"), [TABLE])
    assert failure(caught.value)[1] == 2


def test_a_table_that_became_unreadable_is_refused_when_it_is_read(spark, folder):
    needing(folder, "columnMapping")
    with pytest.raises((EngineError, MissingLakeError)):
        Lake(spark, str(folder)).read(TABLE)


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("variable", ["SPARK_REMOTE", "PYSPARK_GATEWAY_PORT"])
def test_a_session_that_was_prepared_is_used(folder, monkeypatch, variable):
    monkeypatch.setenv(variable, "sc://somewhere")
    choice = choose_engine(settings(folder), [TABLE])
    assert (choice.engine, choice.why) == (Engine.SPARK, "a session is given")
    assert choose_engine(settings(folder, "engine=embedded"), [TABLE]).engine is Engine.EMBEDDED


@pytest.mark.usefixtures("alone")
def test_without_sail_or_with_another_one_spark_answers_and_one_line_says_so(folder, monkeypatch):
    def absent(_name):
        raise metadata.PackageNotFoundError

    for version, said in ((absent, "not installed"), (lambda _: "0.0.1", "pysail is 0.0.1")):
        monkeypatch.setattr(embedded.metadata, "version", version)
        assert said in why_not_here()
        assert f"pip install pysail=={SAIL}" in why_not_here()
        choice = choose_engine(settings(folder), [TABLE])
        assert choice.engine is Engine.SPARK
        assert choice.is_lacking


@pytest.mark.usefixtures("alone")
def test_what_spark_alone_does_says_so(folder):
    assert choose_engine(settings(folder), [TABLE], "because").why == "because"
    with pytest.raises(EngineError, match="because"):
        choose_engine(settings(folder, "engine=embedded"), [TABLE], "because")


def test_a_plan_that_sail_refuses_is_one_sentence_with_the_remedy(spark):
    with pytest.raises(PlanRefusedError) as caught, refusals_named("explain"):
        spark.sql("SELECT no_such_function(1)").collect()
    said, code = failure(caught.value)
    assert said.startswith("clwl explain: ")
    assert said.endswith("--engine spark")
    assert "\n" not in said
    assert code == 3


def test_folders_with_unusual_names_are_read(spark, folder, monkeypatch, tmp_path):
    place = tmp_path / "we ird [1] {a,b} 100% ü*?#x"
    shutil.copytree(folder, place)
    monkeypatch.setattr("clwl_spark.delta.reads.INLINE_ROWS", 0)
    rows = Lake(spark, str(place)).read(TABLE).collect()
    assert [row.snapshot_id for row in rows] == ["S1"]
    assert plain_path(spark, "/a/b.c-1=2") == "/a/b.c-1=2"


PROGRAM = textwrap.dedent(
    """
    import os, sys, time
    from clwl_spark.spark.embedded import embedded_session
    with embedded_session() as session:
        assert session.range(3).count() == 3
        print(session.client.host.rpartition(":")[2] if ":" in session.client.host
              else session.client._builder.endpoint.rpartition(":")[2], flush=True)
        time.sleep(60)
    """
)


def is_open(port):
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0


def test_the_server_ends_with_its_process_even_when_that_is_killed():
    running = subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, text=True)
    assert running.stdout is not None
    port = int(running.stdout.readline())
    assert is_open(port)
    listening = Path("/proc/net/tcp")
    if listening.exists():
        here = [x.split()[1] for x in listening.read_text().splitlines() if f":{port:04X}" in x]
        assert "0100007F" in {x.split(":")[0] for x in here}
        assert "00000000" not in {x.split(":")[0] for x in here}
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    running.stdout.close()
    assert not is_open(port)


PANICS = textwrap.dedent(
    """
    import sys
    from clwl_spark.spark.embedded import embedded_session, without_panic_texts
    with without_panic_texts(), embedded_session() as session:
        sys.stderr.write("ours\\n")
        try:
            session.sql("SELECT explode(map(1, 2))").collect()
        except Exception:
            pass
    sys.stderr.write("and again\\n")
    """
)


def test_a_panic_of_sail_prints_nothing():
    done = subprocess.run(
        [sys.executable, "-c", PANICS], capture_output=True, text=True, check=True
    )
    assert done.stderr.splitlines() == ["ours", "and again"]


def test_a_session_from_which_nothing_came_for_long_is_not_forgotten(monkeypatch):
    monkeypatch.setenv("SAIL_SPARK__SESSION_TIMEOUT_SECS", "1")
    monkeypatch.setattr(embedded, "_ALIVE_SECONDS", 0.2)
    with embedded.embedded_session() as session:
        kept = session.range(3)
        assert kept.count() == 3
        time.sleep(3)
        assert kept.count() == 3


@pytest.fixture
def breaking():
    """A channel to a server whose calls and queries break off twice, and then give b"done"."""
    broken = Counter()

    def answered(_request, context):
        broken["calls"] += 1
        if broken["calls"] <= 2:
            context.abort(grpc.StatusCode.INTERNAL, "handler panicked")
        return b"done"

    def queried(_request, context):
        yield b"a row"
        context.abort(grpc.StatusCode.UNAVAILABLE, "connection lost")

    handlers = {
        "call": grpc.unary_unary_rpc_method_handler(answered),
        "query": grpc.unary_stream_rpc_method_handler(queried),
    }
    server = grpc.server(ThreadPoolExecutor(1))
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("engine", handlers)])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        yield channel
    server.stop(None)


def test_a_call_that_broke_off_is_made_again_and_a_query_is_not(spark, breaking):
    def retried(ask):
        for attempt in Retrying(spark.client.get_retry_policies()):
            with attempt:
                ask()

    answers, rows = [], []
    retried(lambda: answers.append(breaking.unary_unary("/engine/call")(b"")))
    assert answers == [b"done"]
    with pytest.raises(grpc.RpcError, match="connection lost"):
        retried(lambda: rows.extend(breaking.unary_stream("/engine/query")(b"")))
    assert rows == [b"a row"]


def test_what_sail_says_of_a_plan_is_not_asked_again(spark):
    frame = spark.sql("SELECT no_such_function(1)")
    begun = time.monotonic()
    with pytest.raises(PySparkException):
        _ = frame.schema
    assert time.monotonic() - begun < 2
