"""Which engine routes a lake's messages.

With "spark", rows travel through Spark. With "arrow" they never enter Java. With "embedded" there
is none. Plans, memory, choice and blocks are the same: a lake may change its engine from run to
run.
"""

from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from clwl_spark.delta_commits import unreadable, unwritable
from clwl_spark.delta_files import greatest_rows, is_absent, is_uri
from clwl_spark.delta_protocol import is_odd_place, odd_place, opened
from clwl_spark.errors import EngineError, UsageError
from clwl_spark.routing.engines.arrow import ArrowEngine
from clwl_spark.routing.engines.spark import SparkEngine
from clwl_spark.routing.runs import DONE, RUNNING, Run
from clwl_spark.schemas import MESSAGES, OUTCOMES, RUNS
from clwl_spark.settings import Settings
from clwl_spark.storage import Lake

AUTO: Final = "auto"
EMBEDDED: Final = "embedded"
_ASKED: Final = (MESSAGES, OUTCOMES, RUNS)
_KNOWN_BY: Final = {DONE: "messages_version", RUNNING: "messages_from"}
"""Columns of `runs` that say what is taken, by the status of the last run."""
_IN_CHECKPOINT: Final = (
    "what was routed and what its queue managers remember is known to a checkpoint of Spark's alone"
)
_FAR: Final = "its tables are not in folders of this machine"
Engine = SparkEngine | ArrowEngine


def routes_here(lake: Lake, run: Run, wanted: str) -> bool:
    """Whether this process and its workers route a run's batch; else Spark does.

    A batch that was killed is gone on with by those who began it, unless there is no Spark.

    Args:
        lake: which has `outcomes` already.
        run: that has begun.
        wanted: as for `engine_for`, and "embedded".

    Raises:
        EngineError: "embedded" was asked for, or there is no Spark, and a table does not allow it.
    """
    is_begun_here = run.resumed and not run.checkpoint
    if not (lake.is_embedded or wanted == EMBEDDED or is_begun_here):
        return False
    why = unfit_here(lake.path(MESSAGES.name), lake.path(OUTCOMES.name)) if lake.is_here else _FAR
    why = _IN_CHECKPOINT if run.is_first_here and run.batch_id else why
    if why:
        raise EngineError(f"engine embedded cannot route this lake: {why}; give --engine spark")
    return True


def why_spark_routes(settings: Settings) -> str:
    """Why Spark has to route a lake in a folder of this machine; '' = it need not, or is not one.

    Args:
        settings: say where the lake is, and `embedded_messages`.
    """
    if settings.catalog or is_uri(settings.lake):
        return ""
    messages, outcomes, runs = (str(Path(settings.lake, x.name)) for x in _ASKED)
    if is_absent(messages):
        return ""
    last = greatest_rows(runs, "batch_id")
    row = last.to_pylist()[0] if last is not None and last.num_rows else None
    if row is not None and row.get(_KNOWN_BY[row["status"]]) is None:
        return _IN_CHECKPOINT
    count = count_waiting(messages, runs)
    if count > settings.embedded_messages:
        most = f"embedded_messages = {settings.embedded_messages:,}"
        return f"{count:,} messages are to be routed, more than {most}"
    return unfit_here(messages, outcomes)


def count_waiting(messages: str, runs: str) -> int:
    """About how many messages are not routed yet, as Delta's log and the runs count them."""
    table, done = opened(messages), opened(runs)
    if table is None:
        return 0
    rows = pa.table(table.get_add_actions())["num_records"].to_pylist()
    routed = 0
    if done is not None:
        counts = done.to_pyarrow_dataset().to_table(["messages"])
        routed = pc.sum(counts["messages"]).as_py() or 0
    return max(sum(x or 0 for x in rows) - routed, 0)


def unfit_here(messages: str, outcomes: str) -> str:
    """Why this process cannot read messages from one folder, or write outcomes to another."""
    if is_odd_place(messages):
        return odd_place(messages)
    return unreadable(messages, MESSAGES) or (
        unwritable(outcomes, OUTCOMES) if Path(outcomes).exists() else ""
    )


def engine_for(lake: Lake, wanted: str, partitions: int) -> Engine:
    """The engine that fits the lake's tables.

    Args:
        lake: which has `outcomes` already.
        wanted: "spark", "arrow", or "auto" = "arrow" where the tables allow it.
        partitions: in which Spark writes outcomes.

    Raises:
        UsageError: "arrow" was asked for, and a table does not allow it.
    """
    if wanted == SparkEngine.name:
        return SparkEngine(partitions)
    why = _unfit(lake)
    if not why:
        messages, outcomes = (Path(lake.path(x.name)).absolute() for x in (MESSAGES, OUTCOMES))
        return ArrowEngine(str(messages), str(outcomes), partitions)
    if wanted == ArrowEngine.name:
        raise UsageError(f"engine arrow cannot route this lake: {why}; leave engine at auto")
    return SparkEngine(partitions)


def _unfit(lake: Lake) -> str:
    """Why Arrow cannot read or write the lake's tables; '' = it can."""
    if not lake.is_here:
        return _FAR
    if lake.left_out:
        return "some of the messages are left out"
    return unreadable(lake.path(MESSAGES.name), MESSAGES) or unwritable(
        lake.path(OUTCOMES.name), OUTCOMES
    )
