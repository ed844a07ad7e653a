"""Outcomes of two sides compared, from rows written by hand."""

import pytest
from lakes import lake_with
from worlds import put_rows

from clwl_spark.studies.what_if.moves import moves

PUT = {"qmgr": "ME", "object_type": "QUEUE", "object_name": "Q", "object_qmgr": ""}
FAILED = {"reason": 2085}


def to(qmgr, **more):
    return {"reason": 0, "dest_qmgr": qmgr, "channel": f"TO.{qmgr}", "is_local": False, **more}


def side(spark, folder, ends, statuses=()):
    """A routed lake: so many outcomes of each end, under one snapshot with these statuses."""
    lake = lake_with(spark, folder, ["outcomes", "channel_status"])
    rows = [{"plan_id": 1, "is_local": False, **PUT, **end} for end, n in ends for _ in range(n)]
    told = [
        {**PUT, "put_seq": number, "snapshot_id": "S", "bound": False, "out_of_order": False, **row}
        for number, row in enumerate(rows)
    ]
    put_rows(lake, "outcomes", told)
    put_rows(lake, "channel_status", statuses)
    return lake


def test_what_goes_elsewhere_or_fails_is_moved(spark, tmp_path):
    before = side(spark, tmp_path / "before", [(to("A"), 6), (to("B"), 4)])
    after = side(spark, tmp_path / "after", [(to("A"), 2), (to("B"), 5), (FAILED, 3)])
    found = moves(before, after)
    assert (found.before, found.after, found.moved) == (10, 10, 4)
    assert found.failed == (0, 3)
    assert found.waiting == (0, 0)
    assert [x["channel"] for x in found.busiest] == ["TO.A", "TO.B"]
    assert found.by_qmgr[0] == {"dest_qmgr": "A", "before": 6, "after": 2}
    assert found.stranded == []


STUCK = [
    {
        "snapshot_id": "S",
        "qmgr": "ME",
        "channel": "TO.A",
        "chltype": "CLUSSDR",
        "remote_qmgr": "A",
        "status": "STOPPED",
    }
]


@pytest.fixture(scope="module")
def stuck(spark, tmp_path_factory):
    """All messages keep their only route, which is stopped."""
    folder = tmp_path_factory.mktemp("stuck")
    before = side(spark, folder / "before", [(to("A"), 10)])
    return moves(before, side(spark, folder / "after", [(to("A"), 10)], STUCK))


def test_messages_that_wait_for_their_only_channel_are_stranded(stuck):
    assert stuck.waiting == (0, 10)
    (request,) = stuck.stranded
    assert request == {**PUT, "before": 10, "after": 10}


def test_messages_that_wait_where_they_went_do_not_go_elsewhere(stuck):
    assert stuck.moved == 0
