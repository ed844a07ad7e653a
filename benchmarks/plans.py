"""Planning as the distinct requests grow, the rules on their candidates, and a changed snapshot.

A thousand queue managers, each in both of two clusters, put to two thousand queues with four
instances. Goals: seconds per candidate row do not grow, and what comes to the driver neither; the
rules take at most 2.5 times what DuckDB takes; a snapshot that changes 1 % costs about 1 % again.
"""

import argparse
import json
import shutil
import sys
import time
from pathlib import Path

import ladder
from hops import put_rows
from processes import timed_process
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from stages import read_log

from clwl_spark.cli.route import route_options
from clwl_spark.delta.lake import Lake
from clwl_spark.routing.run import route
from clwl_spark.settings import read_settings
from clwl_spark.spark.local import spark_session
from clwl_spark.studies.synthetic import GenerateSpec, draw, topology
from clwl_spark.tables import MESSAGES, ROUTE_CANDIDATES, ROUTE_PLANS, SNAPSHOTS, TOPOLOGY
from clwl_spark.tables import columns as c

SPEC = GenerateSpec(
    qmgrs=1_000, queues=2_000, instances=4, overlap=1.0, snapshots=2, changed=0.01, non_default=0.05
)
LATER = 10_000_000
ROUNDS = 3


def main() -> int:
    """Measure each number of requests in a process of its own, and print one JSON document."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, nargs="+", default=[100_000, 300_000, 1_000_000])
    parser.add_argument("--changed", type=int, default=1_000_000, help="planned again up to here")
    parser.add_argument("--work", type=Path, default=Path("build/bench-plans"))
    options = parser.parse_args()
    words = ["--changed", str(options.changed), "--work", str(options.work)]
    if len(options.requests) > 1:
        each = [[str(Path(__file__)), "--requests", str(x), *words] for x in options.requests]
        document = [row for command in each for row in timed_process(command).output["planned"]]
    else:
        requests = options.requests[0]
        folder = options.work.absolute() / str(requests)
        document = [planned(folder, requests, again=requests <= options.changed)]
    sys.stdout.write(json.dumps({"planned": document}, indent=2) + "\n")
    return 0


def planned(folder: Path, requests: int, *, again: bool) -> dict[str, float]:
    """Plan so many requests by routing one message of each; `again` in the second snapshot too."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "log").mkdir(parents=True)
    log = {"enabled": "true", "dir": (folder / "log").as_uri(), "compress": "false"}
    settings = {f"spark.eventLog.{name}": value for name, value in log.items()}
    with spark_session(settings, "plans") as spark:
        lake = Lake(spark, str(folder / "lake"))
        lake.create([SNAPSHOTS, *TOPOLOGY, MESSAGES])
        for name, frame in topology(spark, SPEC).items():
            lake.append(name, frame)
        puts = put_rows(spark, requests, *_names())
        figures: dict[str, float] = {"requests": requests, **_planned(lake, puts)}
        rows = lake.read(ROUTE_CANDIDATES.name).count()
        figures |= {"candidates": rows, "microseconds_per_candidate": _micros(figures, rows)}
        figures |= {f"rules_{name}": x for name, x in _rules(spark, lake, folder).items()}
        if again:
            later = {
                c.PUT_SEQ: F.col(c.PUT_SEQ) + LATER,
                c.PUT_TIME: F.col(c.PUT_TIME) + F.lit(SPEC.snapshot_interval),
            }
            found = _planned(lake, puts.withColumns(later))
            plans = lake.read(ROUTE_PLANS.name).count() - requests
            figures |= {"again_seconds": found["planning_seconds"], "again_plans": plans}
    done = read_log(folder / "log")
    shutil.rmtree(folder)
    return figures | {"to_driver_mib": done.to_driver / 2**20, "jobs": done.jobs}


def _names() -> tuple[Column, Column]:
    """Queue manager and queue of each number: every one puts to one queue, then to the next."""
    number = F.col("id") - 1
    qmgr = draw.qmgr_name(SPEC, number % SPEC.qmgrs)
    return qmgr, draw.queue_name(SPEC, draw.whole(number, SPEC.qmgrs))


def _planned(lake: Lake, puts: DataFrame) -> dict[str, float]:
    """Seconds that planning took, and routing as a whole."""
    lake.append(MESSAGES.name, puts)
    began: dict[str, float] = {}

    def tell(stage: str, _done: int, _of: int) -> None:
        began.setdefault(stage, time.perf_counter())

    summary = route(lake, route_options(read_settings()), tell)
    return {
        "planning_seconds": round(began["routing"] - began["planning"], 2),
        "route_seconds": summary.seconds,
    }


def _micros(figures: dict[str, float], rows: int) -> float:
    return round(figures["planning_seconds"] / rows * 1e6, 2)


def _rules(spark: SparkSession, lake: Lake, folder: Path) -> dict[str, float]:
    """The rules on the lake's candidates, in Spark and in DuckDB."""
    files = str(folder / "candidates.parquet")
    rows = lake.read(ROUTE_CANDIDATES.name).drop(c.ELIMINATED_BY)
    numbered = rows.withColumn(ladder.ROW_ID, F.monotonically_increasing_id())
    numbered.write.parquet(files)
    return ladder.compare_on(spark, files, folder, ROUNDS)


if __name__ == "__main__":
    sys.exit(main())
