"""All that bears on a first disagreement: hypotheses, statuses, history, what each rule saw."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

import pyarrow.compute as pc
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.mq.vocabulary import Via
from clwl_spark.spark.frames import frame_from_rows
from clwl_spark.studies.conform.causes import Hypothesis
from clwl_spark.studies.conform.held import Sender
from clwl_spark.studies.conform.model import Disagreement, Document
from clwl_spark.studies.conform.suppose import Cause
from clwl_spark.studies.conform.trial import Start
from clwl_spark.studies.conform.wording import lacking, settles, words
from clwl_spark.studies.explain.planned import candidate_order
from clwl_spark.studies.explain.wording import reasons_why, verdict_text
from clwl_spark.tables import STATUS_EVENTS
from clwl_spark.tables import columns as c
from clwl_spark.tables.loading import AT
from clwl_spark.tables.moments import moment_at, moment_text

Ranked = Mapping[str, tuple[Sender, Sequence[Hypothesis]]]
_NEAR: Final = timedelta(hours=1)
_TOLD: Final = 5
"""Hypotheses that are told."""
_OF_CANDIDATE: Final = (
    c.DEST_QMGR, c.DEST_OBJECT, c.CHANNEL, c.INSTANCE_CLUSTER, c.CHANNEL_CLUSTER, c.IS_LOCAL,
    c.STATUS, c.STATUS_TIER, c.CHANNEL_RANK, c.QUEUE_RANK, c.NETPRTY, c.CHANNEL_PRTY, c.QUEUE_PRTY,
    c.CLWLWGHT, c.ELIMINATED_BY,
)  # fmt: skip


def disagreement(lake: Lake, told: Sequence[Disagreement], ranked: Ranked) -> list[Disagreement]:
    """Disagreements with what explains them.

    Args:
        lake: has the status events.
        told: of queue managers.
        ranked: of each queue manager, as arrays, and hypotheses on it, the best first.
    """
    known = [_explained(x, *ranked[x.qmgr]) if x.qmgr in ranked else x for x in told]
    events = _events(lake, known)
    return [replace(x, status_events=events.get(x.qmgr, ())) for x in known]


def _explained(told: Disagreement, sender: Sender, tried: Sequence[Hypothesis]) -> Disagreement:
    best = tried[0]
    is_lost = best.cause == Cause.UNKNOWN
    message = int(sender.evidence.puts[c.PUT_SEQ].searchsorted(told.put_seq))
    rows = _candidates(sender, message)
    return replace(
        told,
        cause=best.cause.value,
        why=words(best),
        fits=best.fits,
        of=best.seen,
        changes=best.changes,
        hypotheses=[_hypothesis(x) for x in tried[:_TOLD]],
        settle=(lacking(told) if is_lost else "") or settles(best, told.qmgr),
        statuses=_statuses(rows),
        history=_history(sender, message, best),
        candidates=_judged(rows, sender),
        start=_start(sender, best.trial.start) if best.cause == Cause.HISTORY_BEFORE_TRACE else (),
    )


def _hypothesis(x: Hypothesis) -> Document:
    return {
        "cause": x.cause.value,
        "told": words(x),
        "fits": x.fits,
        "of": x.seen,
        "changes": x.changes,
        "bits": round(x.bits, 1),
        "from_put_seq": x.span[0] if x.span else None,
        "to_put_seq": x.span[1] if x.span else None,
        "also": list(x.also),
    }


def _candidates(sender: Sender, message: int) -> list[dict[str, Any]]:
    """The candidates of a message's plan, in route order."""
    rows = sender.evidence.candidates
    plan = int(sender.evidence.puts[c.PLAN_ID][message])
    return sorted(rows.filter(pc.equal(rows[c.PLAN_ID], plan)).to_pylist(), key=candidate_order)


def _judged(rows: Sequence[dict[str, Any]], sender: Sender) -> list[Document]:
    """What each rule saw, and why it eliminated what it did."""
    x = sender.evidence
    whys = reasons_why(rows, x.qmgr, Via.LOCAL.value, x.semantics.algorithm)
    return [
        {**{name: row[name] for name in _OF_CANDIDATE}, "why": verdict_text(row, why)}
        for row, why in zip(rows, whys, strict=True)
    ]


def _statuses(rows: Sequence[Mapping[str, Any]]) -> list[Document]:
    """Grain: one row per channel of the candidates."""
    found = {(x[c.DEST_QMGR], x[c.CHANNEL]): x for x in rows if not x[c.IS_LOCAL]}
    names = (c.DEST_QMGR, c.CHANNEL, c.STATUS, c.STATUS_TIER)
    return [{name: found[key][name] for name in names} for key in sorted(found)]


def _history(sender: Sender, message: int, best: Hypothesis) -> list[Document]:
    """What is remembered before the message, by what was seen until then."""
    balance = sender.balance_before(message, replace(best.trial, most=0, strays=None))
    return _counters(sender, balance.tolist())


def _start(sender: Sender, start: Start | None) -> list[Document]:
    if start is None:
        return []
    both = zip(start.number.tolist(), start.factor.tolist(), strict=True)
    return _counters(sender, list(both))


def _counters(sender: Sender, values: Sequence[Sequence[int]]) -> list[Document]:
    """Grain: one row per channel that has counters."""
    return [
        {
            c.DEST_QMGR: to,
            c.CHANNEL: channel,
            c.DEST_SEQ_NUMBER: number,
            c.DEST_SEQ_FACTOR: factor,
        }
        for (to, channel), (number, factor) in zip(sender.channels, values, strict=True)
        if number or factor
    ]


def _events(lake: Lake, told: Sequence[Disagreement]) -> dict[str, list[Document]]:
    """By queue manager, changes of the statuses of its candidates' channels near the put."""
    channels = {(x.qmgr, y[c.CHANNEL]) for x in told for y in x.statuses}
    if not channels or not lake.exists(STATUS_EVENTS.name):
        return {}
    of = frame_from_rows(lake.spark, sorted(channels), f"{c.QMGR} string, {c.CHANNEL} string")
    rows = lake.read(STATUS_EVENTS.name).join(F.broadcast(of), [c.QMGR, c.CHANNEL], "left_semi")
    put = {x.qmgr: x.put_time for x in told}
    found: dict[str, list[Document]] = {}
    micros_of = F.unix_micros(AT).alias("micros")
    names = (c.QMGR, c.CHANNEL, c.REMOTE_QMGR, c.STATUS, c.REASON, c.SOURCE)
    for row in rows.select(micros_of, *names).orderBy("micros").collect():
        at = moment_text(moment_at(row["micros"]))
        if _is_near(at, put[row[c.QMGR]]):
            event = {AT: at, **{x: row[x] for x in names[1:]}}
            found.setdefault(row[c.QMGR], []).append(event)
    return found


def _is_near(at: str, put: str | None) -> bool:
    if put is None:
        return True
    return abs(datetime.fromisoformat(at) - datetime.fromisoformat(put)) <= _NEAR
