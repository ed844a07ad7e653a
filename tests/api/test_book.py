"""Explanations at once: the book says what `explain` says, until the lake changes."""

import random

import pytest
from api.api_worlds import WORLD
from lakes import lake_with
from random_clusters import merged_tables, random_case
from small_worlds import message, sender
from waiting_worlds import routed_lake
from worlds import put_rows

import clwl_spark as cw
from clwl_spark.algorithm.semantics import Semantics
from clwl_spark.mq.vocabulary import Edition
from clwl_spark.planning.plans import Ladder
from clwl_spark.snapshots.views import read_topology
from clwl_spark.studies.explain import plan_cache as book_module
from clwl_spark.studies.explain.ends import Request
from clwl_spark.studies.explain.plan_cache import PlanCache, explain_by, found_on, opened
from clwl_spark.studies.explain.planned import planned
from clwl_spark.studies.explain.request import ExplainRequest, explain
from clwl_spark.tables import ROUTE_CANDIDATES


@pytest.fixture
def plannings(monkeypatch):
    """How many requests each pass of planning had."""
    counts = []

    def counted(requests, topology, ladder):
        counts.append(len(requests))
        return planned(requests, topology, ladder)

    monkeypatch.setattr(book_module, "planned", counted)
    return counts


def test_the_book_says_what_explain_says(routed, plannings):
    requests = [
        ExplainRequest("GATE", "IN"),
        ExplainRequest("GATE", "Q", "QM2", via="CLUSTER", bind="ON_OPEN"),
        ExplainRequest("GATE", "news/sport", object_type="TOPIC"),
        ExplainRequest("QM2", "NO.SUCH"),
        ExplainRequest("NOBODY", "Q"),
        ExplainRequest("NOBODY", "news", object_type="TOPIC"),
    ]
    plan_cache = PlanCache()
    found = [explain_by(plan_cache, routed, request) for request in requests]
    assert found == [explain(routed, request) for request in requests]
    assert len(plannings) == 1


@pytest.fixture(scope="module", params=[1, 2])
def edition(request):
    return Edition(request.param)


@pytest.fixture(scope="module")
def random_lake(spark, tmp_path_factory, edition):
    """Worlds of aliases, queue manager aliases, own views and topics, of several clusters."""
    rng = random.Random(7)
    cases = [random_case(rng, f"C{number:03}.", edition=edition.value) for number in range(12)]
    lake = lake_with(spark, tmp_path_factory.mktemp("book") / "lake")
    for name, rows in merged_tables(cases).items():
        put_rows(lake, name, rows)
    return lake, cases


def asked_in(case, rng) -> list[Request]:
    """Puts of a world: names that are there or not, with and without a queue manager."""
    prefix, rows = case.prefix, case.tables
    qmgrs = sorted({row["qmgr"] for row in rows["queue_managers"]})
    names = [*sorted({row["queue"] for row in rows["queues"]}), f"{prefix}NONE"]
    topics = ["/a", "/a/b/c", "/a/b/c/d", "/a/none", "b", "b/c", "/other/x", "none", ""]
    to = ["", "", *qmgrs, *names]
    queues = [
        Request("S1", rng.choice(qmgrs), "QUEUE", rng.choice(names), rng.choice(to), via)
        for via in ("LOCAL", "CLUSTER")
        for _ in range(12)
    ]
    strings = [Request("S1", qmgr, "TOPIC", name) for qmgr in qmgrs for name in topics]
    strings.append(Request("S1", qmgrs[0], "TOPIC", "/a/b/c", scope="QMGR"))
    return sorted({*queues, *strings}, key=lambda x: x.in_order)


def test_whatever_is_put_to_has_the_plan_that_it_would_have_by_itself(random_lake, edition):
    lake, cases = random_lake
    rng = random.Random(8)
    asked = [request for case in cases for request in asked_in(case, rng)]
    semantics = Semantics(edition=edition)
    expected = planned(asked, read_topology(lake, ["S1"]), Ladder(semantics))
    page = opened(lake, semantics, "S1")
    wrong = [x for x in asked if found_on(page, x, expected[x].plan["plan_id"]) != expected[x]]
    assert wrong == []
    opened_first = {plan.plan["first_open"] for plan in expected.values()}
    assert opened_first == ({None} if edition is Edition.FIRST else {False, True})
    ends = {plan.plan["kind"] for plan in expected.values() if plan.candidates}
    assert ends == {"QUEUE", "QMGR", "TOPIC"}


def test_the_second_question_plans_nothing_and_a_changed_lake_is_planned_anew(
    spark, plannings, tmp_path
):
    lake = routed_lake(spark, tmp_path / "lake", WORLD, [message("GATE", "Q")])
    asked = cw.lake(lake.root)
    assert set(asked.explain("GATE", "Q").routes["dest_qmgr"]) == {"QM1", "QM2"}
    assert len(plannings) == 1
    asked.explain("GATE", "IN")
    asked.explain("QM1", "ANYTHING", "QM2")
    asked.explain("QM2", "NO.SUCH", via="CLUSTER")
    assert len(plannings) == 1
    _, stopped = sender("GATE", "QM1", "STOPPED")
    put_rows(lake, "channel_status", [{"snapshot_id": "S1", "observer": "*", **stopped}])
    assert list(asked.explain("GATE", "Q").routes["dest_qmgr"]) == ["QM2"]
    assert len(plannings) == 2


@pytest.mark.parametrize("limit", ["MOST_KNOWN", "MOST_ENDS"])
def test_of_many_queue_managers_each_is_planned_when_it_is_asked_about(
    routed, plannings, monkeypatch, limit
):
    monkeypatch.setattr(book_module, limit, 1)
    plan_cache = PlanCache()
    for qmgr in ("GATE", "QM2"):
        request = ExplainRequest(qmgr, "Q")
        assert explain_by(plan_cache, routed, request) == explain(routed, request)
    assert len(plannings) == 2


def test_what_an_explanation_is_changed_to_is_not_what_the_next_one_gets(routed):
    plan_cache, request = PlanCache(), ExplainRequest("GATE", "Q")
    first = explain_by(plan_cache, routed, request)
    first.routes[0]["dest_qmgr"] = first.candidates[0]["dest_qmgr"] = first.plan["kind"] = "X"
    assert explain_by(plan_cache, routed, request) == explain(routed, request)


def test_an_exit_is_asked_each_time(lake, plannings):
    keeps = "clwl_spark.rules.exit_examples:prefer_channel:TO.QM2"
    found = lake.explain("GATE", "Q", exit_function=keeps)
    assert list(found.routes["dest_qmgr"]) == ["QM2"]
    assert plannings == []
    assert len(lake.explain("GATE", "Q").routes) == 2
    assert list(found.candidates)[: len(ROUTE_CANDIDATES.names)] == ROUTE_CANDIDATES.names
