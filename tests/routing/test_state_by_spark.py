"""Lakes that Spark has routed: what they have lost, remember, and have in their checkpoint."""

import shutil

import pytest
from damaged_lakes import ROUTED, lose_newest_commit, restore, tables
from routed import Routed

from clwl_spark.delta.lake import Lake
from clwl_spark.errors import LakeStateError
from clwl_spark.routing.ledger.repair import repair
from clwl_spark.routing.ledger.verify import verify
from clwl_spark.routing.run import RouteOptions, route

pytestmark = pytest.mark.spark
OPTIONS = RouteOptions(state_partitions=3)
BATCHES = 2


def test_its_outcomes_lead_to_its_memory(lake: Lake) -> None:
    found = verify(lake)
    assert (found.differences, found.untold) == ([], {})
    assert found.outcomes > 0


@pytest.mark.parametrize("table", ["outcomes", "router_memory"])
def test_what_it_lost_comes_back_as_spark_wrote_it(lake: Lake, routed: Routed, table: str) -> None:
    lose_newest_commit(lake, table)
    with pytest.raises(LakeStateError, match=f"table {table} of .* has lost batch 1"):
        route(lake, OPTIONS)
    (one,) = repair(lake, OPTIONS, lambda *_: None)
    assert one.tables == (table,)
    assert tables(lake) == routed.expected
    assert verify(lake).differences == []
    assert route(lake, OPTIONS).messages == 0


def test_an_older_lake_beside_a_newer_checkpoint_is_refused(lake: Lake, routed: Routed) -> None:
    for table in (*ROUTED, "messages", "runs", "snapshot_resets"):
        restore(lake, table, routed.after[0])
    before = tables(lake)
    routed.world.lake = lake
    routed.world.append("messages", routed.world.batch(1), files=3)
    routed.world.lake = routed.lake
    with pytest.raises(LakeStateError, match=r"checkpoint .* has routed other messages"):
        route(lake, OPTIONS)
    assert tables(lake) == before
    shutil.rmtree(lake.checkpoint_root)
    assert route(lake, OPTIONS).messages == len(routed.world.batch(1))
    assert tables(lake)["outcomes"] == routed.expected["outcomes"]
