"""Answers of the engine embedded: commands as whole processes, planning, rules, a sweep.

Commands run in turns with those of an earlier checkout, if one is given (`--before`), on copies of
the same lakes. Goals: `LIMITS`, and for planning 15 s for 100,000 requests, 150 for a million
within 3 GiB, planned in parts, since plans do not know of one another; for the rules 1.5 times
DuckDB; for 240 channels taken away from 100,000 requests 4 s.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import asking
import ladder
from dumps import dump
from hops import put_rows
from processes import timed_process
from pyspark.sql import functions as F

from clwl_spark.algorithm.request import REQUEST
from clwl_spark.delta.lake import Lake
from clwl_spark.planning.plans import Ladder, make_plans, plan_id
from clwl_spark.snapshots.views import read_topology
from clwl_spark.spark.embedded import embedded_session
from clwl_spark.spark.materialize import checkpoint
from clwl_spark.studies.synthetic import GenerateSpec, draw, topology
from clwl_spark.tables import SNAPSHOTS, TOPOLOGY
from clwl_spark.tables import columns as c

SAMPLES = Path(__file__).parents[1] / "data" / "samples"
PUT = ("--from", "DEPOT1", "--object", "PARCEL.BOOK")
GENERATED = ("--from", "QM00001", "--object", "QUEUE.00001")
DEMO: Mapping[str, tuple[str, ...]] = {
    "explain": ("explain", *PUT),
    "shares": ("shares", *PUT),
    "trace": ("trace", *PUT),
    "xmitq": ("xmitq", "--qmgr", "DEPOT1"),
    "snapshots": ("snapshots",),
    "diff": ("diff", "demo", "night"),
    "repository": ("repository", "--qmgr", "DEPOT1"),
    "lint": ("lint",),
    "validate": ("validate",),
    "ask": ("ask", "idle-hosts"),
    "insights": ("insights",),
    "report": ("report", "--out", "{work}/report"),
    "what-if": ("what-if", "--change", "STOP CHANNEL(FREIGHT.DEPOT1) ON SHOP1"),
    "what-if --sweep all": ("what-if", "--sweep", "all"),
}
LIMITS = {
    **dict.fromkeys(DEMO, 1.5),
    **dict.fromkeys(("lint", "validate", "ask", "insights", "report"), 3.0),
    "what-if": 3.0,
    "what-if --sweep all": 4.0,
    "ingest, the demo's texts": 2.0,
    "ingest, a dump of 5,000 objects": 3.0,
    "demo": 10.0,
    "explain, 50 queue managers": 1.5,
    "explain, 1,000 queue managers, a million statuses": 4.0,
}
SPECS = {
    "explain, 50 queue managers": GenerateSpec(qmgrs=50),
    "explain, 1,000 queue managers, a million statuses": GenerateSpec(
        qmgrs=1_000, queues=2_000, clusters=1, instances=4
    ),
}
PLANNED = GenerateSpec(qmgrs=1_000, queues=2_000, instances=4, overlap=1.0, non_default=0.05)
PART = 100_000
"""Requests that are planned at once."""
_REFUSED = 1
"""What a gate that says no ends with."""


def main() -> int:
    """Measure what is asked for, and print one JSON document."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", type=Path, help="checkout of an earlier version")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--requests", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--work", type=Path, default=Path("build/bench-at-once"))
    options = parser.parse_args()
    options.work = options.work.absolute()
    shutil.rmtree(options.work, ignore_errors=True)
    options.work.mkdir(parents=True)
    document = {name: PARTS[name](options) for name in options.only}
    shutil.rmtree(options.work)
    sys.stdout.write(json.dumps(document, indent=2) + "\n")
    return 0


def commands(options: argparse.Namespace) -> list[dict[str, object]]:
    """Median seconds of each command, now and before."""
    work = options.work
    demo = work / "demo"
    timed_process(["-m", "clwl_spark.cli", "demo", "--lake", str(demo), "-q"], reads_json=False)
    (work / "dump").mkdir()
    (work / "dump" / "QM1.mqsc").write_text(dump("QM1", 1))
    asked = {name: (demo, words) for name, words in DEMO.items()}
    texts = {
        "ingest, the demo's texts": SAMPLES / "topology",
        "ingest, a dump of 5,000 objects": work / "dump",
    }
    asked |= {
        name: (work / "new", ("ingest", str(folder), "--snapshot", "S1"))
        for name, folder in texts.items()
    }
    asked["demo"] = (work / "new", ("demo",))
    for at, (name, spec) in enumerate(SPECS.items()):
        lake = work / f"generated-{at}"
        _write(lake, spec)
        asked[name] = (lake, ("explain", *GENERATED))
    return [_measured(options, name, *way) for name, way in asked.items()]


def _measured(
    options: argparse.Namespace, name: str, lake: Path, words: tuple[str, ...]
) -> dict[str, object]:
    sides = {"now": Path(__file__).parents[1]} | (
        {"before": options.before.absolute()} if options.before else {}
    )
    seconds: dict[str, list[float]] = {side: [] for side in sides}
    for _ in range(options.rounds):
        for side, checkout in sides.items():
            copy = options.work / "copy"
            shutil.rmtree(copy, ignore_errors=True)
            if lake.is_dir():
                shutil.copytree(lake, copy)
            seconds[side].append(_seconds(checkout, copy, [x.format(work=copy) for x in words]))
    medians = {side: round(statistics.median(x), 2) for side, x in seconds.items()}
    return {"command": name, **medians, "limit": LIMITS[name]}


def _seconds(checkout: Path, lake: Path, words: list[str]) -> float:
    """Seconds of a command of a checkout, a whole process."""
    command = [sys.executable, "-m", "clwl_spark.cli", *words, "--lake", str(lake), "--json"]
    env = {**os.environ, "PYTHONPATH": str(checkout)}
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, cwd=checkout, env=env, check=False)  # noqa: S603
    seconds = time.perf_counter() - start
    if done.returncode not in (0, _REFUSED):
        sys.exit(f"{words} ended with {done.returncode}: {done.stderr.decode()[-500:]}")
    return seconds


def _write(folder: Path, spec: GenerateSpec) -> None:
    with embedded_session() as spark:
        lake = Lake(spark, str(folder))
        lake.create([SNAPSHOTS, *TOPOLOGY])
        for name, frame in topology(spark, spec).items():
            lake.append(name, frame)


def plans(options: argparse.Namespace) -> list[dict[str, object]]:
    """Planning so many requests, each number in a process of its own."""
    if len(options.requests) > 1:
        each = [
            [str(Path(__file__)), "--only", "plans", "--requests", str(x)] for x in options.requests
        ]
        found = []
        for command in each:
            run = timed_process([*command, "--work", str(options.work / "plans")])
            found.append({**run.output["plans"][0], "mib": round(run.python_mib or 0)})
        return found
    return [_planned(options.work / "lake", options.requests[0])]


def _planned(folder: Path, requests: int) -> dict[str, object]:
    _write(folder, PLANNED)
    with embedded_session() as spark:
        number = F.col("id") - 1
        qmgr = draw.qmgr_name(PLANNED, number % PLANNED.qmgrs)
        queue = draw.queue_name(PLANNED, draw.whole(number, PLANNED.qmgrs))
        lake = Lake(spark, str(folder))
        snapshot_id = lake.rows(SNAPSHOTS.name)[0][c.SNAPSHOT_ID]
        puts = put_rows(spark, requests, qmgr, queue)
        named = {c.SNAPSHOT_ID: F.lit(snapshot_id), c.OBJECT_TYPE: F.lit("QUEUE")}
        named |= {c.OBJECT_QMGR: F.lit(""), c.VIA: F.lit("LOCAL")}
        asked = checkpoint(
            puts.withColumns(named).select(*REQUEST).withColumn(c.PLAN_ID, plan_id())
        )
        start = time.perf_counter()
        tables = read_topology(lake, [snapshot_id], checkpoint)
        parts = -(-requests // PART)
        candidates = 0
        for part in range(parts):
            some = asked.where(F.pmod(c.PLAN_ID, F.lit(parts)) == part)
            made = make_plans(some, tables, Ladder(), checkpoint)
            made.plans.toArrow()
            candidates += made.candidates.toArrow().num_rows
        seconds = time.perf_counter() - start
    return {"requests": requests, "candidates": candidates, "seconds": round(seconds, 1)}


def rules(_: argparse.Namespace) -> dict[str, object]:
    """The rules on two million candidates, and DuckDB on the same SQL."""
    with TemporaryDirectory(prefix="clwl-ladder-") as work, embedded_session() as spark:
        return ladder.compare(spark, Path(work), 2_000_000, 3)


def sweep(options: argparse.Namespace) -> dict[str, float]:
    """Each channel taken away."""
    with embedded_session() as spark:
        return asking.swept(spark, options.work / "sweep", asking.QUEUES)


PARTS: Mapping[str, Callable[[argparse.Namespace], object]] = {
    "commands": commands,
    "plans": plans,
    "rules": rules,
    "sweep": sweep,
}


if __name__ == "__main__":
    sys.exit(main())
