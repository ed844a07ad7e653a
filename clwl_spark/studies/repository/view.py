"""What a queue manager sees at a moment, what it does not and why, what of it is out of date.

The view is the one that routing uses (SEMANTICS S1 to S3), by the same functions.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.mq.vocabulary import QmType
from clwl_spark.snapshots.catalog import snapshot_catalog
from clwl_spark.snapshots.views import CLUSTERS, EVERYBODY
from clwl_spark.spark.frames import frame_from_rows
from clwl_spark.spark.materialize import inline
from clwl_spark.studies.repository.cost import RefreshCase, refresh_cost
from clwl_spark.studies.repository.full_views import with_paths
from clwl_spark.studies.repository.objects import (
    ATTRIBUTES,
    NAME,
    OBJECT,
    differing,
    in_order,
    looking_at,
    objects,
    seen,
    whole_kinds,
)
from clwl_spark.studies.repository.state import RepositoryError
from clwl_spark.studies.repository.words import Kind
from clwl_spark.tables import columns as c
from clwl_spark.tables.moments import moment_text

Row = dict[str, Any]

OTHER_CLUSTER: Final = "OTHER_CLUSTER"
NOT_SHARED: Final = "NOT_SHARED"
NEVER_SEEN: Final = "NEVER_SEEN"
NO_LONGER_SEEN: Final = "NO_LONGER_SEEN"
GONE: Final = "GONE"
TEXTS: Final = {
    OTHER_CLUSTER: "shared in a cluster that the queue manager is not in",
    NOT_SHARED: "not shared in a cluster",
    NEVER_SEEN: "a partial repository whose view does not have it: not opened there yet, or what "
    "it asked for has not come",
    NO_LONGER_SEEN: "was in the view of an earlier snapshot: expired, or forgotten by REFRESH "
    "CLUSTER or RESET CLUSTER",
}
TEXTS_OF_FULL: Final = {
    NEVER_SEEN: "a full repository whose view does not have it: what its owner published has not "
    "come, so look at the channel from the owner, and at those between the full repositories",
    NO_LONGER_SEEN: "was in this full repository's view of an earlier snapshot: its owner did not "
    "publish it again in time, or it was forgotten by REFRESH CLUSTER or RESET CLUSTER",
}
"""What is said otherwise of a full repository of the object's cluster."""
PARTLY_SHOWN: Final = (
    "a full repository whose view here is not whole: a DISPLAY that was filtered or names one "
    "object does not show it; take one of all, such as DISPLAY QCLUSTER(*) ALL, to know"
)
""".. and where nothing says that its view of such objects is whole."""
_NEAREST: Final = 5
_WHEN: Final = "_when"
_SINCE: Final = "since"
_DIFFERS: Final = "differs"


@dataclass(frozen=True, slots=True)
class RepositoryView:
    """A queue manager's view.

    Attributes:
        qmgr: the queue manager.
        at: the moment.
        snapshot_id: the snapshot in force.
        valid_from: since when it is.
        repositories: FULL or PARTIAL, by cluster.
        known: kind, name, qmgr, cluster, observer, attributes; `*` = by the full repositories.
        missing: kind, name, qmgr, cluster, why, last_seen, text; of objects that are asked for by
            name also `path`, what each full repository knows, and where it `stopped`.
        stale: kind, name, qmgr, cluster, differs, since, age_seconds, at_least; `differs` is the
            attributes, or GONE where the owner defines no such object.
        refresh: for each cluster in which it is a partial repository, what REFRESH costs at most.
    """

    qmgr: str
    at: datetime
    snapshot_id: str
    valid_from: datetime
    repositories: dict[str, str]
    known: Sequence[Row]
    missing: Sequence[Row]
    stale: Sequence[Row]
    refresh: Sequence[Row]

    def to_json(self) -> Row:
        """The document of `clwl repository --json`."""
        return {
            "qmgr": self.qmgr,
            "at": moment_text(self.at, "seconds"),
            "snapshot_id": self.snapshot_id,
            "valid_from": moment_text(self.valid_from, "seconds"),
            "repositories": self.repositories,
            "known": list(self.known),
            "missing": list(self.missing),
            "stale": list(self.stale),
            "refresh": list(self.refresh),
        }


def repository_view(
    lake: Lake, qmgr: str, at: datetime | None = None, name: str | None = None
) -> RepositoryView:
    """What a queue manager sees at a moment, by default when the last valid snapshot begins.

    Args:
        lake: with topology.
        qmgr: the queue manager.
        at: the moment.
        name: only objects of that name, or of the queue manager of that name; then also those
            that are not shared or in other clusters are given with the reason.

    Raises:
        MissingSnapshotError: no valid snapshot yet at that moment.
        RepositoryError: the snapshot has nothing of that queue manager.
    """
    times = snapshot_catalog(lake).history(at)
    snapshot, valid_from = list(times.items())[-1]
    moment = at or valid_from
    current = inline(objects(lake, [snapshot], qmgr))
    looking = inline(looking_at(current, snapshot, qmgr))
    clusters = _clusters(current, looking, qmgr)
    past = objects(lake, list(times), qmgr).join(_times(lake, times), c.SNAPSHOT_ID)
    sees = inline(seen(current, looking))
    whole = whole_kinds(lake, snapshot, qmgr)
    known = _rows(sees.unionByName(_own(current, qmgr, [*clusters])), moment)
    wanted = F.lit(True) if name is None else (F.col(NAME) == name) | (F.col(c.QMGR) == name)
    unseen = _unseen(current.where(wanted), sees, qmgr, None if name else list(clusters))
    missing = _missing(inline(unseen), past, qmgr, list(clusters))
    lacking = _rows(missing, moment)
    if name is not None:
        lacking = with_paths(lake, snapshot, qmgr, lacking, clusters)
    return RepositoryView(
        qmgr=qmgr,
        at=moment,
        snapshot_id=snapshot,
        valid_from=valid_from,
        repositories=clusters,
        known=[row for row in known if name in {None, row[NAME], row[c.QMGR]}],
        missing=[row | {"text": _text(row, clusters, whole)} for row in lacking],
        stale=_rows(_stale(current, past, sees.where(wanted), qmgr), moment),
        refresh=_refresh(current, known, qmgr, clusters),
    )


def _text(row: Row, clusters: dict[str, str], whole: Collection[str]) -> str:
    """Why an object is not seen, for a queue manager with these roles in its clusters."""
    if clusters.get(row[c.CLUSTER]) != "FULL":
        return TEXTS[row["why"]]
    if row["why"] == NEVER_SEEN and row[c.KIND] not in whole:
        return PARTLY_SHOWN
    return TEXTS_OF_FULL.get(row["why"], TEXTS[row["why"]])


def _times(lake: Lake, times: dict[str, datetime]) -> DataFrame:
    """(snapshot_id, _when), for joins."""
    schema = f"{c.SNAPSHOT_ID} string, {_WHEN} timestamp"
    return F.broadcast(frame_from_rows(lake.spark, list(times.items()), schema))


def _clusters(current: DataFrame, looking: DataFrame, qmgr: str) -> dict[str, str]:
    """FULL or PARTIAL for each cluster of the queue manager.

    Raises:
        RepositoryError: the snapshot has no row of it and none that it sees.
    """
    mine = (F.col(c.QMGR) == qmgr) | (F.col(c.OBSERVER) == qmgr)
    if current.where(mine).isEmpty():
        names = sorted(str(row[0]) for row in current.select(c.QMGR).distinct().collect())
        near = ", ".join(names[:_NEAREST]) + (" ..." if len(names) > _NEAREST else "")
        raise RepositoryError(
            f"nothing is known of queue manager {qmgr} in the snapshot in force then: "
            f"name one of its own ({near or 'none'})"
        )
    is_full = F.col(ATTRIBUTES)[c.QMTYPE] == QmType.REPOS.value
    clusters = looking.select(CLUSTERS).collect()[0][0]
    own = _own(current, qmgr, [*clusters])
    full = {row[0] for row in own.where(is_full).select(c.CLUSTER).distinct().collect()}
    return {name: "FULL" if name in full else "PARTIAL" for name in sorted(clusters)}


def _own(current: DataFrame, qmgr: str, clusters: list[str]) -> DataFrame:
    """The queue manager's own objects, its own view of one before everybody's (S2).

    What it shares in clusters that it is not in is shared in none (S3).
    """
    mine = current.where((F.col(c.QMGR) == qmgr) & F.col(c.CLUSTER).isin(*clusters))
    best = F.max_by(F.struct(c.OBSERVER, ATTRIBUTES), F.col(c.OBSERVER) != EVERYBODY)
    return mine.groupBy(*OBJECT).agg(best.alias("row")).select(*OBJECT, "row.*")


def _unseen(
    current: DataFrame, sees: DataFrame, qmgr: str, clusters: list[str] | None
) -> DataFrame:
    """Others' objects that are defined and not seen: in these clusters, or all for None.

    Grain: one row per object.
    """
    defined = current.where((F.col(c.OBSERVER) == EVERYBODY) & (F.col(c.QMGR) != qmgr))
    if clusters is not None:
        defined = defined.where(F.col(c.CLUSTER).isin(clusters))
    return defined.select(*OBJECT).join(sees.select(*OBJECT), list(OBJECT), "left_anti")


def _missing(unseen: DataFrame, past: DataFrame, qmgr: str, clusters: list[str]) -> DataFrame:
    """The unseen objects with the reason, and when the queue manager saw each last.

    Grain: one row per object.
    """
    last = (
        past.where(F.col(c.OBSERVER) == qmgr).groupBy(*OBJECT).agg(F.max(_WHEN).alias("last_seen"))
    )
    why = (
        F.when(F.col(c.CLUSTER) == "", NOT_SHARED)
        .when(~F.col(c.CLUSTER).isin(clusters), OTHER_CLUSTER)
        .when(F.col("last_seen").isNull(), NEVER_SEEN)
        .otherwise(NO_LONGER_SEEN)
    )
    return unseen.join(last, list(OBJECT), "left").select(*OBJECT, why.alias("why"), "last_seen")


def _stale(current: DataFrame, past: DataFrame, sees: DataFrame, qmgr: str) -> DataFrame:
    """Objects in the queue manager's own view that are not what their owner defines.

    A view is compared with definitions of owners of whom this kind of object is defined at all in
    the snapshot. It differs since the first snapshot after the last one whose definition was
    as it is seen now; where there is no such one, for at least as long as there are snapshots.

    Grain: one row per object.
    """
    shown_now = sees.where(F.col(c.OBSERVER) == qmgr)
    shown_now = shown_now.select(*OBJECT, F.col(ATTRIBUTES).alias("shown"))
    differs_now = inline(_compared(shown_now, current).where(F.size(_DIFFERS) > 0))
    compared = _compared(differs_now.select(*OBJECT, "shown"), past)
    agreed = (
        compared.where(F.size(_DIFFERS) == 0).groupBy(*OBJECT).agg(F.max(_WHEN).alias("agreed"))
    )
    since = (
        compared.join(agreed, list(OBJECT), "left")
        .where(F.col("agreed").isNull() | (F.col(_WHEN) > F.col("agreed")))
        .groupBy(*OBJECT)
        .agg(F.min(_WHEN).alias(_SINCE), F.max("agreed").isNull().alias("at_least"))
    )
    return differs_now.select(*OBJECT, _DIFFERS).join(since, list(OBJECT))


def _compared(shown_now: DataFrame, rows: DataFrame) -> DataFrame:
    """What is shown, against every snapshot's definition of it.

    Grain: one row per (object, snapshot that defines anything of its kind and owner); `_when` is
    kept where `rows` have it.
    """
    defined = rows.where(F.col(c.OBSERVER) == EVERYBODY)
    snapshot = [x for x in (c.SNAPSHOT_ID, _WHEN) if x in rows.columns]
    told = defined.select(*snapshot, c.KIND, c.QMGR).distinct()
    definitions = defined.select(c.SNAPSHOT_ID, *OBJECT, F.col(ATTRIBUTES).alias("defined"))
    return (
        shown_now.join(told, [c.KIND, c.QMGR])
        .join(definitions, [c.SNAPSHOT_ID, *OBJECT], "left")
        .withColumn(_DIFFERS, _difference())
    )


def _difference() -> Column:
    """The attributes that differ; GONE alone where there is no definition."""
    return F.when(F.col("defined").isNull(), F.array(F.lit(GONE))).otherwise(
        differing(F.col("shown"), F.col("defined"))
    )


def _rows(frame: DataFrame, moment: datetime) -> list[Row]:
    """A view's rows in order, moments as text and ages in seconds."""
    rows = [row.asDict() for row in frame.collect()]
    rows.sort(key=lambda row: tuple(str(row[x]) for x in OBJECT))
    for row in rows:
        if _SINCE in row:
            row["age_seconds"] = int((moment - row[_SINCE].astimezone(UTC)).total_seconds())
        for name in (_SINCE, "last_seen"):
            if row.get(name) is not None:
                row[name] = moment_text(row[name], "seconds")
        if ATTRIBUTES in row:
            row[ATTRIBUTES] = in_order(row[c.KIND], row[ATTRIBUTES])
    return rows


def _refresh(
    current: DataFrame, known: Sequence[Row], qmgr: str, clusters: dict[str, str]
) -> list[Row]:
    """What REFRESH CLUSTER costs at most in each cluster: everybody else knows all of it."""
    # Told where it is a partial one: its own row says so, whatever others have of it.
    is_full = (F.col(ATTRIBUTES)[c.QMTYPE] == QmType.REPOS.value) & (F.col(c.QMGR) != qmgr)
    counted = (
        current.where(F.col(c.CLUSTER).isin(list(clusters)))
        .groupBy(c.CLUSTER)
        .agg(
            F.count_distinct(_of_kind(Kind.QMGR, c.QMGR)).alias("qmgrs"),
            F.count_distinct(F.when(is_full, F.col(c.QMGR))).alias("full"),
            F.count_distinct(_of_kind(Kind.TOPIC, NAME)).alias("topics"),
        )
    )
    found = {row[0]: row.asDict() for row in counted.collect()}
    cases = (
        (cluster, _case(found[cluster], cluster, known, qmgr))
        for cluster, role in clusters.items()
        if role == "PARTIAL" and 1 <= found[cluster]["full"] < found[cluster]["qmgrs"]
    )
    return [{"cluster": cluster, **refresh_cost(case).to_json()} for cluster, case in cases]


def _of_kind(kind: Kind, column: str) -> Column:
    """The column in rows of that kind, null in others."""
    return F.when(F.col(c.KIND) == kind.value, F.col(column))


def _case(counts: Row, cluster: str, known: Sequence[Row], qmgr: str) -> RefreshCase:
    """The case that a snapshot shows; what the queue manager sees itself is what it opens again."""
    queues = [row for row in known if row[c.CLUSTER] == cluster and row[c.KIND] == Kind.QUEUE]
    mine = {row[NAME] for row in queues if row[c.QMGR] == qmgr}
    opened = [row for row in queues if row[c.QMGR] != qmgr and row[c.OBSERVER] == qmgr]
    others = counts["qmgrs"] - counts["full"] - 1
    full = {
        row[c.QMGR]
        for row in known
        if row[c.KIND] == Kind.QMGR
        and row[c.CLUSTER] == cluster
        and row[ATTRIBUTES].get(c.QMTYPE) == QmType.REPOS
    }
    return RefreshCase(
        qmgrs=counts["qmgrs"],
        full=counts["full"],
        own_queues=len(mine),
        users=others,
        users_of_each=others,
        opened=len({row[NAME] for row in opened}),
        instances=len(opened),
        hosts=len({row[c.QMGR] for row in opened} - full),
        topics=counts["topics"],
    )
