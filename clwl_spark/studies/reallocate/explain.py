"""One waiting message explained: what happened to it at each event of its channel, and why.

Source: SEMANTICS 8, P27 to P32; Dick's article (why messages stay, and how rank and priority
differ).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC
from typing import Any, Final

from pyspark.sql import Row
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.errors import InputError, UsageError
from clwl_spark.mq.vocabulary import STATUS_TIERS, Edition
from clwl_spark.planning.plans import Ladder
from clwl_spark.rules.routes import ROUTE_ORDER
from clwl_spark.snapshots.catalog import snapshot_catalog
from clwl_spark.snapshots.contradictions import consistent_topology
from clwl_spark.spark.frames import frame_from_rows
from clwl_spark.spark.materialize import inline
from clwl_spark.studies.explain.wording import reasons_why
from clwl_spark.studies.reallocate.events import ChannelEvent, done_events, who_waits_at
from clwl_spark.studies.reallocate.situations import (
    ASKED,
    STOPPED_CHANNEL,
    STOPPED_STATUS,
    judge,
)
from clwl_spark.studies.reallocate.waiting import done_reallocations, identified
from clwl_spark.studies.reallocate.wording import Happened, in_words, none_waits
from clwl_spark.tables import OUTCOMES
from clwl_spark.tables import columns as c
from clwl_spark.tables import waiting as w
from clwl_spark.tables.moments import micros, moment_at, moment_text

_CHOSE: Final = (
    w.Reallocation.MOVED.value,
    w.Reallocation.STILL_FAVOURED.value,
    w.Reallocation.FAILED.value,
)
_ASKED_AS: Final = "STOPPED"
"""A status to ask who would wait with; who does is a matter of the status before it."""
_SHOWN: Final = ("dest_qmgr", "channel", "status", "eliminated_by", "why")
Document = dict[str, Any]
Situation = tuple[str, str, str]


class UnknownMessageError(InputError):
    """No message with this identifier was routed."""


@dataclass(frozen=True, slots=True)
class _Request:
    """What the message asks for again."""

    qmgr: str
    object_type: str
    object_name: str
    object_qmgr: str
    via: str


def explain_message(
    lake: Lake, message_id: bytes, qmgr: str | None, ladder: Ladder
) -> list[Document]:
    """Tell the story of each outcome of the messages with this identifier.

    Args:
        lake: routed.
        message_id: MQMD.MsgId; applications may give it to several messages.
        qmgr: only outcomes of this queue manager; None = of all.
        ladder: the lake's rules.

    Returns:
        One document per outcome: where it is, `summary` in words, and `events`, each with its
        `words` and the candidates of its choice.

    Raises:
        UnknownMessageError: there is none.
    """
    outcomes = lake.read(OUTCOMES.name).where(F.col(c.MESSAGE_ID) == F.lit(message_id))
    if qmgr is not None:
        outcomes = outcomes.where(F.col(c.QMGR) == qmgr)
    found = identified(lake, outcomes).orderBy(c.QMGR, c.PUT_SEQ).collect()
    if not found:
        where = f" on {qmgr}" if qmgr else ""
        raise UnknownMessageError(
            f"no message {message_id.hex().upper()}{where} in table outcomes of {lake.root}: check "
            "the identifier, or route it first"
        )
    rows = _events_of(lake, message_id)
    return [_story(lake, row, rows, ladder) for row in found]


def message_id_of(text: str) -> bytes:
    """The identifier that a hexadecimal text means.

    Raises:
        UsageError: it is none.
    """
    try:
        return bytes.fromhex(text)
    except ValueError as error:
        raise UsageError(
            f"'{text}' is no message identifier: give it in hexadecimal, 48 digits as MQ shows it"
        ) from error


def _events_of(lake: Lake, message_id: bytes) -> list[Row]:
    """The rows of `reallocations` with their events' status and snapshot, in order."""
    events = done_events(lake).select(w.EVENT_ID, c.STATUS, c.SNAPSHOT_ID)
    mine = done_reallocations(lake).where(F.col(c.MESSAGE_ID) == F.lit(message_id))
    return mine.join(events, w.EVENT_ID).orderBy(w.EVENT_NUMBER).collect()


def _story(lake: Lake, outcome: Row, rows: Sequence[Row], ladder: Ladder) -> Document:
    """All that happened to one outcome."""
    own = [row for row in rows if _same(row, outcome)]
    request = _Request(*(outcome[x] for x in ASKED))
    judged = _candidates(lake, request, [row for row in own if row[w.OUTCOME] in _CHOSE], ladder)
    events = [_event(row, outcome, judged.get(_situation(row), [])) for row in own]
    channel, xmitq = outcome[c.CHANNEL], outcome[c.XMITQ]
    for row in own:
        if row[w.OUTCOME] == w.Reallocation.MOVED.value:
            channel, xmitq = row[w.TO_CHANNEL], row[w.TO_XMITQ]
    document = {
        c.QMGR: outcome[c.QMGR],
        c.PUT_SEQ: outcome[c.PUT_SEQ],
        c.MESSAGE_ID: bytes(outcome[c.MESSAGE_ID]).hex().upper(),
        c.OBJECT_NAME: outcome[c.OBJECT_NAME],
        c.OBJECT_QMGR: outcome[c.OBJECT_QMGR],
        "first_channel": outcome[c.CHANNEL],
        c.CHANNEL: channel,
        c.XMITQ: xmitq,
    }
    sender = (outcome[c.QMGR], channel)
    is_held = bool(own) and own[-1][w.OUTCOME] != w.Reallocation.MOVED.value
    upto = max(micros(x.astimezone(UTC)) for x in (outcome[c.PUT_TIME], *(y[w.AT] for y in own)))
    up = None if is_held or channel is None else _up(lake, sender, upto, ladder)
    if up is None:
        summary = _summary(outcome, channel, xmitq, own)
    elif own:
        summary = f"It was moved to {channel}, which is up, so it has gone by it."
    else:
        summary = f"It went by {channel}. {up} (clwl reallocate)."
    return {**document, "summary": summary, "events": events}


def _same(row: Row, outcome: Row) -> bool:
    keys = (c.QMGR, w.MESSAGE_KEY, w.DUPLICATE)
    return all(row[key] == outcome[key] for key in keys)


def _up(lake: Lake, sender: tuple[str, str], since: int, ladder: Ladder) -> str | None:
    """Why nothing waits for a channel: it is up; None = something may wait for it.

    Args:
        lake: where it was routed.
        sender: (qmgr, channel) that it is for.
        since: from when on.
        ladder: the lake's rules.

    Source: SEMANTICS 8 ("Who waits"), P40.
    """
    pins = snapshot_catalog(lake).pins
    if not pins or ladder.semantics.edition == Edition.FIRST:
        return None
    at, (qmgr, channel) = max(since, pins[-1].valid_from), sender
    event = ChannelEvent(qmgr, channel, _ASKED_AS, at)
    if who_waits_at(lake, event, ladder.semantics.edition).is_known:
        return None
    where = f"{moment_text(moment_at(at))}: {channel} of {qmgr}"
    return none_waits(where, pins[-1].snapshot_id, "this one has gone by it")


def _summary(outcome: Row, channel: str | None, xmitq: str | None, own: Sequence[Row]) -> str:
    """Where the message is."""
    if outcome[c.CHANNEL] is None:
        ended = f"its put ended with reason {outcome[c.REASON]}"
        if outcome[c.REASON] == 0:
            ended = (
                f"it is on the local queue {outcome[c.DEST_OBJECT]}"
                if outcome[c.IS_LOCAL]
                else f"it is on the transmission queue {outcome[c.XMITQ]}, named by definition"
            )
        return f"It never waited for a cluster-sender channel: {ended}."
    if channel is None:
        place = f"on the transmission queue {xmitq}" if xmitq else "on a local queue"
        return f"It waits for no channel any more: it is {place}."
    told = f"It waits for {channel} on {xmitq}."
    return told if own else f"{told} No stop of that channel was run (clwl reallocate)."


def _situation(row: Row) -> Situation:
    return row[c.SNAPSHOT_ID], row[w.FROM_CHANNEL], row[c.STATUS]


def _candidates(
    lake: Lake, request: _Request, chose: Sequence[Row], ladder: Ladder
) -> dict[Situation, list[Document]]:
    """The candidates of the message's choice in each situation, with reasons."""
    if not chose:
        return {}
    spark = lake.spark
    met = sorted({(request.qmgr, *_situation(row), STATUS_TIERS[row[c.STATUS]]) for row in chose})
    types = f"qmgr string, snapshot_id string, {STOPPED_CHANNEL} string, {STOPPED_STATUS} string"
    of = frame_from_rows(spark, met, f"{types}, stopped_tier int")
    asked = frame_from_rows(
        spark,
        [[getattr(request, name) for name in ASKED]],
        ", ".join(f"{name} string" for name in ASKED),
    )
    topology = consistent_topology(lake, sorted({x[1] for x in met}), inline)
    judged = judge(lake, asked, of, topology, ladder, inline)
    plan_ids = {
        row[c.PLAN_ID]: (row[c.SNAPSHOT_ID], row[STOPPED_CHANNEL], row[STOPPED_STATUS])
        for row in judged.plans.collect()
    }
    found: dict[Situation, list[Document]] = {situation: [] for situation in plan_ids.values()}
    for candidate in judged.candidates.collect():
        found[plan_ids[candidate[c.PLAN_ID]]].append(candidate.asDict())
    for rows in found.values():
        rows.sort(key=lambda row: tuple(row[x] for x in (*ROUTE_ORDER, c.CHANNEL_CLUSTER)))
        whys = reasons_why(rows, request.qmgr, request.via, ladder.algorithm)
        for verdict, why in zip(rows, whys, strict=True):
            verdict["why"] = why
    return found


def _event(row: Row, outcome: Row, candidates: list[Document]) -> Document:
    """One event of the message's channel."""
    happened = Happened(
        outcome=w.Reallocation(row[w.OUTCOME]),
        channel=row[w.FROM_CHANNEL],
        status=row[c.STATUS],
        to_channel=row[w.TO_CHANNEL],
        to_xmitq=row[w.TO_XMITQ],
        deciding_rule=row[w.DECIDING_RULE],
        ineligible_reason=row[w.INELIGIBLE_REASON],
        reason=row[c.REASON] or 0,
        object_qmgr=outcome[c.OBJECT_QMGR],
        candidates=candidates,
    )
    names = (w.EVENT_ID, c.SNAPSHOT_ID, c.STATUS, w.FROM_CHANNEL, w.OUTCOME)
    also = (w.TO_CHANNEL, w.TO_XMITQ, w.DECIDING_RULE, w.INELIGIBLE_REASON, c.REASON)
    return {
        **{name: row[name] for name in names},
        w.AT: moment_text(row[w.AT]),
        **{name: row[name] for name in also},
        "words": in_words(happened),
        "candidates": [{name: x[name] for name in _SHOWN} for x in candidates],
    }
