"""N-1 over 200 channels and 100,000 requests against one plan build; the report; explain, warm.

Goals: the sweep costs at most 10 times the planning of its requests; the report on 10 million
outcomes takes 30 s at most; `explain` 15 s in a process of its own, 1 s in a session that has
explained anything.
"""

import argparse
import json
import shutil
import sys
import time
from pathlib import Path

from processes import timed_process
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from routing import fresh_lake, make_lake

import clwl_spark
from clwl_spark.algorithm.request import REQUEST
from clwl_spark.delta.lake import Lake
from clwl_spark.planning.plans import Ladder, make_plans
from clwl_spark.snapshots.views import read_topology
from clwl_spark.spark.local import local_session, spark_session
from clwl_spark.spark.materialize import checkpoint
from clwl_spark.studies.shares.traffic import traffic_of_lake
from clwl_spark.studies.sweep.outages import Part
from clwl_spark.studies.sweep.survival import survivals
from clwl_spark.studies.sweep.sweep import base_of
from clwl_spark.studies.synthetic import GenerateSpec, topology
from clwl_spark.tables import MESSAGES, SNAPSHOTS, TOPOLOGY

QMGRS, QUEUES, INSTANCES = 200, 500, 4


def main() -> int:
    """Measure, and print one JSON document."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=10_000_000, help="0 = no report")
    parser.add_argument("--queues", type=int, default=QUEUES, help="each of 200 senders puts to")
    parser.add_argument("--work", type=Path, default=Path("build/bench-questions"))
    options = parser.parse_args()
    work = options.work.absolute()
    shutil.rmtree(work, ignore_errors=True)
    with spark_session(app_name="sweep") as spark:
        document: dict[str, object] = {"sweep": swept(spark, work / "sweep", options.queues)}
    if options.messages:
        document["report"] = reported(work, options.messages)
    shutil.rmtree(work)
    sys.stdout.write(json.dumps(document, indent=2) + "\n")
    return 0


def swept(spark: SparkSession, folder: Path, queues: int) -> dict[str, float]:
    """Seconds of planning the requests, and of taking each channel away."""
    lake = Lake(spark, str(folder))
    spec = GenerateSpec(qmgrs=QMGRS, queues=queues, instances=INSTANCES, non_default=0.05)
    lake.create([SNAPSHOTS, *TOPOLOGY, MESSAGES])
    for name, frame in topology(spark, spec).items():
        lake.append(name, frame)
    snapshot_id = lake.read("snapshots").collect()[0][0]
    tables = read_topology(lake, [snapshot_id], checkpoint)
    senders = tables.cluster_channels.select("qmgr").distinct()
    names = tables.queues.where("cluster <> ''").select(F.col("queue").alias("object_name"))
    puts = senders.crossJoin(names.distinct()).withColumn("put_seq", F.lit(1))
    columns = [
        F.col(x.name) if x.name in puts.columns else F.lit(None).cast(x.dataType).alias(x.name)
        for x in MESSAGES.schema.fields
        if x.name != "put_time"
    ]
    lake.append(MESSAGES.name, puts.select(*columns, F.current_timestamp().alias("put_time")))
    traffic = checkpoint(traffic_of_lake(lake, snapshot_id))
    asked = traffic.select("plan_id", *REQUEST)

    def planned() -> float:
        started = time.perf_counter()
        made = make_plans(asked, tables, Ladder(), checkpoint)
        checkpoint(made.plans)
        checkpoint(made.candidates)
        return time.perf_counter() - started

    planned()
    planning = planned()
    base = base_of(traffic, tables, Ladder())
    cases = [(outage,) for outage in base.channels.outages([Part.CHANNEL])]
    started = time.perf_counter()
    found = survivals(base, cases)
    sweep = time.perf_counter() - started
    requests = asked.count()
    return {
        "requests": requests,
        "hit": sum(x.requests_hit for x in found),
        "cases": len(cases),
        "planning_seconds": round(planning, 1),
        "sweep_seconds": round(sweep, 1),
        "ratio": round(sweep / planning, 2),
    }


def reported(work: Path, messages: int) -> dict[str, object]:
    """Seconds of the report on what was routed, and of explaining one put of it."""
    make_lake(work / "messages", messages, 0.0, 0.0)
    lake = fresh_lake(work / "messages", work / "routed")
    timed_process(["-m", "clwl_spark.cli", "route", "--lake", str(lake), "--json"])
    where = ["--lake", str(lake), "--json"]
    report = timed_process(["-m", "clwl_spark.cli", "report", "--out", str(work / "out"), *where])
    spark = local_session(app_name="names")
    put = Lake(spark, str(lake)).read("outcomes").select("qmgr", "object_name").head(1)[0]
    spark.stop()
    words = ["--from", put[0], "--object", put[1]]
    cold = timed_process(["-m", "clwl_spark.cli", "explain", *words, *where])
    return {
        "outcomes": messages,
        "report_seconds": round(report.seconds, 1),
        "report_counted_seconds": report.work_seconds,
        "explain_cold_seconds": round(cold.seconds, 1),
        "explain_warm_seconds": _warm(lake, *put),
    }


def _warm(lake: Path, qmgr: str, name: str) -> dict[str, float]:
    """Seconds of the first question in a session, and of others after it."""
    spark = local_session(app_name="names")
    tables = Lake(spark, str(lake))
    queues, channels = tables.read("queues"), tables.read("cluster_channels")
    queue = queues.where(f"queue <> '{name}' AND cluster <> ''").head(1)[0]["queue"]
    other = channels.where(f"qmgr <> '{qmgr}'").head(1)[0]["qmgr"]
    spark.stop()
    questions: dict[str, tuple[tuple[str, ...], dict[str, str]]] = {
        "first": ((qmgr, name), {}),
        "another object": ((qmgr, queue), {}),
        "another queue manager": ((other, name), {}),
        "object queue manager": ((qmgr, name, other), {}),
        "unknown object": ((other, "NO.SUCH.QUEUE"), {}),
        "over a channel": ((qmgr, name), {"via": "CLUSTER"}),
        "topic string": ((qmgr, "some/topic"), {"object_type": "TOPIC"}),
    }
    seconds = {}
    with clwl_spark.lake(str(lake)) as opened:
        for what, (words, options) in questions.items():
            started = time.perf_counter()
            opened.explain(*words, **options)
            seconds[what] = round(time.perf_counter() - started, 2)
    return seconds


if __name__ == "__main__":
    sys.exit(main())
