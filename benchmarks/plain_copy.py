"""What routing is compared with: messages read, and written with the outcomes' columns.

Columns that a message has are its own; the rest are literals. Nothing is decided, joined or sorted.
"""

import argparse
import json
import time

from pyspark.sql import Column
from pyspark.sql import functions as F

from clwl_spark import columns as c
from clwl_spark import schemas
from clwl_spark.session import local_session
from clwl_spark.storage import Lake

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


def main() -> None:
    """Copy, and print the seconds that it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lake", required=True)
    options = parser.parse_args()
    spark = local_session(app_name="plain copy")
    start = time.perf_counter()
    lake = Lake(spark, options.lake)
    copied = lake.read(schemas.MESSAGES.name).select(*outcome_columns())
    copied.write.format("delta").mode("append").save(lake.path("copied"))
    print(json.dumps({"seconds": time.perf_counter() - start}))
    spark.stop()


if __name__ == "__main__":
    main()
