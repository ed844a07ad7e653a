"""Outcomes, read twice: once for their period, once summed up into what all else is made of."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from clwl_spark import columns as c
from clwl_spark.errors import InputError, MissingLakeError
from clwl_spark.schemas import MESSAGES, OUTCOMES
from clwl_spark.storage import Lake
from clwl_spark.vocabulary import ObjectType

COUNT: Final = "outcomes"
OUT_OF_ORDER: Final = "late"
BUCKET: Final = "bucket"
_FIRST: Final = "first_put"
_LAST: Final = "last_put"
_KEY: Final = (
    c.PLAN_ID,
    c.SNAPSHOT_ID,
    c.QMGR,
    c.OBJECT_TYPE,
    c.OBJECT_NAME,
    c.OBJECT_QMGR,
    c.REASON,
    c.DEST_QMGR,
    c.CHANNEL,
    c.IS_LOCAL,
)

_NULLS: Final[dict[str, bool | float | int | str]] = {
    c.OBJECT_TYPE: ObjectType.QUEUE.value,
    c.OBJECT_NAME: "",
    c.OBJECT_QMGR: "",
    c.REASON: 0,
    c.IS_LOCAL: False,
}
"""What null means in tables that others wrote."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = 1_000
_SECOND: Final = 1_000_000
_MINUTE: Final = 60 * _SECOND
_HOUR: Final = 60 * _MINUTE
_DAY: Final = 24 * _HOUR
_WIDTHS: Final = (
    *(n * _MILLISECOND for n in (1, 2, 5, 10, 20, 50, 100, 200, 500)),
    *(n * _SECOND for n in (1, 2, 5, 10, 15, 30)),
    *(n * _MINUTE for n in (1, 2, 5, 10, 15, 30)),
    *(n * _HOUR for n in (1, 2, 3, 4, 6, 12)),
    *(n * _DAY for n in (1, 2, 4, 7, 14, 28, 56, 112, 224, 448)),
)
"""Lengths of a bucket that people count in; each at most two and a half times the one before."""
MOST_BUCKETS: Final = 60


class NothingRoutedError(InputError):
    """The lake has no outcomes that a report could be about."""

    def __init__(self, where: str) -> None:
        """Name the lake."""
        super().__init__(
            f"nothing was routed yet in lake {where}: run `clwl route --lake {where}` first"
        )


@dataclass(frozen=True, slots=True)
class Aggregate:
    """The outcomes, summed up.

    Attributes:
        rows: one row per plan, request, way and reason: (`_KEY`, outcomes, late, and the bucket
            of the first); worked out.
        over_time: the same for each bucket of time; `bucket` is its start in microseconds since
            1970; cached.
        first: least put_time, UTC; None = no outcome has one.
        last: greatest put_time.
        width: length of a bucket, microseconds.
    """

    rows: DataFrame
    over_time: DataFrame
    first: datetime | None
    last: datetime | None
    width: int


@contextmanager
def aggregated(lake: Lake) -> Iterator[Aggregate]:
    """Sum the outcomes up, and let go of it at the end.

    Raises:
        MissingLakeError: there are neither outcomes nor messages.
        NothingRoutedError: there are no outcomes yet.
    """
    outcomes = _outcomes(lake)
    first, last, count = _period(outcomes)
    if not count:
        raise NothingRoutedError(lake.root)
    width = bucket_width(first or 0, last or 0)
    over_time = (
        outcomes.fillna(_NULLS)
        .groupBy(*_KEY, _bucket(width).alias(BUCKET))
        .agg(
            F.count(F.lit(1)).alias(COUNT),
            F.count_if(F.col(c.OUT_OF_ORDER)).alias(OUT_OF_ORDER),
        )
    ).persist()
    try:
        sums = [F.sum(x).alias(x) for x in (COUNT, OUT_OF_ORDER)]
        rows = over_time.groupBy(*_KEY).agg(*sums, F.min(BUCKET).alias(BUCKET)).localCheckpoint()
        yield Aggregate(rows, over_time, moment_of(first), moment_of(last), width)
    finally:
        over_time.unpersist()


def bucket_width(first: int, last: int) -> int:
    """The shortest width that cuts a period into at most 60 buckets; all in microseconds.

    Buckets begin at multiples of the width since 1970. A period that the shortest width does not
    cut into less than 24 has 24 at least.
    """
    fitting = (x for x in _WIDTHS if last // x - first // x < MOST_BUCKETS)
    return next(fitting, _WIDTHS[-1])


def moment_of(microseconds: int | None) -> datetime | None:
    """Microseconds since 1970 as a moment in UTC."""
    return None if microseconds is None else _EPOCH + timedelta(microseconds=microseconds)


def _outcomes(lake: Lake) -> DataFrame:
    if lake.exists(OUTCOMES.name):
        return lake.read(OUTCOMES.name)
    if lake.exists(MESSAGES.name):
        raise NothingRoutedError(lake.root)
    raise MissingLakeError(OUTCOMES.name, f"lake {lake.root}")


def _period(outcomes: DataFrame) -> tuple[int | None, int | None, int]:
    """First and last put_time in microseconds since 1970, and how many outcomes there are."""
    ((first, last, count),) = outcomes.agg(
        F.unix_micros(F.min(c.PUT_TIME)).alias(_FIRST),
        F.unix_micros(F.max(c.PUT_TIME)).alias(_LAST),
        F.count(F.lit(1)).alias(COUNT),
    ).collect()
    return first, last, count


def _bucket(width: int) -> Column:
    put = F.unix_micros(c.PUT_TIME)
    return put - F.pmod(put, F.lit(width))
