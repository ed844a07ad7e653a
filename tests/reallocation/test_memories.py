"""The history that an event begins with: earlier choices added up, resets brought once."""

import pytest

from clwl_spark.studies.reallocate.memories import Past, _brings_reset, _brought_by, _Step

ORDER = ["S1", "S2", "S3"]


def chosen(dest_qmgr, channel, last, factor):
    return {"dest_qmgr": dest_qmgr, "channel": channel, "last": last, "factor": factor}


def test_an_earlier_events_sums_stand_for_its_choices():
    past = Past(counter=10, balance={("A", "TO.A"): [10, 40]})
    past.add_choices([chosen("A", "TO.A", 3, 20), chosen("B", "TO.B", 4, 100)], 4)
    assert past.counter == 14
    assert past.balance == {("A", "TO.A"): [13, 60], ("B", "TO.B"): [14, 100]}
    past.reset()
    assert past.balance == {("A", "TO.A"): [13, 0], ("B", "TO.B"): [14, 0]}


@pytest.mark.parametrize(
    ("snapshot", "pinned", "brought"),
    [
        ("S3", [{"S1", "S2", "S3"}], {"S1", "S2", "S3"}),
        ("S1", [{"S1", "S2", "S3"}], {"S1"}),
        ("S3", [{"S1", "S3"}], {"S1", "S3"}),
        ("S3", [], {"S1", "S2", "S3"}),
        ("GONE", [{"S1"}], set()),
    ],
)
def test_a_routed_message_brought_what_its_run_knew(snapshot, pinned, brought):
    assert _brought_by(snapshot, ORDER, pinned) == brought


def test_a_reset_is_brought_once_and_never_by_an_earlier_snapshot():
    past = Past(brought={"S1"})
    resetting = {("L", "S2")}
    assert not _brings_reset(past, _Step("E1", "L", "S1"), ORDER, resetting)
    assert _brings_reset(past, _Step("E2", "L", "S3"), ORDER, resetting)
    assert not _brings_reset(past, _Step("E3", "L", "S3"), ORDER, resetting)
    assert not _brings_reset(Past(), _Step("E4", "L", "GONE"), ORDER, resetting)
