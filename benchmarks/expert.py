"""Routing without Spark: Polars, this package's kernel, delta-rs; for the simple case.

What somebody would write who has all messages on one machine and knows the algorithm. The plans
are given; messages are sorted in memory, the kernel chooses, delta-rs writes the outcomes.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
import polars as pl
from deltalake import write_deltalake
from numpy.typing import NDArray
from simple_case import ENDS, routes, table

from clwl_spark import tables as schemas
from clwl_spark.algorithm.choose import Choices, History, Puts, route_in_turn
from clwl_spark.algorithm.request import REQUEST
from clwl_spark.tables import columns as c

PLAN = "plan"
ASKED = REQUEST[1:]
MOST_RECENT = 999_999_999


def main() -> None:
    """Route, and print the seconds that it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lake", type=Path, required=True, help="messages; outcomes are written")
    parser.add_argument("--planned", type=Path, required=True, help="a lake with the plans")
    options = parser.parse_args()
    start = time.perf_counter()
    found = routes(options.planned)
    puts = messages(options.lake, found)
    chosen = choose(puts, found)
    write(options.lake, outcomes(puts, found, chosen))
    print(json.dumps({"seconds": time.perf_counter() - start, "messages": puts.height}))


def messages(lake: Path, found: pl.DataFrame) -> pl.DataFrame:
    """The messages in routing order, each with the index of its plan.

    Grain: one row per message, by (qmgr, put_seq).
    """
    plans = found.select(*ASKED, c.SNAPSHOT_ID, c.PLAN_ID).unique(maintain_order=True)
    plans = plans.with_row_index(PLAN)
    asked = table(lake, schemas.MESSAGES.name).select(*ASKED, c.PUT_SEQ, c.MESSAGE_ID, c.PUT_TIME)
    return (
        asked.join(plans.lazy(), on=list(ASKED), how="left", nulls_equal=True)
        .sort(c.QMGR, c.PUT_SEQ)
        .collect()
    )


def choose(puts: pl.DataFrame, found: pl.DataFrame) -> NDArray[np.int64]:
    """(messages,) the index of each message's route.

    Queue managers share no channel here, so one run of the kernel routes all of them.
    """
    plan = puts[PLAN].cast(pl.Int32).to_numpy()
    sizes = found.group_by(c.PLAN_ID, maintain_order=True).len()["len"].to_numpy()
    channel = found.select(pl.struct(c.QMGR, "to").rank("dense") - 1).to_series()
    nothing = np.zeros(len(plan), dtype=np.int64)
    choices = Choices(
        choice_start=np.arange(len(sizes) + 1, dtype=np.int32),
        route_start=np.append(0, np.cumsum(sizes)).astype(np.int32),
        channel=channel.cast(pl.Int32).to_numpy(),
        weight=found[c.CLWLWGHT].cast(pl.Int64).to_numpy(),
        is_local=found[c.IS_LOCAL].to_numpy(),
        mruc=np.full(len(sizes), MOST_RECENT, dtype=np.int64),
    )
    history = History(
        counter=np.zeros(1, dtype=np.int64),
        balance=np.zeros((channel.n_unique(), 2), dtype=np.int64),
        brought=np.zeros(1, dtype=np.int64),
        pending=np.zeros(1, dtype=np.bool_),
        key_route=np.zeros(0, dtype=np.int64),
        key_time=np.zeros(0, dtype=np.int64),
    )
    first = np.arange(len(plan), dtype=np.int64)
    key = np.full(len(plan), -1, dtype=np.int32)
    chosen = np.empty(len(plan), dtype=np.int64)
    bound = np.zeros(len(plan), dtype=np.bool_)
    turn = Puts(plan, np.zeros(len(plan), dtype=np.int32), key, nothing, first)
    route_in_turn(turn, choices, history, 0, chosen, bound)
    return chosen


def outcomes(puts: pl.DataFrame, found: pl.DataFrame, chosen: NDArray[np.int64]) -> pl.DataFrame:
    """The outcomes' columns.

    Grain: one row per message.
    """
    taken = found.select(ENDS)[chosen]
    said = puts.hstack(taken).with_columns(
        pl.lit(0, pl.Int32).alias(c.REASON),
        pl.lit(value=False).alias(c.BOUND),
        pl.lit(value=False).alias(c.OUT_OF_ORDER),
    )
    return said.select(schemas.OUTCOMES.names)


def write(lake: Path, said: pl.DataFrame) -> None:
    """Write the table `outcomes`, with statistics of the same columns as routing's."""
    statistics = {"delta.dataSkippingStatsColumns": ",".join(schemas.OUTCOMES.skipped_by)}
    write_deltalake(str(lake / schemas.OUTCOMES.name), said.to_arrow(), configuration=statistics)


if __name__ == "__main__":
    main()
