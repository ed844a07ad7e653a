"""Routing for tests of what is asked of a routed lake.

Apache Spark routes, and a process holds one session: where that is the embedded one, a child
process routes, which lives as long as this one.
"""

import os
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context

from clwl_spark.routing import run
from clwl_spark.routing.runs import RunSummary
from clwl_spark.spark.local import local_session
from clwl_spark.spark.local_settings import SMALL_WORK
from clwl_spark.storage import Lake

_SETTINGS = {**SMALL_WORK, "spark.master": "local[2]", "spark.sql.shuffle.partitions": "2"}


def route(lake: Lake, options: run.RouteOptions) -> RunSummary:
    """Route all messages of a lake in a folder, whatever engine its session is of."""
    if not lake.is_embedded:
        return run.route(lake, options)
    return _child().submit(_route_in_child, lake.root, options).result()


@cache
def _child() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, get_context("spawn"), _leave_connect)


def _leave_connect() -> None:
    """Forget what says that this process's parent uses PySpark's Connect client."""
    os.environ.pop("SPARK_CONNECT_MODE_ENABLED", None)


def _route_in_child(root: str, options: run.RouteOptions) -> RunSummary:
    return run.route(Lake(local_session(_SETTINGS), root), options)
