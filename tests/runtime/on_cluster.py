"""A program: routes lakes on a cluster, one after the other in one session.

`on_cluster.py MASTER ENGINE=LAKE ...` prints a JSON list of what each run came to.
"""

import json
import sys

from clwl_spark.delta.lake import Lake
from clwl_spark.routing.run import RouteOptions, route
from clwl_spark.spark.local import spark_session
from clwl_spark.spark.local_settings import SMALL_WORK

if __name__ == "__main__":
    master, *asked = sys.argv[1:]
    workers = {"spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
    with spark_session({**SMALL_WORK, **workers, "spark.master": master}) as spark:
        runs = []
        for engine, lake in (x.split("=", 1) for x in asked):
            run = route(Lake(spark, lake), RouteOptions(engine=engine))
            runs.append({"engine": run.engine, "rejected": run.rejected})
    json.dump(runs, sys.stdout)
