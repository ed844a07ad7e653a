"""What a condition means in a network, and names that nobody has."""

import pytest
from assertions.hand_made import NETWORK

from clwl_spark.checks.assertions.answers import KnownChannel, Network
from clwl_spark.checks.assertions.cases import MOST_CASES, cases_of
from clwl_spark.checks.assertions.parse import parse
from clwl_spark.checks.assertions.wording import case_words


def told(fact, network=NETWORK):
    cases, problems = cases_of(parse(fact), network)
    assert not (cases and problems)
    return [case_words(x) for x in cases] or problems


CASES = {
    "": ["as it is"],
    " when QM1 down": ["queue manager QM1 down"],
    " when QM2 down and QM1 down": ["queue manager QM1 down and queue manager QM2 down"],
    " when QM1 down and qmgr QM1 down": ["queue manager QM1 down"],
    " when channel TO.QM1 stopped": ["channel TO.QM1 to QM1 stopped"],
    " when channel TO.QM1 to QM1 on APP1 stopped": ["channel TO.QM1 to QM1 on APP1 stopped"],
    " when cluster K down": ["cluster K down"],
    " when any cluster down": ["cluster K down", "cluster PUBLIC down"],
    " when any queue manager down": [
        f"queue manager {x} down" for x in ("GATE", "GUEST", "QM1", "QM2", "QM3")
    ],
    " when any channel down": [
        f"channel TO.{x} to {x} stopped" for x in ("APP1", "GATE", "GUEST", "QM1", "QM2", "QM3")
    ],
    " when any cluster down and QM1 down": [
        "cluster K down and queue manager QM1 down",
        "cluster PUBLIC down and queue manager QM1 down",
    ],
    " when any cluster down and any cluster down": [
        "cluster K down",
        "cluster K down and cluster PUBLIC down",
        "cluster PUBLIC down",
    ],
}
WRONG = {
    "reachable(ORDERS from APP2)": "no queue manager APP2: did you mean 'APP1'?",
    "reachable(ORDRES from APP1)": "no queue ORDRES: did you mean 'ORDERS'? (that there is none, r",
    "not reachable(ORDRES from APP1)": "no queue ORDRES: ",
    "reachable(ORDERS at QM9 from APP1)": "no queue manager, or alias of one, QM9: did you mean",
    "share(ORDERS from APP1 to QM4) = 0": "no queue manager QM4: did you mean",
    "share(ORDERS from APP1 over TO.QM4) = 0": "no cluster channel TO.QM4: did you mean",
    "share(ORDERS from APP1 to QM2 over TO.QM1) = 0": "channel TO.QM1 leads to QM1, not to QM2: ",
    "never crosses cluster PUBLC (AUDIT from APP1)": "no cluster PUBLC: did you mean 'PUBLIC'?",
    "never goes to queue manager QM7 (AUDIT from APP1)": "no queue manager QM7: did you mean",
    "reason(NOBODYS from NOBODY) = 2085": "no queue manager NOBODY: there are APP1, GATE, GUEST, ",
    "hops(AUDIT from APP1) <= 1 when QM4 down": "no queue manager QM4: ",
    "hops(AUDIT from APP1) <= 1 when cluster L down": "no cluster L: there are K, PUBLIC",
    "hops(AUDIT from APP1) <= 1 when channel TO.QM stopped": "no cluster channel TO.QM: did you",
    "hops(AUDIT from APP1) <= 1 when channel TO.QM1 to QM9 stopped": "no queue manager QM9: ",
    "hops(AUDIT from APP1) <= 1 when channel TO.QM1 to QM2 stopped": "channel TO.QM1 leads to QM1,",
    "hops(AUDIT from APP1) <= 1 when channel TO.QM1 on GUEST stopped": (
        "GUEST has no sender of channel TO.QM1, which is in K: name a queue manager of there"
    ),
    "hops(AUDIT from APP1) <= 1 when channel TO.QM1 on QM1 stopped": "QM1 has no sender of channel",
    "separate(AUDIT from APP1, ORDRES from APP1)": "no queue ORDRES: did you mean 'ORDERS'?",
    "separate(AUDIT from APP1, ORDERS from APP2)": "no queue manager APP2: did you mean 'APP1'?",
    "separate(AUDIT from APP1, AUDIT from APP1)": "a put is not separate from itself: name two",
    "separate(AUDIT from APP1, ORDERS from APP1) when QM1 down": (
        "separate(...) is about whatever state of the channels: leave the condition out"
    ),
    "hops(AUDIT from APP1) <= 1 when APP1 down": "APP1 puts the messages, so it cannot be down: ",
}


@pytest.mark.parametrize("condition", CASES)
def test_a_condition_is_cases(condition):
    assert told(f"reachable(ORDERS from APP1){condition}") == CASES[condition]


@pytest.mark.parametrize("fact", WRONG)
def test_names_that_nobody_has_or_that_do_not_fit_are_told(fact):
    assert told(fact)[0].startswith(WRONG[fact])


@pytest.mark.parametrize(
    "fact",
    [
        "reason(NOBODYS from APP1) = 2085",
        "reachable(topic 'any/string' from APP1)",
        "reachable(NOBODYS at QM1 from APP1)",
        "reachable(NOBODYS at AWAY from APP1)",
        "share(ORDERS from APP1 to QM2 over TO.QM2) = 0",
    ],
)
def test_what_may_be_unknown_or_fits_is_asked(fact):
    assert told(fact) == ["as it is"]


def test_all_that_is_wrong_is_told_once():
    said = told("share(NONE from X to X) = 0 when X down")
    assert [x.split(":")[0] for x in said] == ["no queue manager X", "no queue NONE", (
        "X puts the messages, so it cannot be down"
    )]  # fmt: skip


def test_a_channel_of_two_queue_managers_is_stopped_to_both():
    twins = frozenset(
        KnownChannel(channel="TWIN", qmgr=qmgr, cluster="K") for qmgr in ("QM1", "QM2")
    )
    network = NETWORK.model_copy(update={"channels": NETWORK.channels | twins})
    both = "channel TWIN to QM1 stopped and channel TWIN to QM2 stopped"
    assert told("reachable(ORDERS from APP1) when channel TWIN stopped", network) == [both]
    one = ["channel TWIN to QM2 on QM1 stopped"]
    assert told("reachable(ORDERS from APP1) when channel TWIN on QM1 stopped", network) == one
    assert len(told("reachable(ORDERS from APP1) when any channel down", network)) == 8


def test_a_sweep_over_nothing_is_no_pass():
    alone = Network(qmgrs=frozenset({"APP1"}), objects=frozenset({"ORDERS"}), channels=frozenset())
    for kind in ("channel", "queue manager", "cluster"):
        (said,) = told(f"reachable(ORDERS from APP1) when any {kind} down", alone)
        assert said == f"there is no {kind} that might be down: leave the condition out"


def test_sweeps_of_too_many_cases_are_refused():
    pairs = "reachable(ORDERS from APP1) when any qmgr down and any qmgr down"
    assert MOST_CASES == 100**2
    assert len(told(pairs, of_size(100))) == 100 * 99 / 2 + 100
    (said,) = told(pairs, of_size(101))
    assert said.startswith("there are 10,201 cases, and 10,000 are tried at most: name what is")


def of_size(others):
    """A network of APP1 and so many others."""
    qmgrs = frozenset(f"{x:03}" for x in range(others))
    return NETWORK.model_copy(update={"qmgrs": qmgrs | {"APP1"}})


@pytest.mark.parametrize(("others", "more"), [(7, ""), (8, " and 1 more"), (9, " and 2 more")])
def test_a_few_of_the_names_that_there_are_are_told(others, more):
    (said,) = told("reachable(ORDERS from XXXX)", of_size(others))
    listed = ", ".join([*(f"{x:03}" for x in range(others)), "APP1"][:8])
    assert said == f"no queue manager XXXX: there are {listed}{more}"
