"""What both engines are asked, and what they answer: tables by name."""

import contextlib
import io
import json
import random
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from lakes import lake_with
from pyspark.sql import DataFrame, SparkSession
from random_clusters import Case, merged_tables, random_case
from scenario_files import read_scenario, scenario_names
from worlds import put_rows

from clwl_spark.algorithm.request import REQUEST_TYPES, Request
from clwl_spark.algorithm.semantics import Semantics
from clwl_spark.cli import main
from clwl_spark.delta.lake import Lake
from clwl_spark.mq.vocabulary import Algorithm
from clwl_spark.planning.plans import Ladder, make_plans, plan_id
from clwl_spark.present.questions.running import prepared
from clwl_spark.present.questions.texts import Question as Asked
from clwl_spark.present.questions.texts import all_questions, all_views
from clwl_spark.snapshots.views import read_topology
from clwl_spark.spark.embedded import is_embedded
from clwl_spark.spark.frames import frame_from_rows
from clwl_spark.spark.materialize import checkpoint, inline
from clwl_spark.studies.shares.traffic import MESSAGES_OF
from clwl_spark.studies.sweep.outages import Part
from clwl_spark.studies.sweep.sweep import base_of, case_ends
from clwl_spark.tables import TOPOLOGY

Row = dict[str, Any]
Answers = dict[str, list[str]]
"""Rows by table, each as JSON, sorted."""
Question = Callable[[SparkSession, Path, Path], Answers]
"""Asked of (session, lake that was routed, folder of its own)."""

CASES: Final = 20
SEEDS: Final = (11, 12)
SAMPLES: Final = Path(__file__).parents[2] / "data" / "samples"
_CHANGING: Final = frozenset(
    {"seconds", "engine", "judged_at", "run_id", "validation_id", "validated_at", "report"}
)
"""Parts of documents that are others in each run."""
PUT: Final = ("--from", "DEPOT1", "--object", "PARCEL.BOOK")
COMMANDS: Final = {
    "explain": ("explain", *PUT),
    "shares": ("shares", *PUT),
    "shares-traffic": ("shares", "--traffic"),
    "trace": ("trace", *PUT),
    "xmitq": ("xmitq", "--qmgr", "DEPOT1"),
    "separation": ("separation",),
    "assert": ("assert", str(Path(__file__).with_name("facts.yml"))),
    "snapshots": ("snapshots",),
    "diff": ("diff", "demo", "night"),
    "repository": ("repository", "--qmgr", "DEPOT1"),
    "topics": ("topics",),
    "lint": ("lint",),
    "validate": ("validate", "--explain"),
    "validate-outcomes": ("validate", "--outcomes"),
    "insights": ("insights",),
    "what-if": ("what-if", "--change", "STOP CHANNEL(FREIGHT.DEPOT1) ON DEPOT1"),
    "ask": ("ask", "busiest-channels"),
}
AT_URI: Final = frozenset({"insights"})
"""Asked of Spark at a URI, where it reads by itself what it plans with."""


def questions() -> dict[str, Question]:
    """Every question by its name."""
    asked: dict[str, Question] = {
        f"random-{algorithm}-{seed}": partial(_random, seed=seed, algorithm=algorithm)
        for algorithm, seed in zip(Algorithm, SEEDS, strict=True)
    }
    asked |= {f"scenarios-{x}": partial(_scenarios, algorithm=x) for x in Algorithm}
    asked |= {
        f"clwl-{name}": partial(_commanded, words=x, at_uri=name in AT_URI)
        for name, x in COMMANDS.items()
    }
    return asked | {"views": _views, "questions": _asked, "ingest": _ingested, "sweep": _swept}


def _random(
    spark: SparkSession, _: Path, folder: Path, *, seed: int, algorithm: Algorithm
) -> Answers:
    cases = [random_case(random.Random(seed * 1_000 + n), f"C{n:02d}.") for n in range(CASES)]
    tables = merged_tables(cases)
    ids = sorted({row["snapshot_id"] for row in tables["snapshots"]})
    puts = _puts(_messages(cases))
    return _planned(spark, folder, tables, [(x, *put) for x in ids for put in puts], algorithm)


def _messages(cases: list[Case]) -> list[Row]:
    return [message for case in cases for message in case.messages]


def _scenarios(spark: SparkSession, _: Path, folder: Path, *, algorithm: Algorithm) -> Answers:
    """Every scenario, each in a snapshot of its name."""
    tables: dict[str, list[Row]] = {}
    asked = []
    for name in scenario_names():
        scenario = read_scenario(name)
        for table, rows in scenario.tables.items():
            tables.setdefault(table, []).extend(row | {"snapshot_id": name} for row in rows)
        asked += [(name, *put) for put in _puts(scenario.messages)]
    return _planned(spark, folder, tables, asked, algorithm)


def _puts(messages: list[Row]) -> list[tuple[str, ...]]:
    """What is put, after defaults, once each: (qmgr, type, object, object_qmgr, via)."""
    puts = {
        (
            x["qmgr"],
            x.get("object_type") or "QUEUE",
            x["object_name"],
            x.get("object_qmgr") or "",
            x.get("via") or "LOCAL",
        )
        for x in messages
        if x["qmgr"] and x["object_name"]
    }
    return sorted(puts)


def _planned(
    spark: SparkSession,
    folder: Path,
    tables: dict[str, list[Row]],
    asked: list[tuple[str, ...]],
    algorithm: Algorithm,
) -> Answers:
    """Plans and candidates of requests, as `REQUEST` has them."""
    lake = lake_with(spark, folder)
    for name, rows in tables.items():
        put_rows(lake, name, rows)
    rows = [Request(*x) for x in asked]
    requests = frame_from_rows(spark, rows, REQUEST_TYPES).withColumn("plan_id", plan_id())
    topology = read_topology(lake, sorted({x[0] for x in asked}), checkpoint)
    made = make_plans(requests, topology, Ladder(Semantics(algorithm)), inline)
    return {"plans": _rows(made.plans), "candidates": _rows(made.candidates)}


def _swept(spark: SparkSession, _: Path, folder: Path) -> Answers:
    """Where messages go when a channel or a queue manager fails."""
    lake = lake_with(spark, folder)
    cases = [random_case(random.Random(500 + n), f"C{n:02d}.") for n in range(10)]
    for name, rows in merged_tables(cases).items():
        put_rows(lake, name, rows)
    snapshot_id = min(row["snapshot_id"] for row in merged_tables(cases)["snapshots"])
    puts = {(x["qmgr"], x["object_name"] or "") for x in _messages(cases) if x["qmgr"]}
    rows = [(snapshot_id, q, "QUEUE", o, "", "LOCAL", None, 3) for q, o in sorted(puts) if o]
    asked = frame_from_rows(spark, rows, f"{REQUEST_TYPES}, {MESSAGES_OF} bigint")
    topology = read_topology(lake, [snapshot_id], checkpoint)
    base = base_of(asked.withColumn("plan_id", plan_id()), topology, Ladder())
    outages = base.channels.outages([Part.CHANNEL, Part.QMGR])
    return {"ends": _rows(case_ends(base, [(x,) for x in outages]))}


def _views(spark: SparkSession, routed: Path, _: Path) -> Answers:
    """Every view of the lake that was routed: all its rows."""
    found: Answers = {}
    lake = Lake(spark, str(routed))
    for name in all_views():
        whole = Asked(name=name, question=name, answers="", sql=f"SELECT * FROM {name}")  # noqa: S608
        with prepared(lake, [whole]) as named:
            found[name] = _rows(named.query(whole.sql))
    return found


def _asked(spark: SparkSession, routed: Path, _: Path) -> Answers:
    """Every question's answer, its rows in their order."""
    with prepared(Lake(spark, str(routed)), all_questions().values()) as named:
        return {
            name: [json.dumps(_steady(row.asDict(recursive=True)), default=str) for row in rows]
            for name, question in all_questions().items()
            for rows in [named.query(question.sql).collect()]
        }


def _ingested(spark: SparkSession, _: Path, folder: Path) -> Answers:
    """What the samples' texts become, at once and by a change."""
    said = _document(["ingest", str(SAMPLES / "topology"), "--snapshot", "S1"], str(folder))
    lake = Lake(spark, str(folder))
    frames = {x.name: lake.read(x.name) for x in TOPOLOGY if lake.exists(x.name)}
    kept = {name: frame.drop("loaded_at", "valid_from") for name, frame in frames.items()}
    return {"said": [said], **{name: _rows(frame) for name, frame in kept.items()}}


def _commanded(
    spark: SparkSession, routed: Path, folder: Path, *, words: tuple[str, ...], at_uri: bool
) -> Answers:
    """The document that a command prints, on a copy of the lake that was routed."""
    shutil.copytree(routed, folder)
    scheme = "file:" if at_uri and not is_embedded(spark) else ""
    return {"document": [_document(list(words), f"{scheme}{folder}")]}


def _document(words: list[str], lake: str) -> str:
    """A command's JSON document, without what changes from run to run; the order of keys counts."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        code = main([*words, "--lake", lake, "--json"])
    assert code in (0, 1), words
    text = json.dumps(_steady(json.loads(out.getvalue())), indent=1)
    return text.replace(lake, "LAKE")


def _steady(part: Any) -> Any:
    if isinstance(part, dict):
        return {x: _steady(y) for x, y in part.items() if x not in _CHANGING}
    if isinstance(part, list):
        return [_steady(x) for x in part]
    return round(part, 9) if isinstance(part, float) else part


def _rows(frame: DataFrame) -> list[str]:
    """All rows, each as JSON of its values by column; order does not count."""
    table: pa.Table = frame.toArrow()
    names = sorted(table.column_names)
    plain = table.select(names).to_pylist()
    return sorted(json.dumps(_steady(x), default=str, sort_keys=True) for x in plain)
