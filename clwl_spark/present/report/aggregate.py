"""Outcomes, read twice: once summed up into what all else is made of, once counted over time."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.errors import InputError, MissingLakeError
from clwl_spark.mq.vocabulary import ObjectType
from clwl_spark.spark.materialize import Materialize, checkpoint, inline
from clwl_spark.tables import MESSAGES, OUTCOMES
from clwl_spark.tables import columns as c
from clwl_spark.tables.moments import DAY, HOUR, MILLISECOND, MINUTE, SECOND, moment_at

COUNT: Final = "outcomes"
OUT_OF_ORDER: Final = "late"
FIRST: Final = "first_put"
_LAST: Final = "last_put"
_BUCKET: Final = "bucket"
_FEW: Final = 20_000
"""Up to so many sums are held by the driver."""

_SUMS: Final = f"""
    SELECT plan_id, snapshot_id, qmgr,
           coalesce(object_type, '{ObjectType.QUEUE}') AS object_type,
           coalesce(object_name, '') AS object_name,
           coalesce(object_qmgr, '') AS object_qmgr,
           CAST(coalesce(reason, 0) AS INT) AS reason,
           dest_qmgr, channel,
           coalesce(is_local, false) AS is_local,
           count(*) AS {COUNT},
           count(CASE WHEN out_of_order THEN 1 END) AS {OUT_OF_ORDER},
           min(put_time) AS {FIRST},
           max(put_time) AS {_LAST}
    FROM {{rows}}
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10"""  # noqa: S608
"""Null is what it means in tables that others wrote."""

_COUNTS: Final = f"""
    SELECT micros - (micros % {{width}} + {{width}}) % {{width}} AS {_BUCKET},
           dest_qmgr,
           count(*) AS {COUNT}
    FROM (SELECT unix_micros(put_time) AS micros, dest_qmgr FROM {{rows}}
          WHERE coalesce(reason, 0) = 0 AND dest_qmgr IS NOT NULL AND put_time IS NOT NULL)
    GROUP BY 1, 2"""  # noqa: S608

_WIDTHS: Final = (
    *(n * MILLISECOND for n in (1, 2, 5, 10, 20, 50, 100, 200, 500)),
    *(n * SECOND for n in (1, 2, 5, 10, 15, 30)),
    *(n * MINUTE for n in (1, 2, 5, 10, 15, 30)),
    *(n * HOUR for n in (1, 2, 3, 4, 6, 12)),
    *(n * DAY for n in (1, 2, 4, 7, 14, 28, 56, 112, 224, 448)),
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
    """The outcomes, summed up; all is worked out.

    Attributes:
        rows: one row per plan, request, way and reason: (plan_id, snapshot_id, qmgr, object_type,
            object_name, object_qmgr, reason, dest_qmgr, channel, is_local, outcomes, late, and
            put_time of the first in microseconds since 1970).
        over_time: outcomes that have a destination by (start of the bucket of time in microseconds
            since 1970, destination).
        first: least put_time, UTC; None = no outcome has one.
        last: greatest put_time.
        width: length of a bucket, microseconds.
        keep: what to do with frames made of `rows` that several steps read.
    """

    rows: DataFrame
    over_time: Mapping[tuple[int, str], int]
    first: datetime | None
    last: datetime | None
    width: int
    keep: Materialize


def aggregated(lake: Lake) -> Aggregate:
    """Sum the outcomes up.

    Raises:
        MissingLakeError: there are neither outcomes nor messages.
        NothingRoutedError: there are no outcomes yet.
    """
    summed = _asked(lake, _SUMS)
    ((first, last, count),) = summed.agg(
        F.unix_micros(F.min(FIRST)), F.unix_micros(F.max(_LAST)), F.count(F.lit(1))
    ).collect()
    if not count:
        raise NothingRoutedError(lake.root)
    width, keep = bucket_width(first or 0, last or 0), inline if count <= _FEW else checkpoint
    return Aggregate(
        keep(summed.withColumn(FIRST, F.unix_micros(FIRST)).drop(_LAST)),
        _over_time(lake, width),
        moment_of(first),
        moment_of(last),
        width,
        keep,
    )


def bucket_width(first: int, last: int) -> int:
    """The shortest width that cuts a period into at most 60 buckets; all in microseconds.

    Buckets begin at multiples of the width since 1970. A period that the shortest width does not
    cut into less than 24 has 24 at least.
    """
    fitting = (x for x in _WIDTHS if last // x - first // x < MOST_BUCKETS)
    return next(fitting, _WIDTHS[-1])


def moment_of(microseconds: int | None) -> datetime | None:
    """Microseconds since 1970 as a moment in UTC."""
    return None if microseconds is None else moment_at(microseconds)


def _outcomes(lake: Lake) -> DataFrame:
    if lake.exists(OUTCOMES.name):
        return lake.read(OUTCOMES.name)
    if lake.exists(MESSAGES.name):
        raise NothingRoutedError(lake.root)
    raise MissingLakeError(OUTCOMES.name, f"lake {lake.root}")


def _over_time(lake: Lake, width: int) -> dict[tuple[int, str], int]:
    """Outcomes that have a destination and a put_time, by bucket and destination."""
    counts = _asked(lake, _COUNTS, width=width).collect()
    return {(row[_BUCKET], row[c.DEST_QMGR]): row[COUNT] for row in counts}


def _asked(lake: Lake, question: str, **words: int) -> DataFrame:
    """The answer to a question about outcomes, worked out.

    Raises:
        MissingLakeError, NothingRoutedError: as `aggregated`.
    """
    asked = question.format(rows="{rows}", **words)
    return checkpoint(lake.spark.sql(asked, rows=_outcomes(lake)))
