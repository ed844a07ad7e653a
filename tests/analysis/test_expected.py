"""Expected shares of random requests against messages that the reference router puts one by one."""

from collections import defaultdict

import pytest
from reference import Reference
from what_if.plain import (
    choices_of,
    ends_of,
    messages_of,
    requests_of,
    shares_by_end,
    topology_of,
)
from worlds import merged_tables, random_cases

from clwl_spark.algorithm.request import REQUEST, REQUEST_TYPES
from clwl_spark.algorithm.semantics import Semantics
from clwl_spark.mq.vocabulary import Algorithm, Edition
from clwl_spark.planning.plans import Ladder, make_plans, plan_id
from clwl_spark.spark.materialize import checkpoint
from clwl_spark.studies.shares.expected import route_shares, shares_of_shape

SNAPSHOTS = ("S1", "S4")


@pytest.mark.parametrize("edition", Edition)
@pytest.mark.parametrize(("algorithm", "cases", "several"), [("v9", 90, 150), ("v7", 40, 60)])
def test_shares_are_those_of_the_reference_in_random_clusters(
    spark, algorithm, cases, several, edition
):
    worlds = random_cases(7, cases, edition)
    references = {}
    for case in worlds:
        reference = Reference(case.tables, algorithm=algorithm, edition=edition)
        references |= dict.fromkeys(requests_of(case, SNAPSHOTS), reference)
    requests = spark.createDataFrame(list(references), REQUEST_TYPES)
    requests = checkpoint(requests.select(plan_id().alias("plan_id"), *REQUEST))
    topology = topology_of(spark, merged_tables(worlds))
    ladder = Ladder(Semantics(Algorithm(algorithm), edition))
    made = make_plans(requests, topology, ladder, checkpoint)

    found = defaultdict(list)
    for row in route_shares(made.plans, made.candidates, topology).collect():
        found[tuple(row[name] for name in REQUEST)].append(row.asDict())

    assert found.keys() == references.keys()
    compared = 0
    for request, reference in references.items():
        shares, counted = shares_by_end(found[request]), ends_of(reference, request)
        cut_short = 2 / messages_of(reference, request)  # a cycle, at either end
        for end in shares.keys() | counted.keys():
            assert abs(shares.get(end, 0) - counted.get(end, 0)) <= cut_short, (request, end)
        for choice in {row["choice"] for row in found[request]}:
            of_choice = [row["share"] for row in found[request] if row["choice"] == choice]
            assert sum(of_choice) == pytest.approx(1)
        compared += any(len(choice.routes) > 1 for choice in choices_of(reference, request))
    assert compared >= several


@pytest.mark.parametrize(
    ("shape", "shares"),
    [
        ("R50,R50,L50|3|", [1 / 3, 1 / 3, 1 / 3]),
        ("R50,R50,L50|1|", [1 / 2, 0, 1 / 2]),
        ("R20,R80|2|", [12 / 62, 50 / 62]),
        ("R50,R50,R50|3|1,1,3", [1 / 2, 0, 1 / 2]),
        ("L50,L20|2|", [1, 0]),
        ("|0|", []),
    ],
)
def test_a_shape_has_all_that_shares_depend_on(shape, shares):
    assert shares_of_shape(shape) == pytest.approx(shares)
