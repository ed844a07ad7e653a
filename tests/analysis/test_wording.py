"""Why a candidate lost, in words: the winner is the best row still in play at that rule."""

import pytest

from clwl_spark.mq.vocabulary import Algorithm
from clwl_spark.studies.explain.wording import reasons_why, verdict_text


def row(qmgr, eliminated_by=None, channel="", **attributes):
    """A candidate; a test states only what matters."""
    return {
        "choice": 0, "kind": "QUEUE", "dest_qmgr": qmgr, "dest_object": "Q",
        "channel": channel or f"TO.{qmgr}", "instance_cluster": "K", "channel_cluster": "K",
        "is_local": False, "is_alias": False, "instance_shared": True, "channel_shared": True,
        "channel_rank": 0, "queue_rank": 0, "put_enabled": True, "uses_local": False,
        "suspended": False, "status": "RUNNING", "status_tier": 1, "netprty": 0,
        "channel_prty": 0, "queue_prty": 0, "clwlwght": 50, "eliminated_by": eliminated_by,
        **attributes,
    }  # fmt: skip


def why(*rows, via="LOCAL", algorithm=Algorithm.V9):
    return reasons_why(rows, "QM1", via, algorithm)


A, B = row("QM2"), row("QM3")
CASES = {
    "cluster J is not one of QM1's": (
        row("QM4", 1, instance_cluster="J", instance_shared=False, channel_cluster="K"),
    ),
    "clusters I and J are not QM1's": (
        row("QM4", 1, instance_cluster="I", instance_shared=False, channel_cluster="J",
            channel_shared=False),
    ),
    "channel is in J, the queue in K": (row("QM4", 2, channel_cluster="J"),),
    "channel is in J, the queue manager alias in K": (
        row("QM4", 2, channel_cluster="J", kind="QMGR", is_alias=True),
    ),
    "taken away by the exit": (row("QM4", 100),),
    "CLWLRANK 0 < 7 of TO.SERVER2": (row("QM4", 3), row("SERVER2", channel_rank=7)),
    "alias CLWLRANK 0 < 7 of TO.QM2": (
        row("QM4", 3, is_alias=True), row("QM2", channel_rank=7),
    ),
    "CLWLRANK 0 < 7 of the alias on QM2": (
        row("QM4", 3), row("QM2", channel_rank=7, is_alias=True),
    ),
    "CLWLRANK 1 < 7 of TO.ANY to QM2": (
        row("QM4", 3, "TO.ANY", channel_rank=1), row("QM2", None, "TO.ANY", channel_rank=7),
    ),
    "queue CLWLRANK 0 < 2 on QM2": (row("QM4", 4), row("QM2", queue_rank=2)),
    "PUT(DISABLED)": (row("QM4", 5, put_enabled=False),),
    "PUB(DISABLED)": (row("QM4", 5, put_enabled=False, kind="TOPIC"),),
    "local queue preferred: CLWLUSEQ(LOCAL)": (row("QM4", 6), row("QM1", is_local=True)),
    "suspended in cluster K, while QM2 is not": (row("QM4", 7, suspended=True), A),
    "channel RETRYING, while TO.QM2 is RUNNING": (
        row("QM4", 8, status="RETRYING", status_tier=3), A,
    ),
    "NETPRTY 3 < 5 on QM2": (
        row("QM2", 12, "OTHER", netprty=3), row("QM2", netprty=5), row("QM3", netprty=9),
    ),
    "CLWLPRTY 1 < 5 of TO.QM3": (row("QM4", 13, channel_prty=1), row("QM3", channel_prty=5)),
    "queue CLWLPRTY 1 < 5 on QM3": (row("QM4", 14, queue_prty=1), row("QM3", queue_prty=5)),
    "same route as by cluster A": (
        row("QM2", 0, channel_cluster="B", instance_cluster="B"),
        row("QM2", channel_cluster="A", instance_cluster="A"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("words", CASES)
def test_the_words_name_attribute_value_and_winner(words):
    assert why(*CASES[words], A, B)[0] == words


def test_routes_need_no_words():
    assert why(A, B) == ["", ""]
    assert verdict_text(A, "") == "route"


def test_a_queue_manager_may_be_suspended_in_one_of_its_clusters():
    suspended = row("QM4", 7, suspended=True)
    words = why(suspended, row("QM4", channel_cluster="J"), row("QM2", 7, suspended=True))
    assert words[0] == "suspended in cluster K, but not in J"


def test_the_winning_value_is_that_of_a_row_still_in_play():
    early = row("QM5", 1, channel_prty=9, channel_shared=False, channel_cluster="J")
    later = row("QM6", 14, channel_prty=5)
    loser = row("QM4", 13, channel_prty=1)
    winner = row("QM7", None, channel_prty=5, queue_prty=1)
    assert why(early, later, loser, winner)[2] == "CLWLPRTY 1 < 5 of TO.QM7"


def test_a_winner_of_the_moment_may_lose_later():
    gone = row("QM6", 5, channel_rank=7, put_enabled=False)
    assert why(row("QM4", 3), gone)[0] == "CLWLRANK 0 < 7 of TO.QM6"


def test_in_v7_the_order_of_the_rules_is_another():
    disabled = row("QM6", 5, channel_rank=7, put_enabled=False)
    best = row("QM2", None, channel_rank=3)
    assert why(row("QM4", 3), disabled, best)[0] == "CLWLRANK 0 < 7 of TO.QM6"
    v7 = why(row("QM4", 3), disabled, best, algorithm=Algorithm.V7)
    assert v7[0] == "CLWLRANK 0 < 3 of TO.QM2"


def test_a_route_that_rule_15_cuts_is_still_the_one_that_another_cluster_leads_to():
    twin = row("QM4", 0, channel_cluster="B", instance_cluster="B")
    cut = row("QM4", 15, channel_cluster="A", instance_cluster="A")
    assert why(twin, cut, A)[0] == "same route as by cluster A"


def test_copies_of_a_publication_do_not_compete():
    other_copy = row("QM2", None, channel_prty=9, choice=1)
    loser = row("QM4", 13, "SLOW", channel_prty=1)
    assert why(loser, row("QM4", channel_prty=2), other_copy)[0] == "CLWLPRTY 1 < 2 of TO.QM4"


def test_a_message_from_the_cluster_prefers_the_local_queue_for_another_reason():
    words = why(row("QM4", 6), row("QM1", is_local=True), via="CLUSTER")
    assert words[0] == "local queue preferred: it came over a cluster channel"


def test_a_verdict_names_its_rule():
    assert verdict_text(row("QM2", 12), "NETPRTY 3 < 5 on QM2") == "rule 12: NETPRTY 3 < 5 on QM2"
    assert verdict_text(row("QM2", 100), "taken away by the exit") == "taken away by the exit"
