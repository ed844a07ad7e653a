"""The rows in which neighbouring snapshots differ, and whose view of whom they touch.

What is worked out per snapshot need only be worked out anew where these rows lead. Too much may
be touched, never too little.

Source: SEMANTICS 1 (S2, S3), 3: what a queue manager sees of itself and of others.
"""

from collections.abc import Collection
from functools import reduce
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from clwl_spark.snapshots.views import EVERYBODY, VIEWER, Topology
from clwl_spark.spark.frames import frame_from_rows
from clwl_spark.spark.materialize import Materialize
from clwl_spark.tables import columns as c

PAIR: Final = (c.SNAPSHOT_ID, c.PREVIOUS_ID)
_OF: Final = "of"


def pair_rows(spark: SparkSession, pairs: Collection[tuple[str, ...]]) -> DataFrame:
    """Pairs of neighbouring snapshots, (snapshot_id, previous_id), as `Differences` takes them."""
    return frame_from_rows(spark, sorted(pairs), ", ".join(f"{x} string" for x in PAIR))


class Differences:
    """What differs between the two snapshots of each pair, under the later one's id."""

    def __init__(self, pairs: DataFrame, topology: Topology, keep: Materialize) -> None:
        """Compare snapshots, each table when it is asked for.

        Args:
            pairs: neighbouring snapshots, (snapshot_id, previous_id); both are in `topology`.
            topology: the tables.
            keep: what to do with the rows that differ.
        """
        self.pairs = pairs
        self.topology = topology
        self._keep = keep
        self._rows: dict[str, DataFrame] = {}

    def rows(self, table: str) -> DataFrame:
        """The rows of a topology table that only one snapshot of a pair has.

        Grain: one row per (later snapshot_id, distinct row of the table).
        """
        if table not in self._rows:
            self._rows[table] = self._keep(self._differing(getattr(self.topology, table)))
        return self._rows[table]

    def in_pairs(self, table: DataFrame) -> DataFrame:
        """The rows of both snapshots of each pair: (snapshot_id, previous_id, of, ...).

        Grain: one row per (pair, row of the table); `of` is the snapshot that the row is from.
        """
        both = self.pairs.select(*PAIR, F.explode(F.array(*PAIR)).alias(_OF))
        return table.withColumnRenamed(c.SNAPSHOT_ID, _OF).join(F.broadcast(both), _OF)

    def viewers(self, *tables: str) -> DataFrame:
        """The queue managers whose own rows of these tables, or own view of others', differ.

        Grain: one row per (snapshot_id, viewer).
        """
        own = [self.owners(x) for x in tables if x in ("queue_managers", "cluster_channels")]
        seen = [
            self.rows(x)
            .where(F.col(c.OBSERVER) != EVERYBODY)
            .select(c.SNAPSHOT_ID, F.col(c.OBSERVER).alias(VIEWER))
            for x in tables
        ]
        return reduce(DataFrame.union, [*own, *seen]).distinct()

    def owners(self, table: str) -> DataFrame:
        """(snapshot_id, viewer) that own a row of the table that differs, distinct."""
        return self.rows(table).select(c.SNAPSHOT_ID, F.col(c.QMGR).alias(VIEWER)).distinct()

    def channel_ends(self) -> DataFrame:
        """Whose channels differ in attributes: (snapshot_id, qmgr), distinct."""
        return self.rows("cluster_channels").select(c.SNAPSHOT_ID, c.QMGR).distinct()

    def _differing(self, table: DataFrame) -> DataFrame:
        content = [x for x in table.columns if x != c.SNAPSHOT_ID]
        is_later = F.col(_OF) == F.col(c.SNAPSHOT_ID)
        counts = [F.count_if(is_later).alias("later"), F.count_if(~is_later).alias("earlier")]
        rows = self.in_pairs(table).groupBy(*PAIR, *content).agg(*counts)
        return rows.where(F.col("later") != F.col("earlier")).select(c.SNAPSHOT_ID, *content)
