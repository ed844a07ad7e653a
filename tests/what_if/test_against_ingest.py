"""A change in words against the changed topology written and routed, on the demo's cluster."""

import shutil
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest
from lakes import lake_with
from small_worlds import queue, rcvr, sender
from topology_frames import frames
from worlds import frame

from clwl_spark.delta.lake import Lake
from clwl_spark.routing.engines.batch import RouteOptions
from clwl_spark.routing.run import route
from clwl_spark.snapshots.ingest import IngestOptions, ingest
from clwl_spark.snapshots.inspection import STATE
from clwl_spark.snapshots.write import Snapshot, write_snapshot
from clwl_spark.studies.what_if.changed import changed_by_words, changed_to
from clwl_spark.studies.what_if.run import what_if
from clwl_spark.studies.what_if.texts import NothingHitError
from clwl_spark.studies.what_if.words import understood
from clwl_spark.tables import TABLES

EVER = datetime(1970, 1, 1, tzinfo=UTC)
OPTIONS = RouteOptions(state_partitions=2)
UNTOLD = ("snapshot_id", "source", "altered")


def copied(lake, folder):
    shutil.copytree(lake.root, folder)
    return Lake(lake.spark, str(folder))


def content(tables):
    """Rows of a snapshot's tables, less its name and where they are from."""
    told = {name: [x for x in TABLES[name].names if x not in UNTOLD] for name in STATE}
    return {name: Counter(map(tuple, tables[name].select(*told[name]).collect())) for name in told}


def snapshot_rows(lake, snapshot_id):
    tables = {name: lake.read_or_empty(name) for name in STATE}
    return {x: table.where(table.snapshot_id == snapshot_id) for x, table in tables.items()}


def routed(lake):
    """Counts of the outcomes of a lake, by request and end."""
    route(lake, OPTIONS)
    names = ("qmgr", "object_name", "object_qmgr", "reason", "dest_qmgr", "channel", "is_local")
    rows = lake.read("outcomes").groupBy(*names).count().collect()
    return {tuple(row)[:-1]: row["count"] for row in rows}


def files_below(lake):
    return {path: path.stat().st_mtime_ns for path in Path(lake.root).rglob("*") if path.is_file()}


def changed(lake, *words):
    return changed_by_words(lake, "demo", [understood(x) for x in words])


def answer(lake, words):
    sides = changed(lake, *words)
    before = files_below(lake)
    found = what_if(lake, "demo", words, sides, OPTIONS)
    assert files_below(lake) == before
    assert not list(Path(lake.root).rglob("what-if-*"))
    return sides, found.moves


def assert_counts(moves, before, after):
    """Every count of an answer is that of the outcomes."""
    assert (moves.before, moves.after) == (sum(before.values()), sum(after.values()))
    for number, (side, counts) in enumerate((("before", before), ("after", after))):
        goes = {end: n for end, n in counts.items() if end[3] == 0}
        assert summed(moves.by_qmgr, side, "dest_qmgr") == grouped(goes, 4)
        remote = {end: n for end, n in goes.items() if end[5] is not None}
        assert summed(moves.by_channel, side, "dest_qmgr", "channel") == grouped(remote, 4, 5)
        keys = ("qmgr", "object_name", "object_qmgr", "dest_qmgr", "channel")
        assert summed(moves.by_object, side, *keys) == grouped(goes, 0, 1, 2, 4, 5)
        failed = {end: n for end, n in counts.items() if end[3] != 0}
        assert summed(moves.by_reason, side, "qmgr", "object_name", "object_qmgr", "reason") == (
            grouped(failed, 0, 1, 2, 3)
        )
        assert moves.failed[number] == sum(failed.values())
        busiest = moves.busiest[number]
        assert busiest[side] == max(grouped(remote, 4, 5).values())


def elsewhere(before, after):
    """How many outcomes go another way: what the ends of each request lose to others of it."""
    lost, gained = Counter(before) - Counter(after), Counter(after) - Counter(before)
    lost_by, gained_by = grouped(lost, 0, 1, 2), grouped(gained, 0, 1, 2)
    return sum(min(count, gained_by[request]) for request, count in lost_by.items())


def summed(rows, side, *names):
    found = Counter()
    for row in rows:
        found[tuple(row[name] for name in names)] += row[side]
    return +found


def grouped(counts, *positions):
    found = Counter()
    for end, count in counts.items():
        found[tuple(end[at] for at in positions)] += count
    return found


@pytest.fixture(scope="module")
def as_it_is(lake, tmp_path_factory):
    """Outcomes of the messages on the demo's topology."""
    found = copied(lake, tmp_path_factory.mktemp("demo") / "as-it-is")
    write_snapshot(found, Snapshot("now", EVER, "test"), snapshot_rows(found, "demo"))
    return routed(found)


INGESTED = {
    "weight and alias": {
        "ALTER CHANNEL(FREIGHT.DEPOT2) CHLTYPE(CLUSRCVR) CLWLWGHT(80)": "DEPOT2",
        "ALTER QALIAS(PARCEL.IN) TARGET(PARCEL.LABEL)": "SHOP1",
    },
    "suspended, and a new host": {
        "SUSPEND QMGR CLUSTER(FREIGHT)": "DEPOT1",
        "DEFINE QLOCAL(PARCEL.BOOK) CLUSTER(FREIGHT) DEFBIND(NOTFIXED)": "HUB2",
    },
}


def tried(lake, folder, change):
    """The change in words, and a copy of the lake with the change as a snapshot in force."""
    other = copied(lake, folder / "lake")
    for text, qmgr in change.items():
        (folder / f"{qmgr}.mqsc").write_text(f"{text}\n")
    files = [folder / f"{qmgr}.mqsc" for qmgr in change.values()]
    ingest(other, files, "then", IngestOptions(EVER, observer="{stem}", base="demo"))
    return tuple(f"{text} ON {qmgr}" for text, qmgr in change.items()), other


@pytest.mark.parametrize("change", INGESTED.values(), ids=INGESTED)
def test_definitions_are_changed_as_an_ingested_script_does(lake, tmp_path, change):
    words, other = tried(lake, tmp_path, change)
    sides = changed(lake, *words)
    assert content(sides.before) == content(snapshot_rows(other, "demo"))
    assert content(sides.after) == content(snapshot_rows(other, "then"))


@pytest.mark.slow
@pytest.mark.parametrize("change", INGESTED.values(), ids=INGESTED)
def test_messages_go_as_with_an_ingested_script(lake, as_it_is, tmp_path, change):
    words, other = tried(lake, tmp_path, change)
    _, moves = answer(lake, words)
    after = routed(other)
    assert_counts(moves, as_it_is, after)
    assert moves.moved == elsewhere(as_it_is, after) > 100


def test_channels_and_queue_managers_fail_as_their_status_says(lake, as_it_is, tmp_path):
    other = copied(lake, tmp_path / "lake")
    tables = snapshot_rows(other, "demo")
    keys = ("qmgr", "channel", "chltype", "remote_qmgr")
    status = {
        tuple(row[x] for x in keys): row.asDict() for row in tables["channel_status"].collect()
    }
    down = [(x, "FREIGHT.DEPOT2", "CLUSSDR", "DEPOT2") for x in ("HUB1", "HUB2", "SHOP1", "SHOP3")]
    for key in (*down, ("DEPOT1", "FREIGHT.DEPOT2", "CLUSSDR", "DEPOT2")):
        row = status.setdefault(key, dict(zip(keys, key, strict=True)))
        row["status"] = "RETRYING"
    status["SHOP1", "FREIGHT.DEPOT1", "CLUSSDR", "DEPOT1"]["status"] = "STOPPED"
    tables["channel_status"] = frame(lake.spark, "channel_status", list(status.values()))
    write_snapshot(other, Snapshot("then", EVER, "test"), tables)

    words = ("STOP CHANNEL(FREIGHT.DEPOT1) ON SHOP1", "ENDMQM DEPOT2")
    sides, moves = answer(lake, words)
    assert sides.down == {"DEPOT2"}
    after = {end: n for end, n in routed(other).items() if end[0] != "DEPOT2"}
    assert_counts(moves, as_it_is, after)
    assert moves.waiting[1] > moves.waiting[0]
    assert elsewhere(as_it_is, after) > 100


# ---- tables alone ------------------------------------------------------------------------------


def rows_changed(sides):
    """Rows that a change takes away and adds, by table, as dictionaries of what tells them."""
    before, after = content(sides.before), content(sides.after)
    found = {}
    for name in STATE:
        told = [x for x in TABLES[name].names if x not in UNTOLD]
        gone, new = before[name] - after[name], after[name] - before[name]
        if gone or new:
            found[name] = [
                sorted((dict(zip(told, row, strict=True)) for row in rows), key=repr)
                for rows in (gone, new)
            ]
    return found


def test_what_an_owner_changes_is_seen_in_the_views_of_others(lake):
    """SHOP2 has shown how it sees HUB1's channel."""
    found = rows_changed(changed(lake, "ALTER CHANNEL(RETAIL.HUB1) CHLTYPE(CLUSRCVR) CLWLWGHT(7)"))
    assert found.keys() == {"cluster_channels"}
    gone, new = found["cluster_channels"]
    assert {x["observer"] for x in new} == {"*", "SHOP2"}
    assert {x["clwlwght"] for x in new} == {7}
    assert {(x["qmgr"], x["channel"]) for x in gone + new} == {("HUB1", "RETAIL.HUB1")}


def test_a_deleted_queue_is_gone_from_all_views(lake):
    before = changed(lake, "DELETE QLOCAL(TARIFF.REQUEST) ON HUB1")
    gone, new = rows_changed(before)["queues"]
    assert new == []
    assert {(x["qmgr"], x["queue"]) for x in gone} == {("HUB1", "TARIFF.REQUEST")}
    assert {x["observer"] for x in gone} == {"*", "SHOP2"}


@pytest.mark.parametrize(
    ("change", "observers"),
    [
        ("DEFINE QLOCAL(TARIFF.REQUEST) CLUSTER(RETAIL) ON SHOP1", {"*", "SHOP2"}),
        ("DEFINE QLOCAL(NEW.REQUEST) CLUSTER(RETAIL) ON HUB1", {"*"}),
        ("DEFINE QLOCAL(TARIFF.REQUEST) CLUSTER(FREIGHT) ON SHOP1", {"*"}),
    ],
    ids=["asked for", "never asked for", "in a cluster of others"],
)
def test_a_new_host_is_seen_where_its_queue_was_asked_for(lake, change, observers):
    """SHOP2 has a view of its own and is in RETAIL alone."""
    gone, new = rows_changed(changed(lake, change))["queues"]
    assert gone == []
    assert {x["observer"] for x in new} == observers


def test_a_change_of_cluster_is_a_move_in_the_views_of_others(lake):
    found = rows_changed(
        changed(lake, "ALTER CHANNEL(RETAIL.HUB1) CHLTYPE(CLUSRCVR) CLUSTER(FREIGHT)")
    )
    gone, new = found["cluster_channels"]
    assert {x["observer"] for x in gone} == {"*", "SHOP2"}
    assert {(x["observer"], x["cluster"]) for x in new} == {("*", "FREIGHT")}


def test_changes_act_in_their_order(lake):
    first, second = (f"ALTER QALIAS(PARCEL.IN) TARGET({x})" for x in ("PARCEL.LABEL", "TARIFF"))
    _, (row,) = rows_changed(changed(lake, first, second))["queues"]
    assert row["target"] == "TARIFF"


def test_scripts_come_before_words(lake, tmp_path):
    script = tmp_path / "change.mqsc"
    script.write_text(
        "Starting MQSC for queue manager SHOP1.\nALTER QALIAS(PARCEL.IN) TARGET(TARIFF)\n"
    )
    words = [understood("ALTER QALIAS(PARCEL.IN) DEFBIND(OPEN) ON SHOP1")]
    _, (row,) = rows_changed(changed_by_words(lake, "demo", words, [script]))["queues"]
    assert (row["target"], row["defbind"]) == ("TARIFF", "OPEN")


DUMPED = (
    "* Script generated on 2026-09-20 at 12.00.00\n* Queue manager name: SHOP1\n"
    "* Command issued: dmpmqcfg -a\n"
)


@pytest.mark.parametrize("head", ["Starting MQSC for queue manager SHOP1.\n", DUMPED])
def test_words_that_say_otherwise_than_a_script_count(lake, tmp_path, head):
    script = tmp_path / "change.mqsc"
    script.write_text(
        f"{head}DEFINE QALIAS(NEW) TARGET(TARIFF) REPLACE\nALTER QMGR CLWLUSEQ(ANY)\n"
    )
    said = ("DEFINE QALIAS(NEW) TARGET(PARCEL.BOOK) REPLACE", "ALTER QMGR CLWLUSEQ(LOCAL)")
    words = [understood(f"{x} ON SHOP1") for x in said]
    found = rows_changed(changed_by_words(lake, "demo", words, [script]))
    _, (row,) = found["queues"]
    assert (row["queue"], row["target"]) == ("NEW", "PARCEL.BOOK")
    _, new = found["queue_managers"]
    assert {x["clwluseq"] for x in new} == {"LOCAL"}


ANOTHER = (
    "DEFINE CHANNEL(FREIGHT.DEPOT1.B) CHLTYPE(CLUSRCVR) CONNAME('depot1b(1414)') CLUSTER(FREIGHT)"
)


@pytest.mark.parametrize(
    ("change", "status"),
    [("ENDMQM DEPOT1", "RETRYING"), ("STOP CHANNEL(FREIGHT.DEPOT1.B) ON SHOP1", "STOPPED")],
)
@pytest.mark.parametrize("is_in_script", [True, False], ids=["script", "words"])
def test_a_channel_fails_that_an_earlier_change_defines(
    lake, tmp_path, change, status, is_in_script
):
    script = tmp_path / "change.mqsc"
    script.write_text(f"Starting MQSC for queue manager DEPOT1.\n{ANOTHER}\n")
    words = [understood(change)] if is_in_script else [understood(f"{ANOTHER} ON DEPOT1")]
    words += [] if is_in_script else [understood(change)]
    sides = changed_by_words(lake, "demo", words, [script] if is_in_script else [])
    _, new = rows_changed(sides)["channel_status"]
    found = {x["qmgr"]: x["status"] for x in new if x["channel"] == "FREIGHT.DEPOT1.B"}
    assert found["SHOP1"] == status
    assert set(found.values()) == {status}


def test_words_find_what_a_script_defines(lake, tmp_path):
    script = tmp_path / "change.mqsc"
    script.write_text("Starting MQSC for queue manager SHOP1.\nDEFINE QLOCAL(NEW.Q)\n")
    words = [understood("ALTER QLOCAL(NEW.Q) PUT(DISABLED)")]
    _, (row,) = rows_changed(changed_by_words(lake, "demo", words, [script]))["queues"]
    assert (row["qmgr"], row["put_enabled"]) == ("SHOP1", False)


def test_a_stopped_channel_keeps_its_transmission_queue(lake):
    (gone,), (new,) = rows_changed(changed(lake, "STOP CHANNEL(FREIGHT.DEPOT1) ON SHOP1"))[
        "channel_status"
    ]
    assert (gone["status"], new["status"]) == ("RUNNING", "STOPPED")
    assert new["xmitq"] == gone["xmitq"] == "XMIT.DEPOTS"


@pytest.mark.parametrize(
    "words",
    [
        "ALTER CHANNEL(FREIGHT.DEPOT2) CHLTYPE(CLUSRCVR) CLWLWGHT(20)",
        "START CHANNEL(FREIGHT.DEPOT1) ON SHOP1",
        "RESUME QMGR(DEPOT1) CLUSTER(FREIGHT)",
    ],
)
def test_a_change_that_changes_nothing_is_refused(lake, words):
    with pytest.raises(NothingHitError, match="changes nothing"):
        changed(lake, words)


def test_a_snapshot_alike_is_refused(lake):
    with pytest.raises(NothingHitError, match=r"demo against itself changes .*--snapshot"):
        changed_to(lake, "demo", "demo")


def test_an_unreachable_queue_manager_that_ends_puts_nothing_any_more(spark, tmp_path):
    """QM2's channel is RETRYING already, so that no row changes; its own puts end all the same."""
    own = lake_with(spark, tmp_path / "lake", ["snapshots"])
    rows = (rcvr("QM1"), rcvr("QM2"), queue("QM1", "Q", "K"), sender("QM1", "QM2", "RETRYING"))
    write_snapshot(own, Snapshot("demo", EVER, "test"), frames(spark, *rows, snapshot_id="demo"))
    assert changed(own, "ENDMQM QM2").down == {"QM2"}


@pytest.mark.parametrize(
    ("change", "rank"),
    [
        ("ALTER CHANNEL(TO.QM2) CHLTYPE(CLUSRCVR) NETPRTY(7) ON QM2", 0),
        ("ALTER QLOCAL(Q) CLWLRANK(3) ON QM1", 3),
    ],
    ids=["another object", "another attribute"],
)
def test_a_null_of_another_programs_row_stays_the_default(spark, tmp_path, change, rank):
    """Ingest fills what QM1 displays of its queue; a row that it has not filled means its nulls."""
    own = lake_with(spark, tmp_path / "lake", ["snapshots"])
    defined = queue("QM1", "Q", "K", put_enabled=False, clwlprty=5, clwlrank=0)
    shown = queue("QM1", "Q", "K", observer="QM1", put_enabled=None, clwlprty=4, clwlrank=None)
    rows = (rcvr("QM1"), rcvr("QM2"), defined, shown)
    write_snapshot(own, Snapshot("demo", EVER, "test"), frames(spark, *rows, snapshot_id="demo"))
    queues = changed(own, change).after["queues"].where("observer = 'QM1'").collect()
    assert [(x["put_enabled"], x["clwlprty"], x["clwlrank"]) for x in queues] == [(True, 4, rank)]


def test_a_null_of_another_programs_definition_is_passed_on_as_the_default(spark, tmp_path):
    """Views may know what a text leaves open; a definition that nobody read leaves nothing open."""
    own = lake_with(spark, tmp_path / "lake", ["snapshots"])
    defined = queue("QM2", "Q", "K", put_enabled=None, clwlrank=None, clwlprty=5)
    view = queue("QM2", "Q", "K", observer="QM1", put_enabled=False, clwlrank=4, clwlprty=3)
    rows = (rcvr("QM1"), rcvr("QM2"), defined, view)
    write_snapshot(own, Snapshot("demo", EVER, "test"), frames(spark, *rows, snapshot_id="demo"))
    queues = changed(own, "ALTER QLOCAL(Q) CLWLPRTY(6) ON QM2").after["queues"]
    told = {tuple(x) for x in queues.select("put_enabled", "clwlrank", "clwlprty").collect()}
    assert told == {(True, 0, 6)}
    seen = changed(own, "ALTER CHANNEL(TO.QM2) CHLTYPE(CLUSRCVR) NETPRTY(7) ON QM2").after["queues"]
    (row,) = seen.where("observer = 'QM1'").collect()
    assert (row["put_enabled"], row["clwlrank"], row["clwlprty"]) == (False, 4, 3)
