"""The floor under routing: messages read, and written with the outcomes' columns.

Columns that a message has are its own; the rest are literals. Nothing is decided, joined or sorted.
The table is made as routing makes it, with its constraints, comments and choice of statistics.
The session is this package's, with its settings and its archive of Java classes; with --plain it is
as Spark and Delta come.
"""

import argparse
import json
import os
import sys
import time

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from clwl_spark import tables as schemas
from clwl_spark.delta.lake import Lake
from clwl_spark.spark.local import SHARED_SETTINGS, local_session
from clwl_spark.spark.runtime import cache_folder
from clwl_spark.spark.runtime.jars import delta_jars
from clwl_spark.spark.runtime.java import java_home
from clwl_spark.tables import columns as c

LITERALS = {
    c.SNAPSHOT_ID: "S1",
    c.PLAN_ID: 1,
    c.REASON: 0,
    c.DEST_QMGR: "QM01",
    c.DEST_OBJECT: "Q01",
    c.CHANNEL: "CLUS1.QM01.1",
    c.CLUSTER: "CLUS1",
    c.XMITQ: "SYSTEM.CLUSTER.TRANSMIT.QUEUE",
    c.IS_LOCAL: False,
    c.BOUND: False,
    c.OUT_OF_ORDER: False,
}


def outcome_columns() -> list[Column]:
    """The outcomes' columns: the message's where it has one, else a literal."""
    return [
        (F.lit(LITERALS[x.name]) if x.name in LITERALS else F.col(x.name))
        .cast(x.type)
        .alias(x.name)
        for x in schemas.OUTCOMES.columns
    ]


def plain_session() -> SparkSession:
    """A session with Delta, and else as Spark comes."""
    cache = cache_folder(os.environ)
    java = java_home(cache, os.environ)
    os.environ["JAVA_HOME"] = str(java.path)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    jars = ",".join(map(str, delta_jars(cache, java, os.environ)))
    builder = SparkSession.builder.master("local[*]").config("spark.jars", jars)
    for name in ("spark.sql.extensions", "spark.sql.catalog.spark_catalog"):
        builder = builder.config(name, SHARED_SETTINGS[name])
    return builder.config("spark.driver.memory", "6g").getOrCreate()


def main() -> None:
    """Copy, and print the seconds that it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lake", required=True)
    parser.add_argument("--plain", action="store_true", help="a session as Spark comes")
    options = parser.parse_args()
    spark = plain_session() if options.plain else local_session(app_name="plain copy")
    start = time.perf_counter()
    lake = Lake(spark, options.lake)
    copied = lake.read(schemas.MESSAGES.name).select(*outcome_columns())
    lake.create([schemas.OUTCOMES])
    lake.append(schemas.OUTCOMES.name, copied)
    print(json.dumps({"seconds": time.perf_counter() - start}))
    spark.stop()


if __name__ == "__main__":
    main()
