"""Which snapshot was in force at a moment."""

from datetime import UTC, datetime

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
    """
    return list(history(lake, at).items())[-1]


def history(lake: Lake, at: datetime | None = None) -> dict[str, datetime]:
    """The valid snapshots up to a moment, in order, and since when each is in force.

    The last one is in force at the moment; without a moment it is the last of all.

    Raises:
        MissingSnapshotError: there is no valid snapshot yet at that moment, or none at all.
        MissingLakeError: the lake has no snapshots.

    Source: SEMANTICS S1, C1 (order).
    """
    rows = (
        lake.read(SNAPSHOTS.name)
        .where(F.col(c.STATUS) == SnapshotStatus.VALID.value)
        .select(c.SNAPSHOT_ID, c.VALID_FROM)
        .collect()
    )
    valid = sorted((as_utc(row[1]), str(row[0])) for row in rows)
    found = {name: since for since, name in valid if at is None or since <= at}
    if found:
        return found
    if not valid or at is None:
        raise MissingSnapshotError(
            f"no valid snapshot in {lake.root}: make one with `clwl ingest` or `clwl generate`"
        )
    since, name = valid[0]
    raise MissingSnapshotError(
        f"{shown(at)} is before the first valid snapshot of {lake.root}, {name} from "
        f"{shown(since)}: give that moment or a later one"
    )


def as_utc(collected: datetime) -> datetime:
    """A timestamp as Spark hands it to Python (local, without a zone), with its zone."""
    return collected.astimezone(UTC)


def shown(moment: datetime) -> str:
    """A moment in messages and documents."""
    return moment.astimezone(UTC).strftime(SHOWN)
