"""Snapshots of which only the changes against their base are stored."""

import json
from typing import Any, Final

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


def parsed_row(table: Table, row_key: str, row_values: str | None) -> dict[str, Any]:
    """A changed row by its columns, without snapshot_id; one that is not told is null.

    Args:
        table: whose row it is.
        row_key: as `snapshot_changes` has it.
        row_values: the same.
    """
    content = [x for x in table.names if x != c.SNAPSHOT_ID]
    keys = [x for x in table.keys if x != c.SNAPSHOT_ID]
    row: dict[str, Any] = dict.fromkeys(content)
    row |= dict(zip(keys, json.loads(row_key), strict=True))
    row |= json.loads(row_values or "{}")
    return row
