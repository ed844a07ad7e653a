"""What maintenance may do to a table, so that whoever follows it finds what is still to come."""

from collections.abc import Sequence
from typing import Any, Final

from pyspark.sql import functions as F

from clwl_spark.delta.files import changes_after
from clwl_spark.delta.lake import Lake
from clwl_spark.delta.upkeep import Permission
from clwl_spark.delta.versions import versions_of
from clwl_spark.errors import MissingLakeError
from clwl_spark.routing.hops.hop_batches import followed_until
from clwl_spark.routing.hops.lakes import hop_of
from clwl_spark.routing.ledger.runs import RUNNING, after, still_taken
from clwl_spark.routing.ledger.source_offsets import taken_before
from clwl_spark.routing.maintenance.followers import BEFORE_ALL, Follower
from clwl_spark.routing.run import WRITTEN
from clwl_spark.tables import HOP_BATCHES, MESSAGES, OUTCOMES, RUNS
from clwl_spark.tables import columns as c

ROUTERS_OWN: Final = ("buckets-", "route-", "plan-")
"""Checkpoints of routing's own streams; `routed_until` says how far it has come."""
OF_HOPS: Final = "hops-"
"""Checkpoints of streams that followed outcomes, until `hop_batches` said how far that is."""
_WRITTEN: Final = frozenset(x.name for x in WRITTEN)
_MOVES_ONLY: Final = ("OPTIMIZE", "VACUUM START", "VACUUM END")
_RUNS: Final = "a run of routing is in hand or was killed (RUNNING in table runs)"
_AFTERWARDS: Final = "run clwl route, then this again"


def is_running(lake: Lake) -> bool:
    """Whether a run of routing is in hand, or was killed and will be gone on with."""
    return any(row[c.STATUS] == RUNNING for row in _newest_runs(lake))


def permission(lake: Lake, table: str, streams: Sequence[Follower], *, running: bool) -> Permission:
    """What may be done to a table.

    A file that a commit brought must stay until everybody who follows the commits has read it, and
    so must the commits. So a table that is followed is compacted and vacuumed only when all of its
    rows are taken; its log is kept from where its last follower stands.

    Args:
        lake: of the table.
        table: its name.
        streams: that follow tables of the lake.
        running: whether `is_running`.
    """
    if running:
        return _beside_a_run(table)
    own = _streams_of(lake, table, streams)
    until = _followed_until(lake, table)
    if until is not None:
        own = [x for x in own if not x.name.startswith(OF_HOPS)]
    taken = [*_taken(lake, table, own), *([] if until is None else [until])]
    if not taken:
        return Permission()
    return _of_followed(lake, table, taken, [x.reads_from for x in own])


def _beside_a_run(table: str) -> Permission:
    """A run's tables are left alone, so that no commit of it is contradicted; no file goes."""
    if table in _WRITTEN:
        why = f"left alone: {_RUNS}; {_AFTERWARDS}"
        return Permission(compact=False, vacuum=False, checkpoint=False, why=why)
    why = f"no file was deleted: {_RUNS}; {_AFTERWARDS}"
    return Permission(compact=table != MESSAGES.name, vacuum=False, why=why)


def _of_followed(
    lake: Lake, table: str, taken: Sequence[int | None], reads_from: Sequence[int]
) -> Permission:
    """What may be done to a table that is taken up to these versions, and read from these."""
    known = [x for x in taken if x is not None]
    if len(known) < len(taken):
        return _only_checkpoint("how far it is taken cannot be told")
    changed = _has_changes(lake, table, min(known))
    if changed is None:
        return _only_checkpoint("its log has lost commits that were not taken yet")
    if changed:
        of = "messages that are not routed" if table == MESSAGES.name else "rows that are not taken"
        return _only_checkpoint(f"it has {of} yet")
    return Permission(log_from=min([min(known) + 1, *reads_from]))


def routed_until(lake: Lake) -> int | None:
    """The version of `messages` up to which all are routed.

    Returns:
        BEFORE_ALL where nothing ever was; UNKNOWN where only keys tell; None where that cannot be
        told.
    """
    rows = _newest_runs(lake)
    if not rows:
        return BEFORE_ALL
    taken = taken_before(lake, after(rows[0]))
    taken = still_taken(lake, taken, rows[0].get("finished_at"))
    return None if taken is None else taken.version


def _newest_runs(lake: Lake) -> list[dict[str, Any]]:
    """The rows of the newest batch; none where nothing was routed."""
    try:
        return lake.greatest(RUNS.name, "batch_id")
    except MissingLakeError:
        return []


def _only_checkpoint(reason: str) -> Permission:
    why = f"its files stay as they are: {reason}; {_AFTERWARDS}"
    return Permission(compact=False, vacuum=False, why=why)


def _streams_of(lake: Lake, table: str, streams: Sequence[Follower]) -> list[Follower]:
    """Those of the streams that follow this table."""
    found = versions_of(lake, [table])
    table_id = found[0][0] if found and found[0] else None
    return [x for x in streams if x.table_id == table_id]


def _taken(lake: Lake, table: str, streams: Sequence[Follower]) -> list[int | None]:
    """How far each one who follows a table has taken it; nothing where nobody does."""
    taken = [x.version for x in streams if not x.name.startswith(ROUTERS_OWN)]
    if table == MESSAGES.name:
        taken.append(routed_until(lake))
    if table == OUTCOMES.name and not lake.is_here and _has_hops(lake):
        taken.append(None)
    return taken


def _followed_until(lake: Lake, table: str) -> int | None:
    """The version of outcomes that table `hop_batches` says is followed; None = it says none."""
    if table != OUTCOMES.name or not lake.is_here:
        return None
    return followed_until(lake, hop_of(lake))


def _has_hops(lake: Lake) -> bool:
    """Whether outcomes were followed to other queue managers."""
    return not lake.read_or_empty(HOP_BATCHES.name).isEmpty()


def _has_changes(lake: Lake, table: str, version: int) -> bool | None:
    """Whether rows came, changed or went after a version; None = the log does not say."""
    if lake.is_here:
        return changes_after(lake.path(table), version)
    history = lake.spark.sql(f"DESCRIBE HISTORY {lake.sql_name(table)}")
    after = history.where(F.col("version") > version)
    return not after.where(~F.col("operation").isin(*_MOVES_ONLY)).isEmpty()
