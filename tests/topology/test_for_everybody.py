"""What a full repository shows stands for everybody where definitions are silent."""

from datetime import UTC, datetime

import pytest
from mq.mqsc_texts import clusqmgr, queue, session

from clwl_spark.delta.lake import Lake
from clwl_spark.snapshots.ingest import STEM, IngestOptions, ingest

NOON = datetime(2024, 5, 6, 12, tzinfo=UTC)
RECEIVER = "DEFINE CHANNEL(TO.{0}) CHLTYPE(CLUSRCVR) CONNAME('{0}(1414)') CLUSTER(K)\n"
SCRIPTS = {
    "FR1": "ALTER QMGR REPOS(K)\n" + RECEIVER.format("FR1"),
    "FR2": "ALTER QMGR REPOS(K)\n" + RECEIVER.format("FR2"),
    "QM1": RECEIVER.format("QM1") + "DEFINE QLOCAL(APP.Q) CLUSTER(K) CLWLPRTY(3)\n",
}
EARLY = ("CLUSDATE(2024-05-06)", "CLUSTIME(10.00.00)")
LATE = ("CLUSDATE(2024-05-06)", "CLUSTIME(11.00.00)")


def channel_to(qmgr, *more, suspend="NO"):
    return clusqmgr(
        f"CLUSQMGR({qmgr})", f"CHANNEL(TO.{qmgr})", "CLUSTER(K)", "DEFTYPE(CLUSSDRA)",
        f"SUSPEND({suspend})", "QMTYPE(NORMAL)", "NETPRTY(4)", *more,
    )  # fmt: skip


def shown_queue(qmgr, name="APP.Q", *more):
    return queue(
        f"QUEUE({name})", "TYPE(QCLUSTER)", f"CLUSQMGR({qmgr})", "CLUSTER(K)", "CLUSQT(QLOCAL)",
        "DEFBIND(NOTFIXED)", "CLWLPRTY(7)", *more,
    )  # fmt: skip


@pytest.fixture
def lake(spark, tmp_path):
    return Lake(spark, str(tmp_path / "lake"))


@pytest.fixture
def write(tmp_path):
    """Write texts as NAME.mqsc into a folder of their own."""
    folders = iter(range(99))

    def written(**texts):
        folder = tmp_path / f"texts{next(folders)}"
        folder.mkdir()
        for name, text in texts.items():
            (folder / f"{name}.mqsc").write_text(text)
        return folder

    return written


def take(lake, folder, snapshot="S1", base=None):
    return ingest(lake, [folder], snapshot, IngestOptions(NOON, STEM, base))


def everybodys(lake, table, *columns, snapshot="S1"):
    rows = lake.read(table).where(f"observer = '*' and snapshot_id = '{snapshot}'")
    return sorted(tuple(row) for row in rows.select("qmgr", *columns).collect())


def suspended(lake, snapshot="S1"):
    rows = everybodys(lake, "cluster_channels", "suspended", snapshot=snapshot)
    return [qmgr for qmgr, is_suspended in rows if is_suspended]


def view(of, *objects):
    return session(of, *objects)


def test_what_no_definition_gives_becomes_everybody_s_and_what_it_leaves_open_is_filled(
    lake, write
):
    shows = view(
        "FR1", channel_to("QM1", suspend="YES"), channel_to("QM9"), shown_queue("QM1"),
        shown_queue("QM9"), shown_queue("QM1", "UNKNOWN.Q"),
    )  # fmt: skip
    summary = take(lake, write(**SCRIPTS, seen=shows))
    assert summary.for_everybody == {"cluster_channels": 2, "queues": 3}
    assert everybodys(lake, "cluster_channels", "suspended", "netprty", "qmtype") == [
        ("FR1", None, None, "REPOS"), ("FR2", None, None, "REPOS"),
        ("QM1", True, 4, "NORMAL"), ("QM9", False, 4, "NORMAL"),
    ]  # fmt: skip
    assert everybodys(lake, "queues", "queue", "clwlprty", "defbind") == [
        ("QM1", "APP.Q", 3, "NOTFIXED"), ("QM1", "UNKNOWN.Q", 7, "NOTFIXED"),
        ("QM9", "APP.Q", 7, "NOTFIXED"),
    ]  # fmt: skip
    # The view itself stays as it was shown.
    seen = lake.read("queues").where("observer = 'FR1'").select("qmgr", "queue", "clwlprty")
    assert {tuple(row) for row in seen.collect()} == {
        ("QM1", "APP.Q", 7), ("QM1", "UNKNOWN.Q", 7), ("QM9", "APP.Q", 7)
    }  # fmt: skip


def test_again_changes_nothing(lake, write):
    folder = write(
        **SCRIPTS, seen=view("FR1", channel_to("QM1", suspend="YES"), shown_queue("QM9"))
    )
    summary = take(lake, folder)
    before = {name: lake.version(name) for name in ("queues", "cluster_channels")}
    again = take(lake, folder)
    assert again.to_json() == summary.to_json()
    assert {name: lake.version(name) for name in before} == before


def test_the_order_of_texts_makes_no_difference(lake, write):
    shows = view("FR1", channel_to("QM1", suspend="YES"), shown_queue("QM1"))
    own = {name: SCRIPTS[name] for name in ("FR1", "FR2")}
    take(lake, write(**own, seen=shows))
    assert everybodys(lake, "queues", "clwlprty", "defbind") == [("QM1", 7, "NOTFIXED")]
    take(lake, write(QM1=SCRIPTS["QM1"]))
    take(lake, write(**SCRIPTS, seen=shows), "S2")
    for table, columns in {
        "queues": ("queue", "clwlprty", "defbind"),
        "cluster_channels": ("channel", "suspended", "netprty", "conname"),
    }.items():
        assert everybodys(lake, table, *columns) == everybodys(lake, table, *columns, snapshot="S2")


def test_a_partial_repository_speaks_for_itself_alone(lake, write):
    scripts = {**SCRIPTS, "QM2": RECEIVER.format("QM2")}
    shows = view("QM2", channel_to("QM1", suspend="YES"), shown_queue("QM9"))
    summary = take(lake, write(**scripts, seen=shows))
    assert summary.for_everybody == {}
    assert suspended(lake) == []
    assert everybodys(lake, "queues") == [("QM1",)]


def test_an_object_that_is_defined_elsewhere_stays_there(lake, write):
    scripts = {**SCRIPTS, "QM1": RECEIVER.format("QM1") + "DEFINE QLOCAL(APP.Q)\n"}
    take(lake, write(**scripts, seen=view("FR1", shown_queue("QM1"))))
    assert everybodys(lake, "queues", "cluster") == [("QM1", "")]


@pytest.mark.parametrize(
    ("first", "second", "is_suspended", "told"),
    [
        (("YES", EARLY), ("NO", LATE), False, False),
        (("NO", EARLY), ("YES", LATE), True, False),
        (("YES", ()), ("NO", LATE), True, True),
        (("YES", LATE), ("NO", LATE), True, True),
        (("NO", ()), ("NO", ()), False, False),
    ],
)
def test_of_several_the_newer_counts_else_the_one_that_says_suspended(
    lake, write, first, second, is_suspended, told
):
    texts = {
        f"seen{at}": view(of, channel_to("QM1", *stamp, suspend=suspend))
        for at, (of, (suspend, stamp)) in enumerate({"FR1": first, "FR2": second}.items())
    }
    summary = take(lake, write(**SCRIPTS, **texts))
    assert (suspended(lake) == ["QM1"]) is is_suspended
    found = [
        (x.table, x.qmgr, x.name, x.cluster, x.columns, x.observers) for x in summary.disagreements
    ]
    expected = ("cluster_channels", "QM1", "TO.QM1", "K", ("suspended",), ("FR1", "FR2"))
    assert found == ([expected] if told else [])


def test_a_change_to_a_base_is_not_undone_by_what_was_shown_before(lake, write):
    shows = view("FR1", channel_to("QM1", suspend="YES"), shown_queue("QM1"), shown_queue("QM9"))
    take(lake, write(**SCRIPTS, seen=shows))
    assert suspended(lake) == ["QM1"]
    resumed = take(lake, write(QM1="RESUME QMGR CLUSTER(K)\n"), "S2", base="S1")
    assert suspended(lake, "S2") == []
    assert resumed.changes == {"cluster_channels": {"added": 0, "removed": 0, "changed": 1}}
    deleted = take(lake, write(QM9="DELETE QLOCAL(APP.Q)\n"), "S3", base="S1")
    assert everybodys(lake, "queues", snapshot="S3") == [("QM1",)]
    assert deleted.changes == {"queues": {"added": 0, "removed": 1, "changed": 0}}
    # A definition that is read anew does not resume the queue manager.
    take(lake, write(QM1=SCRIPTS["QM1"]), "S4", base="S1")
    assert suspended(lake, "S4") == ["QM1"]


def test_what_is_shown_later_replaces_what_was_only_shown(lake, write):
    take(lake, write(**SCRIPTS, seen=view("FR1", channel_to("QM9"), shown_queue("QM9"))))
    later = view(
        "FR1", channel_to("QM9", suspend="YES"), shown_queue("QM9", "APP.Q", "PUT(DISABLED)")
    )
    summary = take(lake, write(seen=later), "S2", base="S1")
    assert suspended(lake, "S2") == ["QM9"]
    assert everybodys(lake, "queues", "put_enabled", snapshot="S2") == [
        ("QM1", None), ("QM9", False)
    ]  # fmt: skip
    assert summary.changes["cluster_channels"]["changed"] == 2


OWN_OF_FR1 = clusqmgr("CLUSQMGR(FR1)", "CHANNEL(TO.FR1)", "CLUSTER(K)", "DEFTYPE(CLUSRCVR)")
SEEN = view("FR1", channel_to("QM3"), shown_queue("QM3"))
IN_K = [("QM3", "APP.Q", "K")]


def test_a_repository_whose_own_display_leaves_out_what_it_is_speaks_for_everybody(lake, write):
    take(lake, write(FR1=SCRIPTS["FR1"], shown=view("FR1", OWN_OF_FR1, channel_to("QM3"))))
    assert "TO.QM3" in [row[1] for row in everybodys(lake, "cluster_channels", "channel")]


def test_a_repository_that_is_only_displayed_is_one_at_once(lake, write):
    repos = "AMQ8408I: Display Queue Manager details.\n   QMNAME(FR1)   REPOS(K)\n"
    texts = write(shown=view("FR1", repos, OWN_OF_FR1, channel_to("QM3"), shown_queue("QM3")))
    take(lake, texts)
    assert everybodys(lake, "queues", "queue", "cluster") == IN_K
    assert take(lake, texts, "S2", base="S1").changes == {}


@pytest.mark.parametrize(("base", "found"), [(None, IN_K), ("S1", [])])
def test_what_was_seen_before_its_text_is_merged_counts(lake, write, base, found):
    take(lake, write(shown=SEEN))
    assert everybodys(lake, "queues", "queue", "cluster") == []
    snapshot = "S2" if base else "S1"
    take(lake, write(FR1=SCRIPTS["FR1"]), snapshot, base)
    assert everybodys(lake, "queues", "queue", "cluster", snapshot=snapshot) == found


def test_what_a_new_repository_saw_before_does_not_undo_a_change(lake, write):
    seen = view("FR1", channel_to("QM1"), shown_queue("QM1"))
    take(lake, write(QM1=SCRIPTS["QM1"], FR1=RECEIVER.format("FR1"), shown=seen))
    change = "DELETE QLOCAL(APP.Q)\nSUSPEND QMGR CLUSTER(K)\n"
    take(lake, write(QM1=change, FR1="ALTER QMGR REPOS(K)\n"), "S2", "S1")
    assert (suspended(lake, "S2"), everybodys(lake, "queues", snapshot="S2")) == (["QM1"], [])


def test_a_display_without_the_cluster_leaves_its_queue_where_it_is_shown(lake, write):
    depth = view("QM3", queue("QUEUE(APP.Q)", "TYPE(QLOCAL)", "CURDEPTH(3)", "CLWLRANK(5)"))
    take(lake, write(FR1=SCRIPTS["FR1"], shown=SEEN, depth=depth))
    assert everybodys(lake, "queues", "queue", "cluster") == IN_K
    assert everybodys(lake, "queues", "clwlrank", "clwlprty") == [("QM3", 5, 7)]


@pytest.mark.parametrize("base", [None, "S1"])
def test_a_queue_of_no_known_cluster_finds_its_place_when_it_is_shown(lake, write, base):
    depth = view("QM3", queue("QUEUE(APP.Q)", "TYPE(QLOCAL)", "CURDEPTH(3)"))
    take(lake, write(depth=depth))
    assert everybodys(lake, "queues", "queue", "cluster") == [("QM3", "APP.Q", "")]
    snapshot = "S2" if base else "S1"
    take(lake, write(FR1=SCRIPTS["FR1"], shown=SEEN), snapshot, base)
    assert everybodys(lake, "queues", "queue", "cluster", snapshot=snapshot) == IN_K


def test_a_queue_that_is_displayed_in_no_cluster_is_in_none(lake, write):
    depth = view("QM3", queue("QUEUE(APP.Q)", "TYPE(QLOCAL)", "CURDEPTH(3)"))
    whole = view("QM3", queue("QUEUE(APP.Q)", "TYPE(QLOCAL)", "CLUSTER( )", "CLWLRANK(5)"))
    take(lake, write(depth=depth))
    take(lake, write(whole=whole), "S2", "S1")
    take(lake, write(FR1=SCRIPTS["FR1"], shown=SEEN), "S3", "S2")
    assert everybodys(lake, "queues", "cluster", snapshot="S3") == [("QM3", "")]
