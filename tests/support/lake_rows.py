"""Rows of two lakes, compared whatever they lie in: a folder, or an object store."""

from collections import Counter
from pathlib import Path

import pyarrow.compute as pc
from deltalake import DeltaTable

from clwl_spark.storage import access
from clwl_spark.storage.files import is_file
from clwl_spark.storage.places import is_store
from clwl_spark.tables import TABLES

OF_A_RUN = {
    "run_id",
    "router_id",
    "checkpoint",
    "started_at",
    "finished_at",
    "seconds",
    "stream",
    "worker_peak_mib",
    "messages_id",
}
"""Columns that are other ones in each run, or lake."""


def rows_of(lake, table):
    """The rows of a lake's table as text, how often each is there."""
    place = f"{lake}/{table}"
    found = DeltaTable(place, storage_options=access.options(place)).to_pyarrow_dataset().to_table()
    kept = found.select([x for x in found.column_names if x not in OF_A_RUN])
    return Counter(map(repr, kept.to_pylist())) if kept.num_rows < 5_000 else kept


COUNTED = (
    "status",
    "batch_id",
    "snapshots",
    "messages",
    "outcomes",
    "rejected",
    "out_of_order",
    "by_reason",
)
"""Columns of `runs` that are the same whatever routed the lake, and wherever it is."""


def differing(left, right):
    """The tables of two lakes, of other engines or places, that do not have the same rows."""
    found = tables_of(left) ^ tables_of(right)
    for table in tables_of(left) & tables_of(right):
        one, other = (_comparable(str(x), table) for x in (left, right))
        if not same(one, other):
            found.add(table)
    return found


def _comparable(lake, table):
    if table != "runs":
        return rows_of(lake, table)
    place = f"{lake}/{table}"
    found = DeltaTable(place, storage_options=access.options(place)).to_pyarrow_table()
    return Counter(map(repr, found.select(COUNTED).to_pylist()))


def same(left, right):
    """Whether two tables have the same rows; of many, sorted by what identifies a message."""
    if isinstance(left, Counter):
        return left == right
    order = [("qmgr", "ascending"), ("put_seq", "ascending")]
    tables = (x.take(pc.sort_indices(x, order)).combine_chunks() for x in (left, right))
    return next(tables).equals(next(tables))


def tables_of(lake):
    """The names of a lake's tables."""
    lake = Path(lake) if not is_store(str(lake)) else str(lake)
    if is_store(str(lake)):
        return {x for x in TABLES if is_file(f"{lake}/{x}/_delta_log/{0:020}.json")}
    return {x.name for x in lake.iterdir() if x.name in TABLES}
