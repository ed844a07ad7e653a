"""Messages as routing takes them: rejected ones marked, the others with their plan's id.

Source: SEMANTICS S1, P1; the reasons of rejection are `reject_rules`.
"""

from collections.abc import Callable, Sequence
from functools import reduce
from operator import or_
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from clwl_spark.algorithm.request import REQUEST
from clwl_spark.mq.vocabulary import ObjectType, Reach, RejectError
from clwl_spark.planning.plans import plan_id
from clwl_spark.routing.intake.blocks import BIND_CODES, DOCUMENT, REJECT
from clwl_spark.routing.intake.reject_rules import DEFAULTS, REJECT_RULES, Condition, RejectRule
from clwl_spark.snapshots.catalog import Pin, heads_of
from clwl_spark.tables import MESSAGES
from clwl_spark.tables import columns as c
from clwl_spark.tables.moments import FIRST, LAST
from clwl_spark.tables.require import unread

JSON_OPTIONS: Final = {
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "ignoreNullFields": "true",
    "timeZone": "UTC",
}


_TEXTS: Final = frozenset(x.name for x in MESSAGES.columns if x.type == "string")
_ALTERED: Final = (*DEFAULTS, c.SCOPE)
"""Columns that mean something else in a request than in the file."""

_KEY: Final = "set_aside_"


def with_requests(messages: DataFrame, pins: Sequence[Pin]) -> DataFrame:
    """Add `error`, `snapshot_id` and the message's request after defaults.

    Args:
        messages: rows of `messages`, as `contract.require` gives them.
        pins: valid snapshots by (valid_from, snapshot_id); requests are made in the heads of lines.

    Grain: one row per message, before and after.
    """
    defaults = {name: F.coalesce(name, F.lit(word)) for name, word in DEFAULTS.items()}
    snapshot = _snapshot(F.unix_micros(c.PUT_TIME), heads_of(pins))
    defaulted = messages.withColumns(defaults).withColumn(c.SNAPSHOT_ID, snapshot)
    judged = defaulted.withColumn(c.ERROR, _error(messages))
    is_topic = F.col(c.OBJECT_TYPE) == ObjectType.TOPIC.value
    is_kept = is_topic & (F.col(c.SCOPE) == Reach.QMGR.value)
    return judged.withColumn(c.SCOPE, F.when(is_kept, Reach.QMGR.value))


def for_blocks(
    messages: DataFrame,
    pins: Sequence[Pin],
    set_aside: DataFrame | None = None,
    carried: Sequence[str] = (),
) -> DataFrame:
    """The few columns that go into blocks; rejected messages are one JSON document each.

    A name that is not UTF-8 has U+FFFD for what is wrong in it, and a moment that Delta has not is
    null: neither Python nor JSON could take them.

    Args:
        messages: rows of `messages`.
        pins: as for `with_requests`.
        set_aside: distinct keys (`duplicates.KEY`) of which some message is a duplicate: messages
            of theirs that can be routed get the DOCUMENT that one has which is set aside.
        carried: columns that are taken along as they are.

    Grain: one row per message, before and after.
    """
    given = (F.col(name).alias(f"given_{name}") for name in _ALTERED)
    found = with_requests(messages.select("*", *given), pins)
    put_time = F.when(_is_moment(), F.col(c.PUT_TIME))
    fields = [_kept(x, put_time).alias(x) for x in MESSAGES.names]
    reject = F.to_json(F.struct(*fields, c.ERROR), JSON_OPTIONS)
    documents = []
    if set_aside is not None:
        found, is_one = _marked(found, set_aside)
        error = F.lit(RejectError.DUPLICATE.value).alias(c.ERROR)
        document = F.to_json(F.struct(*fields, error), JSON_OPTIONS)
        documents = [F.when(is_one & F.col(c.ERROR).isNull(), document).alias(DOCUMENT)]
    codes = (F.when(F.col(c.BIND) == word, code) for word, code in BIND_CODES.items())
    bind = F.coalesce(*codes)
    return found.select(
        F.make_valid_utf8(c.QMGR).alias(c.QMGR),
        c.PUT_SEQ,
        F.unix_micros(put_time).alias(c.PUT_TIME),
        plan_id().alias(c.PLAN_ID),
        bind.cast("tinyint").alias(c.BIND),
        c.OPEN_ID,
        c.GROUP_ID,
        c.MESSAGE_ID,
        F.when(F.col(c.ERROR).isNotNull(), reject).alias(REJECT),
        *documents,
        *(F.col(f"given_{x}" if x in _ALTERED else x).alias(x) for x in carried),
    )


def _marked(messages: DataFrame, keys: DataFrame) -> tuple[DataFrame, Column]:
    """Messages beside the one of some distinct keys that they have, and whether they have one."""
    named = keys.select(*(F.col(x).alias(_KEY + x) for x in (c.QMGR, c.PUT_SEQ, c.MESSAGE_ID)))
    is_one = (
        (F.col(c.QMGR) == F.col(_KEY + c.QMGR))
        & (F.col(c.PUT_SEQ) == F.col(_KEY + c.PUT_SEQ))
        & (F.coalesce(c.MESSAGE_ID, F.lit(b"")) == F.col(_KEY + c.MESSAGE_ID))
    )
    both = messages.join(F.broadcast(named), is_one, "left")
    return both, F.col(_KEY + c.QMGR).isNotNull()


def _kept(column: str, put_time: Column) -> Column:
    """What is kept of a column of a rejected message."""
    if column == c.PUT_TIME:
        return put_time
    cells = F.col(f"given_{column}" if column in _ALTERED else column)
    return F.make_valid_utf8(cells) if column in _TEXTS else cells


def distinct_requests(messages: DataFrame, pins: Sequence[Pin]) -> DataFrame:
    """The distinct requests of messages that can be routed.

    Counted, though nobody asks how many: only for aggregates Spark has its fast hash map
    (10 million messages: `distinct` 2.5 s, so 1.4 s).

    Grain: one row per (plan_id, *REQUEST).
    """
    found = with_requests(messages, pins).where(F.col(c.ERROR).isNull())
    asked = found.groupBy(*REQUEST).count()
    return asked.where("count > 0").select(plan_id().alias(c.PLAN_ID), *REQUEST)


def _error(messages: DataFrame) -> Column:
    """The first reason why a message cannot be routed, else null."""
    return F.coalesce(*(F.when(_holds(messages, x), F.lit(x.error.value)) for x in REJECT_RULES))


def _holds(messages: DataFrame, rule: RejectRule) -> Column:
    """Whether a message has what a rule looks for."""
    forms: dict[Condition, Callable[[str], Column]] = {
        Condition.EMPTY: lambda x: F.coalesce(x, F.lit("")) == "",
        Condition.ABSENT: lambda x: F.col(x).isNull() & ~unread(messages, x),
        Condition.UNKNOWN: lambda x: ~F.col(x).isin(sorted(map(str, rule.words))),
        Condition.UNREAD: lambda x: _is_unread(messages, x),
    }
    return reduce(or_, map(forms[rule.condition], rule.columns))


def _is_unread(messages: DataFrame, column: str) -> Column:
    """Whether a cell is there, but not of the contract's type."""
    if column in _TEXTS:
        return ~F.is_valid_utf8(column)
    found = unread(messages, column)
    return found | ~_is_moment() if column == c.PUT_TIME else found


def _is_moment() -> Column:
    """Whether put_time is of the years 1 to 9999; files may have more."""
    return F.unix_micros(c.PUT_TIME).between(FIRST, LAST)


def _snapshot(at: Column, pins: Sequence[Pin]) -> Column:
    """The snapshot in force at a microsecond: a balanced tree of comparisons, no join."""
    if not pins:
        return F.lit(None).cast("string")
    if len(pins) == 1:
        return F.when(at >= pins[0].valid_from, F.lit(pins[0].snapshot_id))
    middle = len(pins) // 2
    later = at >= pins[middle].valid_from
    return F.when(later, _snapshot(at, pins[middle:])).otherwise(_snapshot(at, pins[:middle]))
