"""Snapshots of which only the changes against their base are stored."""

from typing import Final

from clwl_spark.tables import columns as c
from clwl_spark.tables.declare import Column, Table, key, text, word

ROW_KEY: Final = "row_key"
CHANGE: Final = "change"
ROW_VALUES: Final = "row_values"
ADDED: Final = "ADDED"
CHANGED: Final = "CHANGED"
REMOVED: Final = "REMOVED"

SNAPSHOT_CHANGES: Final = Table(
    "snapshot_changes",
    "One row per row in which a snapshot of a timeline differs from its base",
    (
        key(c.SNAPSHOT_ID, "The snapshot"),
        key(c.TABLE, "Topology table that the row belongs to"),
        key(ROW_KEY, "JSON: the row's key without snapshot_id, in the order of the columns"),
        word(CHANGE, (ADDED, CHANGED, REMOVED), "What became of the row since the base"),
        text(ROW_VALUES, "JSON: the row, without snapshot_id and nulls; null = it was removed"),
        Column(c.SOURCE, "string", "Where the record of the change is from"),
    ),
)
