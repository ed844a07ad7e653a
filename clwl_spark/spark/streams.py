"""Streams that hand what is there to a function, batch by batch."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.listener import StreamingQueryProgress

from clwl_spark.errors import raised_within
from clwl_spark.spark.limits import limit, limited_to

BatchFunction = Callable[[DataFrame, int], None]
_SLOW_START: Final = "Python worker failed to connect back"
"""Spark gives a new Python 10 s to start; on a machine that is busy it may need longer."""
_STARTS: Final = 4
_OF_STATE: Final = (
    "numRowsTotal",
    "numRowsUpdated",
    "allUpdatesTimeMs",
    "commitTimeMs",
    "memoryUsedBytes",
)
"""What is added up of the operators of a stream that keep state."""


def run_batches(rows: DataFrame, function: BatchFunction, checkpoint: str) -> dict[str, int]:
    """Hand all that a stream has to a function, and stop.

    With Spark Connect the function runs in a process of the server's: it is pickled, its session
    is the same one there, and what it leaves in variables is lost. An error of this package that
    it raises, or a worker, is raised here as well.

    Args:
        rows: a stream.
        function: is given each batch and its number.
        checkpoint: folder that remembers what was handed out.

    Returns:
        What Spark says of the last batch (`figures_of`); nothing where there was none.
    """
    for left in reversed(range(_STARTS)):
        try:
            return _run_once(rows, function, checkpoint)
        except StreamingQueryException as error:
            ours = raised_within(str(error))
            if ours is not None:
                raise ours from None
            if not left or _SLOW_START not in str(error):
                raise
    return {}


def _run_once(rows: DataFrame, function: BatchFunction, checkpoint: str) -> dict[str, int]:
    """As `run_batches`, with Spark's own errors."""
    with staying_active(), released_callback(function, limited_to(rows.sparkSession)) as callback:
        query = (
            rows.writeStream.foreachBatch(callback)
            .option("checkpointLocation", checkpoint)
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        batches = [x for x in query.recentProgress if x.numInputRows]
        return figures_of(batches[-1]) if batches else {}


def figures_of(progress: StreamingQueryProgress) -> dict[str, int]:
    """The figures of a batch that a StreamingQueryListener is told, by Spark's words.

    Args:
        progress: of the batch; with Spark Connect its rows are those of its sources.

    Returns:
        `numInputRows`; milliseconds of each step, as `durationMs.addBatch`; and of the operators
        that keep state, added up: rows, milliseconds and bytes, as `stateOperators.numRowsTotal`.
    """
    operators = progress.stateOperators
    state = {x: sum(int(y[x]) for y in operators) for x in _OF_STATE if operators}
    return {
        "numInputRows": int(progress.numInputRows),
        **{f"durationMs.{x}": int(y) for x, y in sorted(progress.durationMs.items())},
        **{f"stateOperators.{x}": y for x, y in state.items()},
    }


@contextmanager
def released_callback(function: BatchFunction, rows_in: str = "") -> Iterator[BatchFunction]:
    """Lend a function to a stream for the block; Java then holds an empty hand.

    Java never lets go of a function of a stream whose frames Python holds, nor Python of these
    frames while Java holds the function: without this a process that routes again and again
    (`--follow`) fills its memory with plans.

    Args:
        function: of the stream.
        rows_in: where the session of its batches, which may be another, has to keep rows (`limit`).
    """
    held = [function]

    def call(frame: DataFrame, batch_id: int) -> None:
        limit(frame.sparkSession, rows_in)
        held[0](frame, batch_id)

    try:
        yield call
    finally:
        held.clear()


@contextmanager
def staying_active() -> Iterator[None]:
    """After the block, Python's active session is the one that it was.

    A batch of a stream has a session of its own, which Python takes for the active one from its
    first `createDataFrame` on: whoever asks for the active session later would get that one.
    """
    before = SparkSession._activeSession  # noqa: SLF001  (there is no other way to it)
    try:
        yield
    finally:
        SparkSession._activeSession = before  # noqa: SLF001
