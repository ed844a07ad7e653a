"""Routing as one would write it first: rows through `applyInPandasWithState`, a loop in Python.

For the simple case, which has no publications. The routes of each request are given; they are
joined to the messages, and the state of a queue manager is a dictionary of how often, and when
last, it took each channel.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.state import GroupState
from simple_case import ENDS, STEP, routes

from clwl_spark import tables as schemas
from clwl_spark.algorithm.request import REQUEST
from clwl_spark.delta.lake import Lake
from clwl_spark.spark.local import local_session
from clwl_spark.tables import columns as c

ROUTES = "routes"
ASKED = tuple(x for x in REQUEST[1:] if x != c.SCOPE)
COLUMNS = schemas.OUTCOMES.names
DEFAULT_WEIGHT = 50
Route = tuple[str, int, tuple[Any, ...]]
"""(channel's key, step, ENDS)."""
Plan = tuple[bool, list[Route]]
"""Whether all its routes have the default weight, which are taken in turn; its routes."""


def main() -> None:
    """Route, and print the seconds that it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lake", type=Path, required=True, help="messages; outcomes are written")
    parser.add_argument("--planned", type=Path, required=True, help="a lake with the plans")
    options = parser.parse_args()
    spark = local_session(app_name="obvious")
    start = time.perf_counter()
    lake = Lake(spark, str(options.lake.absolute()))
    lake.create([schemas.OUTCOMES])
    routed = (
        lake.stream(schemas.MESSAGES.name)
        .join(F.broadcast(requests(spark, options.planned)), list(ASKED))
        .select(*ASKED, c.PUT_SEQ, c.MESSAGE_ID, c.PUT_TIME, c.SNAPSHOT_ID, c.PLAN_ID)
        .groupBy(c.QMGR)
        .applyInPandasWithState(
            choosing(given_plans(options.planned)),
            outputStructType=schemas.OUTCOMES.schema,
            stateStructType="channels string",
            outputMode="append",
            timeoutConf="NoTimeout",
        )
    )
    query = (
        routed.writeStream.format("delta")
        .option("checkpointLocation", f"{lake.checkpoint_root}/obvious")
        .trigger(availableNow=True)
        .start(lake.path(schemas.OUTCOMES.name))
    )
    query.awaitTermination()
    print(json.dumps({"seconds": time.perf_counter() - start}))
    spark.stop()


def requests(spark: SparkSession, planned: Path) -> DataFrame:
    """Each request and its plan.

    Grain: one row per plan.
    """
    found = routes(planned).select(*ASKED, c.SNAPSHOT_ID, c.PLAN_ID).unique()
    return spark.createDataFrame(found.to_pandas())


def given_plans(planned: Path) -> dict[int, Plan]:
    """The routes of each plan, in route order."""
    plans: dict[int, Plan] = {}
    for (plan_id, *_), rows in routes(planned).group_by(c.PLAN_ID, maintain_order=True):
        of_plan = [
            (
                f"{row['to'][c.DEST_QMGR]} {row['to'][c.CHANNEL]}",
                row[STEP],
                tuple(row[name] for name in ENDS),
            )
            for row in rows.iter_rows(named=True)
        ]
        plans[plan_id] = bool((rows[c.CLWLWGHT] == DEFAULT_WEIGHT).all()), of_plan
    return plans


def choosing(
    plans: dict[int, Plan],
) -> Callable[[tuple[Any, ...], Iterator[pd.DataFrame], GroupState], Iterator[pd.DataFrame]]:
    """The state function: the route is taken whose channel was used least, or least recently."""

    def route(
        key: tuple[Any, ...],  # noqa: ARG001  (Spark gives it)
        frames: Iterator[pd.DataFrame],
        state: GroupState,
    ) -> Iterator[pd.DataFrame]:
        used = json.loads(state.get[0]) if state.exists else {}
        choices = max((number for _, number in used.values()), default=0)
        messages = pd.concat(list(frames)).sort_values(c.PUT_SEQ, ignore_index=True)
        taken = []
        for plan_id in messages[c.PLAN_ID]:
            in_turn, of_plan = plans[plan_id]
            looked_at = 1 if in_turn else 0
            best = min(of_plan, key=lambda x: used.get(x[0], (0, 0))[looked_at:])
            choices += 1
            used[best[0]] = (used.get(best[0], (0, 0))[0] + best[1], choices)
            taken.append(best[2])
        state.update((json.dumps(used),))
        ends = pd.DataFrame(taken, columns=list(ENDS))
        fixed = {c.REASON: 0, c.BOUND: False, c.OUT_OF_ORDER: False}
        yield messages.join(ends).assign(**fixed)[list(COLUMNS)]

    return route


if __name__ == "__main__":
    main()
