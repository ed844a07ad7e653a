"""SQLite and Spark give the same failing rows for every rule, on everything that can be wrong."""

import re
from contextlib import suppress
from functools import cache

import pandas as pd
import pytest
from quality.gate_worlds import changed, complaints, frames_of, rows_of
from quality.mutants import LINT, REFERENCES

from clwl_spark.checks.quality.engines import SparkEngine, SqliteEngine, View
from clwl_spark.checks.quality.expectations import TableRows, run_expectations
from clwl_spark.checks.quality.judge import run_rules, snapshot_judged
from clwl_spark.checks.quality.results import KEPT_ROWS, Scope, Verdict
from clwl_spark.checks.quality.suites import Gates, load_gates
from clwl_spark.checks.quality.views import SnapshotRows, in_memory
from clwl_spark.delta.lake import Lake

SKIPPED = {"cluster-size", "publishing-cluster-size"}


GATES = load_gates(Scope.TOPOLOGY)
RULES = Gates((), GATES.rules)


@cache
def _worlds():
    """Worlds that have, together, each mutant that its rule complains of."""
    left = {gate: x for gate, x in (REFERENCES | LINT).items() if gate not in SKIPPED}
    worlds = []
    while left:
        world, found = _packed(left)
        worlds.append(world)
        left = {gate: x for gate, x in left.items() if gate not in found}
    return worlds


def _packed(mutants):
    """A world with as many mutants as can be together, and the gates that see theirs in it."""
    together = []
    for changes, *_ in mutants.values():
        with suppress(AssertionError):
            changed(*together, *changes)
            together += changes
    world = changed(*together)
    if found := complaints(world, RULES) & mutants.keys():
        return world, found
    gate, (changes, *_) = next(iter(mutants.items()))
    return changed(*changes), {gate}


def _answers(judged, engine, rules=GATES.rules):
    results = run_rules(rules, judged)
    judged.close()
    assert [(x.gate, x.found.error) for x in results if x.found.error] == []
    assert {x.engine for x in results} == {engine}
    return {x.gate: sorted(map(repr, x.found.rows)) for x in results}


@pytest.mark.spark
def test_sqlite_and_apache_spark_say_the_same(spark, tmp_path):
    """A rule that has found its mutant in one world is not asked in the next."""
    check_that_both_say_the_same(spark, tmp_path, is_asked_again=False)


def test_both_engines_say_the_same(spark, tmp_path):
    check_that_both_say_the_same(spark, tmp_path)


def check_that_both_say_the_same(spark, tmp_path, *, is_asked_again=True):
    lake = Lake(spark, str(tmp_path))
    before = _views(spark)
    said = set()
    for world in _worlds():
        rows = rows_of(world)
        asked = [x for x in GATES.rules if is_asked_again or x.words.id not in said]
        small = _answers(snapshot_judged(lake, rows), "sqlite", asked)
        judged = snapshot_judged(lake, SnapshotRows({}, frames_of(spark, rows)))
        assert _answers(judged, "spark", asked) == small
        said |= {gate for gate, found in small.items() if found}
    assert said | SKIPPED >= (REFERENCES | LINT).keys()
    assert _views(spark) == before


def _views(spark):
    """The views that somebody asks by."""
    names = [table.name for table in spark.catalog.listTables()]
    return {name for name in names if re.match(r"clwl_[0-9a-f]{12}_", name)}


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


OURS = """\
suite: ours
table: queues
expectations:
  - {id: range, title: t, expect: expect_column_values_to_be_between,
     with: {column: clwlprty, max_value: 5}}
  - {id: words, title: t, expect: expect_column_values_to_be_in_set,
     with: {column: defbind, value_set: [OPEN]}}
  - {id: there, title: t, expect: expect_column_values_to_not_be_null, with: {column: cluster}}
  - {id: length, title: t, expect: expect_column_value_lengths_to_be_between,
     with: {column: queue, max_value: 1}}
  - {id: form, title: t, expect: expect_column_values_to_match_regex,
     with: {column: qmgr, regex: "^QM"}}
  - {id: once, title: t, expect: expect_compound_columns_to_be_unique,
     with: {column_list: [cluster, clwlrank]}}
  - {id: pair, title: t, expect: expect_column_pair_values_a_to_be_greater_than_b,
     with: {column_A: clwlprty, column_B: clwlrank, or_equal: true}}
"""
COLUMNS = {
    "qmgr": ["QM1", "qm2", "QM1", "QM3"],
    "queue": ["A", "A", "LONG", "B"],
    "cluster": ["K", "K", None, None],
    "defbind": ["OPEN", "GROUP", None, "OPEN"],
    "clwlprty": [9, 0, 6, 1],
    "clwlrank": [1, 1, 2, 1],
}
"""Each expectation fails for some rows."""
FAILING = {"range": 2, "words": 1, "there": 2, "length": 1, "form": 1, "once": 2, "pair": 1}


def _ours(path):
    path.write_text(OURS)
    return [x for x in load_gates(Scope.TOPOLOGY, [path]).expectations if x.suite == "ours"]


def test_failing_rows_of_expectations_have_their_keys_on_both_engines(spark, tmp_path):
    ours, keys = _ours(tmp_path / "ours.yml"), ("qmgr", "queue")
    small = pd.DataFrame(COLUMNS)
    names = ", ".join(f"{x} {'int' if x.startswith('clwl') else 'string'}" for x in COLUMNS)
    large = spark.createDataFrame(list(zip(*COLUMNS.values(), strict=True)), names)
    found = [
        {x.gate: x.found for x in run_expectations(ours, {"queues": TableRows(frame, keys)})}
        for frame in (small, large)
    ]
    told = [{gate: sorted(map(repr, x.rows)) for gate, x in each.items()} for each in found]
    assert told[0] == told[1]
    for each in found:
        assert {gate: x.failing for gate, x in each.items()} == FAILING
        assert all(row.keys() == {*keys, "detail"} for x in each.values() for row in x.rows)


def test_of_many_failing_rows_the_first_are_kept_with_their_keys(spark, tmp_path):
    ours = _ours(tmp_path / "ours.yml")[:1]
    many = spark.range(20 * KEPT_ROWS).selectExpr("id", "9 AS clwlprty")
    (result,) = run_expectations(ours, {"queues": TableRows(many, ("id",))})
    assert result.found.failing == 20 * KEPT_ROWS
    assert len({row["id"] for row in result.found.rows}) == KEPT_ROWS


def test_views_mean_ours_whatever_the_session_has(spark):
    spark.range(5).createOrReplaceTempView("queues")
    engine = SparkEngine(spark, {"queues": spark.range(2)}, [View("few", "SELECT * FROM queues")])
    assert engine.failing("WITH x AS (SELECT * FROM few) SELECT * FROM x").failing == 2
    engine.close()
    assert spark.table("queues").count() == 5
    spark.catalog.dropTempView("queues")


def test_rows_in_memory_are_in_order_whatever_order_the_engine_gives(spark):
    rows = spark.createDataFrame([("B", 1), ("A", 2), (None, 3), ("A", 1)], "qmgr string, n int")
    found = in_memory({"up": rows.orderBy("n"), "down": rows.orderBy("n", ascending=False)}, 10)
    assert found["up"].equals(found["down"])
    assert found["up"]["qmgr"].to_pylist() == ["A", "A", "B", None]
