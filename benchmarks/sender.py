"""The part of routing that is sequential per queue manager: its state function, without Spark.

One queue manager that puts all messages sets the pace of a batch; everything else is spread over
cores. Prints nanoseconds a message of reading and packing, of the state function, and of the kernel
in it, and what the state function makes of a billion messages.
"""

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np
import routing

import clwl_spark.routing.state.sender as sender_module
from clwl_spark import tables as schemas
from clwl_spark.delta.lake import Lake
from clwl_spark.planning.facts import facts, senders
from clwl_spark.routing.intake.blocks import (
    KEYS,
    KIND,
    KIND_MESSAGES,
    PAYLOAD,
    SPLIT,
    message_blocks,
)
from clwl_spark.routing.intake.by_arrow import SPLIT_ROW, keys_of
from clwl_spark.routing.intake.requests import Requests
from clwl_spark.routing.intake.splits import Split
from clwl_spark.routing.state.bindings import BindingRules
from clwl_spark.routing.state.bucket import Bucket
from clwl_spark.snapshots.catalog import snapshot_catalog
from clwl_spark.snapshots.views import VIEWER, read_topology
from clwl_spark.spark.local import local_session

BILLION = 10**9
TTL = 24 * 3600 * 10**6


def main() -> int:
    """Measure, and print one JSON document."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=4_000_000)
    parser.add_argument("--work", type=Path, default=Path("build/bench-sender"))
    options = parser.parse_args()
    folder = (options.work / str(options.messages)).absolute()
    routing.make_lake(folder, options.messages, 1.0, 0.0)
    lake_folder = routing.fresh_lake(folder, folder.with_name("routed"))
    routing.timed_process(["-m", "clwl_spark.cli", "route", "--lake", str(lake_folder), "--json"])
    spark = local_session(app_name="facts")
    lake = Lake(spark, str(lake_folder))
    pins = snapshot_catalog(lake).pins
    plans = lake.read(schemas.ROUTE_PLANS.name)
    of = plans.select("snapshot_id", plans.qmgr.alias(VIEWER)).distinct()
    topology = read_topology(lake, [pin.snapshot_id for pin in pins])
    resets = lake.read(schemas.SNAPSHOT_RESETS.name)
    found = facts(
        plans, lake.read(schemas.ROUTE_CANDIDATES.name), senders(of, topology), resets
    ).collect()[0]
    spark.stop()
    files = [Path(x) for x in lake_folder.joinpath("messages").glob("*.parquet")]
    json.dump(measured(files, found, pins), sys.stdout, indent=2)
    return 0


def measured(files, found, pins):  # noqa: ANN001, ANN201  (a script)
    """Nanoseconds a message of each part."""
    import pyarrow.parquet as pq  # noqa: PLC0415

    started = time.perf_counter()
    requests, met = Requests.under(pins), set()
    splits = [Split(str(x), 0, pq.ParquetFile(x).metadata.num_rows) for x in files]
    blocks = [
        block
        for split in splits
        for table in keys_of(split, requests)
        for block in message_blocks(table, 1, met, [SPLIT_ROW], split.name)
        if block[KIND] == KIND_MESSAGES
    ]
    packed = time.perf_counter() - started
    in_kernel, kernel = [0.0], sender_module.route_in_turn

    def timed(*arguments):  # noqa: ANN002, ANN202
        before = time.perf_counter()
        kernel(*arguments)
        in_kernel[0] += time.perf_counter() - before

    sender_module.route_in_turn = timed
    seconds = []
    for _ in range(2):  # the first time the kernel is loaded
        in_kernel[0] = 0.0
        bucket = Bucket({}, pins, BindingRules(TTL), 4096)
        started = time.perf_counter()
        for block in blocks:
            bucket.add(block[KEYS], block[PAYLOAD], block[SPLIT])
        routed = sum(x.messages for x in bucket.route({found.qmgr: found.facts}))
        seconds.append(time.perf_counter() - started)
    each = 1e9 / routed
    return {
        "messages": routed,
        "reading and packing, ns": round(packed * each, 1),
        "state function, ns": round(seconds[-1] * each, 1),
        "kernel, ns": round(in_kernel[0] * each, 1),
        "state function of a billion messages, s": round(seconds[-1] / routed * BILLION),
        "blocks": len(blocks),
        "largest block": int(np.max([x["messages"] for x in blocks])),
    }


if __name__ == "__main__":
    sys.exit(main())
