"""What texts make of earlier rows, without Spark: changes, partial displays, dates, moves."""

import pytest

from clwl_spark.mq.read import read_states
from clwl_spark.snapshots.owned import by_table
from clwl_spark.snapshots.settling import settle
from clwl_spark.tables import TABLES

BASE = """
ALTER QMGR CLWLUSEQ(ANY) CLWLMRUC(7) REPOS(K)
DEFINE CHANNEL(TO.QM1) CHLTYPE(CLUSRCVR) CONNAME('one') CLUSTER(K) CLWLWGHT(10)
DEFINE CHANNEL(J.QM1) CHLTYPE(CLUSRCVR) CONNAME('one') CLUSTER(J)
DEFINE NAMELIST(KJ) NAMES(K, J)
DEFINE QLOCAL(APP.Q) CLUSTER(K) CLWLRANK(1) DEFBIND(NOTFIXED)
DEFINE QLOCAL(BOTH.Q) CLUSNL(KJ) CLWLPRTY(3)
DEFINE QALIAS(APP.A) TARGET(APP.Q)
"""


def status(remote, word, xmitq):
    """A CLUSSDR as DISPLAY CHSTATUS shows it."""
    return f"""
AMQ8417I: Display Channel Status details.
   CHANNEL(TO.QM2)                         CHLTYPE(CLUSSDR)
   CONNAME(two)                            CURRENT
   {f"RQMNAME({remote})":40}STATUS({word})
   SUBSTATE( )                             XMITQ({xmitq})
"""


class World:
    """Rows of QM1, as texts come in one after the other."""

    def __init__(self, *texts, owners=None):
        self.rows = []
        self.owners = owners or {}
        for text in texts:
            self.read(text)

    def read(self, *texts, merging=False):
        states = [
            state
            for at, text in enumerate(texts)
            for state in read_states(text, f"file{at}.txt", "QM1").states
        ]
        settled = settle("QM1", states, by_table(self.rows), self.owners, merging=merging)
        self.rows = [
            (key[0], {name: row.get(name) for name in TABLES[key[0]].names})
            for key, row in settled.rows.items()
        ]
        return settled

    def table(self, name):
        return by_table(self.rows).get(name, [])

    def queue(self, name, *columns):
        """Values of a queue's rows by cluster."""
        rows = (row for row in self.table("queues") if row["queue"] == name)
        return {row["cluster"]: tuple(row[x] for x in columns) for row in rows}

    def content(self):
        """All rows, but for where they came from."""
        without = {"source"}
        return sorted(
            (table, sorted((x, str(y)) for x, y in row.items() if x not in without))
            for table, row in self.rows
        )


@pytest.fixture
def world():
    return World(BASE)


def test_an_alter_changes_what_it_says_and_the_row_knows_where(world):
    settled = world.read("* Monday's change\nALTER QLOCAL(APP.Q) CLWLRANK(7)\n")
    assert (settled.rejects, settled.given) == ([], {"queues": 1})
    columns = ("clwlrank", "defbind", "source")
    assert world.queue("APP.Q", *columns) == {"K": (7, "NOTFIXED", "file0.txt:2")}
    assert world.queue("BOTH.Q", "source") == {"K": ("file0.txt:7",), "J": ("file0.txt:7",)}


def test_a_delete_takes_all_rows_of_the_object_and_is_of_use_without_giving_any(world):
    settled = world.read("DELETE QLOCAL(BOTH.Q)\nDELETE QALIAS(NOBODY.S)\n")
    assert (settled.given, settled.used, settled.rejects) == ({}, True, [])
    assert {row["queue"] for row in world.table("queues")} == {"APP.Q", "APP.A"}


def test_suspend_and_resume_change_the_channels_of_their_cluster(world):
    world.read("SUSPEND QMGR CLUSTER(K)")
    assert {x["channel"]: x["suspended"] for x in world.table("cluster_channels")} == {
        "TO.QM1": True,
        "J.QM1": None,
    }
    assert [x["source"] for x in world.table("cluster_channels") if x["suspended"]] == [
        "file0.txt:1"
    ]
    world.read("RESUME QMGR CLUSTER(K)")
    assert [x["suspended"] for x in world.table("cluster_channels")] == [False, None]
    assert [x["clwlwght"] for x in world.table("cluster_channels")] == [10, None]


def test_alter_qmgr_leaves_the_attributes_that_it_does_not_name(world):
    world.read("ALTER QMGR DEFXMITQ(X.Q)")
    (row,) = world.table("queue_managers")
    assert (row["clwluseq"], row["clwlmruc"], row["defxmitq"]) == ("ANY", 7, "X.Q")
    assert {x["qmtype"] for x in world.table("cluster_channels")} == {"REPOS", "NORMAL"}
    world.read("ALTER QMGR REPOS(J)")
    assert {x["cluster"]: x["qmtype"] for x in world.table("cluster_channels")} == {
        "K": "NORMAL",
        "J": "REPOS",
    }


def test_a_command_about_an_object_that_nobody_defines_is_a_reject(world):
    settled = world.read("ALTER QLOCAL(NOBODY.S) CLWLRANK(7)")
    (reject,) = settled.rejects
    assert (reject.file, reject.line, settled.used) == ("file0.txt", 1, False)


def test_an_object_defined_like_one_of_the_base_has_its_attributes(world):
    world.read("DEFINE QLOCAL(NEW.Q) LIKE(APP.Q) CLWLPRTY(2)")
    assert world.queue("NEW.Q", "clwlrank", "clwlprty", "defbind") == {"K": (1, 2, "NOTFIXED")}


def test_a_definition_in_another_cluster_moves_the_object(world):
    world.read("DEFINE QLOCAL(BOTH.Q) CLUSTER(L) REPLACE")
    assert world.queue("BOTH.Q", "clwlprty") == {"L": (None,)}
    world.read("ALTER QLOCAL(BOTH.Q) CLUSTER(' ')")
    assert world.queue("BOTH.Q", "clwlprty") == {"": (None,)}


def test_a_partial_display_changes_only_what_it_shows(world):
    shown = """
AMQ8409I: Display Queue details.
   QUEUE(BOTH.Q)                           TYPE(QLOCAL)
   CLWLRANK(5)                             PUT(DISABLED)
"""
    world.read(shown)
    same = (5, 3, False)
    assert world.queue("BOTH.Q", "clwlrank", "clwlprty", "put_enabled") == {"K": same, "J": same}
    world.read(shown.replace("CLWLRANK(5) ", "CLUSTER(L)  "))
    assert world.queue("BOTH.Q", "clwlrank", "clwlprty", "put_enabled") == {"L": same}


def test_a_later_status_replaces_the_earlier_one_and_keeps_what_it_does_not_show(world):
    world.read(status("QM2", "RUNNING", "X.Q"))
    world.read(status("QM2", "RETRYING", " "))
    (row,) = world.table("channel_status")
    assert (row["status"], row["xmitq"], row["remote_qmgr"]) == ("RETRYING", "X.Q", "QM2")


def test_the_end_of_a_channel_that_status_leaves_blank_is_that_of_other_texts(world):
    world.read(status(" ", "RETRYING", "X.Q"))
    assert [x["remote_qmgr"] for x in world.table("channel_status")] == [""]
    world.owners = {"TO.QM2": ["QM2"]}
    world.read(status(" ", "STOPPED", "X.Q"))
    (row,) = world.table("channel_status")
    assert (row["status"], row["remote_qmgr"]) == ("STOPPED", "QM2")


def dated(rank, date, time="10.00.00"):
    """A dump's definition, with when it was altered in its comments."""
    return (
        f"DEFINE QLOCAL(APP.Q) +\n*  ALTDATE({date}) +\n*  ALTTIME({time}) +\n"
        f"   CLUSTER(K) CLWLRANK({rank}) REPLACE\n"
    )


def test_the_newer_state_stays_whatever_comes_last():
    world = World(dated(5, "2024-05-06"))
    world.read(dated(1, "2024-05-05"))
    assert world.queue("APP.Q", "clwlrank", "altered") == {"K": (5, "2024-05-06 10.00.00")}
    world.read(dated(7, "2024-05-06", "11.00.00"))
    assert world.queue("APP.Q", "clwlrank", "altered") == {"K": (7, "2024-05-06 11.00.00")}
    # Nobody knows when this was: what is ingested later counts.
    world.read("DEFINE QLOCAL(APP.Q) CLUSTER(K) CLWLRANK(2)")
    assert world.queue("APP.Q", "clwlrank", "altered") == {"K": (2, None)}


CHANGES = [
    BASE,
    "ALTER QLOCAL(BOTH.Q) CLWLRANK(7) CLUSTER(L) CLUSNL(' ')",
    "DELETE QLOCAL(APP.Q)\nSUSPEND QMGR CLUSNL(KJ)\nDEFINE NAMELIST(KJ) NAMES(K,J)",
    "ALTER QMGR REPOSNL(N) CLWLMRUC(3)\nDEFINE NAMELIST(N) NAMES(J,K)",
    "DEFINE QLOCAL(A.Q) LIKE(APP.Q)\nALTER QLOCAL(A.Q) CLUSTER(J)",
    dated(3, "2024-05-06"),
    status("QM2", "RETRYING", " "),
]


@pytest.mark.parametrize("change", CHANGES)
def test_the_same_text_again_changes_nothing(world, change):
    world.read(change)
    content, places = world.content(), sorted(str(row) for row in world.rows)
    world.read(change)
    assert world.content() == content
    assert sorted(str(row) for row in world.rows) == places


def test_texts_of_one_ingest_count_in_their_order():
    world = World()
    world.read(
        "ALTER QMGR CLWLUSEQ(ANY)\nDEFINE QLOCAL(Q) CLUSTER(K)", "ALTER QLOCAL(Q) PUT(DISABLED)"
    )
    assert world.queue("Q", "put_enabled") == {"K": (False,)}


WHOLE = """
Starting MQSC for queue manager QM1.
     1 : {command}
AMQ8409I: Display Queue details.
   QUEUE({queue})                            TYPE(QCLUSTER)
   CLUSQMGR(QM2)                           CLUSTER(K)
"""


@pytest.mark.parametrize(
    "later",
    [
        WHOLE.format(command="DISPLAY QCLUSTER(*) WHERE(CLUSQMGR EQ QM2)", queue="B"),
        WHOLE.format(command="DIS  QC( B )   ALL", queue="B"),
        WHOLE.format(command="dis queue(*) type(qcluster) all", queue="B"),
        "ALTER QLOCAL(APP.Q) CLUSTER(J)",
        "DELETE QLOCAL(APP.Q)",
        status("QM2", "RETRYING", " "),
    ],
)
def test_a_whole_view_stays_whole_whatever_is_said_later(world, later):
    world.read(WHOLE.format(command="DISPLAY QCLUSTER(*) CLUSQMGR CLUSTER", queue="A"))
    settled = world.read(later)
    (row,) = world.table("views")
    assert (row["observer"], row["table"], row["whole"]) == ("QM1", "queues", True)
    assert "views" not in settled.changes


def test_a_view_becomes_whole_with_a_later_text(world):
    part = WHOLE.format(command="DISPLAY QCLUSTER(A) CLUSQMGR", queue="A")
    world.read(part)
    assert world.table("views") == []
    settled = world.read(WHOLE.format(command="DISPLAY QCLUSTER(*) CLUSQMGR", queue="A"), part)
    assert [row["whole"] for row in world.table("views")] == [True]
    assert settled.changes["views"]["added"] == settled.given["views"] == 1


def test_a_newer_count_of_messages_replaces_the_older_one():
    world = World(status("QM2", "RUNNING", "X)   XQMSGSA(7"))
    assert [row["backlog"] for row in world.table("channel_status")] == [7]
    world.read(status("QM2", "RUNNING", "X)   XQMSGSA(0"))
    assert [row["backlog"] for row in world.table("channel_status")] == [0]


def test_a_scope_of_the_base_is_altered():
    world = World("DEFINE TOPIC(T) TOPICSTR('a') PUBSCOPE(QMGR) SUBSCOPE(QMGR)")
    world.read("ALTER TOPIC(T) PUBSCOPE(ASPARENT)")
    assert [(x["pub_scope"], x["sub_scope"]) for x in world.table("topics")] == [(None, "QMGR")]


@pytest.mark.parametrize(
    "command", ["DEFINE NAMELIST(KJ) NAMES(K) REPLACE", "ALTER NAMELIST(KJ) NAMES(K)"]
)
def test_a_name_list_that_objects_of_the_snapshot_may_hang_on_is_a_reject(world, command):
    settled = world.read(f"{command}\nDEFINE QLOCAL(NEW.Q) CLUSTER(K)\n")
    (reject,) = settled.rejects
    assert ("KJ" in reject.reason, reject.line) == (True, 1)
    assert world.queue("BOTH.Q", "clwlprty").keys() == {"K", "J"}
    assert world.queue("NEW.Q", "observer") == {"K": ("*",)}


@pytest.mark.parametrize(
    "text",
    [
        "DEFINE NAMELIST(KJ) NAMES(K) REPLACE\nALTER QLOCAL(BOTH.Q) CLUSNL(KJ)\n",
        "DEFINE NAMELIST(KJ) NAMES(K) REPLACE\nDEFINE QLOCAL(BOTH.Q) CLUSNL(KJ) REPLACE\n",
        "DEFINE NAMELIST(KJ) NAMES(K) REPLACE\nSUSPEND QMGR CLUSNL(KJ)\n",
        BASE + "DEFINE NAMELIST(OTHER) NAMES(J, L)\n",
        "AMQ8550I: Display namelist details.\n   NAMELIST(KJ)  NAMCOUNT(1)\n   NAMES(K)\n",
    ],
    ids=["altered", "defined", "suspended", "all anew", "shown"],
)
def test_a_name_list_that_is_used_or_shown_is_none(world, text):
    assert world.read(text).rejects == []


def test_a_name_list_comes_before_there_is_anything_that_hangs_on_it():
    assert World().read("DEFINE NAMELIST(KJ) NAMES(K, J)\n").rejects == []


def test_a_name_list_is_named_as_a_word_of_its_own():
    world = World(BASE.replace("KJ", "APP"))
    settled = world.read("DEFINE NAMELIST(APP) NAMES(K) REPLACE\nALTER QLOCAL(APP.Q) CLWLRANK(3)\n")
    assert ["APP" in x.reason for x in settled.rejects] == [True]


def test_what_a_script_defines_anew_and_deletes_is_gone(world):
    world.read("DEFINE QLOCAL(APP.Q) CLUSTER(K) REPLACE\nDELETE QLOCAL(APP.Q)\nDEFINE QLOCAL(N)\n")
    assert {row["queue"] for row in world.table("queues")} == {"BOTH.Q", "APP.A", "N"}
    world.read("DELETE QLOCAL(N)\nDEFINE QLOCAL(N) CLWLRANK(2)\n")
    assert world.queue("N", "clwlrank") == {"": (2,)}
