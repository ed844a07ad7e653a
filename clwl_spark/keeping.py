"""What to do with frames that several steps read, so that each is worked out once."""

from collections.abc import Callable
from typing import Final

from pyspark.sql import DataFrame

from clwl_spark.frames import held

Keep = Callable[[DataFrame], DataFrame]

FEW: Final = 1_000
"""Up to so many requests, what belongs to them is small enough to be held by the driver."""


def as_it_is(frame: DataFrame) -> DataFrame:
    """Keep a frame as its plan."""
    return frame


def settled(frame: DataFrame) -> DataFrame:
    """Work the frame out now: later steps start from its rows, not from its plan.

    Not `eager=False`: Spark then forgets the frame's metrics before they are used, and says so.
    """
    return frame.localCheckpoint()


def at_hand(frame: DataFrame) -> DataFrame:
    """Work the frame out now and hold its few rows in the plan.

    It halves the time against `settled`: the optimizer works on the rows itself, and joins with
    them need no exchange.
    """
    return held(frame.sparkSession, frame.toArrow(), frame.schema)


def fitting(rows: int) -> Keep:
    """`at_hand` for few rows, else `settled`."""
    return at_hand if rows <= FEW else settled
