from hypothesis import given
from hypothesis import strategies as st
from readings import apply_changes, read_text

OWN = "* Queue manager name: QM1\n"
SCRIPT = (
    OWN
    + "ALTER QMGR REPOSNL(N) CLWLUSEQ(ANY)\nDEF NL(N) NAMES(K,J)\n"
    + "DEF QL(A) CLUSNL(N) CLWLPRTY(3) PUT(DISABLED)\nDEF QL(B)\n"
    + "DEF QR(R) RNAME(' ') RQMNAME(QM2)\nDEF QA(L) TARGET(A) CLUSTER(K)\n"
    + "DEF CHL(TO.QM1) CHLTYPE(CLUSRCVR) CLUSNL(N) CONNAME('h(1414)')\n"
    + "DEF CHL(TO.QM2) CHLTYPE(CLUSSDR) CLUSTER(K) CONNAME('h(1415)')\n"
    + "DEF TOPIC(T) TOPICSTR('a/b') CLUSTER(K) PUB(ENABLED)\nDEF SUB(S) TOPICOBJ(T) DEST(A)\n"
    + "SUSPEND QMGR CLUSTER(K)\n"
)


def base(script=SCRIPT):
    return read_text(script, "base").rows


def apply(text, before=None):
    return apply_changes(base() if before is None else before, text, "change", "QM1")


def test_commands_that_change_nothing_give_nothing():
    for text in ("DIS QL(A)", "ALTER QL(A) CLWLPRTY(3)", "SUSPEND QMGR CLUSTER(K)", "STOP CHL(C)"):
        changes = apply(text)
        assert (changes.rows, changes.deleted, changes.rejects) == ({}, {}, [])
        assert changes.qmgrs == ("QM1",)


def test_an_altered_object_changes_in_all_its_clusters_and_keeps_the_rest():
    changes = apply("ALTER QL(A) CLWLPRTY(4)")
    rows = changes.rows["queues"]
    assert [(row["cluster"], row["clwlprty"], row["put_enabled"]) for row in rows] == [
        ("K", 4, False), ("J", 4, False),
    ]  # fmt: skip
    assert {row["source"] for row in rows} == {"change:1"}
    assert (set(changes.rows), changes.deleted) == ({"queues"}, {})


def test_what_leaves_a_cluster_or_goes_is_deleted_by_key():
    changes = apply("ALTER QL(A) CLUSNL(' ') CLUSTER(J)\nDELETE QL(B)\nDELETE CHL(TO.QM2)")
    assert {table: sorted(keys) for table, keys in changes.deleted.items()} == {
        "queues": [("*", "QM1", "A", "K"), ("*", "QM1", "B", "")],
        "cluster_senders": [("*", "QM1", "TO.QM2", "K")],
    }
    assert changes.rows == {}


def test_new_objects_and_replaced_ones_have_the_scripts_place():
    changes = apply("DEF QL(C) CLUSTER(K)\nDEF QL(B) CLWLPRTY(1) REPLACE\nDEF QL(D) LIKE(A)")
    rows = {(row["queue"], row["cluster"]): row["source"] for row in changes.rows["queues"]}
    assert rows == {
        ("B", ""): "change:2", ("C", "K"): "change:1",
        ("D", "K"): "change:3", ("D", "J"): "change:3",
    }  # fmt: skip


def test_a_queue_manager_changes_its_channels_in_each_cluster():
    changes = apply("ALTER QMGR REPOS(K) REPOSNL(' ')\nRESUME QMGR CLUSTER(K)")
    rows = {row["cluster"]: row for row in changes.rows["cluster_channels"]}
    assert (rows["K"]["qmtype"], rows["K"]["suspended"]) == ("REPOS", False)
    assert rows["J"]["qmtype"] == "NORMAL"


def test_what_cannot_be_carried_out_is_a_reject_and_the_rest_is():
    changes = apply("ALTER QL(X) PUT(ENABLED)\nALTER NL(N) NAMES(K)\nDELETE QL(B)")
    assert [reject.line for reject in changes.rejects] == [1, 2]
    assert changes.deleted == {"queues": [("*", "QM1", "B", "")]}


def test_other_queue_managers_and_views_are_left_alone():
    before = base()
    before["queues"] += [
        {**before["queues"][0], "qmgr": "QM2"},
        {**before["queues"][0], "observer": "QM2"},
    ]
    changes = apply("DELETE QL(A)", before)
    assert sorted(changes.deleted["queues"]) == [("*", "QM1", "A", "J"), ("*", "QM1", "A", "K")]


def test_a_text_of_several_queue_managers_changes_each():
    text = "* Queue manager name: QM1\nDELETE QL(B)\n* Queue manager name: QM2\nDEF QL(B)\n"
    changes = apply(text)
    assert changes.qmgrs == ("QM1", "QM2")
    assert [row["qmgr"] for row in changes.rows["queues"]] == ["QM2"]


COMMANDS = st.sampled_from(
    [
        "ALTER QL(A) CLWLPRTY(5)", "ALTER QL(B) CLUSTER(K)", "DELETE QL(A)", "DELETE QA(L)",
        "DEF QL(C) LIKE(B)", "DEF QL(B) REPLACE", "ALTER CHL(TO.QM1) CHLTYPE(CLUSRCVR) NETPRTY(3)",
        "ALTER QMGR CLWLMRUC(2)", "RESUME QMGR CLUSTER(K)", "SUSPEND QMGR CLUSTER(J)",
        "ALTER TOPIC(T) CLROUTE(TOPICHOST)", "DELETE SUB(S)", "DEF QA(B2) TARGET(B) CLUSTER(J)",
        "DELETE QL(B)", "DELETE QL(C)", "DEF QL(C) CLUSTER(K) REPLACE", "DEF QL(D) LIKE(C)",
        "ALTER QL(C) CLWLRANK(3)", "ALTER QL(A) CLUSNL(' ') CLUSTER(K)", "DELETE CHL(TO.QM1)",
        "ALTER QMGR REPOS(K) REPOSNL(' ')", "DEF QL(A) CLUSTER(J) REPLACE",
    ]
)  # fmt: skip


@given(commands=st.lists(COMMANDS, max_size=6))
def test_a_change_gives_the_state_that_the_whole_script_gives(commands):
    text = "\n".join(commands) + "\n* end"
    changes = apply(text)
    whole = read_text(SCRIPT + text, "whole")
    if whole.rejects or changes.rejects:
        # What is said of an object that is not there is refused at other places.
        return
    before = {(table, key(row)): row for table, rows in base().items() for row in rows}
    for table, keys in changes.deleted.items():
        for gone in keys:
            del before[table, gone]
    for table, rows in changes.rows.items():
        before.update({(table, key(row)): row for row in rows})
    after = {(table, key(row)): row for table, rows in whole.rows.items() for row in rows}
    assert {place: plain(row) for place, row in before.items()} == {
        place: plain(row) for place, row in after.items()
    }


def key(row):
    names = ("observer", "qmgr", "queue", "channel", "topic", "sub_name", "cluster")
    return tuple(row[name] for name in names if name in row)


def plain(row):
    return {k: v for k, v in row.items() if k not in ("source", "altered")}


def test_like_means_the_object_as_it_was_when_that_was_said():
    text = "ALTER QL(B) CLUSTER(K)\nDEF QL(C) LIKE(B)\nDEF QL(B) REPLACE CLUSTER(J)\n"
    rows = {row["queue"]: row["cluster"] for row in apply(text).rows["queues"]}
    assert rows == {"B": "J", "C": "K"}
