"""All messages of a lake followed hop by hop; each hop is routed like the first put.

Exactly once. What a hop's outcomes become is worked out by a stream of its own over the table of
outcomes: its checkpoint says which of them were followed, all tables of a batch are appended with
the batch as transaction, and a batch that was killed is worked out again to the same rows. The
next hop's messages are routed with everything that routing promises (`routing.run`). So a run that
was killed anywhere is gone on with by the next one, and running twice adds nothing.

A way that goes in circles is followed for `most_hops` and then cut off, so nothing hangs.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark import columns as c
from clwl_spark.errors import LakeStateError, UsageError
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
from clwl_spark.spark.files import without_patterns
from clwl_spark.spark.frames import frame_from_rows
from clwl_spark.spark.materialize import broadcast_if_small, checkpoint, releasing
from clwl_spark.spark.streams import run_batches
from clwl_spark.storage import Lake, Transaction
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
    last = lake.read_or_empty(RUNS.name).orderBy(F.desc(BATCH_ID)).first()
    return Algorithm(last["algorithm"]) if last else Algorithm.V9


def _has_more_messages(lake: Lake) -> bool:
    """Whether the hop has messages that no run has finished routing."""
    runs = lake.read_or_empty(RUNS.name)
    done = runs.where(F.col(c.STATUS) == DONE).agg(F.sum("messages")).first()
    routed = done[0] if done and done[0] is not None else 0
    unfinished = not runs.where(F.col(c.STATUS) != DONE).isEmpty()
    return unfinished or lake.read(MESSAGES.name).count() != routed


@dataclass(frozen=True, slots=True)
class _Following:
    """The stream over one hop's outcomes.

    Attributes:
        lake: of the first hop; has the tables of hops.
        here: of this hop.
        hop: its number.
        is_last: whether ways are cut off after it.
    """

    lake: Lake
    here: Lake
    hop: int
    is_last: bool

    @property
    def _checkpoint(self) -> str:
        return f"{self.lake.checkpoint_root}/hops-{self.hop}"

    def run(self) -> None:
        """Follow the outcomes that are new."""
        run_batches(self.here.stream(OUTCOMES.name), self._write, self._checkpoint)

    def _write(self, outcomes: DataFrame, batch_id: int) -> None:
        """Write the batch's tables; each write is done once, however often it is tried."""
        query_id = self._query_id()
        self._claim(query_id, batch_id)
        with releasing():
            know = self._knowledge()
            rows = followed(outcomes, self.hop, know, is_last=self.is_last)
            self.lake.append(HOPS.name, rows, _once(query_id, HOPS.name, batch_id))
            after = lake_at(self.lake, self.hop + 1)
            if after.exists(MESSAGES.name) or self._some_go_on():
                after.create([MESSAGES])
                going = arrivals(rows, batch_id, know.groups)
                after.append(MESSAGES.name, going, _once(query_id, MESSAGES.name, batch_id))

    def _query_id(self) -> str:
        """The id of the checkpoint, which Spark writes into it before the first batch."""
        file = without_patterns(f"{self._checkpoint}/metadata")
        said = self.lake.spark.read.text(file).collect()
        return str(json.loads(said[0][0])["id"])

    def _some_go_on(self) -> bool:
        """Whether any message goes on after this hop; so that the last hop leaves no tables."""
        goes_on = F.col(ENDS).isNull() | F.col(ENDS).isin([end.value for end in CUT_OFF])
        return not self.lake.read(HOPS.name).where((F.col(HOP) == self.hop) & goes_on).isEmpty()

    def _claim(self, query_id: str, batch_id: int) -> None:
        """Write down whose batch it is.

        Raises:
            LakeStateError: another checkpoint has followed a batch of this number.
        """
        of_hop = (F.col(HOP) == self.hop) & (F.col(BATCH_ID) >= batch_id)
        claimed = self.lake.read(HOP_BATCHES.name).where(of_hop).collect()
        if any(row[QUERY_ID] != query_id or row[BATCH_ID] > batch_id for row in claimed):
            raise LakeStateError(
                f"the checkpoint hops-{self.hop} in {self.lake.checkpoint_root} is at batch "
                f"{batch_id}, which the lake has already: one of them was lost or copied; restore "
                "both as of one moment, or route into another lake"
            )
        if not claimed:
            row = [(self.hop, batch_id, query_id)]
            frame = frame_from_rows(self.lake.spark, row, HOP_BATCHES.schema)
            self.lake.append(HOP_BATCHES.name, frame)

    def _knowledge(self) -> Knowledge:
        """What the outcomes are joined with; small, so it is worked out once."""
        plans = self.here.read(ROUTE_PLANS.name)
        ids = [row[0] for row in plans.select(c.SNAPSHOT_ID).distinct().collect()]
        defined = checkpoint(defined_qmgrs(read_topology(self.lake, ids)))
        links = self.lake.read(XMITQ_LINKS.name)
        found = broadcast_if_small(with_other_ends(plans, defined, links), checkpoint)
        return Knowledge(found, defined, self._groups())

    def _groups(self) -> DataFrame | None:
        """The groups that messages are in, where some queue has DEFBIND(GROUP)."""
        binds = F.col(c.DEFBIND) == DefBind.GROUP.value
        if self.lake.read_or_empty(QUEUES.name).where(binds).isEmpty():
            return None
        grouped = self.here.read(MESSAGES.name).where(F.col(c.GROUP_ID).isNotNull())
        return grouped.groupBy(c.QMGR, c.PUT_SEQ).agg(
            F.max(c.GROUP_ID).alias(c.GROUP_ID), F.max(c.LOGICAL_ORDER).alias(c.LOGICAL_ORDER)
        )


def _once(query_id: str, table: str, batch_id: int) -> Transaction:
    return Transaction(f"clwl-{query_id}-{table}", batch_id)
