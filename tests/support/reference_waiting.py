"""Which messages wait for a channel when it stops: SEMANTICS 8, "Who waits", P27, P40, P41.

Choices, where the text can be read in more than one way:
    1. Of rows of one put_seq and message_id (copies of a publication over one channel name) the
       one of the greater dest_qmgr is the later one, where a backlog takes only some of them.
    2. A message of which a backlog counts the place, but whose put_time is after T, is none of the
       last: T goes first.
    3. An event that `since`, `backlog` or a known backlog leaves without messages counts all the
       same; only an event whose channel was up, and of which nothing else is known, does not.
"""

from dataclasses import dataclass
from datetime import datetime

from reference_rows import Row
from reference_snapshots import Snapshots
from reference_views import best_tier


@dataclass(slots=True)
class Waiting:
    """A message on its way: where it is now."""

    message: Row
    outcome: Row
    channel: str | None
    xmitq: str | None
    put_time: datetime


@dataclass(frozen=True, slots=True)
class Stop:
    """A channel stops, or a retry of it fails.

    Attributes:
        since: those put after this moment wait; null = not said.
        backlog: the last that many wait; null = not said. Of the two at most one is said.
    """

    qmgr: str
    channel: str
    status: str
    at: datetime
    since: datetime | None = None
    backlog: int | None = None

    def __post_init__(self) -> None:
        if self.since is not None and self.backlog is not None:
            raise ValueError("since and backlog exclude each other")


def on_the_channel(waiting: list[Waiting], stop: Stop) -> list[Waiting]:
    """The messages whose channel it is, put up to the event, in transmission queue order."""
    there = [w for w in waiting if w.outcome["qmgr"] == stop.qmgr and w.channel == stop.channel]
    there = [w for w in there if w.put_time <= stop.at]
    return sorted(there, key=lambda w: (w.outcome["put_seq"], w.outcome["message_id"] or b""))


def still_waiting(there: list[Waiting], stop: Stop, snapshots: Snapshots) -> list[Waiting] | None:
    """Those of them that were not sent yet (edition 2).

    Returns:
        Null where the channel was up until the event: it is as if there was none.
    """
    if stop.since is not None:
        return [w for w in there if w.put_time > stop.since]
    snapshot = snapshots.at(stop.at) or ""
    backlog = stop.backlog if stop.backlog is not None else _backlog(snapshots, snapshot, stop)
    if backlog is not None:
        return there[max(len(there) - backlog, 0) :]
    down = _down_since(snapshots, snapshot, stop)
    return None if down is None else [w for w in there if w.put_time >= down]


def _backlog(snapshots: Snapshots, snapshot: str, stop: Stop) -> int | None:
    """The known backlogs of L's CLUSSDRs of this name, added up; null where none is known (P40)."""
    rows = snapshots.view(snapshot, stop.qmgr).senders(stop.channel)
    known = [row["backlog"] for row in rows if row["backlog"] is not None]
    return sum(known) if known else None


def _down_since(snapshots: Snapshots, snapshot: str, stop: Stop) -> datetime | None:
    """When the unbroken run began in which its tier is not 1; null where it is 1 (P40, P41)."""
    began = None
    for this in reversed(snapshots.up_to(snapshot)):
        if best_tier(snapshots.view(this, stop.qmgr).senders(stop.channel)) == 1:
            break
        began = snapshots.valid_from(this)
    return began
