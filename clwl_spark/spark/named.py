"""Frames that SQL calls by name, in a session that is left as it was."""

import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import DataFrame, SparkSession


class NamedFrames:
    """Frames by the names that SQL has for them, whatever the session calls so.

    A frame of a query that was asked by these names can be read as long as they are kept.
    """

    def __init__(self, spark: SparkSession) -> None:
        """Name nothing yet."""
        self._spark = spark
        self._mark = f"clwl_{uuid.uuid4().hex[:12]}"
        self._names: list[str] = []

    def add(self, name: str, frame: DataFrame) -> None:
        """Give a frame a name."""
        frame.createOrReplaceTempView(f"{self._mark}_{name}")
        self._names.append(name)

    def query(self, sql: str) -> DataFrame:
        """The rows of a query, as a frame."""
        used = set(re.findall(r"\w+", sql)).intersection(self._names)
        named = ", ".join(f"`{x}` AS (TABLE `{self._mark}_{x}`)" for x in sorted(used))
        # A query within parentheses may begin with a WITH of its own.
        return self._spark.sql(f"WITH {named} (\n{sql}\n)" if named else sql)

    def forget(self) -> None:
        """Take all names back."""
        while self._names:
            self._spark.catalog.dropTempView(f"{self._mark}_{self._names.pop()}")


@contextmanager
def named_frames(spark: SparkSession) -> Iterator[NamedFrames]:
    """Lend names for frames, for the block."""
    named = NamedFrames(spark)
    try:
        yield named
    finally:
        named.forget()


@contextmanager
def named_frame(frame: DataFrame) -> Iterator[str]:
    """Lend a name for a frame, for the block; it is the frame's session that knows it."""
    name = f"clwl_{uuid.uuid4().hex[:12]}"
    frame.createOrReplaceTempView(name)
    try:
        yield name
    finally:
        frame.sparkSession.catalog.dropTempView(name)


@contextmanager
def in_schema(spark: SparkSession, schema: str) -> Iterator[None]:
    """For the block, names without a schema are looked up in `catalog.schema`."""
    catalog, database = spark.catalog.currentCatalog(), spark.catalog.currentDatabase()
    spark.sql("USE " + ".".join(f"`{part}`" for part in schema.split(".")))
    try:
        yield
    finally:
        spark.catalog.setCurrentCatalog(catalog)
        spark.catalog.setCurrentDatabase(database)
