"""How far a message has come, in an administrator's words. Pure Python, no Spark."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from clwl_spark.mq.vocabulary import ObjectType, reason_text
from clwl_spark.studies.reallocate.who_waits import ALL_WAIT, WhoWaits
from clwl_spark.tables import columns as c
from clwl_spark.tables.moments import moment_at, moment_text
from clwl_spark.tables.waiting import WaitingBy


class State(StrEnum):
    """How far a message has come on one queue manager, or one of its copies."""

    WAITS = "WAITS"
    SENT = "SENT"
    ARRIVED = "ARRIVED"
    ON_XMITQ = "ON_XMITQ"
    FAILED = "FAILED"
    NOT_YET = "NOT_YET"
    NOT_PUT_YET = "NOT_PUT_YET"
    REJECTED = "REJECTED"
    NOT_ROUTED = "NOT_ROUTED"


@dataclass(frozen=True, slots=True)
class Move:
    """A re-allocation of a message.

    Attributes:
        at: the last event that moved it, in microseconds.
        qmgr: to which it was to go when it was put.
        channel: by which; None = none.
    """

    at: int
    qmgr: str
    channel: str | None


@dataclass(frozen=True, slots=True)
class Place:
    """A message on one queue manager.

    Attributes:
        hop: 1 = where it was put.
        row: its outcome there, with the channel and transmission queue that it has now.
        state: how far it has come.
        routes: what it was chosen from.
        moved: what re-allocation did to it; None = nothing.
        waits: which messages wait for its channel.
        rank: its number from the end of what goes by its channel, where that decides.
        known: messages that the lake knows to go by it.
    """

    hop: int
    row: Mapping[str, Any]
    state: State
    routes: Sequence[Mapping[str, Any]] = ()
    moved: Move | None = None
    waits: WhoWaits = ALL_WAIT
    rank: int | None = None
    known: int = 0

    def ending(self, state: State, rank: int | None = None, known: int = 0) -> "Place":
        """The place with what has become of the message there."""
        return replace(self, state=state, rank=rank, known=known)

    def told_by(self, waits: WhoWaits) -> "Place":
        """The place with who waits for its channel."""
        return replace(self, waits=waits)


def summary(places: Sequence[Place]) -> str:
    """One sentence of all copies and hops."""
    here = [x for x in places if x.state != State.NOT_YET and not _has_left(x, places)]
    told = list(dict.fromkeys(_is(x) for x in here))
    if len(here) == 1 or len(told) == 1:
        return f"{told[0][0].upper()}{told[0][1:]}."
    return f"Its {len(here)} copies: {'; '.join(told)}."


def _has_left(place: Place, places: Sequence[Place]) -> bool:
    """Whether it was sent from there, and is told of where it came to."""
    went = place.state == State.SENT
    return went and any(
        x.hop == place.hop + 1 and x.row[c.QMGR] == place.row[c.DEST_QMGR] for x in places
    )


def _is(place: Place) -> str:
    row = place.row
    if place.state == State.WAITS:
        return f"it waits on {row[c.XMITQ]} of {row[c.QMGR]} for {row[c.CHANNEL]}"
    if place.state == State.ARRIVED:
        return f"it is {_local(row)} of {row[c.QMGR]}, unless something has taken it"
    if place.state == State.ON_XMITQ:
        return f"it is on {row[c.XMITQ]} of {row[c.QMGR]}, or was sent by that queue's channel"
    if place.state == State.FAILED:
        return f"its put on {row[c.QMGR]} ended with {reason_text(row[c.REASON])}"
    if place.state == State.NOT_PUT_YET:
        return "it was put later"
    return f"it was sent to {row[c.DEST_QMGR]}, {_at_the_end(row)}"


def _at_the_end(row: Mapping[str, Any]) -> str:
    if row[c.OBJECT_TYPE] == ObjectType.TOPIC:
        return f"for its subscribers to {row[c.OBJECT_NAME]}"
    return f"for {row[c.DEST_OBJECT]}"


def _local(row: Mapping[str, Any]) -> str:
    if row[c.OBJECT_TYPE] == ObjectType.TOPIC:
        return f"with the subscribers to {row[c.OBJECT_NAME]}"
    return f"on the queue {row[c.DEST_OBJECT]}"


def way(place: Place) -> str:
    """Where it goes from there, and of how many routes that is one."""
    row = place.row
    if row[c.REASON] != 0:
        return f"ends with {reason_text(row[c.REASON])}"
    if row[c.IS_LOCAL]:
        return f"stays here, {_local(row)}{_of_routes(place)}"
    if not row[c.CHANNEL]:
        return f"to {row[c.XMITQ]}, a transmission queue named by definition"
    return f"to {row[c.DEST_QMGR]} by {row[c.CHANNEL]} on {row[c.XMITQ]}{_of_routes(place)}"


def _of_routes(place: Place) -> str:
    """Of how many routes it is one; copies of a publication are each of a choice of their own."""
    if place.row[c.BOUND]:
        return ", bound by an earlier message"
    count = 0 if place.row[c.OBJECT_TYPE] == ObjectType.TOPIC else len(place.routes)
    return {0: "", 1: ", the only route"}.get(count, f", one of {count} routes")


def _moved(move: Move, row: Mapping[str, Any]) -> str:
    at = moment_text(moment_at(move.at))
    if (move.qmgr, move.channel) == (row[c.DEST_QMGR], row[c.CHANNEL]):
        return f"re-allocated at {at}, the same way again"
    by = f" by {move.channel}" if move.channel else ""
    return f"re-allocated at {at}, to {move.qmgr}{by} before"


def words(place: Place) -> str:
    """Why it is thought to be there."""
    told = _TOLD.get(place.state)
    if told is not None:
        moved = place.moved if place.state == State.ARRIVED else None
        return told if moved is None else f"{_moved(moved, place.row)}; {told}"
    if place.state == State.FAILED:
        return f"the put ended with {reason_text(place.row[c.REASON])}"
    before = "" if place.moved is None else f"{_moved(place.moved, place.row)}; "
    return before + _by_channel(place)


_TOLD = {
    State.ARRIVED: "it has come to where it was to go",
    State.ON_XMITQ: "whether that queue's channel has sent it is not known",
    State.NOT_YET: "it has not come here yet; this is its way from here",
    State.NOT_PUT_YET: "it was put, or chose anew, after the moment that is asked about",
}


def _by_channel(place: Place) -> str:
    waits, channel = place.waits, place.row[c.CHANNEL]
    if waits.last is not None:
        left = f"{channel} had {waits.last:,} messages left to send"
        by = f"the last {waits.last:,} wait" if waits.by == WaitingBy.BACKLOG else left
        more = f"; only {place.known:,} are known here" if waits.last > place.known else ""
        return f"{by}, and this one is number {place.rank:,} from the end{more}"
    if waits.put_from is not None:
        since = moment_text(moment_at(waits.put_from))
        is_told = waits.by == WaitingBy.SINCE
        by = f"those put from {since} on wait" if is_told else f"{channel} is down since {since}"
        was_put = "then or later" if place.state == State.WAITS else "before"
        return f"{by}, and it was put {was_put}"
    if waits.is_known:
        return "in the first edition everything that goes by a channel waits"
    return f"{channel} was up, as the snapshot in force has it"
