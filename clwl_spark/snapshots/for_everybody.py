"""What full repositories show of others' objects, as rows that stand for everybody.

A dump never tells that a queue manager is suspended, and often there is no dump of one. What a
full repository's DISPLAY shows is what the whole cluster is told, so it fills what definitions
leave open.

Source: CONTRACT, "What MQ's texts become", 10; SEMANTICS S2.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Final

from pyspark.sql import Column, DataFrame, Row, Window
from pyspark.sql import functions as F

from clwl_spark.mq.vocabulary import QmType
from clwl_spark.snapshots.owned import EVERYBODY
from clwl_spark.spark.materialize import checkpoint
from clwl_spark.tables import CLUSTER_CHANNELS, QUEUES, TABLES, TOPICS
from clwl_spark.tables import columns as c

Frames = Mapping[str, DataFrame]

TOLD: Final = "told"
"""Whether the texts that are read tell the row; others were there before."""

TABLES_SHOWN: Final = (CLUSTER_CHANNELS.name, QUEUES.name, TOPICS.name)
"""The tables of objects that a full repository tells a cluster of."""

_NAMES: Final = {CLUSTER_CHANNELS.name: c.CHANNEL, QUEUES.name: c.QUEUE, TOPICS.name: c.TOPIC}
_PLACES: Final = (c.SOURCE, c.ALTERED)
_SHOWS_IT: Final = " shows it"
NOT_PLACED: Final = ", cluster not shown"
"""Ends the source of a definition whose display left the cluster out."""

_BEST: Final = "best"
_OWN: Final = "own"
_RANK: Final = "shown_by"
_DIFFERING: Final = "differing"
_COMES: Final = "comes_of_it"
_PLACE: Final = "place"


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Full repositories that show an object differently; no CLUSDATE says which is newer.

    Attributes:
        table: where the object's row is.
        qmgr: whose object it is.
        name: of the object.
        cluster: the cluster.
        columns: what is shown differently.
        observers: the full repositories.
    """

    table: str
    qmgr: str
    name: str
    cluster: str
    columns: tuple[str, ...]
    observers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ForEverybody:
    """All rows of a snapshot, with those that stand for everybody.

    Attributes:
        frames: the tables; the ones of `TABLES_SHOWN` are complete now.
        rows: everybody's rows that come of what is shown, by table.
        disagreements: the objects that full repositories show differently.
    """

    frames: Frames
    rows: Mapping[str, int] = field(default_factory=dict)
    disagreements: tuple[Disagreement, ...] = ()


def is_shown(source: str | None) -> bool:
    """Whether a row's source says that only a full repository shows it."""
    return (source or "").endswith(_SHOWS_IT)


def for_everybody(frames: Frames, *, merging: bool) -> ForEverybody:
    """Complete everybody's rows by what full repositories show.

    What they showed before is taken for what definitions leave open now, and what these texts
    show also for what has been said before; a definition's own values stay.

    Args:
        frames: all rows of one snapshot, by table; those of `TABLES_SHOWN` with `TOLD`.
        merging: texts are added to what the snapshot was made of, rather than change it, so that
            it does not matter which come first.

    Grain: one row per row of the tables, `TOLD` left out.
    """
    plain = {x: f.drop(TOLD) if x in TABLES_SHOWN else f for x, f in frames.items()}
    fulls = checkpoint(_full_repositories(plain[CLUSTER_CHANNELS.name]))
    seen = {name: _seen(frames[name], fulls) for name in TABLES_SHOWN}
    if reduce(DataFrame.unionAll, [x.select(c.OBSERVER) for x in seen.values()]).isEmpty():
        return ForEverybody(plain)
    completed = {
        name: checkpoint(_completed(frames[name], _shown(seen[name], name), name, merging=merging))
        for name in TABLES_SHOWN
    }
    rows, disagreements = _told(completed)
    done = {name: completed[name].select(*TABLES[name].names) for name in TABLES_SHOWN}
    return ForEverybody({**plain, **done}, rows, disagreements)


def _full_repositories(channels: DataFrame) -> DataFrame:
    """Grain: one row per (observer, cluster) in which the observer is a full repository."""
    own = channels.where(F.col(c.OBSERVER).isin(EVERYBODY) | (F.col(c.OBSERVER) == F.col(c.QMGR)))
    # What a display of its own leaves open has the definition's value (`own_display.filled`).
    own = own.where(F.col(c.QMTYPE).isNotNull())
    kind = F.max_by(F.coalesce(c.QMTYPE, F.lit("")), F.col(c.OBSERVER) != EVERYBODY)
    types = own.groupBy(c.QMGR, c.CHANNEL, c.CLUSTER).agg(kind.alias(c.QMTYPE))
    full = (F.col(c.QMTYPE) == QmType.REPOS.value) & (F.col(c.CLUSTER) != "")
    return types.where(full).select(F.col(c.QMGR).alias(c.OBSERVER), c.CLUSTER).distinct()


def _seen(rows: DataFrame, fulls: DataFrame) -> DataFrame:
    """Grain: one row per row that a full repository of the row's cluster has of others' objects."""
    of_others = ~F.col(c.OBSERVER).isin(EVERYBODY) & (F.col(c.OBSERVER) != F.col(c.QMGR))
    return rows.where(of_others).join(fulls, [c.OBSERVER, c.CLUSTER])


def _shown(rows: DataFrame, table: str) -> DataFrame:
    """What counts of the rows that full repositories have of others' objects.

    Grain: one row per (object, cluster): the attributes that are known, as `best`; TOLD, whether
    these texts tell any of it; who shows it; the attributes in which they differ.
    """
    keys = [c.QMGR, _NAMES[table], c.CLUSTER]
    attributes = _attributes(table)
    newest = F.max(c.ALTERED).over(Window.partitionBy(*keys))
    seen = (
        rows.withColumn("newest", newest)
        .where(F.col(c.ALTERED).isNull() | (F.col(c.ALTERED) == F.col("newest")))
        # One of which MQ tells when it was altered comes before one of which it does not.
        .withColumn(
            _RANK, F.concat(F.when(F.col(c.ALTERED).isNull(), "1").otherwise("0"), c.OBSERVER)
        )
    )
    first = {x: _first(x) for x in attributes}
    first |= {c.SUSPENDED: F.max(c.SUSPENDED)} if c.SUSPENDED in attributes else {}
    differing = F.filter(
        F.array(*(F.when(F.size(F.collect_set(x)) > 1, x) for x in attributes)),
        lambda x: x.isNotNull(),
    )
    found = seen.groupBy(*keys).agg(
        *(value.alias(f"{_BEST}_{x}") for x, value in first.items()),
        _first(c.SOURCE).alias(f"{_BEST}_{c.SOURCE}"),
        F.max(TOLD).alias(f"{_BEST}_{TOLD}"),
        F.sort_array(F.collect_list(c.OBSERVER)).alias(_RANK),
        F.min(_RANK).alias("first"),
        differing.alias(_DIFFERING),
    )
    return found.withColumn("first", F.expr("substring(first, 2)"))


def _first(column: str) -> Column:
    """The value that is known, of the first row in order."""
    return F.min(F.when(F.col(column).isNotNull(), F.struct(_RANK, column)))[column]


def _attributes(table: str) -> list[str]:
    return [x.name for x in TABLES[table].columns if not x.key and x.name not in _PLACES]


def _completed(rows: DataFrame, shown: DataFrame, table: str, *, merging: bool) -> DataFrame:
    """The rows of a table, with what is shown of them.

    Grain: one row per row of the table, and one per object that is only shown: the table's
    columns, whether the row comes of what is shown, who shows it, what they show differently.
    """
    name = _NAMES[table]
    keys = [c.SNAPSHOT_ID, c.QMGR, name, c.CLUSTER]
    mine = _placed(rows.where(F.col(c.OBSERVER) == EVERYBODY), shown, name)
    only_shown = F.coalesce(F.col(c.SOURCE).endswith(_SHOWS_IT), F.lit(False))
    defined = mine.where(~only_shown).select(c.QMGR, name).distinct()
    snapshots = rows.select(c.SNAPSHOT_ID).distinct()
    known = shown.crossJoin(snapshots).join(
        defined.withColumn("is_defined", F.lit(True)), [c.QMGR, name], "left"
    )
    both = mine.withColumn(_OWN, F.lit(True)).join(known, keys, "full")
    is_told = F.coalesce(f"{_BEST}_{TOLD}", F.lit(False))
    is_new = F.col(_OWN).isNull()
    both = both.where(~is_new | (is_told & F.col("is_defined").isNull()))
    takes = F.coalesce(is_new | (only_shown & is_told), F.lit(False))
    fills = F.lit(merging) | is_told
    values = {x: _value(x, takes, fills, is_told) for x in _attributes(table)}
    differs = [~value.eqNullSafe(F.col(x)) for x, value in values.items()]
    comes = reduce(lambda left, right: left | right, differs, takes | F.col(_PLACE).isNotNull())
    source = F.concat(F.col(f"{_BEST}_{c.SOURCE}"), F.lit(", as "), "first", F.lit(_SHOWS_IT))
    values |= {
        c.SNAPSHOT_ID: F.col(c.SNAPSHOT_ID),
        c.OBSERVER: F.lit(EVERYBODY),
        c.SOURCE: F.when(takes, source).otherwise(F.col(c.SOURCE)),
        c.ALTERED: F.when(takes, F.lit(None)).otherwise(F.col(c.ALTERED)),
    }
    columns = [values.get(x, F.col(x)).alias(x) for x in TABLES[table].names]
    columns += [comes.alias(_COMES), F.col(_RANK), F.col(_DIFFERING)]
    rest = rows.where(F.col(c.OBSERVER) != EVERYBODY).select(*TABLES[table].names)
    return both.select(*columns).unionByName(rest, allowMissingColumns=True)


def _placed(mine: DataFrame, shown: DataFrame, name: str) -> DataFrame:
    """Everybody's rows; one whose cluster is not known is in those in which it is shown.

    Grain: one row per row, or one per cluster of such a row; `_PLACE`, its cluster, where it is so.
    """
    is_open = F.coalesce(F.col(c.SOURCE).endswith(NOT_PLACED), F.lit(False))
    places = shown.select(c.QMGR, name, F.col(c.CLUSTER).alias(_PLACE))
    open_rows = mine.where(is_open).join(places, [c.QMGR, name], "left")
    found = {
        c.CLUSTER: F.coalesce(_PLACE, c.CLUSTER),
        c.SOURCE: F.when(F.col(_PLACE).isNull(), F.col(c.SOURCE)).otherwise(
            F.split_part(c.SOURCE, F.lit(NOT_PLACED), F.lit(1))
        ),
    }
    others = mine.where(~is_open).withColumn(_PLACE, F.lit(None).cast("string"))
    return others.unionByName(open_rows.withColumns(found))


def _value(column: str, takes: Column, fills: Column, is_told: Column) -> Column:
    """An attribute of everybody's row."""
    own, best = F.col(column), F.col(f"{_BEST}_{column}")
    filled = F.coalesce(own, best)
    if column == c.SUSPENDED:
        # A definition never tells it, so that what is shown last counts.
        kept = F.when(F.col(TOLD), filled).otherwise(own)
        filled = F.when(is_told, F.coalesce(best, own)).when(fills, filled).otherwise(kept)
        return F.when(takes, best).otherwise(filled)
    return F.when(takes, best).when(fills, filled).otherwise(own)


def _told(completed: Frames) -> tuple[dict[str, int], tuple[Disagreement, ...]]:
    """How many rows came about so, and where full repositories differ."""
    frames = [
        frame.where(F.col(_COMES) | (F.size(_DIFFERING) > 0)).select(
            F.lit(name).alias(c.TABLE), c.QMGR, F.col(_NAMES[name]).alias("name"), c.CLUSTER,
            _COMES, F.when(F.size(_DIFFERING) > 0, F.col(_DIFFERING)).alias(_DIFFERING), _RANK,
        )
        for name, frame in completed.items()
    ]  # fmt: skip
    every = checkpoint(reduce(DataFrame.unionByName, frames))
    counts = every.where(_COMES).groupBy(c.TABLE).count().collect()
    rows = {x[c.TABLE]: x["count"] for x in counts}
    keys = [c.TABLE, c.QMGR, "name", c.CLUSTER]
    differing = every.where(F.col(_DIFFERING).isNotNull()).select(*keys, _DIFFERING, _RANK)
    found = sorted(map(_disagreement, differing.collect()), key=_key)
    return {name: rows[name] for name in TABLES_SHOWN if name in rows}, tuple(found)


def _disagreement(row: Row) -> Disagreement:
    of = (row[c.TABLE], row[c.QMGR], row["name"], row[c.CLUSTER])
    return Disagreement(*of, tuple(row[_DIFFERING]), tuple(row[_RANK]))


def _key(of: Disagreement) -> tuple[str, ...]:
    return of.table, of.qmgr, of.name, of.cluster
