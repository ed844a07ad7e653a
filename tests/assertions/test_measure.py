"""Facts and one answer: does the fact hold, and what is told of it."""

import pytest
from assertions.hand_made import HandMade, only

from clwl_spark.checks.assertions.answers import Answer, End, Line, Route, Way
from clwl_spark.checks.assertions.results import Verdict

TWO_FIFTHS = Answer(
    routes=(
        Route(dest_qmgr="QM1", channel="TO.QM1", cluster="K", share=0.3),
        Route(dest_qmgr="QM1", channel="TO.QM1.B", cluster="K", share=0.1),
        Route(dest_qmgr="QM2", channel="TO.QM2", cluster="K", share=0.6),
    ),
    way=Way(
        ends=(End(qmgr="QM1", share=0.4), End(qmgr="QM2", share=0.6)),
        hops=2,
        clusters=frozenset({"K", "PUBLIC"}),
        qmgrs=frozenset({"QM1", "QM2", "GATE"}),
    ),
)
HALF_LOST = TWO_FIFTHS.model_copy(
    update={
        "way": Way(
            ends=(
                End(qmgr="QM1", share=0.5),
                End(qmgr="QM2", share=0.3, missed="2085 MQRC_UNKNOWN_OBJECT_NAME"),
            ),
            loop=("GATE", "GUEST"),
        )
    }
)
MANY = Answer(routes=tuple(Route(dest_qmgr=f"Q{x}", share=0.1) for x in range(10)))
FAILED_PUT = Answer(reason=2270)
OF_TWO_FIFTHS = {
    "share(ORDERS from APP1 to QM1) <= 0.4": True,
    "share(ORDERS from APP1 to QM1) <= 40%": True,
    "share(ORDERS from APP1 to QM1) >= 2/5": True,
    "share(ORDERS from APP1 to QM1) = .4": True,
    "share(ORDERS from APP1 to QM1) < 40%": False,
    "share(ORDERS from APP1 to QM1) > 0.4": False,
    "share(ORDERS from APP1 to QM1) != 0.4": False,
    "share(ORDERS from APP1 to QM1) <= 39.999%": False,
    "share(ORDERS from APP1 to QM1) < 40.001%": True,
    "share(ORDERS from APP1 to QM1) > 39.999%": True,
    "share(ORDERS from APP1 to QM1) >= 40.001%": False,
    "share(ORDERS from APP1 to QM1) != 0.4001": True,
    "share(ORDERS from APP1 to QM1 over TO.QM1) = 30%": True,
    "share(ORDERS from APP1 over TO.QM1) = 30%": True,
    "share(ORDERS from APP1 to QM3) = 0%": True,
    "not share(ORDERS from APP1 to QM1) <= 0.4": False,
    "not share(ORDERS from APP1 to QM1) < 0.4": True,
    "not share(ORDERS from APP1 to QM1) >= 0.4": False,
    "not share(ORDERS from APP1 to QM1) > 0.4": True,
    "not share(ORDERS from APP1 to QM1) = 0.4": False,
    "not share(ORDERS from APP1 to QM1) != 0.4": True,
    "destinations(ORDERS from APP1) = 2": True,
    "destinations(ORDERS from APP1) > 2": False,
    "destinations(ORDERS from APP1) < 3": True,
    "reason(ORDERS from APP1) = 0": True,
    "reason(ORDERS from APP1) != MQRC_NONE": False,
    "not reason(ORDERS from APP1) = 2085": True,
    "hops(ORDERS from APP1) <= 2": True,
    "hops(ORDERS from APP1) <= 1": False,
    "reachable(ORDERS from APP1)": True,
    "not reachable(ORDERS from APP1)": False,
    "crosses cluster PUBLIC (ORDERS from APP1)": True,
    "never crosses cluster PUBLIC (ORDERS from APP1)": False,
    "not never crosses cluster PUBLIC (ORDERS from APP1)": True,
    "goes to queue manager GATE (ORDERS from APP1)": True,
    "never goes to queue manager GATE (ORDERS from APP1)": False,
    "never goes to queue manager QM3 (ORDERS from APP1)": True,
    "goes to queue manager QM3 (ORDERS from APP1)": False,
}
OF_HALF_LOST = {
    "reachable(ORDERS from APP1)": False,
    "not reachable(ORDERS from APP1)": False,
    "hops(ORDERS from APP1) <= 9": False,
    "hops(ORDERS from APP1) > 9": False,
}
OF_FAILED_PUT = {
    "share(ORDERS from APP1 to QM1) <= 0.4": False,
    "not share(ORDERS from APP1 to QM1) > 0.4": False,
    "share(ORDERS from APP1 to QM1) = 0": False,
    "destinations(ORDERS from APP1) >= 1": False,
    "destinations(ORDERS from APP1) = 0": True,
    "hops(ORDERS from APP1) <= 1": False,
    "reachable(ORDERS from APP1)": False,
    "not reachable(ORDERS from APP1)": True,
    "never crosses cluster K (ORDERS from APP1)": True,
    "never goes to queue manager QM1 (ORDERS from APP1)": True,
    "goes to queue manager QM1 (ORDERS from APP1)": False,
    "reason(ORDERS from APP1) = 2270": True,
    "reason(ORDERS from APP1) = 2085": False,
}
FIXED = [
    (fact, answer, holds)
    for answer, facts in (
        (TWO_FIFTHS, OF_TWO_FIFTHS),
        (HALF_LOST, OF_HALF_LOST),
        (FAILED_PUT, OF_FAILED_PUT),
    )
    for fact, holds in facts.items()
]


@pytest.mark.parametrize(("fact", "answer", "holds"), FIXED)
def test_a_fact_holds_or_not(fact, answer, holds):
    result = only(fact, HandMade(answer))
    assert result.verdict == (Verdict.PASSED if holds else Verdict.FAILED)
    assert bool(result.failing) != holds


@pytest.mark.parametrize(
    ("fact", "answer", "said"),
    [
        (
            "share(ORDERS from APP1 to QM1) < 40%",
            TWO_FIFTHS,
            "the share is 40% (QM2 60%, QM1 40%)",
        ),
        (
            "share(ORDERS from APP1 over TO.QM1) < 20%",
            TWO_FIFTHS,
            "the share is 30% (TO.QM2 60%, TO.QM1 30%, TO.QM1.B 10%)",
        ),
        (
            "destinations(ORDERS from APP1) < 8",
            MANY.model_copy(update={"routes": MANY.routes[:8]}),
            "8 destinations: Q0, Q1, Q2, Q3, Q4, Q5, Q6, Q7",
        ),
        (
            "not reachable(ORDERS from APP1)",
            Answer(way=Way(ends=(End(qmgr="QM1", share=1),), loop=("GATE", "GUEST"))),
            "100% of the messages come to a queue",
        ),
        (
            "destinations(ORDERS from APP1) < 10",
            MANY,
            "10 destinations: Q0, Q1, Q2, Q3, Q4, Q5, Q6, Q7 and 2 more",
        ),
        ("destinations(ORDERS from APP1) >= 3", TWO_FIFTHS, "2 destinations: QM1, QM2"),
        ("hops(ORDERS from APP1) <= 1", TWO_FIFTHS, "2 hops"),
        ("hops(ORDERS from APP1) <= 1", HALF_LOST, "messages go round: GATE > GUEST > GATE"),
        (
            "never crosses cluster PUBLIC (ORDERS from APP1)",
            TWO_FIFTHS,
            "messages cross K, PUBLIC",
        ),
        (
            "goes to queue manager QM3 (ORDERS from APP1)",
            TWO_FIFTHS,
            "messages come to GATE, QM1, QM2",
        ),
        (
            "reachable(ORDERS from APP1)",
            HALF_LOST,
            (
                "50% of the messages come to a queue; 30% end on QM2: 2085 "
                "MQRC_UNKNOWN_OBJECT_NAME; 20% go round for ever: GATE > GUEST > GATE"
            ),
        ),
        (
            "share(ORDERS from APP1 to QM1) = 0",
            FAILED_PUT,
            "the put ends with 2270 MQRC_NO_DESTINATIONS_AVAILABLE",
        ),
        ("reason(ORDERS from APP1) = 2085", TWO_FIFTHS, "the put ends with 0 MQRC_NONE"),
    ],
)
def test_what_was_found_is_told(fact, answer, said):
    assert only(fact, HandMade(answer)).said == said


def over(qmgr, xmitq, channel, dest_qmgr, **more):
    line = Line(qmgr=qmgr, xmitq=xmitq, channel=channel, dest_qmgr=dest_qmgr, **more)
    return Answer(lines=frozenset({line}))


ORDERS_GO = over("APP1", "XMIT", "TO.QM1", "QM1")
APART = {
    "another channel and transmission queue": over("APP1", "OTHER", "OWN.QM1", "QM1"),
    "the same names on another queue manager": over("GATE", "XMIT", "TO.QM1", "QM1"),
    "nothing, for it stays where it is put": Answer(lines=frozenset()),
}
SHARED = {
    "on APP1 they share channel TO.QM1 to QM1 and transmission queue XMIT: give one a cluster of "
    "its own, with a CLUSRCVR of its own on QM1, and on APP1 a transmission queue whose "
    "CLCHNAME fits that channel": ORDERS_GO,
    "on APP1 they share transmission queue XMIT: define on APP1 a transmission queue whose "
    "CLCHNAME fits the channels of one of them": over("APP1", "XMIT", "TO.QM2", "QM2"),
    "on APP1 they share transmission queue XMIT: start TO.QM2 anew, as the switch is pending": (
        over("APP1", "XMIT", "TO.QM2", "QM2", is_lasting=False)
    ),
}


class Two(HandMade):
    """ORDERS goes one way, AUDIT the other."""

    def __init__(self, audit):
        super().__init__()
        self.audit = audit

    def answer(self, questions):
        assert all(x.is_lines for x in questions)
        return {
            x: ORDERS_GO if x.request.object_name == "ORDERS" else self.audit for x in questions
        }


@pytest.mark.parametrize("how", APART)
def test_puts_that_share_nothing_are_separate(how):
    result = only("separate(ORDERS from APP1, AUDIT from APP1)", Two(APART[how]))
    assert result.verdict == Verdict.PASSED
    assert result.said.startswith("they share no channel and no transmission queue (ORDERS on XMIT")
    denied = only("not separate(ORDERS from APP1, AUDIT from APP1)", Two(APART[how]))
    assert denied.verdict == Verdict.FAILED


@pytest.mark.parametrize("said", SHARED)
def test_what_puts_share_is_told_with_the_remedy(said):
    result = only("separate(ORDERS from APP1, AUDIT from APP1)", Two(SHARED[said]))
    assert (result.verdict, result.said) == (Verdict.FAILED, said)


def test_puts_of_definitions_that_name_one_transmission_queue_share_it():
    named = over("APP1", "XMIT", None, "QM2")
    result = only("separate(AUDIT from APP1, ORDERS from APP1)", Two(named))
    assert result.said == (
        "on APP1 they share transmission queue XMIT: let a definition on APP1 name another XMITQ"
    )


def test_a_put_that_fails_is_not_separate():
    result = only("separate(ORDERS from APP1, AUDIT from APP1)", Two(FAILED_PUT))
    assert result.verdict == Verdict.FAILED
    assert result.said == ("the put to AUDIT ends with 2270 MQRC_NO_DESTINATIONS_AVAILABLE")
