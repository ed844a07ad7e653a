"""Both of Spark's operators that keep state lead to the same tables, also where they take turns."""

from dataclasses import replace
from pathlib import Path

import pytest
from damaged_lakes import tables
from pyspark.sql import SparkSession
from routed import Routed
from worlds import World

from clwl_spark.errors import LakeStateError
from clwl_spark.routing.ledger.run_record import APPLY, TRANSFORM
from clwl_spark.routing.ledger.runs import begin
from clwl_spark.routing.run import RouteOptions, route

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def routed(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Routed:
    """A lake whose three batches the default operator has routed."""
    return Routed(spark, tmp_path_factory.mktemp("routed"), 3)


def test_what_one_operator_remembers_the_other_one_goes_on_with(
    spark: SparkSession, routed: Routed, tmp_path: Path
) -> None:
    world = World.random(spark, tmp_path / "lake", 11, 6, "v9")
    for at, operator in enumerate([TRANSFORM, TRANSFORM, APPLY]):
        world.append("messages", world.batch(at), files=2)
        world.route(operator=operator)
    runs = sorted(world.lake.rows("runs"), key=lambda x: x["batch_id"])
    starts = [x["checkpoint"].removesuffix(x["router_id"]) for x in runs]
    assert starts[:2] == ["transform-", "transform-"]
    assert runs[2]["checkpoint"] == f"buckets-{runs[2]['router_id']}-from-2"
    folders = {x.name for x in Path(world.lake.checkpoint_root).iterdir()}
    assert {x["checkpoint"] for x in runs} <= folders
    assert tables(world.lake) == routed.expected


def test_it_is_refused_where_the_checkpoint_alone_knows_what_is_routed(
    routed: Routed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "clwl_spark.routing.run.begin",
        lambda *words: replace(begin(*words), taken=None),
    )
    routed.world.append("messages", routed.world.batch(1), files=1)
    with pytest.raises(LakeStateError, match='set stateful_operator = "applyInPandasWithState"'):
        route(routed.lake, RouteOptions(operator=TRANSFORM))
