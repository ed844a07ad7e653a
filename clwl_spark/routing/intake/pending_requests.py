"""What new messages ask for, read within this process: no stream has to start for it.

10,000 messages take 30 ms so, and ten million a second or two on two cores; a stream that looks
at them takes a second before it sees the first, and six where Java is cold.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final

from clwl_spark.algorithm.request import Request
from clwl_spark.delta.files import new_files
from clwl_spark.delta.lake import Lake
from clwl_spark.errors import SplitError
from clwl_spark.routing.intake.by_arrow import requests_of
from clwl_spark.routing.intake.requests import Requests
from clwl_spark.routing.intake.splits import Split
from clwl_spark.routing.ledger.run_record import Run
from clwl_spark.routing.ledger.source_offsets import newest, taken_before
from clwl_spark.snapshots.catalog import Pin
from clwl_spark.spark.parallel import cores, has_all_cores
from clwl_spark.tables import MESSAGES

FEW_MESSAGES: Final = 200_000
"""So many are read here even if other machines could do it."""
FEW_REQUESTS: Final = 100_000
"""More distinct ones are left to Spark, whoever has found them."""


def few_requests(lake: Lake, run: Run) -> list[Request] | None:
    """The distinct requests of the messages that no batch before the run's has taken.

    Args:
        lake: whose messages Arrow can read.
        run: a run that has begun.

    Returns:
        The requests in order; None where there are many, or messages for more cores than this
        process has, or only a stream can tell.
    """
    before, upto = taken_before(lake, run), newest(lake)
    if run.resumed or before is None or upto is None or before.table_id not in ("", upto.table_id):
        return None
    files = new_files(lake.path(MESSAGES.name), before.version, upto.version)
    if files is None:
        return None
    if sum(rows for _, rows in files.appended) > FEW_MESSAGES and not has_all_cores(lake.spark):
        return None
    splits = [Split(path, 0, rows) for path, rows in files.appended]
    try:
        return _met(splits, run.pins, cores(lake.spark))
    except (SplitError, OSError):
        return None


def _met(splits: Sequence[Split], pins: Sequence[Pin], threads: int) -> list[Request] | None:
    """The distinct requests of splits in order; None where they are many."""
    requests = Requests.under(pins)
    met: set[int] = set()
    with ThreadPoolExecutor(threads) as pool:
        for found in pool.map(partial(_requests, requests), splits):
            met |= found
            if len(met) > FEW_REQUESTS:
                pool.shutdown(cancel_futures=True)
                return None
    return sorted(requests.of(met), key=lambda x: x.in_order)


def _requests(requests: Requests, split: Split) -> set[int]:
    return requests_of([split], requests)
