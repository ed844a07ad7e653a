"""`clwl route --hops 3` against `clwl route`, on the same messages, each a process of its own.

Every message takes three hops: an application's queue manager, one of four gateways with an alias,
one of eight servers with the queue. Goal: following them costs at most 4 times the routing of the
first hop.
"""

import argparse
import json
import shutil
import statistics
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from processes import Run, timed_process
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from routing import fresh_lake

from clwl_spark import tables as schemas
from clwl_spark.delta.lake import Lake
from clwl_spark.spark.local import local_session

SENDERS, GATEWAYS, SERVERS = 20, 4, 8
START = datetime(2026, 1, 1, tzinfo=UTC)


def main() -> int:
    """Measure, and print one JSON document."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--work", type=Path, default=Path("build/bench-hops"))
    options = parser.parse_args()
    shutil.rmtree(options.work, ignore_errors=True)
    pristine = options.work / "pristine"
    make_lake(pristine, options.messages)
    pairs = [(_run(pristine, options.work), _run(pristine, options.work, "--hops", "3"))
             for _ in range(options.rounds)]  # fmt: skip
    shutil.rmtree(options.work)
    first, followed = ([run.seconds for run in runs] for runs in zip(*pairs, strict=True))
    document = {
        "messages": options.messages,
        "route_seconds": round(statistics.median(first), 1),
        "hops_seconds": round(statistics.median(followed), 1),
        "ratio": round(statistics.median(followed) / statistics.median(first), 2),
        "hops": pairs[-1][1].output["hops"],
    }
    sys.stdout.write(json.dumps(document, indent=2) + "\n")
    return 0


def _run(pristine: Path, work: Path, *words: str) -> Run:
    lake = fresh_lake(pristine, work / "routed")
    run = timed_process(["-m", "clwl_spark.cli", "route", "--lake", str(lake), *words, "--json"])
    shutil.rmtree(lake)
    return run


def make_lake(folder: Path, messages: int) -> None:
    """Applications in cluster FRONT, gateways in both clusters, servers in BACK; messages."""
    spark = local_session(app_name="make lake")
    lake = Lake(spark, str(folder.absolute()))
    rows: dict[str, list[dict[str, object]]] = {name: [] for name in ("cluster_channels", "queues")}
    for count, name, clusters in (
        (SENDERS, "APP", ("FRONT",)),
        (GATEWAYS, "GATE", ("FRONT", "BACK")),
        (SERVERS, "SERVER", ("BACK",)),
    ):
        for number in range(count):
            qmgr = {"snapshot_id": "S1", "observer": "*", "qmgr": f"{name}{number}"}
            for cluster in clusters:
                channel = {"channel": f"{cluster}.{name}{number}", "cluster": cluster}
                rows["cluster_channels"].append(qmgr | channel)
            if name == "GATE":
                target = {"qtype": "QALIAS", "target": "ORDERS", "defbind": "NOTFIXED"}
                rows["queues"].append(qmgr | {"queue": "IN", "cluster": "FRONT"} | target)
            if name == "SERVER":
                rows["queues"].append(qmgr | {"queue": "ORDERS", "cluster": "BACK"})
    rows["snapshots"] = [{"snapshot_id": "S1", "valid_from": START, "status": "VALID"}]
    lake.create(schemas.TABLES[name] for name in (*rows, "messages"))
    for name, found in rows.items():
        table = schemas.TABLES[name]
        cells = [tuple(row.get(column) for column in table.names) for row in found]
        lake.append(name, spark.createDataFrame(cells, table.schema))
    qmgr = F.concat(F.lit("APP"), F.col("id") % SENDERS)
    lake.append("messages", put_rows(spark, messages, qmgr, "IN"))
    spark.stop()


def put_rows(
    spark: SparkSession, messages: int, qmgr: Column | str, object_name: Column | str
) -> DataFrame:
    """Rows of `messages`, a millisecond apart, from `qmgr` to `object_name`: names, or by `id`."""
    number = F.col("id")
    put = {
        "qmgr": F.lit(qmgr),
        "put_seq": number,
        "message_id": F.unhex(F.sha1(number.cast("string"))),
        "put_time": F.lit(START + timedelta(seconds=1)) + F.make_dt_interval(secs=number / 1000),
        "object_name": F.lit(object_name),
    }
    fields = schemas.MESSAGES.schema.fields
    columns = [put.get(x.name, F.lit(None)).cast(x.dataType).alias(x.name) for x in fields]
    return spark.range(1, messages + 1).select(*columns)


if __name__ == "__main__":
    sys.exit(main())
