"""The snapshots of a lake: which there are, from when on they are in force, how large they are."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import reduce
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark import columns as c
from clwl_spark.errors import InputError
from clwl_spark.schemas import SNAPSHOTS
from clwl_spark.storage import Lake
from clwl_spark.topology.inspection import WRITABLE

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NAMED: Final = 10


@dataclass(frozen=True, slots=True)
class SnapshotEntry:
    """One snapshot, as `clwl snapshots` lists it.

    Attributes:
        snapshot_id: its name.
        valid_from: in force from this moment, UTC.
        status: VALID or QUARANTINED.
        being_written: withdrawn because its rows are being replaced, or that was interrupted.
        source: where it was read from.
        base: the snapshot that it was made from, None = none.
        loaded_at: when it was written, UTC; None = not known.
        rows: rows by table; `ingest_rejects` counts the pieces that could not be used.
    """

    snapshot_id: str
    valid_from: datetime | None
    status: str | None
    being_written: bool
    source: str | None
    base: str | None
    loaded_at: datetime | None
    rows: dict[str, int]

    def to_json(self) -> dict[str, Any]:
        """Its part of the document of `clwl snapshots --json`."""
        return {
            "snapshot_id": self.snapshot_id,
            "valid_from": _text(self.valid_from),
            "status": self.status,
            "being_written": self.being_written,
            "source": self.source,
            "base": self.base,
            "loaded_at": _text(self.loaded_at),
            "rows": self.rows,
        }


def list_snapshots(lake: Lake) -> list[SnapshotEntry]:
    """All snapshots, in the order in which they come into force."""
    counts = _counts(lake)
    heads = (
        lake.read_or_empty(SNAPSHOTS.name)
        .withColumns({x: F.unix_micros(x) for x in (c.VALID_FROM, c.LOADED_AT)})
        .orderBy(c.VALID_FROM, c.SNAPSHOT_ID)
        .collect()
    )
    return [
        SnapshotEntry(
            snapshot_id=head[c.SNAPSHOT_ID],
            valid_from=_moment(head[c.VALID_FROM]),
            status=head[c.STATUS],
            being_written=bool(head[c.BEING_WRITTEN]),
            source=head[c.SOURCE],
            base=head[c.BASE],
            loaded_at=_moment(head[c.LOADED_AT]),
            rows={name: counts.get((head[c.SNAPSHOT_ID], name), 0) for name in WRITABLE},
        )
        for head in heads
    ]


def require_snapshots(lake: Lake, *snapshot_ids: str) -> None:
    """Refuse names that no snapshot has.

    Raises:
        MissingLakeError: the lake has no snapshots at all.
        InputError: a name is not one of them; it says which there are.
    """
    heads = lake.read(SNAPSHOTS.name).orderBy(c.VALID_FROM, c.SNAPSHOT_ID)
    there = [row[0] for row in heads.select(c.SNAPSHOT_ID).collect()]
    if unknown := [name for name in snapshot_ids if name not in there]:
        more = f" and {len(there) - _NAMED} more" if len(there) > _NAMED else ""
        raise InputError(
            f"no snapshot '{unknown[0]}' in {lake.root}: "
            f"there are {', '.join(there[-_NAMED:]) or 'none'}{more}"
        )


def _counts(lake: Lake) -> dict[tuple[str, str], int]:
    """Rows by (snapshot, table)."""
    frames = [
        lake.read_or_empty(name).groupBy(c.SNAPSHOT_ID).count().select(F.lit(name).alias("of"), "*")
        for name in WRITABLE
    ]
    return {
        (row[c.SNAPSHOT_ID], row["of"]): row["count"]
        for row in reduce(DataFrame.unionByName, frames).collect()
    }


def _moment(micros: int | None) -> datetime | None:
    return None if micros is None else _EPOCH + timedelta(microseconds=micros)


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat().replace("+00:00", "Z")
