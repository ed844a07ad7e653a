"""A snapshot that changes little: plans are copied but for those it touches, to the same rows."""

from pathlib import Path
from typing import Any

import pytest
from lakes import lake_with
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.routing.plans import plan_maker
from clwl_spark.routing.run import RouteOptions, route
from clwl_spark.studies.synthetic import GenerateSpec, messages, topology

SPEC = GenerateSpec(messages=3_000, qmgrs=30, queues=60, instances=2, snapshots=2, changed=0.02)
WRITTEN = ("route_plans", "route_candidates", "snapshot_resets", "outcomes")


def _routed(spark: SparkSession, folder: Path, many: int) -> tuple[Lake, list[int]]:
    """A lake whose two snapshots were routed one after the other, and what each was planned for."""
    lake = lake_with(spark, folder)
    for name, frame in topology(spark, SPEC).items():
        lake.append(name, frame)
    put = messages(spark, SPEC)
    first = put.where(F.col("put_time") < F.lit(SPEC.start + SPEC.snapshot_interval))
    later = first.withColumn("put_time", F.col("put_time") + F.lit(SPEC.snapshot_interval))
    planned: list[int] = []

    def spying(requests: DataFrame, *rest: Any) -> Any:
        planned.append(requests.count())
        return make_plans(requests, *rest)

    make_plans = plan_maker.make_plans
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan_maker, "MANY", many)
        patch.setattr(plan_maker, "make_plans", spying)
        for batch in (first, later.withColumn("put_seq", F.col("put_seq") + SPEC.messages)):
            lake.append("messages", batch)
            route(lake, RouteOptions(state_partitions=1, engine="spark"))
    return lake, planned


def test_a_little_change_plans_little_and_says_the_same(
    spark: SparkSession, tmp_path: Path
) -> None:
    anew, (first, all_again) = _routed(spark, tmp_path / "anew", 10**9)
    carried, (same_first, touched) = _routed(spark, tmp_path / "carried", 0)
    assert first == same_first == all_again > 100
    assert 0 < touched < all_again / 2
    for table in WRITTEN:
        rows = [
            sorted(str(row.asDict()) for row in lake.read(table).collect())
            for lake in (anew, carried)
        ]
        assert rows[0] == rows[1], table
