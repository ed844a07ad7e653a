"""The scenario folders through the package: all plans in one frame, each sender with no history.

A folder is a snapshot of its own, a day each, so that one pass of Spark plans all of them.
"""

from collections import Counter
from datetime import timedelta
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from scenario_files import START, TABLES, Line, Scenario, counted, read_scenario, scenario_names
from worlds import frame

from clwl_spark.planning.facts import facts, senders
from clwl_spark.planning.plans import Ladder, make_plans
from clwl_spark.routing.intake.blocks import KIND_FACTS, KIND_MESSAGES, pack
from clwl_spark.routing.intake.by_spark import distinct_requests, for_blocks
from clwl_spark.routing.output.routed import KIND_OUTCOMES, RoutedBlock
from clwl_spark.routing.output.unpack import ANSWERS, DATA, unpack_outcomes
from clwl_spark.routing.state.bindings import BindingRules
from clwl_spark.routing.state.bucket import Bucket
from clwl_spark.snapshots.catalog import Pin
from clwl_spark.snapshots.views import DEFAULTS, VIEWER, Topology

DAY = timedelta(days=1)
HOUR = 3_600_000_000


class Scenarios:
    """Every folder, planned."""

    def __init__(self, spark: SparkSession) -> None:
        self.all = [read_scenario(name) for name in scenario_names()]
        self.pins = [
            Pin(x.name, int((START + at * DAY).timestamp()) * 1_000_000)
            for at, x in enumerate(self.all)
        ]
        messages = frame(
            spark, "messages", [row for at, _ in enumerate(self.all) for row in self.put(at)]
        )
        topology = Topology(**{name: self.table(spark, name) for name in TABLES})
        requests = distinct_requests(messages, self.pins).localCheckpoint()
        made = make_plans(requests, topology, Ladder(), lambda x: x.localCheckpoint())
        of = requests.select("snapshot_id", F.col("qmgr").alias(VIEWER)).distinct()
        none = spark.createDataFrame([], "qmgr string, snapshot_id string")
        found = facts(made.plans, made.candidates, senders(of, topology), none)
        self.facts = {row["qmgr"]: row["facts"] for row in found.collect()}
        self.blocks = for_blocks(messages, self.pins).toArrow()

    def put(self, at: int) -> list[dict[str, Any]]:
        return [row | {"put_time": row["put_time"] + at * DAY} for row in self.all[at].messages]

    def table(self, spark: SparkSession, name: str) -> DataFrame:
        rows = [row | {"snapshot_id": x.name} for x in self.all for row in x.tables[name]]
        return frame(spark, name, rows).fillna(DEFAULTS[name])

    def outcomes(self, at: int) -> Counter[Line]:
        """What the package says of a folder's messages."""
        first = self.pins[at].valid_from
        times = self.blocks["put_time"].to_numpy()
        mine = self.blocks.filter((times >= first) & (times < first + 24 * HOUR))
        rows: list[dict[str, Any]] = []
        for blocks in self.packed(mine, buckets=3).values():
            bucket = Bucket({}, self.pins, BindingRules(24 * HOUR), 64)
            for block in blocks:
                if block["kind"] == KIND_MESSAGES:
                    bucket.add(block["keys"], block["payload"])
            asked = [block["qmgr"] for block in blocks if block["kind"] == KIND_FACTS]
            for routed in bucket.route({qmgr: self.facts[qmgr] for qmgr in asked}):
                if routed.kind == KIND_OUTCOMES:
                    rows += _rows(routed)
        return counted(rows)

    @staticmethod
    def packed(messages: pa.Table, buckets: int) -> dict[str, list[dict[str, Any]]]:
        """The blocks of messages, and what asks for facts, by bucket."""
        found: dict[str, list[dict[str, Any]]] = {}
        for batch in pack(iter(messages.to_batches()), buckets):
            for block in batch.to_pylist():
                found.setdefault(block["bucket"], []).append(block)
        return found


def _rows(routed: RoutedBlock) -> list[dict[str, Any]]:
    columns = {
        DATA: pa.array([routed.data], pa.binary()),
        ANSWERS: pa.array([routed.answers], pa.binary()),
        "payload": pa.array([routed.payload], pa.binary()),
    }
    return [
        row for out in unpack_outcomes(iter([pa.record_batch(columns)])) for row in out.to_pylist()
    ]


@pytest.fixture(scope="module")
def scenarios(spark: SparkSession) -> Scenarios:
    return Scenarios(spark)


@pytest.mark.parametrize("name", scenario_names())
def test_scenario(scenarios: Scenarios, name: str) -> None:
    at = scenario_names().index(name)
    scenario: Scenario = scenarios.all[at]
    assert scenarios.outcomes(at) == scenario.expected
