"""What Spark's hand-over of buckets to Python costs before anything is chosen.

The stream of engine `arrow` on the 5,000 queue managers of `shapes.py`, with a state function that
passes its blocks along and remembers a word: what is left of the state stage is the least that any
state function could take.
"""

import argparse
import json
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import routing
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.routing.engines.arrow import ArrowEngine
from clwl_spark.routing.engines.choose import engine_for
from clwl_spark.routing.engines.stream import ARROW_ROWS
from clwl_spark.routing.ledger.runs import begin
from clwl_spark.routing.state.history import STATE_SCHEMA
from clwl_spark.spark.local import local_session
from clwl_spark.spark.local_settings import ROWS_BEYOND_JAVA
from clwl_spark.tables import MESSAGES, OUTCOMES, RUNS

PASSED = ("bucket", "kind", "messages", "keys", "payload", "split")
PASSED_SCHEMA = (
    "bucket string, kind string, messages bigint, keys binary, payload binary, split string"
)
BYTES_AT_ONCE = 128 << 20


def main() -> int:
    """Measure, and print one JSON document."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=10_000_000)
    parser.add_argument("--qmgrs", type=int, default=5_000)
    parser.add_argument("--work", type=Path, default=Path("build/bench-hand-over"))
    options = parser.parse_args()
    work = options.work.absolute()
    more = ("--qmgrs", str(options.qmgrs))
    routing.make_lake(work / "lake", options.messages, 0.0, 0.0, *more)
    spark = local_session(ROWS_BEYOND_JAVA, app_name="hand over")
    lake = Lake(spark, str(work / "lake"))
    lake.create([OUTCOMES, RUNS])
    run = begin(lake)
    engine = engine_for(lake, ArrowEngine.name, 8)
    rows = int(str(spark.conf.get(ARROW_ROWS)))
    messages = lake.stream(MESSAGES.name)
    blocks = engine.blocks(messages, run, rows / BYTES_AT_ONCE)
    spark.conf.set("spark.sql.shuffle.partitions", "8")
    for turn in range(2):  # the first is Java's warming up
        packed = _seconds(blocks, work / f"packed {turn}")
        handed = _seconds(handed_over(blocks.select(*PASSED)), work / f"handed {turn}")
    cores = spark.sparkContext.defaultParallelism
    spark.stop()
    shutil.rmtree(work)
    document = {
        "read and packed, s": round(packed, 1),
        "and handed over, s": round(handed, 1),
        "hand-over, s of a core": round((handed - packed) * cores, 1),
    }
    json.dump(document, sys.stdout, indent=2)
    return 0


def handed_over(blocks: DataFrame) -> DataFrame:
    """The blocks by bucket, through a state function that changes none."""
    return blocks.groupBy("bucket").applyInPandasWithState(
        passed_along,
        outputStructType=PASSED_SCHEMA,
        stateStructType=STATE_SCHEMA,
        outputMode="append",
        timeoutConf="NoTimeout",
    )


def passed_along(
    _: tuple[Any, ...],
    frames: Iterator[pd.DataFrame],
    state: Any,  # noqa: ANN401  (Spark's GroupState)
) -> Iterator[pd.DataFrame]:
    """Give what came, less the rows that stand for a block's weight."""
    for frame in frames:
        yield frame[frame["kind"].notna()]
    state.update((1, b"word"))


def _seconds(blocks: DataFrame, checkpoint: Path) -> float:
    """Seconds of one micro-batch of the stream that is all read and not kept."""
    read: Callable[[DataFrame, int], Any] = lambda batch, _: batch.agg(  # noqa: E731
        F.sum("messages"), F.sum(F.length("payload"))
    ).collect()
    started = time.perf_counter()
    query = (
        blocks.writeStream.foreachBatch(read)
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return time.perf_counter() - started


if __name__ == "__main__":
    sys.exit(main())
