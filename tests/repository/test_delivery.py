"""Who is told what, message by message."""

from datetime import UTC, datetime, timedelta

import pytest
from repository.stories import event, started, story

from clwl_spark.studies.repository.knowledge import knowledge_of
from clwl_spark.studies.repository.state import RepositoryError, targets
from clwl_spark.studies.repository.transitions import play
from clwl_spark.studies.repository.words import Kind, Periods, Sent, Want

TWO = ("QM1", "QM2")
START = datetime(2026, 1, 1, tzinfo=UTC)


def after(*events, until=None, periods=None):
    end = None if until is None else START + timedelta(days=until)
    return play(story(*events), end, periods)


def sent_by(before, *then):
    """Messages that the last events cause, by kind, without those that are none."""
    counts = after(*before, *then).sent
    counts.subtract(after(*before).sent)
    return {kind: count for kind, count in counts.items() if count}


def names(cluster, qmgr, kind=Kind.QUEUE):
    return {key.name for key in cluster.node(qmgr).cache if key.kind is kind}


def test_a_joining_queue_manager_is_published_passed_on_and_welcomed():
    told = sent_by(started(partial=()), event("1d", "join", "QM1"))
    assert told == {Sent.PUBLICATION: 2, Sent.BETWEEN_FULL: 1, Sent.WELCOME: 4}


def test_a_definition_goes_to_two_full_repositories_and_is_passed_on_to_the_others():
    fulls = ("FR1", "FR2", "FR3", "FR4")
    before = started(TWO, fulls)
    defined = event("2d", "define", "QM1", queue="Q")
    assert sent_by(before, defined) == {Sent.PUBLICATION: 2, Sent.BETWEEN_FULL: 3}
    cluster = after(*before, defined)
    assert all(names(cluster, full) == {"Q"} for full in fulls)
    assert names(cluster, "QM2") == set()


def test_a_full_repositorys_own_definition_goes_to_the_other_ones():
    before = started(TWO, ("FR1", "FR2", "FR3"))
    defined = event("2d", "define", "FR2", queue="Q")
    assert sent_by(before, defined) == {Sent.BETWEEN_FULL: 2}
    assert names(after(*before, defined), "FR3") == {"Q"}


def test_a_first_open_asks_two_for_the_queue_and_two_for_its_queue_manager():
    before = [*started(TWO), event("2d", "define", "QM1", queue="Q")]
    opened = event("3d", "open", "QM2", queue="Q")
    assert sent_by(before, opened) == {Sent.SUBSCRIPTION: 4, Sent.ANSWER: 4}
    assert sent_by([*before, opened], event("4d", "open", "QM2", queue="Q")) == {}


def test_an_open_of_a_queue_manager_asks_for_its_channel():
    opened = event("3d", "open", "QM2", of="QM1")
    assert sent_by(started(TWO), opened) == {Sent.SUBSCRIPTION: 2, Sent.ANSWER: 2}
    assert "QM1" in names(after(*started(TWO), opened), "QM2", Kind.QMGR)


def test_opens_of_own_queues_and_on_full_repositories_ask_nobody():
    before = [*started(TWO), event("2d", "define", "QM1", queue="Q")]
    assert sent_by(before, event("3d", "open", "QM1", queue="Q")) == {}
    assert sent_by(before, event("3d", "open", "FR1", queue="Q")) == {}


def test_a_queue_that_nobody_has_yet_is_told_of_when_it_is_defined():
    before = [*started(TWO), event("2d", "open", "QM2", queue="Q")]
    assert knowledge_of(after(*before), "QM2", "Q").known == []
    cluster = after(*before, event("3d", "define", "QM1", queue="Q"))
    assert names(cluster, "QM2") == {"Q"}
    assert "QM1" in names(cluster, "QM2", Kind.QMGR)


def test_a_change_is_told_by_both_full_repositories_that_were_asked():
    before = [
        *started(("QM1", "QM2", "QM3")),
        event("2d", "define", "QM1", queue="Q"),
        event("3d", "open", "QM2", queue="Q"),
    ]
    changed = event("4d", "alter", "QM1", queue="Q", attributes={"clwlprty": 4})
    assert sent_by(before, changed) == {
        Sent.PUBLICATION: 2, Sent.BETWEEN_FULL: 1, Sent.NOTICE: 2,
    }  # fmt: skip
    (row,) = knowledge_of(after(*before, changed), "QM2", "Q").known
    assert row["attributes"] == {"clwlprty": 4}
    assert names(after(*before, changed), "QM3") == set()


def test_suspend_and_resume_are_attributes_of_the_queue_manager():
    before = [*started(TWO), event("2d", "open", "QM2", of="QM1")]

    def suspended(*events):
        rows = knowledge_of(after(*before, *events), "QM2", "QM1").known
        return [row["attributes"]["suspended"] for row in rows]

    assert suspended() == [False]
    assert suspended(event("3d", "suspend", "QM1")) == [True]
    assert suspended(event("3d", "suspend", "QM1"), event("4d", "resume", "QM1")) == [False]


def test_older_news_do_not_bring_back_what_is_deleted():
    # FR2 is stopped while the queue comes and goes; both wait for it, in order.
    cluster = after(
        *started(TWO),
        event("2d", "stop", "FR2"),
        event("3d", "define", "QM1", queue="Q"),
        event("4d", "delete", "QM1", queue="Q"),
        event("5d", "start", "FR2"),
    )
    assert names(cluster, "FR2") == set()
    again = after(
        *started(TWO),
        event("3d", "define", "QM1", queue="Q"),
        event("4d", "delete", "QM1", queue="Q"),
        event("5d", "define", "QM1", queue="Q"),
    )
    assert names(again, "FR2") == {"Q"}


def test_a_definition_that_is_passed_on_after_its_deletion_is_old_news():
    # All full repositories are stopped when QM1 defines Q, so that the copy for FR1, the one to
    # pass on, waits there until FR2 and FR3 have long heard of the deletion.
    cluster = after(
        *started(TWO, ("FR1", "FR2", "FR3")),
        *(event("2d", "stop", f"FR{n}") for n in (1, 2, 3)),
        event("3d", "define", "QM1", queue="Q"),
        event("4d", "start", "FR2"),
        event("5d", "delete", "QM1", queue="Q"),
        event("6d", "start", "FR3"),
        event("7d", "start", "FR1"),
    )
    assert [names(cluster, f"FR{n}") for n in (1, 2, 3)] == [set(), set(), set()]


def test_nobody_tells_a_subscriber_that_has_not_renewed_for_ninety_days():
    before = [
        *started(TWO),
        event("1d", "define", "QM1", queue="Q"),
        event("1d", "open", "QM2", queue="Q"),
        event("2d", "stop", "QM2"),
    ]

    def notices(day):
        changed = event(f"{day}d", "alter", "QM1", queue="Q")
        return sent_by([*before, event(f"{day}d", "wait", "QM1")], changed).get(Sent.NOTICE, 0)

    assert (notices(90), notices(91)) == (2, 0)
    subscribed = after(*before, until=80).node("QM2").wants[Want(Kind.QUEUE, "Q")]
    assert subscribed == START + timedelta(days=1)


def test_full_repositories_that_run_go_first_and_then_those_that_are_preferred():
    told = [
        *started((), ("FR1", "FR2", "FR3", "FR4")),
        event("1d", "join", "QM1", prefers=["FR4", "FR2"]),
        event("2d", "wait", "QM1"),
    ]

    def chosen(*events):
        cluster = after(*told, *events)
        return [full.name for full in targets(cluster, cluster.node("QM1"))]

    assert chosen() == ["FR2", "FR4"]
    assert chosen(event("3d", "stop", "FR4")) == ["FR2", "FR1"]
    assert chosen(*(event("3d", "stop", f"FR{n}") for n in (1, 2, 3, 4))) == ["FR2", "FR4"]


def test_subscriptions_and_publications_are_renewed_in_their_periods():
    before = [
        *started(TWO),
        event("1d", "define", "QM1", queue="Q"),
        event("1d", "open", "QM2", queue="Q"),
    ]
    periods = Periods()
    cluster = after(*before, until=31)
    assert cluster.node("QM2").wants[Want(Kind.QUEUE, "Q")] == START + timedelta(days=31)
    (row,) = knowledge_of(after(*before, until=28), "QM2", "Q").known
    assert row["published"] == "2026-01-29T00:00:00Z"
    assert row["expires"] == "2026-04-29T00:00:00Z"
    assert periods.of(Kind.TOPIC) == timedelta(days=30)


def test_a_stopped_queue_manager_renews_when_it_starts():
    before = [
        *started(TWO),
        event("1d", "define", "QM1", queue="Q"),
        event("1d", "open", "QM2", queue="Q"),
        event("2d", "stop", "QM1"),
    ]
    assert names(after(*before, until=90), "QM2") == {"Q"}
    expired = knowledge_of(after(*before, until=92), "QM2", "Q")
    assert [(row["why"], row["since"]) for row in expired.missing] == [
        ("EXPIRED", "2026-04-02T00:00:00Z")
    ]
    back = after(*before, event("95d", "start", "QM1"))
    assert names(back, "QM2") == {"Q"}


def test_shorter_periods_are_what_they_say():
    day = timedelta(days=1)
    periods = Periods(resubscribe=2 * day, republish=day, expiry=3 * day, topic_expiry=2 * day)
    told = [*started(TWO), event("1d", "define", "QM1", queue="Q"), event("1d", "lose", "QM1")]
    assert names(after(*told, until=3, periods=periods), "FR1") == {"Q"}
    assert names(after(*told, until=4, periods=periods), "FR1") == set()


def test_the_first_topic_introduces_everybody_to_everybody():
    before = started(("QM1", "QM2", "QM3"))
    defined = event("2d", "define", "QM1", topic="T")
    cluster = after(*before, defined)
    assert names(cluster, "QM2", Kind.QMGR) == {"FR1", "FR2", "QM1", "QM3"}
    assert names(cluster, "QM3", Kind.TOPIC) == {"T"}
    on_full = after(*before, event("2d", "define", "FR1", topic="T"))
    assert names(on_full, "QM2", Kind.QMGR) == {"FR1", "FR2", "QM1", "QM3"}
    second = sent_by([*before, defined], event("3d", "define", "QM2", topic="U"))
    assert second == {Sent.PUBLICATION: 2, Sent.BETWEEN_FULL: 1, Sent.NOTICE: 4}


def test_a_full_repository_that_refreshes_asks_another_one():
    told = [*started(TWO), event("2d", "define", "QM1", queue="Q")]
    cluster = after(*told, event("3d", "refresh", "FR1"))
    assert names(cluster, "FR1") == {"Q"}
    alone = [
        *started(TWO, ("FR1",)),
        event("2d", "define", "QM1", queue="Q"),
        event("3d", "refresh", "FR1"),
    ]
    assert names(after(*alone), "FR1") == set()
    helped = after(*alone, event("4d", "refresh", "QM1"))
    assert names(helped, "FR1") == {"Q"}


def test_a_promoted_queue_manager_knows_everything():
    told = [*started(TWO), event("2d", "define", "QM1", queue="Q")]
    cluster = after(*told, event("3d", "promote", "QM2"))
    assert names(cluster, "QM2") == {"Q"}
    assert knowledge_of(cluster, "QM2").full
    assert "QM2" in names(cluster, "QM1", Kind.QMGR)


@pytest.mark.parametrize("day", [3, 60])
def test_who_was_told_of_a_full_repository_is_told_that_it_is_none_any_more(day):
    told = [*started(("QM1",), ("FR1", "FR2", "FR3")), event("2d", "demote", "FR1")]
    view = knowledge_of(after(*told, until=day), "QM1")
    types = {x["qmgr"]: x["attributes"]["qmtype"] for x in view.known}
    assert types == {"FR1": "NORMAL", "FR2": "REPOS", "FR3": "REPOS", "QM1": "NORMAL"}
    assert view.stale == []


def test_one_that_leaves_in_good_order_is_forgotten_at_once():
    told = [
        *started(TWO),
        event("2d", "define", "QM1", queue="Q"),
        event("3d", "open", "QM2", queue="Q"),
        event("4d", "leave", "QM1"),
    ]
    cluster = after(*told)
    for name in ("FR1", "FR2", "QM2"):
        assert not any(key.owner.startswith("QM1") for key in cluster.node(name).cache)


@pytest.mark.parametrize("owner", ["QM1", "FR1"])
def test_who_was_told_by_reason_of_a_topic_is_told_when_it_is_gone_too(owner):
    told = [
        *started(("QM1", "QM2")),
        event("2d", "define", owner, topic="T"),
        event("3d", "delete", owner, topic="T"),
        event("4d", "suspend", "QM1"),
    ]
    view = knowledge_of(after(*told), "QM2")
    assert [x["attributes"]["suspended"] for x in view.known if x["qmgr"] == "QM1"] == [True]
    assert "QM1" not in names(after(*told, event("5d", "leave", "QM1")), "QM2", Kind.QMGR)


def test_the_owner_of_the_only_topic_leaves_in_good_order():
    told = [*started(TWO), event("2d", "define", "QM1", topic="T"), event("3d", "leave", "QM1")]
    assert names(after(*told), "QM2", Kind.QMGR) == {"FR1", "FR2"}


def test_a_queue_stays_known_with_its_owner_that_is_no_full_repository_any_more():
    told = [
        *started(("QM1",), ("FR1", "FR2", "FR3")),
        event("2d", "define", "FR1", queue="Q"),
        event("3d", "open", "QM1", queue="Q"),
        event("4d", "demote", "FR1"),
    ]
    cluster = after(*told, until=200)
    assert names(cluster, "QM1") == {"Q"}
    assert names(cluster, "QM1", Kind.QMGR) == {"FR1", "FR2", "FR3"}


@pytest.mark.parametrize(
    ("events", "said"),
    [
        ([event("2d", "start", "QM1")], "it runs already"),
        ([event("2d", "define", "QM1", queue="Q")] * 2, "it is there; alter it"),
        ([event("2d", "delete", "QM1", queue="Q")], "does not define it"),
        ([event("2d", "promote", "FR1")], "it is that already"),
        ([event("2d", "lose", "QM1"), event("3d", "open", "QM1", queue="Q")], "no queue manager"),
        ([event("2d", "recreate", "QM1", qmid="X"), event("3d", "lose", "QM1"),
          event("4d", "join", "QM1", qmid="X")], "was there before"),
    ],
)  # fmt: skip
def test_what_cannot_happen_is_refused(events, said):
    with pytest.raises(RepositoryError, match=said) as caught:
        after(*started(TWO), *events)
    assert caught.value.exit_code == 2
    assert "\n" not in str(caught.value)


def test_a_reset_is_told_to_everybody_but_the_one_that_is_removed():
    joined = [*started(("QM2",)), event("1d", "join", "QM1", qmid="OLD")]
    assert sent_by(joined, event("2d", "reset", "FR1", qmid="OLD")) == {Sent.REMOVAL: 2}


def test_news_that_does_not_come_is_told_in_mqs_words_until_it_expires():
    story_of = (*started(TWO), event("1d", "define", "QM1", topic="T"), event("2d", "lose", "QM1"))
    assert knowledge_of(after(*story_of, until=27), "QM2").overdue == []
    told = {x["kind"]: x for x in knowledge_of(after(*story_of, until=29), "QM2").overdue}
    assert told["TOPIC"]["text"] == (
        "AMQ9465/AMQ9466 (z/OS: CSQX465I/CSQX466I): QM2 expected QM1 to publish topic T again by "
        "2026-01-29T00:00:00Z, and nothing has come; it is used until 2026-02-01T00:00:00Z"
    )
    kinds = {x["kind"] for x in knowledge_of(after(*story_of, until=60), "QM2").overdue}
    assert kinds == {"QMGR"}


def test_what_is_not_known_says_where_it_stopped():
    cut = event("2d", "disconnect", "FR1", of="FR2")
    new = event("3d", "define", "FR1", queue="NEW")
    (row,) = knowledge_of(after(*started(TWO), cut, new, until=4), "FR2", "NEW").missing
    assert row["path"] == [{"qmgr": "FR1", "knows": True}]
    assert row["stopped"] == "between the full repositories and FR2: FR1 has it"


@pytest.mark.parametrize(
    ("happens", "said"),
    [
        (event("2d", "purge", "QM1"), "no message between repositories waits for it"),
        (event("2d", "restore", "QM1"), "it has no backup"),
        (event("2d", "connect", "QM1", of="FR1"), "they are connected"),
        (event("2d", "disconnect", "QM1", of="QM1"), "name another queue manager"),
    ],
)
def test_reasons_for_a_refresh_that_cannot_happen(happens, said):
    with pytest.raises(RepositoryError, match=said):
        after(*started(TWO), happens)
