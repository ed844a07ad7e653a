"""What settling gives, queue manager by queue manager: rows of tables, and what there is to tell.

What workers give travels as JSON (`snapshots.owned`); what is in this process becomes frames as it
is.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructField, StructType

from clwl_spark.snapshots.for_everybody import TABLES_SHOWN, TOLD
from clwl_spark.snapshots.own_display import Key, is_own
from clwl_spark.snapshots.settling import Settled
from clwl_spark.spark.frames import frame_from_rows
from clwl_spark.tables import TABLES
from clwl_spark.tables import columns as c

Piece = tuple[str, dict[str, Any]]
"""What a piece is about, `REJECT`, `PASSED` or `GIVEN`, and what it says."""

REJECT: Final = "reject"
PASSED: Final = "passed"
GIVEN: Final = "given"


def packed(settled: Settled) -> list[tuple[str, str]]:
    """(table, row) of every row, and what else there is to tell, as JSON."""
    rows = ((key[0], _marked(settled, key)) for key in settled.rows)
    return [(of, json.dumps(x)) for of, x in (*rows, *told_of(settled))]


def _marked(settled: Settled, key: Key) -> dict[str, Any]:
    """A row, and whether these texts tell it."""
    row = settled.rows[key]
    return {**row, TOLD: True} if key in settled.told else dict(row)


def told_of(settled: Settled) -> list[Piece]:
    """(reject, ...) of every reject, (passed, ...) likewise, and what the texts gave."""
    shows = any(key[0] in TABLES_SHOWN for key in settled.told)
    displays = any(is_own(row) for row in settled.rows.values())
    given = {"rows": settled.given, "used": settled.used, "changes": settled.changes}
    return [
        *((REJECT, asdict(x)) for x in settled.rejects),
        *((PASSED, asdict(x)) for x in settled.passed),
        (GIVEN, {**given, "shows": shows, "displays": displays}),
    ]


def rows_here(
    spark: SparkSession,
    settled: Sequence[Settled],
    table: str,
    snapshot_id: str,
    also: Sequence[StructField] = (),
) -> DataFrame:
    """As `owned.rows_of_table`, of rows in this process.

    Args:
        spark: the session.
        settled: the queue managers' rows.
        table: the table.
        snapshot_id: of the rows.
        also: more fields of a row.

    Grain: one row per row of the table.
    """
    rows = (
        {**_marked(one, key), c.SNAPSHOT_ID: snapshot_id}
        for one in settled
        for key in one.rows
        if key[0] == table
    )
    kinds = [StructField(x.name, x.dataType) for x in TABLES[table].schema.fields]
    return frame_from_rows(spark, rows, StructType([*kinds, *also]))
