"""Which snapshot was in force at a moment."""

from datetime import UTC, datetime

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark import columns as c
from clwl_spark.analysis.explain import MissingSnapshotError
from clwl_spark.schemas import SNAPSHOTS
from clwl_spark.storage import Lake
from clwl_spark.vocabulary import SnapshotStatus

SHOWN = "%Y-%m-%dT%H:%M:%SZ"


def in_force(lake: Lake, at: datetime | None = None) -> tuple[str, datetime]:
    """The valid snapshot in force at a moment, by default the last one, and since when it is.

    Raises:
        MissingSnapshotError: there is no valid snapshot yet at that moment, or none at all.
        MissingLakeError: the lake has no snapshots.

    Source: SEMANTICS S1.
    """
    valid = valid_snapshots(lake)
    known = valid if at is None else valid.where(F.col(c.VALID_FROM) <= F.lit(at))
    last = known.orderBy(F.desc(c.VALID_FROM), F.desc(c.SNAPSHOT_ID)).first()
    if last is not None:
        return str(last[0]), as_utc(last[1])
    first = valid.orderBy(c.VALID_FROM).first()
    if first is None or at is None:
        raise MissingSnapshotError(
            f"no valid snapshot in {lake.root}: make one with `clwl ingest` or `clwl generate`"
        )
    raise MissingSnapshotError(
        f"{shown(at)} is before the first valid snapshot of {lake.root}, {first[0]} from "
        f"{shown(as_utc(first[1]))}: give that moment or a later one"
    )


def valid_snapshots(lake: Lake) -> DataFrame:
    """The valid snapshots: (snapshot_id, valid_from), one row each."""
    rows = lake.read(SNAPSHOTS.name).where(F.col(c.STATUS) == SnapshotStatus.VALID.value)
    return rows.select(c.SNAPSHOT_ID, c.VALID_FROM)


def as_utc(collected: datetime) -> datetime:
    """A timestamp as Spark hands it to Python (local, without a zone), with its zone."""
    return collected.astimezone(UTC)


def shown(moment: datetime) -> str:
    """A moment in messages and documents."""
    return moment.astimezone(UTC).strftime(SHOWN)
