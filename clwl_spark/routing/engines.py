"""Which of the two engines routes a lake's messages.

With "spark", rows travel through Spark. With "arrow" they never enter Java. Plans, state, choice
and blocks are the same, and so is the checkpoint: a lake may change its engine from run to run.
"""

from pathlib import Path
from typing import Final

from clwl_spark.delta_commits import unreadable, unwritable
from clwl_spark.errors import UsageError
from clwl_spark.routing.arrow_engine import ArrowEngine
from clwl_spark.routing.spark_engine import SparkEngine
from clwl_spark.schemas import MESSAGES, OUTCOMES
from clwl_spark.storage import Lake

AUTO: Final = "auto"
Engine = SparkEngine | ArrowEngine


def is_for_arrow(messages: Path, outcomes: Path) -> bool:
    """Whether Arrow can route from one table's folder into another's, which may not be there yet.

    Args:
        messages: folder on this machine.
        outcomes: folder on this machine.
    """
    written = not outcomes.exists() or not unwritable(str(outcomes), OUTCOMES)
    return written and not unreadable(str(messages), MESSAGES)


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
        return "its tables are not in folders of this machine"
    if not lake.has_all_messages:
        return "some of the messages are left out"
    return unreadable(lake.path(MESSAGES.name), MESSAGES) or unwritable(
        lake.path(OUTCOMES.name), OUTCOMES
    )
