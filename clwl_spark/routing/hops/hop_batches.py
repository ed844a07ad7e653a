"""Which outcomes of a hop were followed, for a lake in folders of this machine.

Table `hop_batches` says it: a batch is what commits brought to the hop's outcomes after one version
and up to another. Its row is written before anything else of it, and its rows of `hops` after
everything else; so a batch without them was killed, and is worked out again to the same rows.

Earlier versions of this package followed outcomes with a stream of Spark's; where that one stopped
is what its checkpoint says.
"""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.delta.files import active_files, changes_after, new_files
from clwl_spark.delta.lake import Lake
from clwl_spark.delta.offsets import Offsets
from clwl_spark.delta.protocol import Transaction
from clwl_spark.delta.versions import versions_of
from clwl_spark.errors import LakeStateError
from clwl_spark.routing.ledger.run_record import NOTHING, Taken
from clwl_spark.routing.ledger.runs import routed_elsewhere
from clwl_spark.spark.frames import frame_from_arrow
from clwl_spark.storage.files import first_missing
from clwl_spark.storage.places import is_uri
from clwl_spark.tables import HOP_BATCHES, HOPS, OUTCOMES
from clwl_spark.tables import columns as c
from clwl_spark.tables.journeys import (
    AT_QMGR,
    AT_SEQ,
    BATCH_ID,
    HOP,
    OUTCOMES_FROM,
    OUTCOMES_ID,
    OUTCOMES_VERSION,
    QUERY_ID,
)


@dataclass(frozen=True, slots=True)
class HopBatch:
    """A batch of a hop's outcomes.

    Attributes:
        hop: from 1.
        batch_id: of that hop, from 0.
        query_id: names what counts the batches of the hop.
        before: the outcomes that were followed before; None = only a checkpoint knows.
        upto: those that are followed then; None likewise.
    """

    hop: int
    batch_id: int
    query_id: str
    before: Taken | None = None
    upto: Taken | None = None

    def once(self, table: str) -> Transaction:
        """What makes the batch's append to a table be done once."""
        return Transaction(f"clwl-{self.query_id}-{table}", self.batch_id)

    @property
    def cells(self) -> tuple[Any, ...]:
        """The row of `hop_batches`."""
        end = self.upto or Taken()
        before, version = (x.version if x else None for x in (self.before, self.upto))
        return self.hop, self.batch_id, self.query_id, end.table_id or None, before, version


def last_batch(lake: Lake, hop: int) -> HopBatch | None:
    """The newest batch of a hop; None = none was followed.

    Args:
        lake: of the first hop.
        hop: from 1.
    """
    rows = [x for x in lake.rows(HOP_BATCHES.name) if x[HOP] == hop]
    return _of_row(max(rows, key=lambda x: x[BATCH_ID])) if rows else None


def _of_row(row: Mapping[str, Any]) -> HopBatch:
    table_id, before, version = (row[x] for x in (OUTCOMES_ID, OUTCOMES_FROM, OUTCOMES_VERSION))
    batch = HopBatch(row[HOP], row[BATCH_ID], row[QUERY_ID])
    if version is None:
        return batch
    return replace(batch, before=Taken(table_id, before), upto=Taken(table_id, version))


def followed_until(lake: Lake, hop: int) -> int | None:
    """The version of a hop's outcomes up to which all are followed; None = no row says it."""
    last = last_batch(lake, hop) if lake.exists(HOP_BATCHES.name) else None
    if last is None or last.before is None or last.upto is None:
        return None
    return last.upto.version if is_done(lake, last) else last.before.version


def is_done(lake: Lake, batch: HopBatch) -> bool:
    """Whether all of a batch is written."""
    return lake.has_transaction(HOPS.name, batch.once(HOPS.name))


def next_batch(here: Lake, hop: int, last: HopBatch | None) -> HopBatch:
    """The batch that comes after the newest one, of all outcomes that there are now.

    Args:
        here: the lake as the hop sees it.
        hop: from 1.
        last: it; None = there is none.

    Raises:
        LakeStateError: the outcomes are not those that were followed before.
    """
    found = versions_of(here, [OUTCOMES.name])
    if not found or found[0] is None:
        raise LakeStateError(
            f"the log of table {Path(here.path(OUTCOMES.name)).name} of lake {here.root} cannot be "
            "read: restore the table"
        )
    now = Taken(*found[0])
    if last is None:
        return HopBatch(hop, 0, uuid.uuid4().hex, Taken(now.table_id), now)
    before = last.upto or Taken()
    if before.table_id != now.table_id or before.version > now.version:
        raise LakeStateError(
            f"table {Path(here.path(OUTCOMES.name)).name} of lake {here.root} is at version "
            f"{now.version}, and version {before.version} of what was there is followed already: "
            "restore it, or route into another lake"
        )
    return HopBatch(hop, last.batch_id + 1, last.query_id, before, now)


def has_more(here: Lake, batch: HopBatch) -> bool:
    """Whether commits after what was followed before a batch brought, changed or took any rows."""
    before = batch.before.version if batch.before else NOTHING
    return changes_after(here.path(OUTCOMES.name), before) is not False


def claim(lake: Lake, batch: HopBatch, version: int) -> None:
    """Write down whose batch it is.

    Args:
        lake: of the first hop.
        batch: it.
        version: of `hop_batches`, that the batch was told from.

    Raises:
        LakeStateError: another run has claimed the batch in the meantime.
    """
    once = Transaction(f"clwl-{HOP_BATCHES.name}", version)
    lake.append(HOP_BATCHES.name, lake.arrow_rows(HOP_BATCHES.name, [batch.cells]), once)
    if last_batch(lake, batch.hop) != batch:
        raise routed_elsewhere(lake)


def write_again(lake: Lake, batch: HopBatch) -> None:
    """Write down how far a batch comes of which only a checkpoint knew that."""
    lake.merge(HOP_BATCHES.name, lake.arrow_rows(HOP_BATCHES.name, [batch.cells]))


def from_checkpoint(lake: Lake, batch: HopBatch) -> tuple[HopBatch, bool]:
    """A batch of an earlier version's, as the checkpoint of its stream has it.

    Args:
        lake: of the first hop.
        batch: whose row does not say how far it comes.

    Returns:
        The whole batch, and whether the stream has finished it.

    Raises:
        LakeStateError: the checkpoint is not there, or at another batch.
    """
    name, at = f"hops-{batch.hop}", batch.batch_id
    offsets = Offsets(Path(lake.checkpoint_root, name))
    upto = offsets.whole_end(at)
    before = offsets.whole_end(at - 1) if at else ("", NOTHING)
    is_its = not is_uri(lake.checkpoint_root) and offsets.query_id() == batch.query_id
    if not is_its or upto is None or before is None or offsets.is_done(at + 1):
        raise other_checkpoint(lake, batch.hop, at)
    whole = replace(batch, before=Taken(upto[0], before[1]), upto=Taken(*upto))
    return whole, offsets.is_done(at)


def other_checkpoint(lake: Lake, hop: int, batch_id: int) -> LakeStateError:
    """The checkpoint of a hop's stream and the lake do not belong together."""
    return LakeStateError(
        f"the checkpoint hops-{hop} in {lake.checkpoint_root} does not belong to the lake, which "
        f"has batch {batch_id} of it: one of them was lost or copied; restore both as of one "
        "moment, or route into another lake"
    )


def outcomes_of(lake: Lake, here: Lake, batch: HopBatch) -> DataFrame | None:
    """The outcomes of a batch.

    Commits that also take rows away bring none. Where the log, or a file, of what came is gone,
    outcomes are told from those that were followed by (qmgr, put_seq).

    Args:
        lake: of the first hop.
        here: as the hop sees it.
        batch: how far it comes is known.

    Returns:
        Rows of `outcomes`; None = there are none.
    """
    if batch.before is None or batch.upto is None:
        return None
    folder = here.path(OUTCOMES.name)
    if batch.before.version != NOTHING:
        found = new_files(folder, batch.before.version, batch.upto.version)
        if found is not None and not first_missing([x for x, _ in found.appended]):
            return _of_files(here, found.appended)
    rows = _as_of(here, batch.upto.version)
    is_first = batch.before.version == NOTHING
    return rows if rows is None or is_first else _not_followed(lake, rows, batch.hop)


def _of_files(here: Lake, files: list[tuple[str, int]]) -> DataFrame | None:
    some = [(name, rows) for name, rows in files if rows]
    return here.read_files(OUTCOMES.name, some) if some else None


def _as_of(here: Lake, version: int) -> DataFrame | None:
    """All outcomes of a version; where some are only marked as deleted, Spark reads them."""
    files = active_files(here.path(OUTCOMES.name), version)
    if files is not None:
        return _of_files(here, files)
    rows = here.rows_as_of(OUTCOMES.name, version)
    return rows if isinstance(rows, DataFrame) else frame_from_arrow(here.spark, rows)


def _not_followed(lake: Lake, outcomes: DataFrame, hop: int) -> DataFrame:
    """The outcomes of which `hops` has none yet."""
    keys = (F.col(AT_QMGR).alias(c.QMGR), F.col(AT_SEQ).alias(c.PUT_SEQ))
    known = lake.read(HOPS.name).where(F.col(HOP) == hop).select(*keys)
    return outcomes.join(known, [c.QMGR, c.PUT_SEQ], "left_anti")
