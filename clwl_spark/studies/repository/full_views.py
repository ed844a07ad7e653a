"""What the full repositories of a snapshot know of objects that a queue manager does not see."""

from collections.abc import Collection, Sequence
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.mq.vocabulary import QmType
from clwl_spark.snapshots.views import EVERYBODY
from clwl_spark.studies.repository.objects import ATTRIBUTES, NAME, OBJECT, objects
from clwl_spark.studies.repository.path import where_stopped
from clwl_spark.tables import columns as c

Row = dict[str, Any]


def with_paths(
    lake: Lake, snapshot: str, viewer: str, missing: Sequence[Row], joined: Collection[str]
) -> list[Row]:
    """Add what each full repository of the object's cluster knows, and where the news stopped.

    Args:
        lake: with topology.
        snapshot: the snapshot.
        viewer: the queue manager that does not see them.
        missing: kind, name, qmgr, cluster of each object.
        joined: clusters that the viewer is in.

    Returns:
        The rows with `path`, a list of (qmgr, knows), null where no view of that kind is told, and
        `stopped`, in words; none of both where the object is in no cluster of a full repository,
        and no `stopped` where the viewer is not in its cluster: nothing is on its way there.
    """
    clusters = {row[c.CLUSTER] for row in missing}
    full = _full_repositories(objects(lake, [snapshot], viewer), clusters)
    names = sorted({row[NAME] for row in missing})
    known = {qmgr: _Known(lake, snapshot, qmgr, names) for of in full.values() for qmgr in of}
    found = [row | _path(row, full.get(row[c.CLUSTER], []), known, viewer) for row in missing]
    return [row if row[c.CLUSTER] in joined else row | {"stopped": None} for row in found]


def _path(row: Row, full: Sequence[str], known: "dict[str, _Known]", viewer: str) -> Row:
    """What the others among the cluster's full repositories know of one object."""
    path = {x: known[x].knows(row) for x in full if x != viewer}
    stopped = where_stopped(row[c.QMGR], path, viewer) if full else None
    return {"path": [{c.QMGR: x, "knows": y} for x, y in path.items()], "stopped": stopped}


def _full_repositories(current: DataFrame, clusters: set[str]) -> dict[str, list[str]]:
    """The full repositories of each cluster, in order."""
    is_full = F.col(ATTRIBUTES)[c.QMTYPE] == QmType.REPOS.value
    rows = current.where(is_full & F.col(c.CLUSTER).isin(sorted(clusters)))
    found: dict[str, list[str]] = {}
    for row in rows.select(c.CLUSTER, c.QMGR).distinct().orderBy(c.CLUSTER, c.QMGR).collect():
        found.setdefault(row[0], []).append(row[1])
    return found


class _Known:
    """What one full repository's own view has of objects of some names."""

    def __init__(self, lake: Lake, snapshot: str, qmgr: str, names: Sequence[str]) -> None:
        rows = objects(lake, [snapshot], qmgr).where(F.col(c.OBSERVER) != EVERYBODY)
        self._qmgr = qmgr
        self._kinds = {x[0] for x in rows.select(c.KIND).distinct().collect()}
        named = rows.where(F.col(NAME).isin(list(names))).select(*OBJECT).collect()
        self._objects = {tuple(x) for x in named}

    def knows(self, row: Row) -> bool | None:
        """Whether it has the object; its own it always has; None = no such view is told."""
        if row[c.QMGR] == self._qmgr:
            return True
        if row[c.KIND] not in self._kinds:
            return None
        return tuple(row[x] for x in OBJECT) in self._objects
