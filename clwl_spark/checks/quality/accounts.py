"""What became of each message: messages, outcomes and rejects brought together once.

Source: SEMANTICS 6, P15, P16, P25; CONTRACT, "Messages and outcomes".
"""

from dataclasses import dataclass
from functools import reduce
from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.mq.vocabulary import Bind, DefBind, ObjectType, RejectError
from clwl_spark.snapshots.semantics import semantics_of
from clwl_spark.tables import MESSAGES, OUTCOMES, REJECTED_MESSAGES, ROUTE_PLANS, RUNS
from clwl_spark.tables import columns as c

KEPT_OFFENCES: Final = 1_001
_OWNER: Final = "owner_hash"
_MESSAGES: Final = "messages"
_OUTCOMES: Final = "outcomes"
_REJECTS: Final = "rejects"
_DUPLICATES: Final = "duplicates"
_COUNTED: Final = (_MESSAGES, _OUTCOMES, _REJECTS, _DUPLICATES)
_COPIES: Final = "copies"
_OPEN_KEY: Final = "open_key"
_GROUP_KEY: Final = "group_key"
_OPTION: Final = "option"
_DEFAULT: Final = "default_option"
_ROUTE: Final = "route"
_BOUND: Final = "bound_rows"
_LATE: Final = "late_rows"
_KEY: Final = "binding_key"
_OPEN: Final = 1
_GROUP: Final = 2
_NEITHER: Final = 0
OFFENCE: Final = "offence"
_OFFENCES: Final = ("lost", "repeated", "orphan", "wrong", "unbound")
_PUTS: Final = "puts"
_SUSPICIOUS: Final = "suspicious_keys"


@dataclass(frozen=True, slots=True)
class Accounts:
    """What was found.

    Attributes:
        figures: messages, lost, repeated, orphans, wrong, unbound: how many of each.
        offences: (qmgr, put_seq, messages, outcomes, rejects, copies, offence), the first ones.
        bindings: (qmgr, put_seq, detail) of bound messages that left their binding, the first.
    """

    figures: dict[str, int]
    offences: DataFrame
    bindings: DataFrame


def account(lake: Lake) -> Accounts:
    """Bring messages and what became of them together, in one pass over both.

    Rows are looked at again only where something is wrong, to say which they are.
    """
    each = _each_message(lake).withColumns({OFFENCE: _offence(), _KEY: _binding_key()})
    summed = _summed(each).collect()[0].asDict()
    keys = summed.pop(_SUSPICIOUS)
    figures = {name: int(count or 0) for name, count in summed.items()}
    figures["waiting"] = max(0, figures.pop(_PUTS) - _taken(lake))
    bad = each.where(F.col(OFFENCE).isNotNull())
    if not any(figures[x] for x in _OFFENCES):
        bad = bad.limit(0)
    strayed = _strayed(each, keys) if keys else each.limit(0)
    return Accounts(figures, _named(lake, bad), _named(lake, strayed))


def _each_message(lake: Lake) -> DataFrame:
    """Grain: one row per (queue manager, put_seq), wherever it is found."""
    rejected = lake.read_or_empty(REJECTED_MESSAGES.name)
    is_duplicate = F.col(c.ERROR).eqNullSafe(F.lit(RejectError.DUPLICATE.value))
    sides = [
        _side(_of_messages(lake), _MESSAGES),
        _side(_of_outcomes(lake), _OUTCOMES),
        _side(rejected.where(~is_duplicate), _REJECTS),
        _side(rejected.where(is_duplicate), _DUPLICATES),
    ]
    united = reduce(DataFrame.unionByName, sides)
    highest = (_COPIES, _OPEN_KEY, _GROUP_KEY, _OPTION, _DEFAULT, _ROUTE, _BOUND, _LATE)
    return united.groupBy(_OWNER, c.PUT_SEQ).agg(
        *(F.sum(x).alias(x) for x in _COUNTED),
        *(F.max(x).alias(x) for x in highest),
    )


def _of_messages(lake: Lake) -> DataFrame:
    """Messages with the keys that they may be bound by."""
    asked = F.coalesce(F.col(c.OBJECT_QMGR), F.lit(""))
    words = (c.QMGR, F.col(c.OBJECT_NAME), asked)
    has_open = F.lit(semantics_of(lake).shares_null_opens) | F.col(c.OPEN_ID).isNotNull()
    option = (
        F.when(F.col(c.OBJECT_TYPE) == ObjectType.TOPIC.value, _NEITHER)
        .when(F.col(c.BIND) == Bind.ON_OPEN.value, _OPEN)
        .when(F.col(c.BIND) == Bind.ON_GROUP.value, _GROUP)
        .when(F.col(c.BIND) == Bind.NOT_FIXED.value, _NEITHER)
    )
    return lake.read(MESSAGES.name).select(
        c.QMGR,
        c.PUT_SEQ,
        F.when(has_open, F.xxhash64(*words, c.OPEN_ID)).alias(_OPEN_KEY),
        F.when(F.col(c.GROUP_ID).isNotNull(), F.xxhash64(*words, c.GROUP_ID)).alias(_GROUP_KEY),
        option.alias(_OPTION),
    )


def _of_outcomes(lake: Lake) -> DataFrame:
    """Outcomes with what their plan says, and a number for the route they took."""
    default = (
        F.when(F.col(c.BIND_DEFAULT) == DefBind.OPEN.value, _OPEN)
        .when(F.col(c.BIND_DEFAULT) == DefBind.GROUP.value, _GROUP)
        .otherwise(_NEITHER)
    )
    plans = lake.read_or_empty(ROUTE_PLANS.name).select(
        c.PLAN_ID,
        F.greatest(F.coalesce("choices", F.lit(1)), F.lit(1)).alias(_COPIES),
        default.alias(_DEFAULT),
    )
    route = F.xxhash64(c.DEST_QMGR, c.DEST_OBJECT, c.CHANNEL, c.CLUSTER, c.IS_LOCAL)
    return (
        lake.read_or_empty(OUTCOMES.name)
        .join(F.broadcast(plans), c.PLAN_ID, "left")
        .select(
            c.QMGR,
            c.PUT_SEQ,
            F.coalesce(_COPIES, F.lit(1)).alias(_COPIES),
            _DEFAULT,
            F.when(F.col(c.REASON) == 0, route).alias(_ROUTE),
            F.col(c.BOUND).cast("int").alias(_BOUND),
            F.col(c.OUT_OF_ORDER).cast("int").alias(_LATE),
        )
    )


def _is_nameless() -> Column:
    """Which rows have no (qmgr, put_seq) that names a message."""
    return (F.coalesce(c.QMGR, F.lit("")) == "") | F.col(c.PUT_SEQ).isNull()


def _side(frame: DataFrame, name: str) -> DataFrame:
    """A table's rows as one kind of row; the queue manager as a number, which groups faster."""
    counts = {x: F.lit(int(x == name)) for x in _COUNTED}
    types = {_OPEN_KEY: "bigint", _GROUP_KEY: "bigint", _ROUTE: "bigint"}
    others = (_COPIES, _OPEN_KEY, _GROUP_KEY, _OPTION, _DEFAULT, _ROUTE, _BOUND, _LATE)
    return frame.where(~_is_nameless()).select(
        F.xxhash64(c.QMGR).alias(_OWNER),
        c.PUT_SEQ,
        *(value.alias(x) for x, value in counts.items()),
        *(
            (F.col(x) if x in frame.columns else F.lit(None)).cast(types.get(x, "int")).alias(x)
            for x in others
        ),
    )


def _offence() -> Column:
    """What is wrong with a message, or null: one word; duplicates that were set aside are not."""
    messages, outcomes, rejects = (F.col(x) for x in (_MESSAGES, _OUTCOMES, _REJECTS))
    both = (outcomes > 0) & (rejects > 0)
    wrong = both | (rejects > 1) | ((rejects == 0) & (outcomes != F.col(_COPIES)))
    return (
        F.when(messages - F.col(_DUPLICATES) > 1, "repeated")
        .when(messages == 0, "orphan")
        .when((outcomes == 0) & (rejects == 0), "lost")
        .when(wrong, "wrong")
        .when((F.col(_BOUND) == 1) & _binding_key().isNull(), "unbound")
    )


def _puts() -> Column:
    """Messages of a key as runs counted them: deleted ones too, later copies of a row not."""
    taken = F.col(_OUTCOMES) + F.col(_REJECTS) + F.col(_DUPLICATES)
    routed = F.least(F.col(_MESSAGES), taken)
    return F.greatest(F.lit(1), routed)


def _binding_key() -> Column:
    """The open or group that binds a message; null = none does."""
    option = F.coalesce(F.col(_OPTION), F.col(_DEFAULT))
    return F.when(option == _OPEN, F.col(_OPEN_KEY)).when(option == _GROUP, F.col(_GROUP_KEY))


def _summed(each: DataFrame) -> DataFrame:
    """Figures of all messages; the first keys whose messages took several routes, some bound.

    Grain: one row; between, one per open or group that binds, which most lakes do not have.
    """
    offence, route = F.col(OFFENCE), F.col(_ROUTE)
    by_key = each.groupBy(_KEY).agg(
        F.sum(_MESSAGES).alias(_MESSAGES),
        F.sum(_puts()).alias(_PUTS),
        *(F.sum((offence == x).cast("int")).alias(x) for x in _OFFENCES),
        F.sum(F.when(route.isNotNull(), F.col(_BOUND))).alias(_BOUND),
        F.min(route).alias("least"),
        F.max(route).alias("most"),
    )
    suspicious = (F.col(_BOUND) > 0) & (F.col("least") != F.col("most"))
    keys = F.collect_list(F.when(suspicious, F.col(_KEY)))
    return by_key.agg(
        *(F.sum(x).alias(x) for x in (_MESSAGES, _PUTS, *_OFFENCES)),
        F.slice(F.array_sort(keys), 1, KEPT_OFFENCES).alias(_SUSPICIOUS),
    )


def _strayed(each: DataFrame, keys: list[int]) -> DataFrame:
    """Bound messages whose route is not that of the last one before them that chose.

    A key that was forgotten (binding_ttl) chooses again, so several routes alone are no offence.
    Keys with messages that came late are left out: their order is not that of put_seq. So are queue
    managers with several messages of one put_seq: nobody can say which outcome is whose.
    """
    within = Window.partitionBy(_KEY).orderBy(c.PUT_SEQ)
    chosen = F.last(F.when(F.col(_BOUND) == 0, F.col(_ROUTE)), ignorenulls=True).over(within)
    doubled = each.where(F.col(_MESSAGES) > 1).select(_OWNER).distinct()
    return (
        each.where(F.col(_KEY).isin(keys) & F.col(_ROUTE).isNotNull())
        .join(doubled, _OWNER, "left_anti")
        .withColumn("late_ones", F.max(_LATE).over(Window.partitionBy(_KEY)))
        .withColumn("chosen", chosen)
        .where((F.col("late_ones") == 0) & (F.col(_BOUND) == 1))
        .where(~F.col("chosen").eqNullSafe(F.col(_ROUTE)))
        .withColumn(OFFENCE, F.lit("strayed"))
    )


def _named(lake: Lake, bad: DataFrame) -> DataFrame:
    """Offences with the queue manager's name in place of its number, the first ones."""
    names = (
        lake.read(MESSAGES.name)
        .select(c.QMGR)
        .union(lake.read_or_empty(OUTCOMES.name).select(c.QMGR))
        .distinct()
        .withColumn(_OWNER, F.xxhash64(c.QMGR))
    )
    few = bad.orderBy(_OWNER, c.PUT_SEQ).limit(KEPT_OFFENCES * 5)
    return few.join(names, _OWNER).select(
        c.QMGR, c.PUT_SEQ, _MESSAGES, _OUTCOMES, _REJECTS, _COPIES, OFFENCE
    )


def _taken(lake: Lake) -> int:
    """Messages that runs have taken: a message beyond these is not lost but not routed yet.

    Those without a name, which were rejected, are not among the ones to compare with.
    """
    rejected = lake.read_or_empty(REJECTED_MESSAGES.name)
    nameless = rejected.where(_is_nameless()).count()
    done = lake.read_or_empty(RUNS.name).where(F.col(c.STATUS) == "DONE")
    return int(done.agg(F.sum("messages")).first()[0] or 0) - nameless  # type: ignore[index]
