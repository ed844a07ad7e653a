"""What holds whatever happens."""

from datetime import timedelta

from hypothesis import example, given, settings
from hypothesis import strategies as st
from repository.stories import event, happenings, started, story

from clwl_spark.studies.repository.knowledge import knowledge_of, story_json
from clwl_spark.studies.repository.transitions import play
from clwl_spark.studies.repository.words import Kind


def keys(rows):
    return {(row["kind"], row["name"], row["qmid"]) for row in rows}


ANSWERED_LATE = [
    *started(),
    event("2d", "define", "QM2", queue="A"),
    event("3d", "open", "QM1", queue="A"),
    event("4d", "stop", "FR1"),
    event("5d", "define", "QM1", queue="A"),
    event("35d", "refresh", "QM1"),
    event("36d", "alter", "QM2", queue="A", attributes={"clwlprty": 3}),
]
"""QM1 renews its subscription on day 30; FR1 answers it on day 36, after QM1's REFRESH."""

EXPIRED_THEN_REFRESHED = [
    *started(),
    event("2d", "open", "QM2", queue="A"),
    event("3d", "define", "QM1", queue="A"),
    event("14d", "stop", "QM1"),
    event("94d", "refresh", "QM2"),
]
"""QM2 has lost QM1's queue on day 93, and asks for it no more from day 94 on."""

DELETED_AFTER_REFRESHES = [
    *started(),
    event("2d", "open", "QM2", queue="A"),
    event("3d", "define", "QM1", queue="A"),
    event("4d", "refresh", "FR2"),
    event("8d", "refresh", "FR1"),
    event("9d", "delete", "QM1", queue="A"),
]
"""Nobody who knows of the deletion knows that QM2 asked, until QM2 renews its subscription."""

PUBLISHED_AFTER_REFRESHES = [
    *started(),
    event("21d", "define", "QM1", topic="A"),
    event("66d", "refresh", "FR1"),
    event("68d", "refresh", "FR2"),
]
"""QM1 publishes its topic on day 75, when neither full repository knows who there is to tell."""


def defined(cluster):
    return {(key.kind.value, key.name, key.owner) for node in cluster.alive() for key in node.own}


@settings(deadline=None, max_examples=150)
@given(happenings())
def test_known_and_missing_are_all_that_is_defined(told):
    events, _ = told
    cluster = play(story(*events))
    for node in cluster.alive():
        found = knowledge_of(cluster, node.name)
        known, missing, stale = keys(found.known), keys(found.missing), keys(found.stale)
        assert not known & missing
        assert known | missing >= defined(cluster)
        assert stale <= known
        assert (known | missing) - defined(cluster) <= stale
        assert all(row["age_seconds"] >= 0 for row in found.stale)
        own = {key for key in known if key[2] == node.qmid}
        assert own == {key for key in defined(cluster) if key[2] == node.qmid}


@settings(deadline=None, max_examples=150)
@given(happenings())
def test_nobody_knows_of_a_version_that_is_not_yet_made(told):
    events, _ = told
    cluster = play(story(*events))
    for node in cluster.alive():
        for record in node.cache.values():
            last_version, made = cluster.changed[record.key][-1]
            assert record.version <= last_version
            assert made <= cluster.now
            assert record.published <= cluster.now
            assert node.learned[record.key] <= cluster.now
            assert record.expires(cluster.periods) > cluster.now


@settings(deadline=None, max_examples=150)
@given(happenings())
@example((ANSWERED_LATE, {"FR1"}))
@example((EXPIRED_THEN_REFRESHED, {"QM1"}))
@example((DELETED_AFTER_REFRESHES, set()))
@example((PUBLISHED_AFTER_REFRESHES, set()))
def test_when_all_run_again_all_is_known_where_it_must_be(told):
    """A month of quiet: full repositories know everything, subscribers what they asked for."""
    events, down = told
    last = int(events[-1]["at"][:-1])
    events = [*events, *(event(f"{last}d", "start", name) for name in sorted(down))]
    cluster = play(story(*events, event(f"{last + 31}d", "wait", "FR1")))
    for node in cluster.alive():
        found = knowledge_of(cluster, node.name)
        assert found.stale == []
        if node.full:
            assert keys(found.known) == defined(cluster)
            continue
        assert {row["why"] for row in found.missing} <= {"NEVER_OPENED", "REFRESHED"}
        topics = any(key[0] == "TOPIC" for key in defined(cluster))
        for kind, name, owner in defined(cluster):
            wanted = (Kind(kind), name) in node.wants
            pushed = kind == "TOPIC" or (kind == "QMGR" and topics)
            if wanted or pushed or (cluster.nodes[owner].full and kind == "QMGR"):
                assert (kind, name, owner) in keys(found.known)


@settings(deadline=None, max_examples=60)
@given(happenings(), st.integers(1, 200))
def test_after_ninety_days_nothing_of_a_lost_queue_manager_is_left(told, more):
    events, down = told
    last = int(events[-1]["at"][:-1])
    events = [*events, *(event(f"{last}d", "start", name) for name in sorted(down))]
    lost = event(f"{last}d", "lose", "QM1")
    cluster = play(story(*events, lost, event(f"{last + 90 + more}d", "wait", "FR1")))
    for node in cluster.alive():
        assert not any(record.qmgr == "QM1" for record in node.cache.values())


@settings(deadline=None, max_examples=40)
@given(happenings(), st.integers(0, 60))
def test_a_moment_in_between_is_what_the_whole_story_went_through(told, days):
    """The same events give the same, and later ones change nothing before them."""
    events, _ = told
    whole = story(*events)
    until = whole.start + timedelta(days=days)
    at_once = play(whole, until)
    shorter = [x for x in events if int(x["at"][:-1]) <= days]
    again = play(story(*shorter), until)
    names = sorted(node.name for node in at_once.alive())

    def told_of(cluster):
        return story_json(cluster, [knowledge_of(cluster, name) for name in names])

    assert told_of(at_once) == told_of(again)


@settings(deadline=None, max_examples=60)
@given(happenings())
def test_reset_removes_one_owner_everywhere_and_refresh_brings_it_back(told):
    events, down = told
    last = int(events[-1]["at"][:-1])
    events = [*events, *(event(f"{last}d", "start", name) for name in sorted(down))]
    before = play(story(*events))
    qmid = before.node("QM2").qmid
    removed = [*events, event(f"{last}d", "reset", "FR1", qmid=qmid)]
    after = play(story(*removed))
    for node in after.alive():
        if node.qmid != qmid:
            kept = {key for key in before.nodes[node.qmid].cache if key.owner != qmid}
            assert set(node.cache) == kept
    back = play(story(*removed, event(f"{last}d", "refresh", "QM2")))
    assert all(key in back.node("FR2").cache for key in back.node("QM2").own)


def test_messages_are_few_while_nothing_changes():
    """Between two renewals nothing is sent at all (Hughson: every 30 days, and on changes)."""
    quiet = play(story(*started(), event("20d", "wait", "FR1")))
    joined = play(story(*started()))
    assert quiet.sent == joined.sent
    assert sum(play(story(*started(), event("28d", "wait", "FR1"))).sent.values()) > sum(
        joined.sent.values()
    )
