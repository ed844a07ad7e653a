"""What is hidden from the lake is named as the cause, in random clusters routed by hand."""

from collections import Counter

import pytest
from hidden_worlds import ALTERED, hidden_clusters
from random_clusters import SNAPSHOTS
from waiting_worlds import SECOND, routed_lake
from worlds import put_rows

from clwl_spark.studies.conform.find import conform
from clwl_spark.studies.conform.match import Wanted

NOTHING = ""
CAUSES = ("STATUS_KNOWN_LATE", "OTHER_PUTTERS", "WEIGHT", NOTHING, ALTERED)
EACH = 67
"""Clusters of each: 268 of them hide something."""


@pytest.fixture(scope="module")
def clusters():
    return list(hidden_clusters(1, CAUSES, EACH))


@pytest.fixture(scope="module")
def found(spark, tmp_path_factory, clusters):
    tables = {}
    for one in clusters:
        for name, rows in one.tables.items():
            tables.setdefault(name, []).extend(rows)
    tables["snapshots"] = [{**SNAPSHOTS[0]}]
    messages = [x for one in clusters for x in one.messages]
    lake = routed_lake(spark, tmp_path_factory.mktemp("hidden"), tables, messages, SECOND)
    put_rows(lake, "observed_routes", [x for one in clusters for x in one.seen])
    return conform(lake, Wanted(), most=len(clusters))


def test_what_is_not_hidden_is_foretold_to_the_last_message(found, clusters):
    """Of clusters with nothing hidden, and of no other."""
    agree = {x["qmgr"] for x in found.by_queue_manager if x["agree"] == x["compared"]}
    assert agree == {x.qmgr for x in clusters if x.cause == NOTHING}
    assert found.seen == found.compared == sum(len(x.seen) for x in clusters)
    assert found.not_compared == []


@pytest.mark.parametrize("cause", [x for x in CAUSES if x != NOTHING])
def test_what_is_hidden_is_named_first(found, clusters, cause):
    named = {x.qmgr: _named(x) for x in found.first_disagreements}
    assert Counter(named[x.qmgr] for x in clusters if x.cause == cause) == {cause: EACH}


def _named(x):
    """Its cause; whether a weight is another for some time alone is told as well."""
    is_altered = x.cause == "WEIGHT" and x.hypotheses[0]["from_put_seq"] is not None
    return ALTERED if is_altered else x.cause


def test_the_right_hypothesis_explains_every_message(found):
    assert all(x.fits == x.of for x in found.first_disagreements)


def test_the_first_disagreement_is_the_first_that_the_plain_router_has(found, clusters):
    seen = {(x["qmgr"], x["put_seq"]): x["dest_qmgr"] for one in clusters for x in one.seen}
    for x in found.first_disagreements:
        assert seen[x.qmgr, x.put_seq] == x.seen["dest_qmgr"]
        assert x.predicted != x.seen
        assert x.settle
        assert x.candidates
