"""Each rule on the few rows that show it; the ladder's shape."""

from typing import Any

import pytest
from builders import candidates, dest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from clwl_spark.algorithm.ladder import later_than_put_enabled
from clwl_spark.errors import ExitFunctionError
from clwl_spark.mq.vocabulary import Algorithm
from clwl_spark.rules import AFTER_EXIT, BEFORE_EXIT, eliminate
from clwl_spark.rules.exit import load_exit
from clwl_spark.rules.marking import CHOICE_KEY
from clwl_spark.rules.routes import choice_reason
from clwl_spark.spark.materialize import Materialize, checkpoint, inline

V9, V7 = Algorithm.V9, Algorithm.V7

CASES: dict[str, tuple[Algorithm, list[dict[str, Any]], list[int | None]]] = {
    "1 a cluster that is not the sender's": (
        V9,
        [dest("A", instance_shared=False), dest("B", channel_shared=False), dest("C")],
        [1, 1, None],
    ),
    "2 the channel is not in the instance's cluster": (
        V9,
        [dest("A", channel_cluster="J"), dest("B")],
        [2, None],
    ),
    "3 the highest channel rank stays": (
        V9,
        [dest("A", channel_rank=7), dest("B", channel_rank=3), dest("C", channel_rank=7)],
        [None, 3, None],
    ),
    "3 and 4: channel rank goes before queue rank": (
        V9,
        [
            dest("A", channel_rank=0, queue_rank=6),
            dest("B", channel_rank=7, queue_rank=1),
            dest("C", channel_rank=7),
            dest("D", channel_rank=3),
        ],
        [3, None, 4, 3],
    ),
    "5 put-disabled goes": (V9, [dest("A", put_enabled=False), dest("B")], [5, None]),
    "5 only put-disabled: all go": (
        V9,
        [dest("A", put_enabled=False), dest("B", put_enabled=False)],
        [5, 5],
    ),
    "6 a local row that takes all": (
        V9,
        [dest("L", is_local=True, uses_local=True), dest("A")],
        [None, 6],
    ),
    "6 not where the local row went before": (
        V9,
        [dest("L", is_local=True, uses_local=True, put_enabled=False), dest("A")],
        [5, None],
    ),
    "7 suspended": (V9, [dest("A", suspended=True), dest("B")], [7, None]),
    "7 not where one queue manager is left": (
        V9,
        [dest("A", suspended=True), dest("A", channel="TO.A.2")],
        [None, None],
    ),
    "7 in v7 only when no local row is left": (
        V7,
        [dest("L", is_local=True), dest("A", suspended=True)],
        [None, None],
    ),
    "8-11 the tier that was kept names the rule": (
        V9,
        [dest("A", status_tier=3), dest("B", status_tier=4), dest("C", status_tier=3)],
        [None, 10, None],
    ),
    "12 per queue manager, not across": (
        V9,
        [
            dest("A", channel="A1", netprty=5),
            dest("A", channel="A2", netprty=3),
            dest("B", netprty=0),
        ],
        [None, 12, None],
    ),
    "12 leaves local rows alone": (
        V9,
        [
            dest("L", channel="L1", is_local=True, netprty=0),
            dest("L", channel="L2", is_local=True, netprty=9),
        ],
        [None, None],
    ),
    "13 and 14: channel priority goes before queue priority": (
        V9,
        [
            dest("A", channel_prty=1),
            dest("B", queue_prty=9),
            dest("C", channel_prty=1, queue_prty=2),
        ],
        [14, 13, None],
    ),
    "13 in v7 for queue managers only": (
        V7,
        [dest("A", channel_prty=1), dest("B")],
        [None, None],
    ),
    "one row per route: the lowest cluster stays": (
        V9,
        [
            dest("A", instance_cluster="K2", channel_cluster="K2"),
            dest("A", instance_cluster="K1", channel_cluster="K1"),
        ],
        [0, None],
    ),
}


@pytest.fixture(scope="module")
def verdicts(spark: SparkSession) -> dict[str, list[int | None]]:
    """All cases of an algorithm in one frame, each a plan of its own."""
    found: dict[str, list[int | None]] = {}
    for algorithm in Algorithm:
        named = [name for name, case in CASES.items() if case[0] == algorithm]
        rows = [
            row | {"plan_id": at, "status": f"{at}.{place}"}
            for at, name in enumerate(named)
            for place, row in enumerate(CASES[name][1])
        ]
        judged = eliminate(candidates(spark, *rows), algorithm)
        numbers = {row["status"]: row["eliminated_by"] for row in judged.collect()}
        for at, name in enumerate(named):
            found[name] = [numbers[f"{at}.{place}"] for place in range(len(CASES[name][1]))]
    return found


@pytest.mark.parametrize("name", CASES)
def test_rule(verdicts: dict[str, list[int | None]], name: str) -> None:
    assert verdicts[name] == CASES[name][2]


@pytest.mark.parametrize("keep", [inline, checkpoint])
def test_rules_that_have_nothing_to_compare_are_left_out(
    spark: SparkSession, keep: Materialize
) -> None:
    for name, (algorithm, rows, numbers) in CASES.items():
        of = [row | {"status": str(place)} for place, row in enumerate(rows)]
        judged = eliminate(keep(candidates(spark, *of)), algorithm)
        found = {row["status"]: row["eliminated_by"] for row in judged.collect()}
        assert [found[str(x)] for x in range(len(rows))] == numbers, name


@pytest.mark.parametrize("algorithm", list(Algorithm))
def test_where_all_are_alike_no_rule_needs_a_window(
    spark: SparkSession, algorithm: Algorithm, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [dest("A"), dest("B")], [dest("A", netprty=1), dest("B")]
    for of in rows:
        eliminate(checkpoint(candidates(spark, *of)), algorithm).explain()
    alike, other = capsys.readouterr().out.split("Physical Plan")[1:]
    assert "Window" not in alike
    assert other.count("WindowAggExec") == 1


@pytest.mark.spark
@pytest.mark.parametrize("algorithm", list(Algorithm))
def test_the_whole_ladder_costs_one_exchange(spark: SparkSession, algorithm: Algorithm) -> None:
    judged = eliminate(candidates(spark, dest("A"), dest("B")), algorithm)
    plan = judged._jdf.queryExecution().executedPlan().toString()
    plan = plan.split("== Initial Plan ==")[-1]
    assert plan.count("Exchange hashpartitioning") == 1
    assert plan.count("Sort [") <= 2
    assert plan.count("Window [") == 7


def test_every_rule_says_where_it_comes_from() -> None:
    rules = {rule for rules in (*BEFORE_EXIT.values(), *AFTER_EXIT.values()) for rule in rules}
    assert len(rules) == len({rule.__name__ for rule in rules}) == 12
    assert all("Source: SEMANTICS" in (rule.__doc__ or "") for rule in rules)


def _reason(spark: SparkSession, algorithm: Algorithm, *rows: dict[str, Any]) -> int:
    judged = eliminate(candidates(spark, *rows), algorithm)
    reason = choice_reason(later_than_put_enabled(algorithm)).alias("reason")
    return int(judged.groupBy(*CHOICE_KEY).agg(reason).first()["reason"])


def test_a_choice_ends_with_2268_where_only_disabled_rows_are_left(spark: SparkSession) -> None:
    rows = (dest("A", put_enabled=False), dest("B", instance_shared=False))
    assert _reason(spark, V9, *rows) == 2268
    assert _reason(spark, V7, *rows) == 2270


def keep_nothing_on_b(frame: DataFrame) -> DataFrame:
    """An exit."""
    return frame.where(F.col("dest_qmgr") != "B")


def test_the_exit_takes_rows_away_after_rule_2(spark: SparkSession) -> None:
    rows = candidates(spark, dest("A"), dest("B"), dest("C", channel_cluster="J"))
    judged = eliminate(rows, V9, keep_nothing_on_b)
    found = {row["dest_qmgr"]: row["eliminated_by"] for row in judged.collect()}
    assert found == {"A": None, "B": 100, "C": 2}


def test_an_exit_that_cannot_be_used_is_refused(spark: SparkSession) -> None:
    with pytest.raises(ExitFunctionError, match="cannot be imported"):
        load_exit("no.such.module:f")
    with pytest.raises(ExitFunctionError, match="must return a DataFrame"):
        eliminate(candidates(spark, dest("A")), V9, lambda frame: frame.select("plan_id"))
    assert load_exit("") is None
