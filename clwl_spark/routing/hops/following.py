"""A hop's new outcomes become rows of `hops`, and messages of the next hop; exactly once.

In folders of this machine, table `hop_batches` says which outcomes were followed
(`routing.hops.hop_batches`). Elsewhere it is the checkpoint of a stream of Spark's over the
outcomes, and the table says whose. All tables of a batch are appended with the batch as
transaction.
"""

import json
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.mq.vocabulary import DefBind
from clwl_spark.routing.hops.arrivals import (
    NEXT_QMGR,
    OWN_ID,
    Knowledge,
    arrivals,
    followed,
    own_id,
    with_other_ends,
)
from clwl_spark.routing.hops.hop_batches import (
    HopBatch,
    claim,
    from_checkpoint,
    has_more,
    is_done,
    last_batch,
    next_batch,
    other_checkpoint,
    outcomes_of,
    write_again,
)
from clwl_spark.routing.hops.lakes import lake_at
from clwl_spark.routing.ledger.one_runner import one_runner
from clwl_spark.snapshots.defined import defined_qmgrs
from clwl_spark.snapshots.views import read_topology
from clwl_spark.spark.files import without_patterns
from clwl_spark.spark.materialize import broadcast_if_small, checkpoint, releasing
from clwl_spark.spark.streams import run_batches
from clwl_spark.tables import (
    HOP_BATCHES,
    HOPS,
    MESSAGES,
    OUTCOMES,
    QUEUES,
    ROUTE_PLANS,
    XMITQ_LINKS,
)
from clwl_spark.tables import columns as c


@dataclass(frozen=True, slots=True)
class Following:
    """What follows one hop's outcomes.

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

    def run(self) -> None:
        """Follow the outcomes that are new.

        Raises:
            LakeStateError: the outcomes, or the checkpoint, do not belong to the lake, or another
                run is faster.
        """
        if self.lake.is_here:
            with one_runner(self.here):
                self._follow_commits()
        else:
            self.follow_stream()

    def _follow_commits(self) -> None:
        """Go on with a batch that was killed; then take what has come since."""
        version = self.lake.version(HOP_BATCHES.name)
        last = self._finished(last_batch(self.lake, self.hop))
        batch = next_batch(self.here, self.hop, last)
        if has_more(self.here, batch):
            claim(self.lake, batch, version)
            self._follow(batch)

    def _finished(self, last: HopBatch | None) -> HopBatch | None:
        """The newest batch, all of whose rows are written now."""
        if last is None:
            return None
        if last.upto is None:
            return self._taken_over(last)
        if not is_done(self.lake, last):
            self._follow(last)
        return last

    def _taken_over(self, last: HopBatch) -> HopBatch:
        """The newest batch of an earlier version's stream, from now on one of the table's alone."""
        last, done = from_checkpoint(self.lake, last)
        if not done:
            self._follow(last)
        write_again(self.lake, last)
        return last

    def _follow(self, batch: HopBatch) -> None:
        outcomes = outcomes_of(self.lake, self.here, batch)
        if outcomes is not None:
            self._write(outcomes, batch)

    def follow_stream(self) -> None:
        """Follow what Spark's stream over the outcomes hands out."""
        run_batches(self.here.stream(OUTCOMES.name), self._take, self._checkpoint)

    @property
    def _checkpoint(self) -> str:
        return f"{self.lake.checkpoint_root}/hops-{self.hop}"

    def _take(self, outcomes: DataFrame, batch_id: int) -> None:
        """Write a batch of the stream.

        Raises:
            LakeStateError: another checkpoint has followed a batch of this number.
        """
        batch = HopBatch(self.hop, batch_id, self._query_id())
        newest = last_batch(self.lake, self.hop)
        if newest is None or newest.batch_id < batch_id:
            self.lake.append(
                HOP_BATCHES.name, self.lake.arrow_rows(HOP_BATCHES.name, [batch.cells])
            )
        elif newest != batch:
            raise other_checkpoint(self.lake, self.hop, newest.batch_id)
        self._write(outcomes, batch)

    def _query_id(self) -> str:
        """The id of the checkpoint, which Spark writes into it before the first batch."""
        file = without_patterns(f"{self._checkpoint}/metadata")
        said = self.lake.spark.read.text(file).collect()
        return str(json.loads(said[0][0])["id"])

    def _write(self, outcomes: DataFrame, batch: HopBatch) -> None:
        """Write the batch's tables; each write is done once, however often it is tried."""
        with releasing():
            know = self._knowledge()
            rows = followed(outcomes, self.hop, know, is_last=self.is_last)
            after = lake_at(self.lake, self.hop + 1)
            # The last hop leaves no tables.
            if (
                after.exists(MESSAGES.name)
                or not rows.where(F.col(NEXT_QMGR).isNotNull()).isEmpty()
            ):
                after.create([MESSAGES])
                going = arrivals(rows, batch, know.groups)
                after.append(MESSAGES.name, going, batch.once(MESSAGES.name))
            self.lake.append(HOPS.name, rows.select(*HOPS.names), batch.once(HOPS.name))

    def _knowledge(self) -> Knowledge:
        """What the outcomes are joined with; small, so it is worked out once."""
        plans = self.here.read(ROUTE_PLANS.name)
        ids = [row[0] for row in plans.select(c.SNAPSHOT_ID).distinct().collect()]
        ids = [*dict.fromkeys([*ids, *self.lake.steps()])]
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
        key = (c.QMGR, c.PUT_SEQ, own_id(self.hop).alias(OWN_ID))
        return grouped.groupBy(*key).agg(
            F.max(c.GROUP_ID).alias(c.GROUP_ID), F.max(c.LOGICAL_ORDER).alias(c.LOGICAL_ORDER)
        )
