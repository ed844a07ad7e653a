"""Rows that are at hand make plans smaller, and change no answer."""

import random

import pytest
from api.test_book import asked_in
from lakes import lake_with
from random_clusters import merged_tables, random_case
from small_worlds import qmgr, queue, rcvr, seen_by, tables
from worlds import put_rows

from clwl_spark.algorithm.semantics import Semantics
from clwl_spark.mq.vocabulary import Edition
from clwl_spark.planning.plans import Ladder
from clwl_spark.snapshots import views
from clwl_spark.snapshots.first_opens import (
    QUEUES_FULL_IN,
    QUEUES_SIGHT,
    sight_of,
    with_first_opens,
    without_asking,
)
from clwl_spark.snapshots.views import VIEWER, read_topology, viewers
from clwl_spark.spark.frames import frame_from_rows, rows_at_hand
from clwl_spark.spark.materialize import inline
from clwl_spark.studies.explain.planned import planned


@pytest.mark.parametrize("edition", [1, 2])
def test_plans_are_those_of_rows_that_the_engine_reads(spark, tmp_path, monkeypatch, edition):
    rng = random.Random(11)
    cases = [random_case(rng, f"C{number:03}.", edition=edition) for number in range(8)]
    lake = lake_with(spark, tmp_path / "lake")
    for name, rows in merged_tables(cases).items():
        put_rows(lake, name, rows)
    asked = [request for case in cases for request in asked_in(case, rng)]
    ladder = Ladder(Semantics(edition=Edition(edition)))
    at_hand = read_topology(lake, ["S1"])
    monkeypatch.setattr(views, "_MOST_HERE", 0)
    read = read_topology(lake, ["S1"])
    assert rows_at_hand(at_hand.queues).num_rows
    assert rows_at_hand(read.queues) is None
    expected = planned(asked, read, ladder)
    assert planned(asked, at_hand, ladder) == expected
    # Of a single put, what it can meet is told from the rest where the rows are not at hand.
    for one in rng.sample(asked, 4):
        assert planned([one], at_hand, ladder)[one] == expected[one]
        assert planned([one], read, ladder)[one] == expected[one]


def topology_of(spark, folder, *definitions):
    lake = lake_with(spark, folder)
    for name, rows in tables(*definitions).items():
        put_rows(lake, name, rows)
    return read_topology(lake, ["S1"])


@pytest.mark.parametrize("asks", [False, True])
def test_who_asks_nobody_has_no_columns_for_it(spark, tmp_path, asks):
    shared = (qmgr("A"), rcvr("A"), qmgr("B"), rcvr("B"), queue("B", "Q", "K"))
    own = seen_by("A", rcvr("B"), queue("B", "Q", "K")) if asks else ()
    topology = topology_of(spark, tmp_path / "lake", *shared, *own)
    of = frame_from_rows(spark, [("S1", "A")], f"snapshot_id string, {VIEWER} string")
    known = inline(with_first_opens(viewers(of, topology), topology, Edition.SECOND, of))
    assert (QUEUES_FULL_IN in without_asking(known).columns) is asks
    assert len(sight_of(without_asking(known), QUEUES_SIGHT)) == (2 if asks else 1)
    assert known.select("queues_seen_by").collect()[0][0] == ("A" if asks else "*")
