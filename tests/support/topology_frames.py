"""Definitions of `small_worlds` as frames, and the lake's answers as plain values."""

from pyspark.sql.types import StructField, StructType

from clwl_spark.tables import CLUSTER_SENDERS, SNAPSHOTS, TABLES, TOPOLOGY


def frames(spark, *definitions, snapshot_id=None):
    """Frames of definitions, with the contract's columns; as a caller's, all may hold nulls."""
    rows = {}
    for table, row in definitions:
        head = {"snapshot_id": snapshot_id or "?", "observer": "*"}
        rows.setdefault(table, []).append({**head, **row})
    return {
        table: spark.createDataFrame(
            [tuple(row.get(name) for name in TABLES[table].names) for row in found],
            StructType([StructField(x.name, x.dataType) for x in TABLES[table].schema]),
        )
        for table, found in rows.items()
    }


def versions(lake):
    """Version of each Delta table of a lake."""
    tables = (*TOPOLOGY, SNAPSHOTS, CLUSTER_SENDERS)
    return {table.name: lake.version(table.name) for table in tables if lake.exists(table.name)}


def rows_of(lake, table, snapshot_id):
    """Rows of a snapshot, as a set."""
    frame = lake.read(table)
    return {tuple(row) for row in frame.where(frame.snapshot_id == snapshot_id).collect()}
