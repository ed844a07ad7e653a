"""Which engine routes a lake's messages.

With "spark", rows travel through Spark. With "arrow" they never enter Java. With "embedded" there
is none. Plans, memory, choice and blocks are the same: a lake may change its engine from run to
run.
"""

from pathlib import Path
from typing import Final

from clwl_spark.delta.commits import unreadable, unwritable
from clwl_spark.delta.lake import Lake
from clwl_spark.errors import EngineError, UsageError
from clwl_spark.routing.engines.arrow import ArrowEngine
from clwl_spark.routing.engines.fitness import IN_CHECKPOINT, unfit_here
from clwl_spark.routing.engines.spark import SparkEngine
from clwl_spark.routing.ledger.run_record import Run
from clwl_spark.tables import MESSAGES, OUTCOMES

AUTO: Final = "auto"
EMBEDDED: Final = "embedded"
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
    why = IN_CHECKPOINT if run.is_first_here and run.batch_id else why
    if why:
        raise EngineError(f"engine embedded cannot route this lake: {why}; give --engine spark")
    return True


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
    why = unread_by_arrow(lake) or unwritable(lake.path(OUTCOMES.name), OUTCOMES)
    if not why:
        messages, outcomes = (Path(lake.path(x.name)).absolute() for x in (MESSAGES, OUTCOMES))
        return ArrowEngine(str(messages), str(outcomes), partitions)
    if wanted == ArrowEngine.name:
        raise UsageError(f"engine arrow cannot route this lake: {why}; leave engine at auto")
    return SparkEngine(partitions)


def unread_by_arrow(lake: Lake) -> str:
    """Why Arrow cannot read the lake's messages; '' = it can."""
    if not lake.is_here:
        return _FAR
    if lake.left_out:
        return "some of the messages are left out"
    return unreadable(lake.path(MESSAGES.name), MESSAGES)
