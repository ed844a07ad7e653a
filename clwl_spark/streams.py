"""Functions that Spark's streams call for each batch."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pyspark.sql import DataFrame, SparkSession

BatchFunction = Callable[[DataFrame, int], None]


@contextmanager
def lent(function: BatchFunction) -> Iterator[BatchFunction]:
    """Lend a function to a stream for the block; Java then holds an empty hand.

    Java never lets go of a function of a stream whose frames Python holds, nor Python of these
    frames while Java holds the function: without this a process that routes again and again
    (`--follow`) fills its memory with plans. A batch has a session of its own, which Python takes
    for the active one from its first `createDataFrame` on: afterwards it is the caller's again.
    """
    held = [function]
    active = SparkSession.getActiveSession()

    def call(frame: DataFrame, batch_id: int) -> None:
        held[0](frame, batch_id)

    try:
        yield call
    finally:
        held.clear()
        if active is not None:
            SparkSession._activeSession = active  # noqa: SLF001  (there is no other way to set it)
