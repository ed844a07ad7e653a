"""Streams that hand what is there to a function, batch by batch."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

from clwl_spark.errors import raised_within

BatchFunction = Callable[[DataFrame, int], None]
_SLOW_START: Final = "Python worker failed to connect back"
"""Spark gives a new Python 10 s to start; on a machine that is busy it may need longer."""
_STARTS: Final = 4


def run_batches(rows: DataFrame, function: BatchFunction, checkpoint: str) -> None:
    """Hand all that a stream has to a function, and stop.

    With Spark Connect the function runs in a process of the server's: it is pickled, its session
    is the same one there, and what it leaves in variables is lost. An error of this package that
    it raises, or a worker, is raised here as well.

    Args:
        rows: a stream.
        function: is given each batch and its number.
        checkpoint: folder that remembers what was handed out.
    """
    for left in reversed(range(_STARTS)):
        try:
            _run_once(rows, function, checkpoint)
        except StreamingQueryException as error:
            ours = raised_within(str(error))
            if ours is not None:
                raise ours from None
            if not left or _SLOW_START not in str(error):
                raise
        else:
            return


def _run_once(rows: DataFrame, function: BatchFunction, checkpoint: str) -> None:
    """As `run_batches`, with Spark's own errors."""
    with staying_active(), released_callback(function) as callback:
        query = (
            rows.writeStream.foreachBatch(callback)
            .option("checkpointLocation", checkpoint)
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()


@contextmanager
def released_callback(function: BatchFunction) -> Iterator[BatchFunction]:
    """Lend a function to a stream for the block; Java then holds an empty hand.

    Java never lets go of a function of a stream whose frames Python holds, nor Python of these
    frames while Java holds the function: without this a process that routes again and again
    (`--follow`) fills its memory with plans.
    """
    held = [function]

    def call(frame: DataFrame, batch_id: int) -> None:
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
