"""All messages of a lake followed hop by hop; each hop is routed like the first put.

Exactly once. What a hop's outcomes become is worked out by a stream of its own over the table of
outcomes: its checkpoint says which of them were followed, all tables of a batch are appended with
the batch as transaction, and a batch that was killed is worked out again to the same rows. The
next hop's messages are routed with everything that routing promises (`routing.run`). So a run that
was killed anywhere is gone on with by the next one, and running twice adds nothing.

A way that goes in circles is followed for `most_hops` and then cut off, so nothing hangs.
"""

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark import columns as c
from clwl_spark.errors import ClwlError, LakeStateError, UsageError
from clwl_spark.frames import in_memory
from clwl_spark.keeping import looked_up, settled
from clwl_spark.routing.batch import RouteOptions
from clwl_spark.routing.run import route
from clwl_spark.routing.runs import DONE
from clwl_spark.schemas import (
    HOP_BATCHES,
    HOPS,
    MESSAGES,
    OUTCOMES,
    QUEUES,
    ROUTE_PLANS,
    RUNS,
    XMITQ_LINKS,
)
from clwl_spark.schemas.journeys import BATCH_ID, CUT_OFF, ENDS, HOP, QUERY_ID
from clwl_spark.storage import Lake, Transaction
from clwl_spark.streams import lent, staying_active
from clwl_spark.topology.views import read_topology
from clwl_spark.tracing.arrivals import Knowledge, arrivals, followed, with_other_ends
from clwl_spark.tracing.lakes import lake_at
from clwl_spark.tracing.snapshots import defined_qmgrs
from clwl_spark.vocabulary import Algorithm, DefBind

MOST_HOPS: Final = 64
GOES_ON: Final = "GOES_ON"
Progress = Callable[[str, int, int], None]


def check_hops(most_hops: int) -> None:
    """Refuse a number of hops that cannot be followed.

    Raises:
        UsageError: not 1 to 64.
    """
    if not 1 <= most_hops <= MOST_HOPS:
        raise UsageError(f"--hops {most_hops}: give 1 to {MOST_HOPS}")


def follow_messages(
    lake: Lake, options: RouteOptions, most_hops: int, progress: Progress | None = None
) -> None:
    """Follow what is routed on, hop by hop; `hops` has a row per message and hop.

    Args:
        lake: already routed (`routing.run.route`).
        options: how the first hop was routed; the algorithm is the lake's.
        most_hops: 1 to 64; more hops than an earlier run go on where that one cut off.
        progress: is told (stage, done, of).

    Raises:
        LakeStateError: the checkpoint of a hop does not belong to the lake.
        UsageError: no such number of hops.
    """
    check_hops(most_hops)
    tell = progress or (lambda _stage, _done, _of: None)
    lake.create([HOPS, HOP_BATCHES, XMITQ_LINKS])
    _take_up_again(lake, most_hops)
    options = replace(options, algorithm=_algorithm(lake))
    for hop in range(1, most_hops + 1):
        tell("hops", hop - 1, most_hops)
        here = lake_at(lake, hop)
        if hop > 1 and _has_more_messages(here):
            route(here, options)
        if not here.exists(OUTCOMES.name):
            break
        _Following(lake, here, hop, is_last=hop == most_hops).run()
        if not lake_at(lake, hop + 1).exists(MESSAGES.name):
            break
    tell("hops", most_hops, most_hops)


def hop_figures(lake: Lake) -> list[dict[str, Any]]:
    """How many messages of the lake took each hop, and how their ways end there.

    Returns:
        (hops,) documents: hop, messages, and a count for each ending; GOES_ON = none.
    """
    ends = F.coalesce(ENDS, F.lit(GOES_ON)).alias(ENDS)
    counted = lake.read(HOPS.name).groupBy(HOP, ends).count().orderBy(HOP, ENDS).collect()
    figures: dict[int, dict[str, int]] = {}
    for row in counted:
        figures.setdefault(row[HOP], {})[row[ENDS]] = row["count"]
    return [
        {HOP: hop, "messages": sum(by_end.values()), ENDS: by_end}
        for hop, by_end in figures.items()
    ]


def _take_up_again(lake: Lake, most_hops: int) -> None:
    """Where an earlier run cut off after fewer hops, the ways go on now."""
    cut = [end.value for end in CUT_OFF]
    of_these = (F.col(HOP) < most_hops) & F.col(ENDS).isin(cut)
    if lake.read(HOPS.name).where(of_these).isEmpty():
        return
    words = ", ".join(f"'{end}'" for end in cut)
    lake.spark.sql(
        f"UPDATE {lake.sql_name(HOPS.name)} SET {ENDS} = NULL "  # noqa: S608 (our own words)
        f"WHERE {HOP} < {most_hops} AND {ENDS} IN ({words})"
    )


def _algorithm(lake: Lake) -> Algorithm:
    """The algorithm that the lake is routed with."""
    last = lake.read_few(RUNS.name).orderBy(F.desc(BATCH_ID)).first()
    return Algorithm(last["algorithm"]) if last else Algorithm.V9


def _has_more_messages(lake: Lake) -> bool:
    """Whether the hop has messages that no run has finished routing."""
    runs = lake.read_few(RUNS.name)
    done = runs.where(F.col(c.STATUS) == DONE).agg(F.sum("messages")).first()
    routed = done[0] if done and done[0] is not None else 0
    unfinished = not runs.where(F.col(c.STATUS) != DONE).isEmpty()
    return unfinished or lake.read(MESSAGES.name).count() != routed


class _Following:
    """The stream over one hop's outcomes."""

    def __init__(self, lake: Lake, here: Lake, hop: int, *, is_last: bool) -> None:
        self._lake = lake
        self._here = here
        self._hop = hop
        self._is_last = is_last
        self._query_id = ""
        self._started = threading.Event()
        self._failed: ClwlError | None = None

    def run(self) -> None:
        """Follow the outcomes that are new."""
        try:
            with staying_active(self._lake.spark), lent(self._write_batch) as write_batch:
                query = (
                    self._here.stream(OUTCOMES.name)
                    .writeStream.foreachBatch(write_batch)
                    .option("checkpointLocation", f"{self._lake.checkpoint_root}/hops-{self._hop}")
                    .trigger(availableNow=True)
                    .start()
                )
                self._query_id = str(query.id)
                self._started.set()
                query.awaitTermination()
        except StreamingQueryException:
            failed, self._failed = self._failed, None
            if failed is not None:
                raise failed from None
            raise

    def _write_batch(self, outcomes: DataFrame, batch_id: int) -> None:
        self._started.wait()
        try:
            self._write(outcomes, batch_id)
        except ClwlError as error:
            self._failed = error
            raise

    def _write(self, outcomes: DataFrame, batch_id: int) -> None:
        """Write the batch's tables; each write is done once, however often it is tried."""
        self._claim(batch_id)
        know = self._knowledge()
        rows = followed(outcomes, self._hop, know, is_last=self._is_last)
        self._lake.append(HOPS.name, rows, self._once(HOPS.name, batch_id))
        after = lake_at(self._lake, self._hop + 1)
        if after.exists(MESSAGES.name) or self._some_go_on():
            after.create([MESSAGES])
            going = arrivals(rows, batch_id, know.groups)
            after.append(MESSAGES.name, going, self._once(MESSAGES.name, batch_id))

    def _some_go_on(self) -> bool:
        """Whether any message goes on after this hop; so that the last hop leaves no tables."""
        goes_on = F.col(ENDS).isNull() | F.col(ENDS).isin([end.value for end in CUT_OFF])
        return not self._lake.read(HOPS.name).where((F.col(HOP) == self._hop) & goes_on).isEmpty()

    def _claim(self, batch_id: int) -> None:
        """Write down whose batch it is.

        Raises:
            LakeStateError: another checkpoint has followed a batch of this number.
        """
        of_hop = (F.col(HOP) == self._hop) & (F.col(BATCH_ID) >= batch_id)
        claimed = self._lake.read(HOP_BATCHES.name).where(of_hop).collect()
        if any(row[QUERY_ID] != self._query_id or row[BATCH_ID] > batch_id for row in claimed):
            raise LakeStateError(
                f"the checkpoint hops-{self._hop} in {self._lake.checkpoint_root} is at batch "
                f"{batch_id}, which the lake has already: one of them was lost or copied; restore "
                "both as of one moment, or route into another lake"
            )
        if not claimed:
            row = [(self._hop, batch_id, self._query_id)]
            frame = in_memory(self._lake.spark, row, HOP_BATCHES.schema)
            self._lake.append(HOP_BATCHES.name, frame)

    def _knowledge(self) -> Knowledge:
        """What the outcomes are joined with; small, so it is worked out once."""
        plans = self._here.read(ROUTE_PLANS.name)
        ids = [row[0] for row in plans.select(c.SNAPSHOT_ID).distinct().collect()]
        defined = settled(defined_qmgrs(read_topology(self._lake, ids)))
        links = self._lake.read(XMITQ_LINKS.name)
        found = looked_up(with_other_ends(plans, defined, links), settled)
        return Knowledge(found, defined, self._groups())

    def _groups(self) -> DataFrame | None:
        """The groups that messages are in, where some queue has DEFBIND(GROUP)."""
        binds = F.col(c.DEFBIND) == DefBind.GROUP.value
        if self._lake.read_or_empty(QUEUES.name).where(binds).isEmpty():
            return None
        grouped = self._here.read(MESSAGES.name).where(F.col(c.GROUP_ID).isNotNull())
        return grouped.groupBy(c.QMGR, c.PUT_SEQ).agg(
            F.max(c.GROUP_ID).alias(c.GROUP_ID), F.max(c.LOGICAL_ORDER).alias(c.LOGICAL_ORDER)
        )

    def _once(self, table: str, batch_id: int) -> Transaction:
        return Transaction(f"clwl-{self._query_id}-{table}", batch_id)
