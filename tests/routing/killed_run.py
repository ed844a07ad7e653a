"""Routes a lake in a process of its own, and kills it, its group or one of its workers at a point.

Usage: killed_run.py LAKE POINT ENGINE [VICTIM [WORKERS]], where POINT is `after:TABLE` (just after
the table's commit), seconds from the start of routing, or `never`; VICTIM is `group` (JVM and
workers too), `parent` (this process alone) or `worker` (another process of the group); and WORKERS
is `workers` where worker processes route however few messages there are.
"""

import os
import random
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

from clwl_spark.delta.lake import Lake
from clwl_spark.errors import WorkerLostError
from clwl_spark.routing.engines import embedded
from clwl_spark.routing.run import RouteOptions, route
from clwl_spark.spark.embedded import embedded_session
from clwl_spark.spark.local import local_session
from clwl_spark.spark.local_settings import SMALL_WORK

SPARK = {**SMALL_WORK, "spark.master": "local[2]", "spark.sql.shuffle.partitions": "2"}
NEVER = "never"


def kill(victim: str) -> None:
    """Leave processes no time for anything."""
    if victim == "group":
        os.killpg(os.getpgrp(), signal.SIGKILL)
    elif victim == "parent":
        os.kill(os.getpid(), signal.SIGKILL)
    elif others := _others_of_group():
        os.kill(random.choice(others), signal.SIGKILL)


def _others_of_group() -> list[int]:
    """Processes of this one's group, but for itself."""
    numbers = [int(x.name) for x in Path("/proc").iterdir() if x.name.isdecimal()]
    return [x for x in numbers if x != os.getpid() and _group_of(x) == os.getpgrp()]


def _group_of(process: int) -> int:
    try:
        return os.getpgid(process)
    except ProcessLookupError:
        return 0


def do_after(name: str, happens: Callable[[], None]) -> None:
    """Let something happen when a table was written, before anything else does."""
    for method in ("append", "merge", "add_files"):
        original = getattr(Lake, method)

        def write(lake: Lake, table: str, *rest: Any, _write: Any = original) -> None:
            _write(lake, table, *rest)
            if table == name:
                happens()

        setattr(Lake, method, write)


def main(root: str, point: str, engine: str, victim: str = "group", workers: str = "") -> None:
    """Route, and be killed; at the end, if not before."""
    if workers:
        embedded.HERE_ROWS = 0
    happens = partial(kill, victim)
    with embedded_session() if engine == "embedded" else nullcontext(local_session(SPARK)) as spark:
        if point.startswith("after:"):
            do_after(point.removeprefix("after:"), happens)
        elif point != NEVER:
            timer = threading.Timer(float(point), happens)
            timer.daemon = True
            timer.start()
        try:
            route(Lake(spark, root), RouteOptions(state_partitions=3, engine=engine))
        except WorkerLostError as error:
            sys.exit(str(error))
        if point != NEVER and victim != "worker":
            happens()


if __name__ == "__main__":
    main(*sys.argv[1:])
