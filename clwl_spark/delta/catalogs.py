"""A lake in a catalog: that the catalog keeps what it is given, and that the schema is there.

Both are looked at before any work, which would be lost, or fail at its end.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from clwl_spark.errors import LakeStateError, MissingSchemaError, UsageError

BUILT_IN: Final = "spark_catalog"
_METASTORES: Final = (
    "spark.hadoop.javax.jdo.option.ConnectionURL",
    "spark.hadoop.hive.metastore.uris",
)
_WAREHOUSE: Final = "spark.sql.warehouse.dir"
_HIVE: Final = ("spark.sql.catalogImplementation", "hive")


def refuse_forgotten(schema: str, settings: Mapping[str, str]) -> None:
    """Refuse a catalog that a session which is started here would not know, or forget.

    Spark's own one is in memory, with its tables' files in a folder that ends with the session,
    unless the settings name a Hive metastore, and a folder. Nothing is refused where Spark has a
    folder of settings of its own (`SPARK_CONF_DIR`).

    Args:
        schema: `catalog.schema`; '' = the lake is in no catalog.
        settings: Spark's, by full name.

    Raises:
        UsageError: it is so; the sentence has the settings that it takes.
    """
    if not schema or "SPARK_CONF_DIR" in os.environ:
        return
    catalog = schema.partition(".")[0]
    if catalog != BUILT_IN and f"spark.sql.catalog.{catalog}" not in settings:
        raise UsageError(
            f"the session that clwl starts knows no catalog {catalog}: set sql.catalog.{catalog} "
            "under [spark], or run it in a session that has the catalog"
        )
    is_kept = settings.get(_HIVE[0]) == _HIVE[1] and any(x in settings for x in _METASTORES)
    if catalog == BUILT_IN and not (is_kept and _WAREHOUSE in settings):
        raise UsageError(
            f"{BUILT_IN} of a session that clwl starts ends with it: under [spark], set "
            'sql.catalogImplementation = "hive", hadoop.hive.metastore.uris or '
            "hadoop.javax.jdo.option.ConnectionURL, and sql.warehouse.dir; or run it in a session "
            "that has a catalog"
        )


def require_schema(spark: SparkSession, schema: str, *, makes: bool) -> None:
    """Look whether a schema is there, and make it if that is wanted.

    Raises:
        MissingSchemaError: it is not there, and it is not made.
    """
    try:
        if spark.catalog.databaseExists(schema):
            return
    except PySparkException as error:
        raise MissingSchemaError(schema, _first_line(error)) from error
    if not makes:
        raise MissingSchemaError(schema)
    try:
        spark.sql(create_schema(schema))
    except (PySparkException, Py4JJavaError) as error:
        raise MissingSchemaError(schema, _first_line(error)) from error


def create_schema(schema: str) -> str:
    """SQL that makes a schema."""
    return f"CREATE SCHEMA IF NOT EXISTS {'.'.join(f'`{x}`' for x in schema.split('.'))}"


@contextmanager
def ddl_named(schema: str, table: str) -> Iterator[None]:
    """Where a catalog refuses to make or change a table, say who can, and by which SQL.

    Raises:
        LakeStateError: it refused.
    """
    try:
        yield
    except (PySparkException, Py4JJavaError) as error:
        raise LakeStateError(
            f"table {schema}.{table} cannot be made or changed ({_first_line(error)}): let "
            f"somebody who may run what `clwl init --ddl --catalog {schema}` prints"
        ) from error


def _first_line(error: Exception) -> str:
    lines = [x.strip() for x in str(error).splitlines()]
    said = [x for x in lines if x and not x.startswith("An error occurred while calling")]
    return said[0].removeprefix(": ") if said else type(error).__name__
