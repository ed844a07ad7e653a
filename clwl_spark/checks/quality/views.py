"""A snapshot as the rules see it: its tables and views of them, the same for SQLite and Spark.

`X_as_seen` are the table's rows with MQ's defaults in place of nulls, an observer's view each;
`X` without a suffix has one row per object: as it is defined, else as its owner sees it, else as
the first other observer does. Source: SEMANTICS S2, P1; CONTRACT, "Topology".
"""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Final

import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.checks.quality import ordered
from clwl_spark.checks.quality.engines import View
from clwl_spark.delta.lake import Lake
from clwl_spark.planning import put_authority
from clwl_spark.snapshots.catalog import snapshot_catalog
from clwl_spark.snapshots.views import DEFAULTS, EVERYBODY
from clwl_spark.spark.frames import frame_from_rows, to_arrow
from clwl_spark.tables import (
    ADMINISTRATION,
    AUTHORITIES,
    CLUSTER_SENDERS,
    INGEST_REJECTS,
    MESSAGES,
    QUEUE_STATUS,
    SNAPSHOTS,
    TABLES,
    TOPOLOGY,
    Table,
)
from clwl_spark.tables import columns as c

SNAPSHOT_TABLES: Final = (*TOPOLOGY, CLUSTER_SENDERS, *ADMINISTRATION, INGEST_REJECTS)
BEFORE: Final = "queue_status_before"
"""What the valid snapshot before shows of queues: a depth says more if it is known to fall."""

_SAME_CAPTURE: Final = (c.QMGR, c.QUEUE, c.CURDEPTH, c.SOURCE)
RAW: Final = "{}_raw"
_READERS: Final = 4


class Frames(Mapping[str, DataFrame]):
    """Frames by name, each made when it is first asked for: Spark takes 0.1 s for a table."""

    def __init__(self, makers: Mapping[str, Callable[[], DataFrame]]) -> None:
        """Take what makes each frame."""
        self.makers = makers
        self._made: dict[str, DataFrame] = {}

    def __getitem__(self, name: str) -> DataFrame:
        """The frame of that name."""
        if name not in self._made:
            self._made[name] = self.makers[name]()
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        """The names."""
        return iter(self.makers)

    def __len__(self) -> int:
        """How many there are."""
        return len(self.makers)


@dataclass(frozen=True, slots=True)
class SnapshotRows:
    """A snapshot's rows.

    Attributes:
        arrow: by table, where they fit into memory; empty where they do not.
        spark: by table, always.
    """

    arrow: dict[str, pa.Table]
    spark: Mapping[str, DataFrame]

    def pandas(self, table: str) -> pd.DataFrame:
        """A table's rows for pandas."""
        return pandas_of(self.arrow[table])


def read_rows(lake: Lake, snapshot_id: str, most_in_memory: int) -> SnapshotRows:
    """Read a snapshot's rows, into memory where no table has more than that many.

    Grain: as the tables.
    """

    def frame(name: str) -> DataFrame:
        return lake.read_or_empty(name).where(F.col(c.SNAPSHOT_ID) == snapshot_id)

    frames = Frames({x.name: partial(frame, x.name) for x in SNAPSHOT_TABLES})
    arrow = _in_memory(lake, snapshot_id, frames, most_in_memory)
    before = partial(_before, lake, snapshot_id, frames)
    if arrow:
        known = arrow[QUEUE_STATUS.name]
        arrow[BEFORE] = to_arrow(before()) if known.num_rows else known
        arrow[put_authority.TABLE] = _put_authority(arrow[AUTHORITIES.name])
        arrow[ordered.TABLE] = _ordered(lake)
    puts = partial(_put_authority_frame, lake, frames)
    in_order = partial(ordered.ordered_words, lake)
    more = {BEFORE: before, put_authority.TABLE: puts, ordered.TABLE: in_order}
    return SnapshotRows(arrow, Frames({**frames.makers, **more}))


def _ordered(lake: Lake) -> pa.Table:
    """Messages put in logical order; grain as `ordered.ordered_words`."""
    if not lake.exists(MESSAGES.name):
        return ordered.SCHEMA.empty_table()
    found = to_arrow(ordered.ordered_words(lake))
    keys = [(x, "ascending") for x in found.column_names]
    return found.cast(ordered.SCHEMA).sort_by(keys)


def _put_authority(authorities: pa.Table) -> pa.Table:
    """Who may put to cluster queues; grain as `put_authority`."""
    found = put_authority.put_authority(authorities.to_pylist())
    return pa.Table.from_pylist([x._asdict() for x in found], put_authority.SCHEMA)


def _put_authority_frame(lake: Lake, frames: Mapping[str, DataFrame]) -> DataFrame:
    """The same for Spark: authority records are few, whatever else is many."""
    found = _put_authority(to_arrow(frames[AUTHORITIES.name])).to_pylist()
    return frame_from_rows(lake.spark, [tuple(x.values()) for x in found], put_authority.DDL)


def _before(lake: Lake, snapshot_id: str, frames: Mapping[str, DataFrame]) -> DataFrame:
    """The status of queues in the valid snapshot before, less what was carried over from there.

    Grain: one row per (qmgr, queue).
    """
    heads = snapshot_catalog(lake)
    earlier = heads.in_place_of(heads.whole(snapshot_id))
    rows = lake.read_or_empty(QUEUE_STATUS.name).where(F.col(c.SNAPSHOT_ID) == F.lit(earlier))
    has_base = any(x[c.BASE] for x in lake.rows(SNAPSHOTS.name, c.SNAPSHOT_ID, [snapshot_id]))
    if not has_base:
        return rows
    same = frames[QUEUE_STATUS.name].select(*_SAME_CAPTURE)
    return rows.join(same, list(_SAME_CAPTURE), "left_anti").select(*QUEUE_STATUS.names)


def _in_memory(
    lake: Lake, snapshot_id: str, frames: Mapping[str, DataFrame], most: int
) -> dict[str, pa.Table]:
    """A snapshot's rows; nothing where a table has more than so many."""
    found = {x: lake.few_in_memory(x, c.SNAPSHOT_ID, [snapshot_id], most) for x in frames}
    unread = {x: frames[x] for x in frames if found[x] is None}
    read = in_memory(unread, most)
    if unread and not read:
        return {}
    return {**read, **{x: _in_order(few) for x, few in found.items() if few is not None}}


def _in_order(table: pa.Table) -> pa.Table:
    """Rows in order of their columns.

    Engines and files give rows in any order, and rules keep the first that fail.
    """
    return table.sort_by([(x, "ascending") for x in table.column_names])


def in_memory(frames: Mapping[str, DataFrame], most: int) -> dict[str, pa.Table]:
    """The frames' rows in order of their columns; nothing where one has more than so many."""

    def fetched(name: str) -> pa.Table:
        return _in_order(to_arrow(frames[name].limit(most + 1)))

    with ThreadPoolExecutor(_READERS) as pool:
        arrow = dict(zip(frames, pool.map(fetched, frames), strict=True))
    return arrow if all(x.num_rows <= most for x in arrow.values()) else {}


def pandas_of(table: pa.Table) -> pd.DataFrame:
    """Rows for pandas; numbers that may be null as its own whole numbers."""
    numbers = {pa.int32(): pd.Int32Dtype(), pa.int64(): pd.Int64Dtype()}
    frame: pd.DataFrame = table.to_pandas(types_mapper=numbers.get)
    return frame


def snapshot_views() -> list[View]:
    """The views of a snapshot, each one made from those before it."""
    views = []
    for table in SNAPSHOT_TABLES:
        if {c.OBSERVER, c.QMGR} <= set(table.names):
            views.append(View(f"{table.name}_as_seen", _filled(table)))
            views.append(View(table.name, _settled(table)))
        else:
            views.append(View(table.name, _filled(table)))
    views += [
        View(x, f"SELECT * FROM {RAW.format(x)}")  # noqa: S608  (our names)
        for x in (BEFORE, put_authority.TABLE, ordered.TABLE)
    ]
    return [*views, *_DERIVED]


def _filled(table: Table) -> str:
    """Rows with MQ's defaults in place of nulls."""
    defaults = DEFAULTS.get(table.name, {})
    columns = [
        f"COALESCE({x.name}, {_literal(defaults[x.name])}) AS {x.name}"
        if x.name in defaults
        else f"COALESCE(`{x.name}`, '') AS `{x.name}`"
        if x.type == "string" and x.name not in (c.SOURCE, c.QMTYPE)
        else x.name
        for x in table.columns
    ]
    return f"SELECT {', '.join(columns)} FROM {RAW.format(table.name)}"  # noqa: S608  (our names)


def _settled(table: Table) -> str:
    """One row per object."""
    names = [x.name for x in table.columns if x.name not in (c.OBSERVER, c.SNAPSHOT_ID)]
    keys = [x for x in table.keys if x in names]
    columns = ", ".join(names)
    return (
        f"SELECT {columns} FROM (SELECT {columns}, ROW_NUMBER() OVER ("  # noqa: S608
        f"PARTITION BY {', '.join(keys)} ORDER BY CASE WHEN observer = '{EVERYBODY}' THEN 0 "
        f"WHEN observer = qmgr THEN 1 ELSE 2 END, observer) AS rank_of_view "
        f"FROM {table.name}_as_seen) AS ranked WHERE rank_of_view = 1"
    )


def _literal(value: bool | float | str) -> str:  # noqa: FBT001  (a default's value)
    if isinstance(value, bool):
        return str(value).upper()
    return f"'{value}'" if isinstance(value, str) else str(value)


_DERIVED: Final = (
    View(
        "members",
        "SELECT DISTINCT cluster, qmgr FROM cluster_channels WHERE cluster <> ''",
    ),
    View(
        "repositories",
        "SELECT DISTINCT cluster, qmgr FROM cluster_channels WHERE qmtype = 'REPOS'",
    ),
    View(
        # Members of a cluster, by their own definitions, that a full repository does not show in
        # a view that is whole.
        "unseen_members",
        "SELECT r.qmgr AS observer, m.qmgr, m.cluster FROM repositories r "
        "JOIN views w ON w.observer = r.qmgr AND w.`table` = 'cluster_channels' AND w.whole "
        "JOIN (SELECT DISTINCT cluster, qmgr FROM cluster_channels_as_seen "
        "WHERE observer IN ('*', qmgr) AND cluster <> '') m "
        "ON m.cluster = r.cluster AND m.qmgr <> r.qmgr "
        "LEFT JOIN (SELECT DISTINCT s.observer, s.cluster, s.qmgr FROM cluster_channels_as_seen s "
        "JOIN repositories f ON f.qmgr = s.observer AND f.cluster = s.cluster) k "
        "ON k.observer = r.qmgr AND k.qmgr = m.qmgr AND k.cluster = m.cluster "
        "WHERE k.qmgr IS NULL",
    ),
    View(
        # Queue managers whose own definitions were read, in a snapshot where manually defined
        # CLUSSDRs were: only of these something that is absent is known to be absent.
        "defined",
        "SELECT DISTINCT qmgr FROM queue_managers_as_seen WHERE observer = '*' "
        "AND EXISTS (SELECT 1 FROM cluster_senders)",
    ),
    View(
        # Instances of cluster queues with each channel that leads there, one row per channel.
        "instances",
        "SELECT q.queue, q.cluster, q.qmgr, q.qtype, q.put_enabled, q.clwlrank AS queue_rank, "
        "q.clwlprty AS queue_prty, q.clwluseq, q.defbind, k.channel, "
        "k.clwlrank AS channel_rank, k.clwlprty AS channel_prty, k.clwlwght, k.netprty "
        "FROM queues q JOIN cluster_channels k ON k.qmgr = q.qmgr AND k.cluster = q.cluster "
        "WHERE q.cluster <> '' AND NOT (q.qtype = 'QREMOTE' AND q.rname = '')",
    ),
)
INDEXES: Final = {
    "queue_managers": ("qmgr",),
    "cluster_channels": ("channel, cluster", "qmgr, cluster"),
    "channel_status": ("channel, remote_qmgr", "qmgr"),
    "queues": ("queue", "qmgr, queue"),
    "queues_raw": ("qmgr, queue",),
    "cluster_channels_raw": ("qmgr, channel",),
    "topics": ("qmgr, topic",),
    "cluster_senders": ("qmgr, cluster",),
    "queue_status": ("queue", "qmgr, queue"),
    BEFORE: ("qmgr, queue",),
    "message_channels": ("qmgr, xmitq",),
    "actions": ("action",),
    put_authority.TABLE: ("qmgr, entity",),
    ordered.TABLE: ("object_name",),
    "members": ("cluster, qmgr", "qmgr, cluster"),
    "instances": ("queue, cluster",),
}
"""What rules join on; without them SQLite would make an index for each row it looks at."""
TABLE_KEYS: Final = {
    x.name: tuple(k for k in (x.keys or x.names) if k != c.SNAPSHOT_ID) for x in TABLES.values()
}
"""What tells a row of a table from the others of a snapshot."""
