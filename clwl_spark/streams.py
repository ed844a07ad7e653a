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
def staying_active(session: SparkSession) -> Iterator[None]:
    """After the block, the session is Python's active one again.

    A batch of a stream has a session of its own, which Python takes for the active one from its
    first `createDataFrame` on: whoever asks for the active session later would get that one.
    """
    try:
        yield
    finally:
        SparkSession._activeSession = session  # noqa: SLF001  (there is no other way to set it)
