"""What a queue manager displays of its own, which comes before its definitions."""

from datetime import UTC, datetime

import pytest
from lakes import lake_with
from mq.mqsc_texts import clusqmgr, queue, session
from worlds import put_rows

from clwl_spark.snapshots.export import export
from clwl_spark.snapshots.ingest import IngestOptions, ingest

NOON = datetime(2024, 5, 6, 12, tzinfo=UTC)
DUMP = """* Queue manager name: {0}
ALTER QMGR CLWLUSEQ(ANY) CLWLMRUC(7) {1}
DEFINE CHANNEL(TO.{0}) CHLTYPE(CLUSRCVR) CONNAME('one') CLUSTER(K) CLWLWGHT(10)
DEFINE QLOCAL(APP.Q) CLUSTER(K) CLWLRANK(1) DEFBIND(NOTFIXED)
DEFINE QREMOTE(FAR) RNAME(THERE) RQMNAME(QM9) CLUSTER(K)
"""
DEFINED = DUMP.format("QM1", "")
FULL = DUMP.format("FULL", "REPOS(K)")


def shown_channel(*more, qmgr="QM1", deftype="CLUSRCVR", viewer="QM1"):
    head = (f"CLUSQMGR({qmgr})", f"CHANNEL(TO.{qmgr})", "CLUSTER(K)", f"DEFTYPE({deftype})")
    return session(viewer, clusqmgr(*head, f"QMID({qmgr}_1)", *more))


def shown_queue(*more, name="APP.Q", viewer="QM1", cluster="K"):
    head = (f"QUEUE({name})", "TYPE(QCLUSTER)", f"CLUSTER({cluster})", "CLUSQMGR(QM1)")
    return session(viewer, queue(*head, *more))


SHOWN = shown_channel() + shown_queue("CLWLRANK(4)") + shown_queue("CLUSQT(QREMOTE)", name="FAR")


class World:
    """A lake, to which texts of QM1 come."""

    def __init__(self, lake, folder):
        self.lake = lake
        self.folder = folder
        self.count = 0

    def take(self, *texts, snapshot="S", base=None):
        """Ingest texts, each a file."""
        folder = self.folder / str(self.count)
        folder.mkdir()
        self.count += 1
        for at, text in enumerate(texts):
            (folder / f"{at}.mqsc").write_text(text)
        return ingest(self.lake, [folder], snapshot, IngestOptions(NOON, "QM1", base))

    def rows(self, table, snapshot="S", observer="QM1", qmgr="QM1"):
        """Rows of QM1's objects, as one sees them."""
        found = self.lake.read(table, "snapshot_id", [snapshot]).collect()
        rows = [row.asDict() for row in found if (row.observer, row.qmgr) == (observer, qmgr)]
        return sorted(rows, key=str)

    def queue(self, name="APP.Q", **options):
        return [row for row in self.rows("queues", **options) if row["queue"] == name]

    def content(self, snapshot="S"):
        """All that routing sees."""
        return {
            (table, *(y for x, y in sorted(row.asDict().items()) if x not in UNTOLD))
            for table in ("queue_managers", "cluster_channels", "queues")
            for row in self.lake.read(table, "snapshot_id", [snapshot]).collect()
        }


UNTOLD = {"snapshot_id", "source", "altered"}


@pytest.fixture
def world(spark, tmp_path):
    return World(lake_with(spark, tmp_path / "lake"), tmp_path)


@pytest.mark.parametrize("order", [(DEFINED, SHOWN), (SHOWN, DEFINED), None])
def test_what_a_display_leaves_open_is_as_it_is_defined(world, order):
    for text in order or ():
        world.take(text)
    if not order:
        world.take(SHOWN, DEFINED)
    (qmgr,) = world.rows("queue_managers")
    assert (qmgr["qmid"], qmgr["clwluseq"], qmgr["clwlmruc"]) == ("QM1_1", "ANY", 7)
    assert qmgr["source"].endswith(", as defined: clwluseq, clwlmruc")
    (channel,) = world.rows("cluster_channels")
    assert (channel["clwlwght"], channel["qmtype"]) == (10, "NORMAL")
    (queue,) = world.queue()
    assert (queue["clwlrank"], queue["defbind"]) == (4, "NOTFIXED")
    (far,) = world.queue("FAR")
    assert (far["rname"], far["rqmname"]) == ("THERE", "QM9")
    (defined,) = world.queue(observer="*")
    assert defined["clwlrank"] == 1


@pytest.mark.parametrize("more", [["SUSPEND(YES)", "QMTYPE(REPOS)"], ["SUSPEND(NO)"], []])
def test_the_same_texts_again_change_nothing(world, more):
    texts = [DEFINED, shown_channel(*more) + shown_queue("CLWLRANK(4)")]
    world.take(*texts)
    before = world.content()
    for again in (texts, texts[:1], texts[1:], texts[::-1]):
        world.take(*again)
        assert world.content() == before
    assert {x["suspended"] for x in world.rows("cluster_channels", observer="*")} == {None}


CHANGES = {
    "ALTER QLOCAL(APP.Q) PUT(DISABLED)": ("queues", {"put_enabled": False, "clwlrank": 4}),
    "ALTER QLOCAL(APP.Q) CLWLRANK(2)": ("queues", {"clwlrank": 2}),
    "DEFINE QLOCAL(APP.Q) CLUSTER(K) REPLACE": ("queues", {"clwlrank": None, "defbind": None}),
    "ALTER CHANNEL(TO.QM1) CHLTYPE(CLUSRCVR) CLWLWGHT(3)": ("cluster_channels", {"clwlwght": 3}),
    "SUSPEND QMGR CLUSTER(K)": ("cluster_channels", {"suspended": True, "clwlwght": 10}),
    "ALTER QMGR CLWLUSEQ(LOCAL)": ("queue_managers", {"clwluseq": "LOCAL", "clwlmruc": 7}),
    "ALTER QMGR REPOS(K)": ("cluster_channels", {"qmtype": "REPOS"}),
}


@pytest.mark.parametrize("text", CHANGES)
def test_a_later_text_counts_against_what_was_displayed(world, text):
    table, expected = CHANGES[text]
    world.take(DEFINED, shown_channel("SUSPEND(NO)", "QMTYPE(NORMAL)") + shown_queue("CLWLRANK(4)"))
    outcome = world.take(text, snapshot="T", base="S")
    assert outcome.rejects == ()
    (row,) = world.rows(table, "T")
    assert {x: row[x] for x in expected} == expected
    assert len(world.rows("queue_managers", "T")) == 1


@pytest.mark.parametrize(
    "text",
    [
        "ALTER QLOCAL(APP.Q) CLUSTER(J)",
        "ALTER QLOCAL(APP.Q) CLUSTER(' ')",
        "DEFINE QLOCAL(APP.Q) CLUSTER(J) REPLACE",
        "DELETE QLOCAL(APP.Q)",
    ],
)
def test_what_leaves_its_cluster_is_displayed_no_more(world, text):
    world.take(DEFINED, SHOWN)
    assert world.take(text, snapshot="T", base="S").rejects == ()
    assert world.queue(snapshot="T") == []
    assert len(world.queue("FAR", snapshot="T")) == 1


def test_an_alter_to_what_the_own_display_shows_is_one_for_everybody(world):
    world.take(DEFINED, shown_channel("SUSPEND(YES)") + shown_queue("CLWLRANK(4)"))
    world.take("ALTER QLOCAL(APP.Q) CLWLRANK(4)\nSUSPEND QMGR CLUSTER(K)", snapshot="T", base="S")
    assert [x["clwlrank"] for x in world.queue(snapshot="T", observer="*")] == [4]
    (channel,) = world.rows("cluster_channels", "T", observer="*")
    assert channel["suspended"] is True


def test_a_definition_that_is_merged_fills_anew(world):
    world.take(DEFINED, SHOWN)
    world.take(DEFINED.replace("CLWLUSEQ(ANY)", "CLWLUSEQ(LOCAL)").replace("NOTFIXED", "GROUP"))
    assert [x["clwluseq"] for x in world.rows("queue_managers")] == ["LOCAL"]
    assert [(x["clwlrank"], x["defbind"]) for x in world.queue()] == [(4, "GROUP")]


def test_a_display_that_comes_with_a_later_definition_is_no_older(world):
    world.take(DEFINED, SHOWN)
    texts = ("DEFINE QLOCAL(APP.Q) CLUSTER(K) REPLACE CLWLPRTY(2)", shown_queue("CLWLRANK(4)"))
    world.take(*texts, snapshot="T", base="S")
    (row,) = world.queue(snapshot="T")
    assert (row["clwlrank"], row["clwlprty"], row["defbind"]) == (4, 2, None)


def test_the_newer_of_a_display_and_a_definition_counts(world):
    world.take(DEFINED, shown_queue("CLWLRANK(4)", "CLUSDATE(2026-03-03)"))
    older = "DEFINE QLOCAL(APP.Q) +\n*  ALTDATE(2026-02-02) +\n   CLUSTER(K) +\n   CLWLRANK(2) +\n"
    head = "* Queue manager name: QM1\n"
    world.take(head + older + "   REPLACE\n", snapshot="T", base="S")
    assert [x["clwlrank"] for x in world.queue(snapshot="T")] == [4]
    world.take(head + older.replace("02-02", "04-04") + "   REPLACE\n", snapshot="U", base="T")
    assert [x["clwlrank"] for x in world.queue(snapshot="U")] == [2]


@pytest.mark.parametrize("merged", [False, True])
def test_what_a_full_repository_tells_fills_what_is_displayed(world, merged):
    def told(suspend):
        return shown_channel(
            f"SUSPEND({suspend})", deftype="CLUSSDRA", viewer="FULL"
        ) + shown_queue("DEFBIND(OPEN)", "DEFPRTY(3)", viewer="FULL")

    world.take(FULL, DEFINED, SHOWN, told("NO"))
    options = {} if merged else {"snapshot": "T", "base": "S"}
    world.take(told("YES"), **options)
    (row,) = world.rows("cluster_channels", options.get("snapshot", "S"))
    assert row["suspended"] is True


def test_an_object_that_is_only_displayed_is_changed_where_it_is(world):
    world.take(shown_channel() + shown_queue("CLWLRANK(4)"))
    world.take("ALTER QLOCAL(APP.Q) PUT(DISABLED)", snapshot="T", base="S")
    (row,) = world.queue(snapshot="T")
    assert (row["put_enabled"], row["clwlrank"]) == (False, 4)
    world.take("ALTER QLOCAL(APP.Q) CLUSTER(J)", snapshot="U", base="T")
    (row,) = world.queue(snapshot="U")
    assert (row["cluster"], row["clwlrank"]) == ("J", 4)
    world.take("DELETE QLOCAL(APP.Q)", snapshot="V", base="U")
    assert world.queue(snapshot="V") == world.queue(snapshot="V", observer="*") == []


def test_what_is_displayed_without_its_type_has_the_definitions_whole(world):
    texts = (DEFINED, shown_queue("CLWLRANK(4)", name="FAR"))
    for _ in range(3):
        world.take(*texts)
        (far,) = world.queue("FAR")
        assert (far["qtype"], far["rname"], far["clwlrank"]) == ("QREMOTE", "THERE", 4)
    world.take("ALTER QMGR DESCR('x')", snapshot="T", base="S")
    (far,) = world.queue("FAR", snapshot="T")
    assert (far["qtype"], far["rname"]) == ("QREMOTE", "THERE")


def test_a_queue_remote_that_is_defined_no_more_has_its_own_name_again(world):
    world.take(DEFINED, SHOWN)
    world.take("DELETE QREMOTE(FAR)", snapshot="T", base="S")
    assert world.queue("FAR", snapshot="T") == []


def test_a_queue_remote_whose_type_is_displayed_again_has_its_rname(world):
    world.take(DEFINED, shown_queue("CLUSQT(QREMOTE)", name="FAR"))
    again = session("QM1", queue("QUEUE(FAR)", "TYPE(QREMOTE)"))
    world.take(again, snapshot="S2", base="S")
    (row,) = world.queue("FAR", snapshot="S2")
    assert row["rname"] == "THERE"


def test_displayed_rows_that_are_filled_anew_are_changes(world):
    world.take(DEFINED, shown_channel())
    alter = "* Queue manager name: QM1\nALTER CHANNEL(TO.QM1) CHLTYPE(CLUSRCVR) CLWLWGHT(20)\n"
    changes = world.take(alter, snapshot="S2", base="S").changes
    assert changes["cluster_channels"]["changed"] == 2


def test_a_null_that_another_program_displays_is_exported_as_the_default(world):
    """Ingest would fill what the text leaves open with the definition's value."""
    head = {"snapshot_id": "S", "qmgr": "QM1", "queue": "APP.Q", "cluster": "K", "qtype": "QLOCAL"}
    defined = {**head, "observer": "*", "clwlrank": 5, "put_enabled": False}
    put_rows(world.lake, "queues", [defined, {**head, "observer": "QM1", "clwlprty": 4}])
    put_rows(world.lake, "snapshots", [{"snapshot_id": "S", "valid_from": NOON, "status": "VALID"}])
    (text,) = export(world.lake, "S", None, None).texts
    world.take(text, snapshot="BACK")
    (row,) = world.queue(snapshot="BACK")
    assert (row["clwlrank"], row["put_enabled"], row["clwlprty"]) == (0, True, 4)
