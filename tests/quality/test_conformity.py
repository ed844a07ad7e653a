"""The gate on conformity: which queue managers' messages went where they were foretold to."""

import json

import pytest
from orders_worlds import ways, world
from small_worlds import messages, qmgr, rcvr, tables
from waiting_worlds import routed_lake
from worlds import put_rows

from clwl_spark.checks.quality.observed import conformity
from clwl_spark.checks.quality.results import Scope
from clwl_spark.checks.quality.suites import load_gates
from clwl_spark.cli import main

ELSEWHERE = {"APP1": range(0), "APP2": range(1), "APP3": range(2)}
"""By queue manager, which of its 100 records are of other destinations."""


@pytest.fixture(scope="module")
def lake(spark, tmp_path_factory):
    """Three queue managers of 100 records each, of which none, one and two went elsewhere."""
    model = world()
    more = tables(*(x for name in ("APP2", "APP3") for x in (qmgr(name), rcvr(name))))
    for table, rows in more.items():
        model[table] += [x for x in rows if x not in model[table]]
    puts = [x for name in ELSEWHERE for x in messages(100, name, "ORDERS")]
    lake = routed_lake(spark, tmp_path_factory.mktemp("conformity") / "lake", model, puts)
    records = ways(model, puts)
    for name, places in ELSEWHERE.items():
        own = [x for x in records if x["qmgr"] == name]
        for at in places:
            own[at] |= {"dest_qmgr": "SRV9", "channel": None}
    put_rows(lake, "observed_routes", records)
    put_rows(lake, "observed_routes", [{**records[0], "qmgr": "NOBODY"}])
    return lake


def failing(lake, capsys, *more):
    """Exit code, and the failing rows of the gates that fail."""
    code = main(["validate", "--lake", lake.root, "--observed", "--json", *more])
    report = json.loads(capsys.readouterr().out)
    return code, {x["gate"]: x["rows"] for x in report["results"] if x["verdict"] == "FAILED"}


def test_a_queue_manager_below_the_least_agreement_is_named(lake, capsys):
    """99 of 100 are the 99 % that are asked for; who is not known has no row."""
    detail = "98 of 100 messages went where they were foretold to"
    row = {"qmgr": "APP3", "compared": 100, "agree": 98, "detail": detail}
    assert failing(lake, capsys) == (1, {"observed.conform": [row]})


def test_the_least_agreement_is_a_setting(lake, capsys):
    assert failing(lake, capsys, "--set", "least_agreement=0.98") == (0, {})
    _, found = failing(lake, capsys, "--set", "least_agreement=1")
    assert [x["qmgr"] for x in found["observed.conform"]] == ["*", "APP3", "APP2"]
    assert found["observed.conform"][0]["detail"] == (
        "all queue managers: 297 of 300 messages went where they were foretold to"
    )
    for wrong in ("1.01", "-0.1", "nan", "most"):
        assert main(["validate", "--lake", lake.root, "--set", f"least_agreement={wrong}"]) == 2
        assert "least_agreement" in capsys.readouterr().err


def test_severities_are_set_as_those_of_others(lake, capsys, tmp_path):
    own = tmp_path / "own.yml"
    own.write_text("suite: ours\nseverities: {observed.conform: warn}\n", encoding="utf-8")
    code, found = failing(lake, capsys, "--gates", str(own))
    assert (code, [*found]) == (0, ["observed.conform"])


def test_records_alone_are_enough_and_records_of_nobody_are_none(spark, tmp_path, capsys):
    puts = messages(3, "APP1", "ORDERS")
    lake = routed_lake(spark, tmp_path / "lake", world(), puts)
    lake.remove_folder(lake.path("observed_counts"))
    put_rows(lake, "observed_routes", [{**x, "qmgr": "NOBODY"} for x in ways(world(), puts)])
    assert conformity(lake, 0.99).num_rows == 0
    assert [*failing(lake, capsys)[1]] == ["observed.some"]
    put_rows(lake, "observed_routes", ways(world(), puts))
    assert failing(lake, capsys) == (0, {})


def test_gates_on_what_was_observed_say_why_and_what_to_do():
    gates = load_gates(Scope.OBSERVED)
    for gate in (*gates.expectations, *gates.rules):
        for text in (gate.words.title, gate.words.why, gate.words.remedy):
            assert text.endswith("."), gate.words.id
