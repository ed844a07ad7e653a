"""A routed message's way, hop by hop, and how far it has come at a moment.

What was routed says which way a message takes; whether it has been sent since is told by who waits
for its channel, as for a re-allocation.

Source: SEMANTICS 8 ("Who waits"), P27, P40, P41.
"""

import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, takewhile
from typing import Any, Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.errors import UsageError
from clwl_spark.mq.vocabulary import Edition
from clwl_spark.routing.hops.lakes import lake_at
from clwl_spark.spark.frames import frame_from_rows
from clwl_spark.studies.reallocate.events import ChannelEvent, who_waits_at
from clwl_spark.studies.reallocate.explain import UnknownMessageError
from clwl_spark.studies.reallocate.waiting import (
    MOVED_AT,
    PUT_AT,
    PUT_BY,
    PUT_TO,
    RANK,
    from_the_end,
    outcomes_now,
    waiting_outcomes,
)
from clwl_spark.studies.reallocate.who_waits import WhoWaits
from clwl_spark.studies.where.wording import Move, Place, State, summary, way, words
from clwl_spark.tables import HOPS, MESSAGES, OUTCOMES, REJECTED_MESSAGES, ROUTE_CANDIDATES
from clwl_spark.tables import columns as c
from clwl_spark.tables import waiting as w
from clwl_spark.tables.journeys import AT_QMGR, AT_SEQ, HOP
from clwl_spark.tables.moments import moment_at, moment_text

Document = dict[str, Any]
_Row = dict[str, Any]
_Key = tuple[str, int, bytes | None]
_LAST_PUT_SEQ: Final = 2**63 - 1
_CHOSE: Final = (c.DEST_QMGR, c.CHANNEL, c.CLWLWGHT)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which message, and when.

    Attributes:
        at: the moment that is asked about, in microseconds.
        message_id: MQMD.MsgId; None = `qmgr` and `put_seq` name it.
        qmgr: the queue manager where it was put; None = any.
        put_seq: its number there.
        since: those put after it wait, in microseconds; None = the channel's status tells.
        backlog: the last so many wait; None = the channel's status tells.
    """

    at: int
    message_id: bytes | None = None
    qmgr: str | None = None
    put_seq: int | None = None
    since: int | None = None
    backlog: int | None = None

    @property
    def condition(self) -> Column:
        """What a table's row of the message fulfils."""
        tests = {c.MESSAGE_ID: self.message_id, c.QMGR: self.qmgr, c.PUT_SEQ: self.put_seq}
        found = F.lit(True)
        for name, value in tests.items():
            if value is not None:
                found = found & (F.col(name) == F.lit(value))
        return found

    def __str__(self) -> str:
        """As a reader names it."""
        if self.message_id is None:
            return f"{self.qmgr}:{self.put_seq}"
        return self.message_id.hex().upper() + (f" of {self.qmgr}" if self.qmgr else "")


def wanted_message(text: str, at: int, qmgr: str | None = None) -> Wanted:
    """The message that a text names: `QM:PUT_SEQ`, or an identifier in hexadecimal.

    Raises:
        UsageError: it is neither.
    """
    name, colon, number = text.rpartition(":")
    if colon and number.isdecimal() and int(number) <= _LAST_PUT_SEQ and qmgr in (None, name):
        return Wanted(at, qmgr=name, put_seq=int(number))
    try:
        message_id = bytes.fromhex(text)
    except ValueError:
        message_id = b""
    if not message_id:
        raise UsageError(
            f"'{text}' names no message: give QM:PUT_SEQ, or its identifier in hexadecimal, 48 "
            "digits as MQ shows it"
        )
    return Wanted(at, message_id=message_id, qmgr=qmgr)


def where_is(lake: Lake, wanted: Wanted, edition: Edition) -> list[Document]:
    """Tell how far messages have come.

    Args:
        lake: routed; ways go on over the first queue manager where table `hops` has them.
        wanted: the message; several may have its identifier. Table messages is looked into where
            no run knows of any: it says nothing of which of its rows were routed.
        edition: of the lake's SEMANTICS.

    Returns:
        One document per message, by queue manager and put_seq: its put, `state`, `summary` and
        `hops`, each with `state` and `why`.

    Raises:
        UnknownMessageError: the lake has no such message.
        UnknownEventError: the status is asked, and no snapshot is in force yet.
    """
    routed = _by_message(_outcomes(lake, wanted)).values()
    documents = [_document(lake, wanted, edition, own) for own in routed]
    documents += _rejected(lake, wanted)
    documents = documents or _not_routed_yet(lake, wanted)
    if not documents:
        raise UnknownMessageError(
            f"no message {wanted} in {lake.root}: neither among outcomes, rejected_messages nor "
            "messages; check its name, or load and route it first"
        )
    return sorted(documents, key=lambda x: (x[c.QMGR] or "", x[c.PUT_SEQ] or 0))


def _outcomes(lake: Lake, wanted: Wanted) -> list[_Row]:
    found = lake.read_or_empty(OUTCOMES.name).where(wanted.condition)
    return [] if found.isEmpty() else _rows(outcomes_now(lake, found, wanted.at))


def _rows(frame: DataFrame) -> list[_Row]:
    return [row.asDict() for row in frame.orderBy(c.QMGR, c.PUT_SEQ, c.DEST_QMGR).collect()]


def _by_message(rows: Iterable[_Row]) -> dict[_Key, list[_Row]]:
    found: dict[_Key, list[_Row]] = {}
    for row in rows:
        found.setdefault((row[c.QMGR], row[c.PUT_SEQ], row[c.MESSAGE_ID]), []).append(row)
    return found


def _document(lake: Lake, wanted: Wanted, edition: Edition, first: Sequence[_Row]) -> Document:
    """All of a message's way."""
    fates = _Fates(lake, wanted, edition)
    hops = places = [fates.place(1, row) for row in first]
    for hop, rows in _later(lake, first[0], wanted.at).items():
        places = [
            fates.place(hop, row, has_come=_is_at(row, places, _GONE))
            for row in rows
            if _is_at(row, places, _ON_ITS_WAY)
        ]
        hops = [*hops, *places]
    put = first[0]
    return {
        **_put(put),
        "at": moment_text(moment_at(wanted.at)),
        "state": _state(hops).value,
        "summary": summary(hops),
        "hops": [_hop(place) for place in hops],
    }


def _put(row: Mapping[str, Any]) -> Document:
    message_id = row[c.MESSAGE_ID]
    return {
        c.QMGR: row[c.QMGR],
        c.PUT_SEQ: row[c.PUT_SEQ],
        c.MESSAGE_ID: None if message_id is None else bytes(message_id).hex().upper(),
        c.PUT_TIME: row[c.PUT_TIME] and moment_text(row[c.PUT_TIME]),
        c.OBJECT_TYPE: row[c.OBJECT_TYPE],
        c.OBJECT_NAME: row[c.OBJECT_NAME],
        c.OBJECT_QMGR: row[c.OBJECT_QMGR],
    }


def _hop(place: Place) -> Document:
    """An element of `hops`."""
    names = (
        c.QMGR, c.PUT_SEQ, c.OBJECT_NAME, c.OBJECT_QMGR, c.SNAPSHOT_ID, c.REASON, c.DEST_QMGR,
        c.DEST_OBJECT, c.CHANNEL, c.CLUSTER, c.XMITQ, c.IS_LOCAL, c.BOUND,
    )  # fmt: skip
    moved = place.moved
    return {
        HOP: place.hop,
        **{name: place.row[name] for name in names},
        "chosen_from": [dict(x) for x in place.routes],
        MOVED_AT: None if moved is None else moment_text(moment_at(moved.at)),
        "moved_from": None
        if moved is None
        else {c.DEST_QMGR: moved.qmgr, c.CHANNEL: moved.channel},
        "way": way(place),
        "state": place.state.value,
        "why": words(place),
    }


def _move_of(row: Mapping[str, Any]) -> Move | None:
    """What re-allocation did to it."""
    return None if row[MOVED_AT] is None else Move(row[MOVED_AT], row[PUT_TO], row[PUT_BY])


def _later(lake: Lake, put: _Row, at: int) -> dict[int, list[_Row]]:
    """The outcomes of a message's later hops, by hop."""
    if not lake.exists(HOPS.name):
        return {}
    same = (F.col(c.QMGR) == put[c.QMGR]) & (F.col(c.PUT_SEQ) == put[c.PUT_SEQ])
    same = same & F.col(c.MESSAGE_ID).eqNullSafe(F.lit(put[c.MESSAGE_ID]))
    on = lake.read(HOPS.name).where(same & (F.col(HOP) > 1)).select(HOP, AT_QMGR, AT_SEQ)
    places: dict[int, set[tuple[str, int]]] = {}
    for hop, qmgr, number in on.collect():
        places.setdefault(hop, set()).add((qmgr, number))
    found = {}
    for hop, of_hop in sorted(places.items()):
        here = lake_at(lake, hop)
        of = frame_from_rows(lake.spark, sorted(of_hop), f"{c.QMGR} string, {c.PUT_SEQ} long")
        rows = here.read(OUTCOMES.name).join(F.broadcast(of), [c.QMGR, c.PUT_SEQ], "left_semi")
        found[hop] = _rows(outcomes_now(here, rows, at))
    return found


_GONE: Final = frozenset({State.SENT, State.ON_XMITQ})
_ON_ITS_WAY: Final = _GONE | {State.WAITS, State.NOT_YET}


def _is_at(row: _Row, before: Iterable[Place], states: Collection[State]) -> bool:
    """Whether a place before leads to this queue manager; a channel of no cluster may to any."""
    led = [x for x in before if x.state in states]
    return any(not x.row[c.CHANNEL] or x.row[c.DEST_QMGR] == row[c.QMGR] for x in led)


_ORDER: Final = (State.WAITS, State.FAILED, State.ON_XMITQ, State.ARRIVED, State.SENT)


def _state(places: Sequence[Place]) -> State:
    """How far the message has come: what concerns a reader first where copies differ."""
    states = {x.state for x in places}
    return next((state for state in _ORDER if state in states), State.NOT_PUT_YET)


@dataclass(slots=True)
class _Fates:
    """Finds out how far a message has come on each queue manager."""

    lake: Lake
    wanted: Wanted
    edition: Edition
    waits: dict[tuple[str, str], WhoWaits] = field(default_factory=dict)

    def place(self, hop: int, row: _Row, *, has_come: bool = True) -> Place:
        """The message on one queue manager."""
        here = lake_at(self.lake, hop)
        place = Place(hop, row, State.ARRIVED, self._routes(here, row), _move_of(row))
        if not has_come:
            return place.ending(State.NOT_YET)
        if row[PUT_AT] is not None and row[PUT_AT] > self.wanted.at:
            return place.ending(State.NOT_PUT_YET)
        if row[c.REASON] != 0:
            return place.ending(State.FAILED)
        if row[c.IS_LOCAL]:
            return place
        return self._by_channel(place) if row[c.CHANNEL] else place.ending(State.ON_XMITQ)

    def _routes(self, here: Lake, row: _Row) -> list[_Row]:
        """What it was chosen from."""
        if not row[c.CHANNEL] and not row[c.IS_LOCAL]:
            return []
        candidates = here.read(ROUTE_CANDIDATES.name)
        of_plan = candidates.where(F.col(c.PLAN_ID) == row[c.PLAN_ID])
        left = of_plan.where(F.col(c.ELIMINATED_BY).isNull()).select(*_CHOSE)
        return [x.asDict() for x in left.orderBy(*_CHOSE).collect()]

    def _by_channel(self, place: Place) -> Place:
        """Whether it waits for its channel."""
        qmgr, channel = place.row[c.QMGR], place.row[c.CHANNEL]
        waits = self.waits.get((qmgr, channel))
        if waits is None:
            told = (self.wanted.since, self.wanted.backlog)
            event = ChannelEvent(qmgr, channel, "STOPPED", self.wanted.at, *told)
            waits = self.waits[qmgr, channel] = who_waits_at(self.lake, event, self.edition)
        place = place.told_by(waits)
        if waits.last is not None:
            rank, known = self._from_the_end(place)
            return place.ending(State.WAITS if rank <= waits.last else State.SENT, rank, known)
        if waits.put_from is not None:
            is_left = place.row[PUT_AT] >= waits.put_from
            return place.ending(State.WAITS if is_left else State.SENT)
        return place.ending(State.WAITS if waits.is_known else State.SENT)

    def _from_the_end(self, place: Place) -> tuple[int, int]:
        """Its number from the end of what goes by its channel, and how many do.

        Applications' puts there are counted as a re-allocation counts them, by themselves. What
        came over a channel stands behind them and what came by other numbers of hops, as the
        moments say; of one moment, what had fewer hops is before.
        """
        row = place.row
        ranked = from_the_end(self._by_its_channel(place.hop, row), self.wanted.at)
        is_it = F.lit(True)
        for name in (c.PUT_SEQ, w.MESSAGE_KEY, w.DUPLICATE):
            is_it = is_it & (F.col(name) == row[name])
        found = ranked.agg(F.max(F.when(is_it, F.col(RANK))), F.count("*")).collect()[0]
        rank, known = int(found[0]), int(found[1])
        for hop in _hops(self.lake) if place.hop > 1 else ():
            if hop != place.hop:
                least = row[PUT_AT] + (hop < place.hop)
                behind = F.count(F.when(F.col(PUT_AT) >= least, 1))
                found = self._by_its_channel(hop, row).agg(behind, F.count("*")).collect()[0]
                rank, known = rank + int(found[0]), known + int(found[1])
        return rank, known

    def _by_its_channel(self, hop: int, row: Mapping[str, Any]) -> DataFrame:
        """What goes by a message's channel, of one number of hops, and was put by the moment."""
        of = f"{c.QMGR} string, {c.CHANNEL} string"
        channel = frame_from_rows(self.lake.spark, [(row[c.QMGR], row[c.CHANNEL])], of)
        there = waiting_outcomes(lake_at(self.lake, hop), channel, self.wanted.at)
        return there.where(F.col(PUT_AT) <= self.wanted.at)


def _hops(lake: Lake) -> Iterator[int]:
    """The numbers of hops that were routed, from 1."""
    return takewhile(lambda hop: lake_at(lake, hop).exists(OUTCOMES.name), count(1))


def _rejected(lake: Lake, wanted: Wanted) -> list[Document]:
    """Messages that were set aside, and why."""
    rejected = lake.read_or_empty(REJECTED_MESSAGES.name).where(wanted.condition)
    return [
        _without_outcome(row.asDict(), State.REJECTED, f"It was set aside: {row[c.ERROR]}.")
        for row in rejected.collect()
    ]


def _not_routed_yet(lake: Lake, wanted: Wanted) -> list[Document]:
    """Messages of which a run knows nothing."""
    there = lake.read_or_empty(MESSAGES.name).where(wanted.condition)
    option = "--catalog" if lake.in_catalog else "--lake"
    route = shlex.join(["clwl", "route", option, lake.root])
    told = f"It is in table messages, and was not routed yet: run `{route}`."
    return [_without_outcome(row.asDict(), State.NOT_ROUTED, told) for row in there.collect()]


def _without_outcome(row: _Row, state: State, told: str) -> Document:
    return {**_put(row), "at": None, "state": state.value, "summary": told, "hops": []}
