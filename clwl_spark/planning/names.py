"""Name resolution of many requests: gather what each queue manager knows, then resolve.

Resolution walks definitions and is not relational, so Spark gathers, per snapshot and queue
manager, the few definitions and names that the walk can ask for, and `resolve` walks.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from clwl_spark.algorithm.resolve import Definition, Knowledge, resolve
from clwl_spark.mq.vocabulary import QueueType
from clwl_spark.snapshots.first_opens import (
    CHANNELS_SIGHT,
    QUEUES_SIGHT,
    others_asked,
    sight_of,
)
from clwl_spark.snapshots.views import (
    CLUSTERS,
    VIEW_KEY,
    VIEWER,
    Topology,
    in_clusters,
    own_rows,
)
from clwl_spark.spark.frames import known_to_have
from clwl_spark.spark.materialize import Materialize, mapped
from clwl_spark.tables import columns as c
from clwl_spark.tables.arrow import from_arrow_schema

NAME: Final = "name"
_BEFORE_ALL: Final = "\0"
"""Sorts before any character of a name."""
Row = Mapping[str, Any]
DEFINITION: Final = (
    c.QTYPE,
    "shared",
    c.PUT_ENABLED,
    c.DEFBIND,
    c.TARGET,
    c.RNAME,
    c.RQMNAME,
    c.XMITQ,
    c.USAGE,
)
_FLAGS: Final = frozenset({"shared", c.PUT_ENABLED})


def _listed(*columns: str) -> pa.DataType:
    """A list of structs of texts and flags."""
    return pa.list_(pa.struct([(x, pa.bool_() if x in _FLAGS else pa.string()) for x in columns]))


_ARROW_SCHEMA: Final = pa.schema(
    [
        *((x, pa.string()) for x in (*VIEW_KEY, c.OBJECT_NAME, c.OBJECT_QMGR, c.KIND)),
        (c.REASON, pa.int32()),
        (c.RESOLVED_OBJECT, pa.string()),
        (c.RESOLVED_QMGR, pa.string()),
        (c.RESOLUTION_PATH, pa.list_(pa.string())),
        (c.BIND_DEFAULT, pa.string()),
        (c.XMITQ, pa.string()),
    ]
)
_GATHERED: Final = from_arrow_schema(
    pa.schema(
        [
            *((x, pa.string()) for x in VIEW_KEY),
            ("asked", _listed(c.OBJECT_NAME, c.OBJECT_QMGR)),
            (c.DEFXMITQ, pa.string()),
            ("definitions", _listed(NAME, *DEFINITION)),
            ("seen_queues", _listed(NAME, c.DEFBIND)),
            ("seen_qmgrs", _listed(NAME)),
        ]
    )
)


def resolutions(
    asked: DataFrame, known: DataFrame, topology: Topology, keep: Materialize
) -> DataFrame:
    """Resolve each distinct (O, R) of each sender.

    Args:
        asked: (snapshot_id, viewer, object_name, object_qmgr), distinct.
        known: `first_opens.with_first_opens` of the senders.
        topology: the tables.
        keep: what to do with frames that several steps read.

    Grain: one row per row of `asked`, with the columns of `resolve.Resolution`.
    Source: SEMANTICS 2, S2a, P6.
    """
    definitions = keep(own_definitions(known, topology))
    names = keep(_names_of_interest(asked, definitions))
    gathered = (
        asked.groupBy(*VIEW_KEY)
        .agg(F.collect_list(F.struct(c.OBJECT_NAME, c.OBJECT_QMGR)).alias("asked"))
        .join(known.select(*VIEW_KEY, c.DEFXMITQ), list(VIEW_KEY))
    )
    for name, rows, columns in (
        ("definitions", _only_named(definitions, names), (NAME, *DEFINITION)),
        ("seen_queues", seen_queues(known, topology, names), (NAME, c.DEFBIND)),
        ("seen_qmgrs", seen_qmgrs(known, topology, names), (NAME,)),
    ):
        listed = rows.groupBy(*VIEW_KEY).agg(F.collect_list(F.struct(*columns)).alias(name))
        gathered = gathered.join(listed, list(VIEW_KEY), "left")
    known_to_have(gathered, _GATHERED)
    return mapped(gathered, _resolve_batches, _ARROW_SCHEMA, keep)


def own_definitions(known: DataFrame, topology: Topology) -> DataFrame:
    """The senders' own queue definitions, as resolution sees them.

    Grain: one row per (snapshot_id, viewer, name): the attributes of the row of the lowest
    cluster name, and `shared` where some row is in a cluster of the sender's (S3, P3).
    """
    rows = own_rows(known, topology.queues, (c.QUEUE, c.CLUSTER)).join(
        known.select(*VIEW_KEY, CLUSTERS), list(VIEW_KEY)
    )
    attributes = [x for x in (*DEFINITION, c.CLCHNAME) if x != "shared"]
    return (
        rows.groupBy(*VIEW_KEY, F.col(c.QUEUE).alias(NAME))
        .agg(
            F.min_by(F.struct(*attributes), F.col(c.CLUSTER)).alias("row"),
            F.bool_or(in_clusters(c.CLUSTER)).alias("shared"),
        )
        .select(*VIEW_KEY, NAME, "shared", "row.*")
    )


def seen_queues(known: DataFrame, topology: Topology, names: DataFrame | None = None) -> DataFrame:
    """The queues that the viewers see on other queue managers; of these names, or all.

    Grain: one row per (snapshot_id, viewer, name), with the DEFBIND of the lowest (qmgr, cluster).
    """
    found = _others_queues(known, topology, names).where(~_is_qmgr_alias())
    # In one text: for structs Sail reserves many times the memory that they take.
    lowest = F.min_by(c.DEFBIND, F.concat_ws(_BEFORE_ALL, c.QMGR, c.CLUSTER))
    return found.groupBy(*VIEW_KEY, NAME).agg(lowest.alias(c.DEFBIND))


def seen_qmgrs(known: DataFrame, topology: Topology, names: DataFrame | None = None) -> DataFrame:
    """The queue managers, and aliases of them on others, that the viewers see; as `seen_queues`.

    Grain: one row per (snapshot_id, viewer, name).
    """
    aliases = _others_queues(known, topology, names).where(_is_qmgr_alias())
    sight = sight_of(known, CHANNELS_SIGHT)
    looking = known.select(*VIEW_KEY, CLUSTERS, *sight)
    channels = topology.cluster_channels.withColumn(NAME, F.col(c.QMGR))
    if names is not None:
        channels = channels.join(F.broadcast(names.select(NAME).distinct()), NAME, "left_semi")
    qmgrs = others_asked(looking, channels, sight, (NAME, ())).where(in_clusters(c.CLUSTER))
    if names is not None:
        qmgrs = qmgrs.join(names, [*VIEW_KEY, NAME], "left_semi")
    return aliases.select(*VIEW_KEY, NAME).union(qmgrs.select(*VIEW_KEY, NAME)).distinct()


def _others_queues(known: DataFrame, topology: Topology, names: DataFrame | None) -> DataFrame:
    """The rows of others' queues in the viewer's clusters, with `name`; of these names, or all."""
    sight = sight_of(known, QUEUES_SIGHT)
    looking = known.select(*VIEW_KEY, CLUSTERS, *sight)
    also: tuple[str, ...] = ()
    if names is not None:
        looking, also = names.join(looking, list(VIEW_KEY)), (NAME,)
    queues = topology.queues.withColumn(NAME, F.col(c.QUEUE))
    found = others_asked(looking, queues, sight, (NAME, also))
    return found.where(in_clusters(c.CLUSTER))


def others_named(named: DataFrame, known: DataFrame, queues: DataFrame, name: str) -> DataFrame:
    """The rows of others' queues whose name is in the column `name` of `named`.

    Args:
        named: with snapshot_id, viewer and `name`.
        known: `first_opens.with_first_opens` of the viewers.
        queues: the table.
        name: a column that the table does not have.

    Grain: one row per (row of `named`, row of the table), with `first_open`.
    """
    sight = sight_of(known, QUEUES_SIGHT)
    looking = named.join(known.select(*VIEW_KEY, *sight), list(VIEW_KEY))
    called = queues.withColumn(name, F.col(c.QUEUE))
    return others_asked(looking, called, sight, (name, (name,)))


def _is_qmgr_alias() -> Column:
    return (F.col(c.QTYPE) == QueueType.QREMOTE.value) & (F.col(c.RNAME) == "")


def _names_of_interest(asked: DataFrame, definitions: DataFrame) -> DataFrame:
    """Every name that a walk can come to: asked for, or named by an own definition."""
    columns = [
        asked.select(*VIEW_KEY, F.explode(F.array(c.OBJECT_NAME, c.OBJECT_QMGR)).alias(NAME)),
        definitions.where(F.col(c.QTYPE) != QueueType.QLOCAL.value).select(
            *VIEW_KEY, F.explode(F.array(c.TARGET, c.RNAME, c.RQMNAME)).alias(NAME)
        ),
    ]
    return columns[0].union(columns[1]).where(F.col(NAME) != "").distinct()


def _only_named(definitions: DataFrame, names: DataFrame) -> DataFrame:
    """The definitions of these names."""
    kept = definitions.join(names, [*VIEW_KEY, NAME], "left_semi")
    return kept.select(*VIEW_KEY, NAME, *DEFINITION)


def _resolve_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """One row per (snapshot_id, viewer) in, one row per request out."""
    for batch in batches:
        rows = [row for known in batch.to_pylist() for row in _resolve_row(known)]
        yield pa.RecordBatch.from_pylist(rows, schema=_ARROW_SCHEMA)


def knowledge(
    sender: Row, definitions: Iterable[Row], queues: Iterable[Row], qmgrs: Iterable[Row]
) -> Knowledge:
    """What one queue manager knows.

    Args:
        sender: viewer and DEFXMITQ of `views.viewers`.
        definitions: its rows of `own_definitions`.
        queues: its rows of `seen_queues`.
        qmgrs: its rows of `seen_qmgrs`.
    """
    return Knowledge(
        qmgr=sender[VIEWER],
        definitions={x[NAME]: Definition(**{y: x[y] for y in DEFINITION}) for x in definitions},
        seen_queues={x[NAME]: x[c.DEFBIND] for x in queues},
        seen_qmgrs=frozenset(x[NAME] for x in qmgrs),
        defxmitq=sender[c.DEFXMITQ],
    )


def _resolve_row(row: Row) -> Iterator[Row]:
    lists = (row[name] or () for name in ("definitions", "seen_queues", "seen_qmgrs"))
    known = knowledge(row, *lists)
    for asked in row["asked"]:
        found = resolve(known, asked[c.OBJECT_NAME], asked[c.OBJECT_QMGR])
        yield {
            **{key: row[key] for key in VIEW_KEY},
            **asked,
            c.KIND: found.kind,
            c.REASON: found.reason,
            c.RESOLVED_OBJECT: found.resolved_object,
            c.RESOLVED_QMGR: found.resolved_qmgr,
            c.RESOLUTION_PATH: list(found.path),
            c.BIND_DEFAULT: found.bind_default,
            c.XMITQ: found.xmitq,
        }
