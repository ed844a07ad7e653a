"""Two rows of one key, as only other programs write them: no plan can be made of them."""

from collections.abc import Sequence
from functools import reduce
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.errors import LakeStateError
from clwl_spark.snapshots.views import DEFAULTS, Topology, read_topology
from clwl_spark.spark.materialize import Materialize, as_it_is, is_seen_to_differ
from clwl_spark.tables import TABLES

_SHOWN: Final = 3


def consistent_topology(
    lake: Lake, snapshot_ids: Sequence[str], keep: Materialize = as_it_is
) -> Topology:
    """`read_topology` for plans, which can be made where no key is there twice.

    Args:
        lake: the lake.
        snapshot_ids: of the snapshots that are planned with.
        keep: what to do with tables that several steps read.

    Raises:
        LakeStateError: a key is there twice; with the first keys.

    Source: CONTRACT, "Topology" (nulls and ranges).
    """
    topology = read_topology(lake, snapshot_ids, keep)
    _refuse_contradictions(topology)
    return topology


def _refuse_contradictions(topology: Topology) -> None:
    """Refuse a topology that has a key twice, in one query over all its tables."""
    unseen = [
        name
        for name in DEFAULTS
        if not is_seen_to_differ(getattr(topology, name), TABLES[name].keys)
    ]
    names = _suspected(topology, unseen)
    if not names:
        return
    found = reduce(DataFrame.unionAll, (_repeated(topology, name) for name in names))
    rows = found.limit(_SHOWN + 1).collect()
    if not rows:
        return
    keys = [f"{row['table']} ({row['row']}) {row['count']} times" for row in rows[:_SHOWN]]
    more = " and more" if rows[_SHOWN:] else ""
    raise LakeStateError(
        f"keys are there more than once: {'; '.join(keys)}{more}; no plan is made of them: "
        "delete all rows but one of each key, or ingest the texts into a new snapshot"
    )


def _suspected(topology: Topology, names: Sequence[str]) -> list[str]:
    """The tables of which two rows' keys have one hash, as those of one key have.

    Many statuses are grouped by a number each in a twentieth of the time that their keys take.
    """
    if not names:
        return []
    found = reduce(DataFrame.unionAll, (_hashes(topology, name) for name in names))
    return [row["table"] for row in found.collect()]


def _hashes(topology: Topology, name: str) -> DataFrame:
    """The table's name, if a hash is there twice.

    Grain: one row at the most.
    """
    frame: DataFrame = getattr(topology, name)
    hashes = frame.select(F.xxhash64(*TABLES[name].keys).alias("hash"))
    counts = hashes.groupBy("hash").agg(F.count(F.lit(1)).alias("rows"))
    most = counts.agg(F.max("rows").alias("rows")).where(F.col("rows") > 1)
    return most.select(F.lit(name).alias("table"))


def _repeated(topology: Topology, name: str) -> DataFrame:
    """The keys that a table has more than once.

    Grain: one row per such key: table, row (the key as text), count.
    """
    frame: DataFrame = getattr(topology, name)
    keys = TABLES[name].keys
    shown = F.concat_ws(", ", *(F.coalesce(F.col(x).cast("string"), F.lit("null")) for x in keys))
    counted = frame.groupBy(*keys).count().where(F.col("count") > 1)
    return counted.select(F.lit(name).alias("table"), shown.alias("row"), "count")
