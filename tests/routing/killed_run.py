"""Routes a lake in a process of its own and kills that process, JVM and workers at a point.

Usage: killed_run.py LAKE POINT ENGINE, where POINT is `after:TABLE` (just after the table's commit)
or seconds from the start of routing.
"""

import os
import signal
import sys
import threading
from contextlib import nullcontext
from typing import Any

from clwl_spark.routing.run import RouteOptions, route
from clwl_spark.spark.embedded import embedded_session
from clwl_spark.spark.local import local_session
from clwl_spark.spark.local_settings import SMALL_WORK
from clwl_spark.storage import Lake

SPARK = {**SMALL_WORK, "spark.master": "local[2]", "spark.sql.shuffle.partitions": "2"}


def die() -> None:
    """Leave no process of this group time for anything."""
    os.killpg(os.getpgrp(), signal.SIGKILL)


def die_after(name: str) -> None:
    """Die when a table was written, before anything else happens."""
    for method in ("append", "merge", "add_files"):
        original = getattr(Lake, method)

        def write(lake: Lake, table: str, *rest: Any, _write: Any = original) -> None:
            _write(lake, table, *rest)
            if table == name:
                die()

        setattr(Lake, method, write)


def main(root: str, point: str, engine: str) -> None:
    """Route, and be killed."""
    with embedded_session() if engine == "embedded" else nullcontext(local_session(SPARK)) as spark:
        if point.startswith("after:"):
            die_after(point.removeprefix("after:"))
        else:
            threading.Timer(float(point), die).start()
        route(Lake(spark, root), RouteOptions(state_partitions=3, engine=engine))
        die()


if __name__ == "__main__":
    main(*sys.argv[1:])
