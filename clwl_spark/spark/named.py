"""Frames that SQL calls by name, in a session that is left as it was."""

import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from pyspark.sql import DataFrame, SparkSession

_ZONE: Final = "spark.sql.session.timeZone"


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
def in_utc(spark: SparkSession) -> Iterator[None]:
    """For the block, hours and days are those of UTC."""
    before = spark.conf.get(_ZONE)
    spark.conf.set(_ZONE, "UTC")
    try:
        yield
    finally:
        spark.conf.set(_ZONE, str(before))


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
