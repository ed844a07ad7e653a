"""Who is behind whom: the queues that share a channel or a transmission queue, read from a lake.

Source: SEMANTICS 7 (IBM's page on transmission queues).
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.errors import InputError, UsageError, near_names
from clwl_spark.planning.plans import Ladder
from clwl_spark.snapshots.catalog import chosen_snapshot
from clwl_spark.snapshots.contradictions import consistent_topology
from clwl_spark.snapshots.defined import check_qmgr, defined_qmgrs, names_defined
from clwl_spark.snapshots.views import VIEWER, Topology
from clwl_spark.spark.materialize import checkpoint
from clwl_spark.studies.separation.alike import asked
from clwl_spark.studies.separation.sharing import BESIDE, QUEUES, lines, neighbours, with_names
from clwl_spark.studies.separation.ways import WAY, Found, find_ways
from clwl_spark.tables import columns as c

Row = dict[str, Any]


class UnknownQueueError(InputError):
    """The queue manager has no such queue whose messages could leave it."""


@dataclass(frozen=True, slots=True)
class SeparationQuestion:
    """What is asked for.

    Attributes:
        snapshot_id: default the last valid one.
        qmgr: only this queue manager, and its queues one by one; blank = all, without that.
        objects: of its queues these alone; none = those with the most others beside them.
        limit: rows of each list.
    """

    snapshot_id: str | None = None
    qmgr: str = ""
    objects: Sequence[str] = ()
    limit: int = 15


@dataclass(frozen=True, slots=True)
class Separation:
    """The answer.

    Attributes:
        snapshot_id: the snapshot that was looked at.
        qmgr: the queue manager; blank = all.
        lines_total: how many lines there are, of which `lines` has the first.
        lines: (qmgr, xmitq, next_xmitq, channel, dest_qmgr, queues, beside, names): a channel with
            its transmission queue, how many queues' messages it carries, and how many more are on
            the transmission queue; those that carry the most first.
        queues: (queue, channels, xmitqs, on_channel, on_channel_names, on_xmitq, on_xmitq_names) of
            one queue manager: how many others share a channel with a queue, and how many more only
            a transmission queue, over other channels.
    """

    snapshot_id: str
    qmgr: str
    lines_total: int
    lines: Sequence[Row]
    queues: Sequence[Row]

    def to_json(self) -> Row:
        """The document of `clwl separation --json`."""
        return asdict(self)


def separation_of(lake: Lake, question: SeparationQuestion, ladder: Ladder) -> Separation:
    """Say which queues share channels and transmission queues.

    Raises:
        UnknownQueueManagerError: the snapshot has no such queue manager.
        UnknownQueueError: no message for one of the objects leaves the queue manager.
        MissingSnapshotError: no such snapshot, or no valid one.
    """
    if question.objects and not question.qmgr:
        raise UsageError("--object is about one queue manager: name it with --qmgr")
    snapshot_id = chosen_snapshot(lake, question.snapshot_id)
    topology = consistent_topology(lake, [snapshot_id], checkpoint)
    if question.qmgr:
        check_qmgr(question.qmgr, names_defined(topology), snapshot_id)
    return separation(topology, snapshot_id, question, ladder)


def separation(
    topology: Topology, snapshot_id: str, question: SeparationQuestion, ladder: Ladder
) -> Separation:
    """Say it of a topology of one snapshot."""
    of = checkpoint(_viewers(topology, question.qmgr))
    found = find_ways(asked(of, topology, ladder.semantics.edition), ladder)
    by_way = checkpoint(lines(found))
    first = by_way.orderBy(F.desc(QUEUES), F.desc(BESIDE), VIEWER, *WAY).limit(question.limit)
    named = with_names(found, checkpoint(first)).withColumnRenamed(VIEWER, c.QMGR)
    queues = _queues(found, by_way, question) if question.qmgr else []
    return Separation(
        snapshot_id,
        question.qmgr,
        by_way.count(),
        sorted(
            _rows(named),
            key=lambda x: (-x[QUEUES], -x[BESIDE], x[c.QMGR], *(x[name] for name in WAY)),
        ),
        queues,
    )


def _viewers(topology: Topology, qmgr: str) -> DataFrame:
    """(snapshot_id, viewer) of those that are looked at."""
    defined = defined_qmgrs(topology).withColumnRenamed(c.QMGR, VIEWER)
    return defined.where(F.col(VIEWER) == qmgr) if qmgr else defined


def _queues(found: Found, by_way: DataFrame, question: SeparationQuestion) -> list[Row]:
    """The queues of one queue manager, with the others beside them."""
    rows = _rows(neighbours(found, by_way, question.objects, question.limit))
    rows.sort(key=lambda x: (-x.pop(QUEUES), x[c.QUEUE]))
    there = {row[c.QUEUE] for row in rows}
    missing = [x for x in question.objects if x not in there]
    if missing and len(rows) < question.limit:
        known = sorted(row[c.QUEUE] for row in found.asked.kinds.select(c.QUEUE).collect())
        raise UnknownQueueError(
            f"no message for '{missing[0]}' leaves {question.qmgr}: name a queue of its clusters "
            f"({near_names(missing[0], known) or 'there is none'})"
        )
    return rows


def _rows(frame: DataFrame) -> list[Row]:
    return [row.asDict() for row in frame.collect()]
