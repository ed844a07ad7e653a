"""Frames written to Delta tables by Spark: where delta-rs cannot, or there may be many rows.

`delta.writes` has the same for rows in memory.
"""

from contextlib import AbstractContextManager, nullcontext

from pyspark.sql import DataFrame, DataFrameWriter, SparkSession
from pyspark.sql import functions as F

from clwl_spark.delta.place import LakePlace
from clwl_spark.delta.protocol import Transaction
from clwl_spark.spark.conf import MOMENTS_AS_NUMBERS, with_settings
from clwl_spark.spark.limits import setting
from clwl_spark.spark.named import named_frame
from clwl_spark.tables import Table


def append_frame(
    place: LakePlace, table: Table, frame: DataFrame, transaction: Transaction | None
) -> None:
    """Append rows; with a transaction, once."""
    writer = _writer(table, frame, "append")
    if transaction is not None:
        writer = writer.option("txnAppId", transaction.application)
        writer = writer.option("txnVersion", str(transaction.version))
    with moments_as_numbers(frame.sparkSession):
        if place.in_catalog:
            writer.saveAsTable(place.sql_name(table.name))
        else:
            writer.save(place.path(table.name))


def replace_frame(place: LakePlace, table: Table, frame: DataFrame, condition: str) -> None:
    """Replace the rows for which a condition of Spark's SQL holds."""
    with moments_as_numbers(frame.sparkSession):
        if not place.in_catalog:
            writer = _writer(table, frame, "overwrite").option("replaceWhere", condition)
            writer.save(place.path(table.name))
            return
        # By `saveAsTable` it would be REPLACE TABLE, which only who owns a table may do, and which
        # changes the catalog's entry.
        rows = frame.select(*table.names).writeTo(place.sql_name(table.name))
        rows.options(mergeSchema="true").overwrite(F.expr(condition))


def merge_frame(place: LakePlace, table: Table, frame: DataFrame) -> None:
    """Update the rows whose key is there, insert the others."""
    keys = " AND ".join(f"t.`{key}` <=> s.`{key}`" for key in table.keys)
    with moments_as_numbers(frame.sparkSession), named_frame(frame) as source:
        frame.sparkSession.sql(
            f"MERGE INTO {place.sql_name(table.name)} t USING {source} s ON {keys} "
            "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
        )


def change_frame(
    place: LakePlace, table: Table, frame: DataFrame, gone: str, condition: str
) -> None:
    """Insert or replace rows by their key, delete those where the column `gone` is true.

    Args:
        place: the lake's.
        table: with keys, which are not null.
        frame: its columns, and `gone`.
        gone: name of a boolean column.
        condition: in Spark's SQL, of all rows `t` that may change.
    """
    keys = " AND ".join(f"t.`{key}` = s.`{key}`" for key in table.keys)
    sets = ", ".join(f"t.`{name}` = s.`{name}`" for name in table.names)
    columns, values = (", ".join(f"{x}`{name}`" for name in table.names) for x in ("", "s."))
    with moments_as_numbers(frame.sparkSession), named_frame(frame) as source:
        frame.sparkSession.sql(
            f"MERGE INTO {place.sql_name(table.name)} t USING {source} s "  # noqa: S608 (our names)
            f"ON {keys} AND {condition} WHEN MATCHED AND s.`{gone}` THEN DELETE "
            f"WHEN MATCHED THEN UPDATE SET {sets} "
            f"WHEN NOT MATCHED AND NOT s.`{gone}` THEN INSERT ({columns}) VALUES ({values})"
        )


def delete_by_spark(place: LakePlace, table: Table, condition: str) -> None:
    """Delete the rows for which a condition of Spark's SQL holds."""
    with moments_as_numbers(place.spark):
        place.spark.sql(f"DELETE FROM {place.sql_name(table.name)} WHERE {condition}")  # noqa: S608


def clear_by_spark(place: LakePlace, table: Table, column: str, condition: str) -> None:
    """Set a column to null in the rows for which a condition of Spark's SQL holds."""
    name = place.sql_name(table.name)
    place.spark.sql(f"UPDATE {name} SET `{column}` = NULL WHERE {condition}")  # noqa: S608


def moments_as_numbers(spark: SparkSession) -> AbstractContextManager[None]:
    """For the block, files get moments that every reader knows, unless the session sees to it."""
    given = {x: setting(spark, x, "") for x in MOMENTS_AS_NUMBERS}
    if given == MOMENTS_AS_NUMBERS:
        return nullcontext()
    return with_settings(spark, MOMENTS_AS_NUMBERS)


def _writer(table: Table, frame: DataFrame, mode: str) -> DataFrameWriter:
    """A writer of the table's columns."""
    writer = frame.select(*table.names).write.format("delta").mode(mode)
    if any(column.optional for column in table.columns):
        # A table of others may lack these; they become columns of it.
        writer = writer.option("mergeSchema", "true")
    if table.change_feed:
        writer = writer.option("compression", "zstd")
    return writer
