"""What the queue managers of a lake remember at present, for people to read."""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final

from clwl_spark.delta.lake import Lake
from clwl_spark.routing.ledger.losses import BATCH
from clwl_spark.routing.state.history import Memory, chosen_channels, from_bytes
from clwl_spark.routing.state.memory_table import PAYLOAD, current_rows
from clwl_spark.tables import columns as c
from clwl_spark.tables.moments import moment_at, moment_text

_NEVER: Final = Memory().highest_put_seq


@dataclass(frozen=True, slots=True)
class Remembered:
    """What one queue manager remembers.

    Attributes:
        qmgr: the queue manager.
        batch_id: after which it is so.
        choices: ever made.
        channels: ever chosen.
        bindings: opens and groups that are held on to.
        oldest: put_time of the binding that was used longest ago.
        newest: put_time of the binding that was used last.
        highest_put_seq: of all messages routed; None = there was none.
        brought: snapshots whose resets were brought (SEMANTICS P21).
        bytes: of its payload.
    """

    qmgr: str
    batch_id: int
    choices: int
    channels: int
    bindings: int
    oldest: datetime | None
    newest: datetime | None
    highest_put_seq: int | None
    brought: tuple[str, ...]
    bytes: int

    def to_json(self) -> dict[str, Any]:
        """Its part of the document of `clwl state --json`."""
        ends = {"oldest": self.oldest, "newest": self.newest}
        moments = {x: at and moment_text(at) for x, at in ends.items()}
        return {**asdict(self), **moments, "brought": list(self.brought)}


def list_memories(lake: Lake, qmgr: str | None = None) -> list[Remembered]:
    """What queue managers remember, by their names in order.

    Args:
        lake: the lake.
        qmgr: only this one.

    Raises:
        LakeStateError: a row was written by a version of this package that is not known.
    """
    rows = current_rows(lake).to_pylist()
    found = [x for x in rows if qmgr in (None, x[c.QMGR])]
    return [_remembered(x) for x in sorted(found, key=lambda x: str(x[c.QMGR]))]


def _remembered(row: dict[str, Any]) -> Remembered:
    memory = from_bytes(row[PAYLOAD], row[c.QMGR])
    times = [at for _, at in memory.bindings.values()]
    highest = memory.highest_put_seq
    return Remembered(
        row[c.QMGR],
        row[BATCH],
        memory.counter,
        chosen_channels(memory).num_rows,
        len(times),
        moment_at(min(times)) if times else None,
        moment_at(max(times)) if times else None,
        None if highest == _NEVER else highest,
        tuple(sorted(memory.brought)),
        len(row[PAYLOAD]),
    )
