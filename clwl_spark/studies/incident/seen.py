"""The messages of an object around a moment, counted, and what of them waits."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.mq.vocabulary import DEFAULT_STATUS, STATUS_TIERS, ChannelType, Edition
from clwl_spark.spark.frames import frame_from_rows
from clwl_spark.studies.incident.model import Waiting
from clwl_spark.studies.reallocate.events import ChannelEvent, who_waits_at
from clwl_spark.studies.reallocate.waiting import PUT_AT, unsent, waiting_outcomes
from clwl_spark.studies.reallocate.who_waits import UP
from clwl_spark.tables import CHANNEL_STATUS, OUTCOMES
from clwl_spark.tables import columns as c

Asked = tuple[str, str, str, str]
"""Queue manager, object type, object name and object queue manager of a put."""

ASKED: Final = (c.QMGR, c.OBJECT_TYPE, c.OBJECT_NAME, c.OBJECT_QMGR)
_IS_AFTER: Final = "is_after"


@dataclass(frozen=True, slots=True)
class Span:
    """The time that is looked at, in microseconds: as long before the moment as after it."""

    since: int
    until: int

    @property
    def start(self) -> int:
        """Where the time before begins."""
        return self.since - (self.until - self.since)


@dataclass(frozen=True, slots=True)
class Count:
    """Messages that took one way."""

    asked: Asked
    dest_qmgr: str
    channel: str
    reason: int
    bound: bool
    is_after: bool
    messages: int


@dataclass(frozen=True, slots=True)
class WhichPuts:
    """The messages that are looked at.

    Attributes:
        object_name: as it is put to, or as an alias leads to it.
        qmgr: only those put there; None = anywhere.
        object_type: QUEUE or TOPIC, only those put to such objects; None = to any.
    """

    object_name: str
    qmgr: str | None = None
    object_type: str | None = None


def last_put(lake: Lake, puts: WhichPuts) -> int | None:
    """When the object's last message was put anywhere, in microseconds; None = there is none."""
    found = lake.read_or_empty(OUTCOMES.name).where(_is_of(puts))
    last: int | None = found.agg(F.max(F.unix_micros(c.PUT_TIME))).collect()[0][0]
    return last


def counts(lake: Lake, puts: WhichPuts, span: Span) -> list[Count]:
    """The object's messages by their ways, before and after the moment.

    Args:
        lake: routed, or not yet.
        puts: which.
        span: the time.
    """
    put_at = F.unix_micros(c.PUT_TIME)
    rows = lake.read_or_empty(OUTCOMES.name).where(
        _is_of(puts) & (put_at >= span.start) & (put_at <= span.until)
    )
    if puts.qmgr is not None:
        rows = rows.where(F.col(c.QMGR) == puts.qmgr)
    keys = [*ASKED, c.DEST_QMGR, c.CHANNEL, c.REASON, c.BOUND]
    grouped = rows.groupBy(*keys, (put_at >= span.since).alias(_IS_AFTER)).count()
    return [
        Count(
            (row[c.QMGR], row[c.OBJECT_TYPE], row[c.OBJECT_NAME], row[c.OBJECT_QMGR]),
            row[c.DEST_QMGR] or "",
            row[c.CHANNEL] or "",
            row[c.REASON],
            bool(row[c.BOUND]),
            row[_IS_AFTER],
            row["count"],
        )
        for row in grouped.collect()
    ]


def _is_of(puts: WhichPuts) -> Any:  # noqa: ANN401
    name = F.lit(puts.object_name)
    is_named = F.coalesce(F.col(c.DEST_OBJECT) == name, F.lit(False))
    is_named |= F.col(c.OBJECT_NAME) == name
    if puts.object_type is None:
        return is_named
    return is_named & (F.col(c.OBJECT_TYPE) == puts.object_type)


def down_channels(
    lake: Lake, snapshot_id: str, senders: Iterable[tuple[str, str]]
) -> dict[tuple[str, str], tuple[str, int]]:
    """Status and backlog of those cluster-sender channels that are down, or have a backlog.

    Of several with one name the best status, and the sum of the backlogs (SEMANTICS P40).

    Args:
        lake: with topology.
        snapshot_id: which says so.
        senders: queue managers, and their channels' names.
    """
    wanted = set(senders)
    qmgrs = sorted({qmgr for qmgr, _ in wanted})
    rows = (
        lake.read_or_empty(CHANNEL_STATUS.name, c.SNAPSHOT_ID, [snapshot_id])
        .where(F.col(c.CHLTYPE) == ChannelType.CLUSSDR.value)
        .where(F.col(c.QMGR).isin(qmgrs))
        .select(c.QMGR, c.CHANNEL, c.STATUS, c.BACKLOG)
    )
    found: dict[tuple[str, str], list[tuple[str, int | None]]] = {}
    for row in rows.collect():
        key = (row[c.QMGR], row[c.CHANNEL])
        found.setdefault(key, []).append((row[c.STATUS] or DEFAULT_STATUS, row[c.BACKLOG]))
    all_ = {key: _together(x) for key, x in found.items() if key in wanted}
    return {key: x for key, x in all_.items() if STATUS_TIERS[x[0]] != UP or x[1]}


def _together(channels: Sequence[tuple[str, int | None]]) -> tuple[str, int]:
    """Status and backlog of channels of one name."""
    best = min((x for x, _ in channels), key=lambda x: STATUS_TIERS[x])
    return best, sum(x or 0 for _, x in channels)


def waiting(
    lake: Lake,
    down: Mapping[tuple[str, str], tuple[str, int]],
    puts: WhichPuts,
    until: int,
    edition: Edition,
) -> list[Waiting]:
    """What waits for channels that are down at a moment, the most first.

    Source: SEMANTICS 8 ("Who waits").
    """
    found = []
    for (qmgr, channel), (status, _) in sorted(down.items()):
        waits = who_waits_at(lake, ChannelEvent(qmgr, channel, status, until), edition)
        if not waits.is_known:
            continue
        of = f"{c.QMGR} string, {c.CHANNEL} string"
        pair = frame_from_rows(lake.spark, [(qmgr, channel)], of)
        rows = waiting_outcomes(lake, pair, until)
        left = unsent(rows, waits, until).where(F.col(PUT_AT) <= until)
        own = F.count_if(_is_of(puts)).alias("own")
        rows = left.groupBy(c.XMITQ).agg(F.count(F.lit(1)).alias("all"), own)
        found += [
            Waiting(qmgr, channel, row[c.XMITQ], status, row["all"], row["own"])
            for row in rows.collect()
        ]
    return sorted(found, key=lambda x: (-x.messages, x.qmgr, x.channel))
