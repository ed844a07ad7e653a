"""Records of where messages went, each beside what was foretold of its message.

A record is compared in what it tells: where the message went, by which channel, on which
transmission queue it was put, or the reason that its put ended with.

Source: CONTRACT, `observed_routes`, `clwl conform`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import reduce
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.errors import UsageError
from clwl_spark.mq.vocabulary import ObjectType
from clwl_spark.spark.frames import frame_from_rows
from clwl_spark.tables import MESSAGES, OBSERVED_ROUTES, OUTCOMES, ROUTE_PLANS
from clwl_spark.tables import columns as c
from clwl_spark.tables.moments import moment_at

AGREES: Final = "agrees"
UP_TO: Final = "up_to"
_NAMED: Final = 40
WHY_NOT: Final = "why_not"
MESSAGES_OF: Final = "records"
FIRST_SEQ: Final = "first_seq"
FIRST_TIME: Final = "first_time"
TOLD: Final = (c.REASON, c.DEST_QMGR, c.CHANNEL, c.XMITQ)
"""What a record may tell of a message's way."""
_SEEN: Final = {name: f"seen_{name}" for name in TOLD}
_OF_PUT: Final = {name: f"told_{name}" for name in (c.OBJECT_NAME, c.PUT_TIME)}
_ROUTED_SEQ: Final = "routed_seq"
_LAST_SEQ: Final = "last_seq"
GROUP: Final = (
    c.QMGR,
    c.OBJECT_NAME,
    *TOLD,
    *_SEEN.values(),
    AGREES,
    WHY_NOT,
)


class NotCompared(StrEnum):
    """Why a record is counted as seen only."""

    UNTOLD = "the record does not tell where the message went"
    NAMELESS = "the record tells neither put_seq nor message_id"
    AMBIGUOUS = "several messages of the queue manager have its message_id"
    NO_OUTCOME = "its message has no outcome: run clwl route, or see rejected_messages"
    NO_MESSAGE = "table messages has no such message"


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which records are looked at.

    Attributes:
        object_name: only of puts to this object; None = of any.
        qmgr: only of puts on this queue manager; None = on any.
        since: only of puts from then on, in microseconds; None = from the first.
        until: only of puts up to then, in microseconds; None = up to the last.

    Raises:
        UsageError: `since` is after `until`.
    """

    object_name: str | None = None
    qmgr: str | None = None
    since: int | None = None
    until: int | None = None

    def __post_init__(self) -> None:
        """Refuse a time that is turned round."""
        if self.since is not None and self.until is not None and self.since > self.until:
            raise UsageError("--since is after --until: nothing was put in between; swap them")

    def condition(self) -> Column:
        """What a row fulfils; a name or a time that it does not tell is no obstacle."""
        found = F.lit(True)
        if self.qmgr is not None:
            found = found & (F.col(c.QMGR) == self.qmgr)
        if self.object_name is not None:
            found = found & F.coalesce(F.col(c.OBJECT_NAME) == self.object_name, F.lit(True))
        put = F.col(c.PUT_TIME)
        if self.since is not None:
            found = found & F.coalesce(put >= F.lit(moment_at(self.since)), F.lit(True))
        if self.until is not None:
            found = found & F.coalesce(put <= F.lit(moment_at(self.until)), F.lit(True))
        return found


ALL: Final = Wanted()


def matched(lake: Lake, wanted: Wanted = ALL, bounds: Mapping[str, int] | None = None) -> DataFrame:
    """Records beside the outcomes of their messages.

    Args:
        lake: with `observed_routes`, and routed.
        wanted: which records.
        bounds: only of these queue managers, up to these put_seqs; None = all.

    Grain: one row per record (distinct ones of publications, and of those known by their
    message_id): qmgr, put_seq, object_name and put_time of the message, or the record where there
    is none; reason, dest_qmgr, channel of its outcome, of a publication of one copy; `seen_*` what
    the record tells; `agrees`, null where `why_not` says why the two are not compared.
    """
    records = within(_records(lake, wanted), bounds)
    outcomes = within(lake.read(OUTCOMES.name), bounds).select(
        c.QMGR,
        F.col(c.PUT_SEQ).alias(_ROUTED_SEQ),
        c.MESSAGE_ID,
        *(F.col(x).alias(f"own_{x}") for x in (c.OBJECT_NAME, c.PUT_TIME)),
        *TOLD,
    )
    parts = [
        part
        for how in _ways(records)
        for part in (_by_seq(lake, records, outcomes) if how else _by_id(records, outcomes))
    ]
    parts.append(_apart(records))
    found = reduce(DataFrame.unionByName, parts)
    return found.where(wanted.condition())


def tallied(pairs: DataFrame) -> DataFrame:
    """Records counted by all that is told of them together.

    Args:
        pairs: as `matched` has them.

    Grain: one row per GROUP: how many records, and the first put_seq and put_time of them.
    """
    return pairs.groupBy(*GROUP).agg(
        F.count(F.lit(1)).alias(MESSAGES_OF),
        F.min(c.PUT_SEQ).alias(FIRST_SEQ),
        F.min(c.PUT_TIME).alias(FIRST_TIME),
    )


def lost(lake: Lake, pairs: DataFrame) -> int:
    """How many of the records without outcome have no row of `messages` either."""
    without = pairs.where(F.col(WHY_NOT) == NotCompared.NO_OUTCOME.value)
    messages = lake.read_or_empty(MESSAGES.name).select(c.QMGR, c.PUT_SEQ)
    return without.join(messages, [c.QMGR, c.PUT_SEQ], "left_anti").count()


def within(rows: DataFrame, bounds: Mapping[str, int] | None) -> DataFrame:
    """Rows of some queue managers up to a put_seq each; those without one stay; None = all rows.

    A few are named in the condition, so that files are passed over.
    """
    if bounds is None:
        return rows
    qmgr, seq = F.col(c.QMGR), F.col(c.PUT_SEQ)
    if len(bounds) <= _NAMED:
        each = [(qmgr == name) & (seq.isNull() | (seq <= up_to)) for name, up_to in bounds.items()]
        return rows.where(reduce(Column.__or__, each))
    of = frame_from_rows(rows.sparkSession, list(bounds.items()), f"{c.QMGR} string, {UP_TO} long")
    near = rows.join(F.broadcast(of), c.QMGR).where(seq.isNull() | (seq <= F.col(UP_TO)))
    return near.drop(UP_TO)


def _records(lake: Lake, wanted: Wanted) -> DataFrame:
    """The records; a blank name tells nothing."""
    rows = lake.read(OBSERVED_ROUTES.name).where(wanted.condition())
    blank = {x: F.nullif(F.col(x), F.lit("")) for x in (c.DEST_QMGR, c.CHANNEL, c.XMITQ)}
    told = {_SEEN[x]: blank.get(x, F.col(x)) for x in TOLD}
    return rows.select(
        c.QMGR,
        c.PUT_SEQ,
        c.MESSAGE_ID,
        *(F.col(name).alias(told_name) for name, told_name in _OF_PUT.items()),
        *(cell.alias(name) for name, cell in told.items()),
    )


def _is_told() -> Column:
    """Whether a record says where its message went, or why nowhere."""
    failed = F.coalesce(F.col(_SEEN[c.REASON]) != 0, F.lit(False))
    ends = [F.col(_SEEN[x]).isNotNull() for x in TOLD[1:]]
    return reduce(Column.__or__, ends, failed)


def _ways(records: DataFrame) -> Sequence[bool]:
    """By what records are matched: True = put_seq, False = message_id."""
    has_seq = F.col(c.PUT_SEQ).isNotNull()
    named = records.where(_is_told() & F.col(c.QMGR).isNotNull()).where(
        has_seq | F.col(c.MESSAGE_ID).isNotNull()
    )
    return [bool(x[0]) for x in named.select(has_seq).distinct().collect()]


def _usable(records: DataFrame) -> DataFrame:
    return records.where(_is_told() & F.col(c.QMGR).isNotNull())


def _by_seq(lake: Lake, records: DataFrame, outcomes: DataFrame) -> Sequence[DataFrame]:
    """Those that tell put_seq: a queue's as they are, a publication's with any of its copies."""
    known = _usable(records).where(F.col(c.PUT_SEQ).isNotNull()).drop(c.MESSAGE_ID)
    of = outcomes.drop(c.MESSAGE_ID).withColumnRenamed(_ROUTED_SEQ, c.PUT_SEQ)
    routed = of.withColumn(_ROUTED_SEQ, F.col(c.PUT_SEQ))
    pairs = _judged(known.join(routed, [c.QMGR, c.PUT_SEQ], "left"))
    return [_best_copy(pairs) if _has_publications(lake) else pairs.select(*_COLUMNS)]


def _by_id(records: DataFrame, outcomes: DataFrame) -> Sequence[DataFrame]:
    """Those that tell message_id alone."""
    no_seq = F.col(c.PUT_SEQ).isNull() & F.col(c.MESSAGE_ID).isNotNull()
    known = _usable(records).where(no_seq).drop(c.PUT_SEQ)
    pairs = known.join(outcomes, [c.QMGR, c.MESSAGE_ID], "left")
    pairs = pairs.withColumn(c.PUT_SEQ, F.col(_ROUTED_SEQ))
    return [_best_copy(_judged(pairs), c.MESSAGE_ID)]


_COLUMNS: Final = (
    c.QMGR,
    c.PUT_SEQ,
    c.OBJECT_NAME,
    c.PUT_TIME,
    *TOLD,
    *_SEEN.values(),
    AGREES,
    WHY_NOT,
)
_OF_RECORD: Final = (c.QMGR, *_OF_PUT.values(), *_SEEN.values())


def _judged(pairs: DataFrame) -> DataFrame:
    """Add whether the two agree; the message's own name and time win."""
    is_routed = F.col(_ROUTED_SEQ).isNotNull()
    own = {x: F.coalesce(F.col(f"own_{x}"), F.col(told)) for x, told in _OF_PUT.items()}
    why = F.when(~is_routed, F.lit(NotCompared.NO_OUTCOME.value))
    return pairs.withColumns({**own, AGREES: F.when(is_routed, _agrees()), WHY_NOT: why})


def _agrees() -> Column:
    """Whether what a record tells is what the outcome says."""
    reason = F.coalesce(F.col(_SEEN[c.REASON]), F.lit(0))
    ends = [
        F.col(_SEEN[x]).isNull() | F.coalesce(F.col(_SEEN[x]) == F.col(x), F.lit(False))
        for x in TOLD[1:]
    ]
    goes = reduce(Column.__and__, ends, F.lit(True))
    return (F.col(c.REASON) == reason) & ((reason != 0) | goes)


def _best_copy(pairs: DataFrame, *more: str) -> DataFrame:
    """Of several copies the one that agrees, else one to where it went; of several messages none.

    Grain: one row per distinct record.
    """
    agree = F.coalesce(AGREES, F.lit(False)).alias(AGREES)
    is_there = F.coalesce(F.col(_SEEN[c.DEST_QMGR]) == F.col(c.DEST_QMGR), F.lit(False))
    copy = F.struct(agree, is_there.alias("is_there"), *TOLD, WHY_NOT, *_OF_PUT)
    by = dict.fromkeys((*_OF_RECORD, *more, *(() if more else (c.PUT_SEQ,))))
    best = pairs.groupBy(*by).agg(
        F.min(_ROUTED_SEQ).alias(_ROUTED_SEQ),
        F.max(_ROUTED_SEQ).alias(_LAST_SEQ),
        F.max(copy).alias("copy"),
    )
    several = F.coalesce(F.col(_ROUTED_SEQ) != F.col(_LAST_SEQ), F.lit(False))
    why = F.when(several, F.lit(NotCompared.AMBIGUOUS.value)).otherwise(F.col(f"copy.{WHY_NOT}"))
    told = best.withColumn(WHY_NOT, why)
    if more:
        told = told.withColumn(c.PUT_SEQ, F.when(~several, F.col(_ROUTED_SEQ)))
    agrees = F.when(F.col(WHY_NOT).isNull(), F.col(f"copy.{AGREES}"))
    columns = {x: F.col(f"copy.{x}") for x in (*TOLD, *_OF_PUT)} | {AGREES: agrees}
    return told.withColumns(columns).select(*_COLUMNS)


def _has_publications(lake: Lake) -> bool:
    plans = lake.read_or_empty(ROUTE_PLANS.name)
    return not plans.where(F.col(c.OBJECT_TYPE) == ObjectType.TOPIC.value).isEmpty()


def _apart(records: DataFrame) -> DataFrame:
    """Those that cannot be matched, with the reason."""
    is_named = F.col(c.QMGR).isNotNull() & (
        F.col(c.PUT_SEQ).isNotNull() | F.col(c.MESSAGE_ID).isNotNull()
    )
    why = F.when(~_is_told(), NotCompared.UNTOLD.value).when(~is_named, NotCompared.NAMELESS.value)
    nothing = {x: F.lit(None).cast("int" if x == c.REASON else "string") for x in TOLD}
    own = {x: F.col(told) for x, told in _OF_PUT.items()}
    apart = records.withColumn(WHY_NOT, why).where(F.col(WHY_NOT).isNotNull())
    return apart.withColumns({**nothing, **own, AGREES: F.lit(None).cast("boolean")}).select(
        *_COLUMNS
    )
