"""What each failure of a sweep costs: messages that move, wait, are not put; the busiest channel.

N-1 analysis: a case is one channel, queue manager or cluster; single points of failure are the
cases in which a request loses its last route that works, worst survivors the channels that take
over most.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.spark.materialize import checkpoint
from clwl_spark.studies.shares.expected import SHARE
from clwl_spark.studies.shares.traffic import MESSAGES_OF
from clwl_spark.studies.sweep.outages import Case
from clwl_spark.studies.sweep.sweep import (
    CASE,
    REQUEST_PLAN,
    SHARE_BEFORE,
    WAITS,
    Base,
    case_ends,
    not_put,
    with_waits,
)
from clwl_spark.tables import columns as c

_CHANNEL: Final = (c.DEST_QMGR, c.CHANNEL)
_LOAD: Final = "load"
_BEFORE: Final = "load_before"
_ROUNDED: Final = 9
_LITTLE: Final = 10**-_ROUNDED


@dataclass(frozen=True, slots=True)
class Survival:
    """What one case costs.

    Messages are expected numbers, in the traffic's unit. Of a publication each copy moves or waits
    (`copies_of` is the whole), and is put once.

    Attributes:
        case: what fails.
        messages_moved: that take another route, and get away.
        messages_waiting: that stay on a transmission queue and did not before: the channel of
            every route is down.
        messages_not_put: of queue managers that are down.
        requests_hit: distinct requests of which messages move or wait.
        requests_stranded: of these, the ones of which every message waits, and some did not.
        busiest_channel: the remote channel with the highest load then, '' if none has any, and
            busiest_qmgr, to which it leads.
        busiest_before: its load before.
        busiest_after: its load then.
    """

    case: Case
    messages_moved: float = 0.0
    messages_waiting: float = 0.0
    messages_not_put: float = 0.0
    requests_hit: int = 0
    requests_stranded: int = 0
    busiest_channel: str = ""
    busiest_qmgr: str = ""
    busiest_before: float = 0.0
    busiest_after: float = 0.0

    @property
    def cost(self) -> tuple[float, float, float, Case]:
        """What cases are sorted by, the worst first."""
        return -self.messages_waiting, -self.messages_not_put, -self.messages_moved, self.case

    def to_json(self) -> dict[str, Any]:
        """An element of `cases` in the document of `clwl what-if --sweep --json`."""
        return {**asdict(self), "case": [str(outage) for outage in self.case]}


def survivals(base: Base, cases: Sequence[Case]) -> list[Survival]:
    """What each case costs, in the order of the cases.

    Args:
        base: the traffic.
        cases: failures.

    Raises:
        NothingHitError: a case names something that the snapshot does not have.
    """
    if not cases:
        return []
    ends = checkpoint(case_ends(base, cases))
    silent = not_put(base, cases)
    found: dict[int, dict[str, Any]] = {number: {} for number in range(len(cases))}
    for frame in (
        _moves(base, ends),
        _silenced(base, silent),
        _busiest(base, ends, silent, len(cases)),
    ):
        for row in frame.collect():
            found[row[CASE]].update(row.asDict())
    return [
        Survival(case, **{x: _rounded(value) for x, value in found[at].items() if x != CASE})
        for at, case in enumerate(cases)
    ]


def copies_of(base: Base) -> float:
    """All messages that are sent; of a publication each copy is one."""
    copies = F.sum(F.col(MESSAGES_OF) * F.col("choices"))
    return float(base.plans.agg(copies).collect()[0][0] or 0.0)


def waiting_already(base: Base) -> tuple[float, int]:
    """Messages that wait though nothing more fails, and the requests of which all do."""
    waits = F.sum(F.when(F.col(WAITS), F.col(SHARE)).otherwise(0.0))
    of_choice = (
        with_waits(base.ends)
        .groupBy(c.PLAN_ID, c.CHOICE)
        .agg(waits.alias("waiting"))
        .join(base.plans.select(c.PLAN_ID, MESSAGES_OF), c.PLAN_ID)
    )
    of_request = of_choice.groupBy(c.PLAN_ID).agg(
        F.sum(F.col(MESSAGES_OF) * F.col("waiting")).alias("messages"),
        (F.min("waiting") > 1 - _LITTLE).alias("stranded"),
    )
    messages, requests = of_request.agg(F.sum("messages"), F.count_if("stranded")).collect()[0]
    return float(_rounded(messages or 0.0)), int(requests)


def failing_already(base: Base) -> float:
    """Messages that end with an MQRC though nothing fails; a copy of a publication is one."""
    fails = base.ends.where(F.col(c.REASON) != 0)
    messages = fails.agg(F.sum(F.col(MESSAGES_OF) * F.col(SHARE))).collect()[0][0]
    return float(_rounded(messages or 0.0))


def _rounded(value: object) -> Any:  # noqa: ANN401  (what the column holds)
    return round(value, _ROUNDED) if isinstance(value, float) else value


def _moves(base: Base, ends: DataFrame) -> DataFrame:
    """Messages that move or wait, and requests.

    Grain: one row per case of which a request is looked at.
    """
    is_local = F.coalesce(c.IS_LOCAL, F.lit(False))
    kept = F.when(~F.col(WAITS) & ~is_local, F.least(SHARE, F.coalesce(SHARE_BEFORE, F.lit(0.0))))
    waiting = F.sum(F.when(F.col(WAITS), F.col(SHARE)).otherwise(0.0))
    # Whichever of its own CLUSRCVRs is chosen, the message stays on the queue manager.
    stays = F.sum(F.when(is_local, F.col(SHARE)).otherwise(0.0))
    before = with_waits(base.ends).groupBy(F.col(c.PLAN_ID).alias(REQUEST_PLAN), c.CHOICE)
    of_choice = (
        ends.groupBy(CASE, REQUEST_PLAN, c.CHOICE)
        .agg(
            F.first(MESSAGES_OF).alias(MESSAGES_OF),
            waiting.alias("waiting"),
            stays.alias("stays"),
            F.sum(F.coalesce(kept, F.lit(0.0))).alias("leaves_as_before"),
        )
        .join(
            before.agg(waiting.alias("waiting_before"), stays.alias("stayed")),
            [REQUEST_PLAN, c.CHOICE],
        )
        .withColumn("kept", F.col("leaves_as_before") + F.least("stays", "stayed"))
    )
    more = F.greatest(F.col("waiting") - F.col("waiting_before"), F.lit(0.0))
    all_wait, waited = (F.min(x) > 1 - _LITTLE for x in ("waiting", "waiting_before"))
    of_request = of_choice.groupBy(CASE, REQUEST_PLAN).agg(
        F.sum(F.col(MESSAGES_OF) * more).alias("waiting"),
        F.sum(F.col(MESSAGES_OF) * (1 - F.col("waiting") - F.col("kept"))).alias("moved"),
        (all_wait & ~waited).alias("stranded"),
    )
    return of_request.groupBy(CASE).agg(
        F.sum("moved").alias("messages_moved"),
        F.sum("waiting").alias("messages_waiting"),
        F.count_if(F.col("moved") + F.col("waiting") > _LITTLE).alias("requests_hit"),
        F.count_if("stranded").alias("requests_stranded"),
    )


def _silenced(base: Base, silent: DataFrame) -> DataFrame:
    """Messages that are not put.

    Grain: one row per case with a queue manager down that puts.
    """
    of_qmgr = base.plans.groupBy(c.QMGR).agg(F.sum(MESSAGES_OF).alias(MESSAGES_OF))
    found = of_qmgr.join(F.broadcast(silent), c.QMGR).groupBy(CASE)
    return found.agg(F.sum(MESSAGES_OF).alias("messages_not_put"))


def _busiest(base: Base, ends: DataFrame, silent: DataFrame, cases: int) -> DataFrame:
    """The channel with the highest load in each case.

    Load of a case = load before, less that of the requests that it hits or silences, and what
    those that it hits bring then.

    Grain: one row per case; none where no message leaves its queue manager.
    """
    carried = ~F.col(c.IS_LOCAL) & F.col(c.CHANNEL).isNotNull()
    flow = F.col(MESSAGES_OF) * F.col(SHARE)
    before = base.ends.where(carried).withColumn(_LOAD, flow)
    total = before.groupBy(*_CHANNEL).agg(F.sum(_LOAD).alias(_BEFORE))
    hit = ends.select(CASE, F.col(REQUEST_PLAN).alias(c.PLAN_ID)).distinct()
    gone = (
        before.join(hit, c.PLAN_ID)
        .select(CASE, *_CHANNEL, (-F.col(_LOAD)).alias(_LOAD))
        .union(
            before.join(F.broadcast(silent), c.QMGR).select(
                CASE, *_CHANNEL, (-F.col(_LOAD)).alias(_LOAD)
            )
        )
    )
    came = ends.where(carried).select(CASE, *_CHANNEL, flow.alias(_LOAD))
    change = gone.union(came).groupBy(CASE, *_CHANNEL).agg(F.sum(_LOAD).alias("change"))
    every = base.plans.sparkSession.range(cases).select(F.col("id").cast("int").alias(CASE))
    loads = (
        total.crossJoin(F.broadcast(every))
        .join(change, [CASE, *_CHANNEL], "full")
        .fillna({_BEFORE: 0.0, "change": 0.0})
        .withColumn(_LOAD, F.col(_BEFORE) + F.col("change"))
    )
    loads = loads.where(F.col(_LOAD) > _LITTLE)
    # Of equal loads the first by name, so that two runs say the same.
    order = F.struct(F.round(-F.col(_LOAD), _ROUNDED), *_CHANNEL)
    busiest = F.min_by(F.struct(*_CHANNEL, _BEFORE, _LOAD), order)
    return (
        loads.groupBy(CASE)
        .agg(busiest.alias("busiest"))
        .select(
            CASE,
            F.col(f"busiest.{c.CHANNEL}").alias("busiest_channel"),
            F.col(f"busiest.{c.DEST_QMGR}").alias("busiest_qmgr"),
            F.col(f"busiest.{_BEFORE}").alias("busiest_before"),
            F.col(f"busiest.{_LOAD}").alias("busiest_after"),
        )
    )
