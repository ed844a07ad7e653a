"""Which snapshots routing may use: a passed one is VALID, a failed one QUARANTINED."""

from collections.abc import Sequence

from clwl_spark.delta.lake import Lake
from clwl_spark.errors import InputError
from clwl_spark.mq.vocabulary import SnapshotStatus
from clwl_spark.snapshots.catalog import Head, heads_of
from clwl_spark.tables import SNAPSHOTS
from clwl_spark.tables import columns as c


def head_of(lake: Lake, snapshot_id: str | None) -> Head:
    """The snapshot of that name, or the newest one that is written to its end.

    Raises:
        MissingLakeError: there is no table `snapshots`.
        InputError: there is none of that name, it is half written, or there is none at all.
    """
    found = heads_of(lake)
    if snapshot_id is None:
        whole = [x for x in found.ordered if not x.being_written]
        if not whole:
            raise InputError(f"no snapshot in {lake.root}: make one with `clwl ingest`")
        return whole[-1]
    found.require(snapshot_id)
    head = next(x for x in found.ordered if x.snapshot_id == snapshot_id)
    if head.being_written:
        raise InputError(
            f"snapshot '{snapshot_id}' of {lake.root} is half written: ingest its texts again"
        )
    return head


def set_status(lake: Lake, head: Head, status: SnapshotStatus) -> None:
    """Give a snapshot a status; one that it has already is not written again."""
    if head.status == status.value:
        return
    rows = lake.rows(SNAPSHOTS.name, c.SNAPSHOT_ID, [head.snapshot_id])
    given = [[*(row | {c.STATUS: status.value}).values()] for row in rows]
    lake.merge(SNAPSHOTS.name, lake.arrow_rows(SNAPSHOTS.name, given))


def last_valid(found: Sequence[Head], head: Head) -> str | None:
    """The valid snapshot that routing uses in place of `head`; None = none."""
    valid = [x for x in found if x.is_valid and x != head and x.order[:2] <= head.order[:2]]
    return valid[-1].snapshot_id if valid else None


def passed_over(lake: Lake) -> list[tuple[str, str | None]]:
    """Quarantined snapshots that routing would use now or later, and what it uses instead.

    Those before the last valid snapshot concern nobody any more; half-written ones are not told.
    """
    found = heads_of(lake).ordered
    valid = [at for at, x in enumerate(found) if x.is_valid]
    later = found[valid[-1] + 1 :] if valid else found
    return [
        (x.snapshot_id, last_valid(found, x))
        for x in later
        if x.status == SnapshotStatus.QUARANTINED.value and not x.being_written
    ]
