"""What happened to a message, in words."""

import pytest

from clwl_spark.studies.reallocate.wording import Happened, in_words
from clwl_spark.tables.waiting import IneligibleReason, Reallocation


def told(outcome, **more):
    known = {
        "channel": "TO.A", "status": "STOPPED", "to_channel": "TO.A", "to_xmitq": "X",
        "deciding_rule": None, "ineligible_reason": None, "reason": 0, "object_qmgr": "",
        "candidates": [],
    }  # fmt: skip
    return " ".join(in_words(Happened(outcome=outcome, **{**known, **more})))


def other(tier, **more):
    row = {"eliminated_by": 3, "status_tier": tier, "put_enabled": True, "dest_qmgr": "B"}
    return {**row, "channel": "TO.B", "status": "RETRYING" if tier == 3 else "RUNNING", **more}


@pytest.mark.parametrize("reason", list(IneligibleReason))
def test_every_reason_has_words(reason):
    said = told(Reallocation.NOT_ELIGIBLE, ineligible_reason=reason.value)
    assert f"({reason.value}): " in said
    assert "AccountingToken" in said


def test_a_named_queue_manager_is_named():
    reason = {"ineligible_reason": "NAMED_QMGR"}
    assert "its put named queue manager QM7" in told(
        Reallocation.NOT_ELIGIBLE, object_qmgr="QM7", **reason
    )
    assert "a publication's copy" in told(Reallocation.NOT_ELIGIBLE, **reason)


def test_failures_and_moves():
    assert "2268 MQRC_CLUSTER_PUT_INHIBITED" in told(Reallocation.FAILED, reason=2268)
    assert told(Reallocation.MOVED) == "It now goes by TO.A, and waits on X."
    assert "named by definition" in told(Reallocation.MOVED, to_channel=None)
    assert told(Reallocation.MOVED, to_channel=None, to_xmitq=None) == "It now is on a local queue."


@pytest.mark.parametrize("rule", [0, 3, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 100])
def test_every_deciding_rule_has_words(rule):
    said = told(Reallocation.STILL_FAVOURED, deciding_rule=rule)
    assert said.startswith("It chose anew and ")
    assert "Its put time became that of the event" in said
    assert ("no other choice" in said) == (rule == 0)


def test_rank_is_the_misunderstanding_only_where_priority_would_have_helped():
    helps = told(Reallocation.STILL_FAVOURED, deciding_rule=3, candidates=[other(1), other(3)])
    assert "TO.B to B is RUNNING: with CLWLPRTY in place of CLWLRANK" in helps
    for rows in ([other(4)], [other(1, put_enabled=False)], [other(1, eliminated_by=13)], []):
        said = told(Reallocation.STILL_FAVOURED, deciding_rule=4, candidates=rows)
        assert "CLWLPRTY would not help here" in said
    assert "CLWLPRTY in place" not in told(
        Reallocation.STILL_FAVOURED, deciding_rule=13, candidates=[other(1)]
    )
