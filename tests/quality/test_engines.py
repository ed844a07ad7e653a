"""SQLite and Spark give the same failing rows for every rule, on everything that can be wrong."""

import re

from quality.gate_worlds import changed, complaints, frames_of, rows_of
from quality.mutants import LINT, REFERENCES

from clwl_spark.quality.engines import SparkEngine, SqliteEngine, View
from clwl_spark.quality.expectations import TableRows, run_expectations
from clwl_spark.quality.judge import run_rules, snapshot_judged
from clwl_spark.quality.results import Scope, Verdict
from clwl_spark.quality.suites import Gates, load_gates
from clwl_spark.quality.views import SnapshotRows
from clwl_spark.storage import Lake

SKIPPED = {"cluster-size", "publishing-cluster-size"}


GATES = load_gates(Scope.TOPOLOGY)
RULES = Gates((), GATES.rules)


def _packed(mutants):
    """Worlds with as many mutants together as do not hide one another, and what is left over."""
    together, found, left = [], set(), {}
    for gate, mutant in mutants.items():
        try:
            world = changed(*together, *mutant[0])
        except AssertionError:
            left[gate] = mutant
            continue
        if complaints(world, RULES) >= found | {gate}:
            together, found = [*together, *mutant[0]], found | {gate}
        else:
            left[gate] = mutant
    return changed(*together), left


def _answers(judged, engine):
    results = run_rules(GATES.rules, judged)
    judged.close()
    assert [(x.gate, x.found.error) for x in results if x.found.error] == []
    assert {x.engine for x in results} == {engine}
    return {x.gate: sorted(map(repr, x.found.rows)) for x in results}


def test_both_engines_say_the_same(spark, tmp_path):
    lake = Lake(spark, str(tmp_path))
    left = {gate: x for gate, x in (REFERENCES | LINT).items() if gate not in SKIPPED}
    said = set()
    while left:
        world, left = _packed(left)
        rows = rows_of(world)
        small = _answers(snapshot_judged(lake, rows), "sqlite")
        frames = frames_of(spark, rows)
        assert _answers(snapshot_judged(lake, SnapshotRows({}, frames)), "spark") == small
        said |= {gate for gate, found in small.items() if found}
    assert said | SKIPPED >= (REFERENCES | LINT).keys()
    left_over = [row.viewName for row in spark.sql("SHOW VIEWS").collect()]
    assert not [name for name in left_over if re.match(r"clwl_[0-9a-f]{12}_", name)]


def test_an_error_in_sql_is_no_verdict(spark):
    small = SqliteEngine({}, [View("one", "SELECT 1 AS x")], {})
    large = SparkEngine(spark, {"one": spark.range(1)}, [])
    for engine in (small, large):
        found = engine.failing("SELECT nothing FROM one")
        assert "nothing" in found.error
        assert found.failing == 0
        engine.close()


def test_an_expectation_that_raises_is_no_verdict_on_spark_either(spark, tmp_path):
    path = tmp_path / "ours.yml"
    path.write_text(
        "suite: ours\ntable: queues\nexpectations:\n  - id: ours.raises\n    title: Raises.\n"
        "    expect: expect_column_values_to_match_regex\n    with: {column: queue, regex: '('}\n"
    )
    gates = load_gates(Scope.TOPOLOGY, [path])
    ours = [x for x in gates.expectations if x.suite == "ours"]
    frame = spark.createDataFrame([("A",)], "queue string")
    (result,) = run_expectations(ours, {"queues": TableRows(frame, ("queue",))})
    assert result.verdict == Verdict.ERROR
    assert (result.engine, result.found.failing) == ("spark", 0)


def test_views_mean_ours_whatever_the_session_has(spark):
    spark.range(5).createOrReplaceTempView("queues")
    engine = SparkEngine(spark, {"queues": spark.range(2)}, [View("few", "SELECT * FROM queues")])
    assert engine.failing("WITH x AS (SELECT * FROM few) SELECT * FROM x").failing == 2
    engine.close()
    assert spark.table("queues").count() == 5
    spark.catalog.dropTempView("queues")
