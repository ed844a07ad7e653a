"""Which snapshot was in force at a moment."""

from datetime import UTC, datetime

from clwl_spark.delta.lake import Lake
from clwl_spark.snapshots.catalog import MissingSnapshotError, heads_of
from clwl_spark.tables.moments import moment_at

SHOWN = "%Y-%m-%dT%H:%M:%SZ"


def history(lake: Lake, at: datetime | None = None) -> dict[str, datetime]:
    """The valid snapshots up to a moment, in order, and since when each is in force.

    The last one is in force at the moment; without a moment it is the last of all.

    Raises:
        MissingSnapshotError: there is no valid snapshot yet at that moment, or none at all.
        MissingLakeError: the lake has no snapshots.

    Source: SEMANTICS S1, C1 (order).
    """
    heads = heads_of(lake)
    valid = [(x.snapshot_id, moment_at(x.valid_from or 0)) for x in heads.valid]
    found = {name: since for name, since in valid if at is None or since <= at}
    if found:
        return found
    heads.chosen(None)
    name, since = valid[0]
    raise MissingSnapshotError(
        f"{shown(at or since)} is before the first valid snapshot of {lake.root}, {name} from "
        f"{shown(since)}: give that moment or a later one"
    )


def as_utc(collected: datetime) -> datetime:
    """A timestamp as Spark hands it to Python (local, without a zone), with its zone."""
    return collected.astimezone(UTC)


def shown(moment: datetime) -> str:
    """A moment in messages and documents."""
    return moment.astimezone(UTC).strftime(SHOWN)
