"""A lake of the samples, worked on by whole commands: without Java, or over Spark Connect."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from deltalake import DeltaTable

from clwl_spark.cli.samples import sample_messages, samples_folder
from clwl_spark.delta.creation import create_in_folder
from clwl_spark.delta.writes import append_rows
from clwl_spark.tables import MESSAGES

Clwl = Callable[[list[list[str]]], list[Any]]
"""Runs commands in a process, one after the other, and gives the document of each."""
PROGRAM: Final = Path(__file__).with_name("in_turn.py")
RECORDER: Final = PROGRAM.with_name("recorder.py")

INGEST: Final = [
    *("ingest", str(samples_folder() / "topology")),
    *("--snapshot", "demo", "--valid-from", "2026-09-14T06:00:00Z"),
]
"""The samples' topology as snapshot `demo`; where to is left out."""
OF_ONE_RUN: Final = frozenset(
    {
        "engine",
        "finished_at",
        "judged_at",
        "loaded_at",
        "query_id",
        "rejected_at",
        "report",
        "router_id",
        "run_id",
        "seconds",
        "started_at",
        "validation_id",
        "versions",
        # How far tables were taken is in the checkpoint alone where a server has it.
        "checkpoint",
        "memory_version",
        "messages_from",
        "messages_id",
        "messages_version",
        "outcomes_from",
        "outcomes_id",
        "outcomes_version",
        "stream",
        "worker_peak_mib",
    }
)
"""What two runs of the same work do not have in common."""


def clwl(server: str | None) -> Clwl:
    """Commands in a process of their own, which knows of a server, or of none."""
    return _typed(_environment(server), [str(PROGRAM)], [])


def serverless(server: str, asked: Path) -> Clwl:
    """Commands with the profile `serverless`, in a process that knows of a server.

    Args:
        server: its address.
        asked: a file that gets what the server is asked for.
    """
    program = [str(RECORDER), str(asked)]
    return _typed(_environment(server), program, ["--profile", "serverless"])


def _typed(environment: dict[str, str], program: list[str], options: list[str]) -> Clwl:
    def run(commands: list[list[str]]) -> list[Any]:
        done = subprocess.run(
            [sys.executable, *program],
            input=json.dumps([[*words, *options, "--json"] for words in commands]),
            env=environment | {"PYTHONPATH": str(PROGRAM.parents[1])},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        answers = json.loads(done.stdout)
        for words, (code, _, said) in zip(commands, answers, strict=True):
            assert code == 0, (words, said)
        return [json.loads(out) for _, out, _ in answers]

    return run


def process(server: str | None, words: list[str]) -> subprocess.Popen[str]:
    """A command that has begun."""
    return subprocess.Popen(
        [sys.executable, "-m", "clwl_spark.cli", *words, "--json"],
        env=_environment(server),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _environment(server: str | None) -> dict[str, str]:
    return {**os.environ, **({"SPARK_REMOTE": server} if server else {})}


def messages(first: int, end: int) -> pa.Table:
    """Some of the samples' messages."""
    rows = list(sample_messages(samples_folder() / "messages.csv"))[first:end]
    named = [dict(zip(MESSAGES.names, row, strict=True)) for row in rows]
    return pa.Table.from_pylist(named, schema=MESSAGES.arrow(MESSAGES.names))


def put(lake: Path, first: int, end: int) -> None:
    """Append some of the samples' messages, without any session."""
    folder = str(lake / MESSAGES.name)
    create_in_folder(folder, MESSAGES)
    assert append_rows(folder, MESSAGES, messages(first, end), None)


def rows(lake: Path, table: str) -> list[str]:
    """A table's rows in order, without what two runs do not have in common."""
    found = DeltaTable(lake / table).to_pyarrow_table()
    kept = [x for x in sorted(found.column_names) if x not in OF_ONE_RUN]
    return sorted(map(str, found.select(kept).to_pylist()))


def tables(lake: Path) -> list[str]:
    """The lake's tables."""
    return sorted(x.parent.name for x in lake.glob("*/_delta_log"))


def comparable(document: Any) -> Any:
    """A document without what two runs do not have in common."""
    if isinstance(document, dict):
        return {x: comparable(y) for x, y in document.items() if x not in OF_ONE_RUN}
    if isinstance(document, str):
        # Commands that a report gives name their lake.
        return document.partition(" --lake ")[0]
    return [*map(comparable, document)] if isinstance(document, list) else document
