"""What is asked, and what comes of it over several cases."""

import json

import pytest
from assertions.hand_made import HandMade, assertions, only

from clwl_spark.checks.assertions.answers import Answer
from clwl_spark.checks.assertions.judge import judge
from clwl_spark.checks.assertions.measure import UnansweredError
from clwl_spark.checks.assertions.model import QmgrDown
from clwl_spark.checks.assertions.results import Verdict


def test_a_sweep_names_the_cases_that_fail_the_worst_first():
    result = only("share(ORDERS from APP1 to QM1) <= 40% when any queue manager down")
    assert result.verdict == Verdict.FAILED
    assert [x.case for x in result.failing] == ["queue manager QM2 down", "queue manager QM3 down"]
    assert result.failing[0].found == "the share is 50% (QM1 50%, QM3 50%)"
    assert result.cases == 5
    assert result.said == (
        "the share is 50% (QM1 50%, QM3 50%) when queue manager QM2 down "
        "(in 2 of 5 cases; this is the worst)"
    )


def test_the_worst_case_is_the_furthest_on_the_wrong_side():
    most = only("share(ORDERS from APP1 to QM1) <= 10% when any qmgr down and any qmgr down")
    assert most.worst.case == "queue manager QM2 down and queue manager QM3 down"
    least = only("destinations(ORDERS from APP1) >= 3 when any qmgr down and QM1 down")
    assert least.worst.found == "1 destination: QM3"
    other = only("destinations(ORDERS from APP1) = 2 when any qmgr down")
    assert other.worst.found == "3 destinations: QM1, QM2, QM3"


def test_a_sweep_that_holds_tells_the_case_nearest_to_breaking_it():
    result = only("share(ORDERS from APP1 to QM1) <= 50% when any channel down")
    assert result.verdict == Verdict.PASSED
    assert not result.failing
    assert result.said.endswith("stopped (all 6 cases hold; this is the worst)")
    assert result.worst.found.startswith("the share is 50%")


def test_a_condition_that_cannot_be_met_breaks_a_sweep():
    result = only("reachable(AUDIT from APP1) when any channel down")
    assert [x.case for x in result.failing] == ["channel TO.QM1 to QM1 stopped"]


def test_a_condition_is_told_with_what_was_found():
    result = only("destinations(ORDERS from APP1) >= 2 when QM1 down and channel TO.QM3 stopped")
    assert result.verdict == Verdict.FAILED
    assert result.said == (
        "1 destination: QM2 when channel TO.QM3 to QM3 stopped and queue manager QM1 down"
    )


def test_the_engine_is_asked_once_and_nothing_twice():
    engine = HandMade()
    report = judge(
        assertions(
            "share(ORDERS from APP1 to QM1) <= 0.4",
            "hops(ORDERS from APP1) <= 1",
            "destinations(ORDERS from APP1) >= 2",
            "reason(AUDIT from APP1) = 0",
            "destinations(ORDERS from APP1) >= 2 when QM1 down",
            "share(ORDERS from APP1 to QM2) <= 0.5 when any qmgr down",
            "reachable(TYPO from APP1)",
        ),
        engine,
    )
    assert len(engine.calls) == 1
    assert len(engine.asked) == len({(x.case, x.request) for x in engine.asked}) == 7
    whole = {(x.request.object_name, x.case) for x in engine.asked if x.is_whole_way}
    assert whole == {("ORDERS", ())}
    assert (QmgrDown(qmgr="QM1"),) in [x.case for x in engine.asked]
    verdicts = [x.verdict.value for x in report.results]
    assert verdicts == ["PASSED"] * 6 + ["ERROR"]


def test_nothing_is_asked_where_nothing_can_be():
    engine = HandMade()
    report = judge(assertions("reachable(TYPO from APP1)"), engine)
    assert engine.calls == []
    assert report.broken
    assert not report.failed
    assert report.results[0].said.startswith("no queue TYPO: ")


def test_what_the_engine_cannot_answer_is_an_error():
    result = only(
        "reachable(ORDERS from APP1) when QM1 down", HandMade(Answer(error="no valid snapshot"))
    )
    assert result.verdict == Verdict.ERROR
    assert result.said == "no valid snapshot (when queue manager QM1 down)"


def test_an_engine_that_leaves_something_out_is_told_of():
    with pytest.raises(UnansweredError, match="the whole way"):
        only("hops(ORDERS from APP1) <= 1", HandMade(Answer()))
    engine = HandMade()
    engine.answer = lambda _: {}
    with pytest.raises(UnansweredError, match="when as it is"):
        only("hops(ORDERS from APP1) <= 1", engine)


def test_the_document_has_every_failing_case():
    report = judge(
        assertions(
            "destinations(ORDERS from APP1) >= 3 when any channel down",
            "reachable(ORDERS from APP1)",
        ),
        HandMade(),
    )
    content = json.loads(json.dumps(report.to_json()))
    assert (content["assertions"], content["passed"], content["failed"]) == (2, 1, 1)
    assert content["errors"] == 0
    assert content["judged_at"].endswith("Z")
    failed = content["results"][0]
    assert (failed["file"], failed["line"], failed["verdict"]) == ("ci/facts.yml", 2, "FAILED")
    assert failed["cases"] == 6
    assert failed["failing"][0] == {
        "case": "channel TO.QM1 to QM1 stopped",
        "found": "2 destinations: QM2, QM3",
    }
    assert len(failed["failing"]) == 3
