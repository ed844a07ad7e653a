"""Settings of a session, changed for a block."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from pyspark.sql import SparkSession

from clwl_spark.spark.limits import takes_setting

MOMENTS_AS_NUMBERS: Final = {"spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS"}
"""Moments in Parquet files are numbers of microseconds. Spark's own default is an older type, which
most readers take for nanoseconds: they cannot read the years 1 and 9999 then."""


@contextmanager
def with_settings(spark: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """For the block, the session has these settings; then what it had, unset ones unset again.

    One that the session may not be given is left out: none of them changes what rows are.
    """
    taken = {name: x for name, x in settings.items() if takes_setting(spark, name)}
    before = {name: spark.conf.get(name, None) for name in taken}
    try:
        for name, value in taken.items():
            spark.conf.set(name, value)
        yield
    finally:
        for name, old in before.items():
            if old is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, old)
