import time

import pytest
from mq.mqsc_texts import dump, one, read_own
from readings import read_text, read_texts

from clwl_spark.errors import IngestError


def queues(text, column="cluster"):
    return {row["queue"]: row[column] for row in read_own(text).rows["queues"]}


def reasons(text):
    return [reject.reason for reject in read_own(text).rejects]


def test_alter_changes_only_what_it_says():
    text = "DEF QL(A) CLUSTER(K) CLWLPRTY(3)\nALTER QL(A) CLWLPRTY(4)"
    (row,) = read_own(text).rows["queues"]
    assert (row["cluster"], row["clwlprty"], row["source"]) == ("K", 4, "own.mqsc:1")


def test_replace_forgets_what_it_does_not_say():
    assert queues("DEF QL(A) CLUSTER(K)\nDEF QL(A) REPLACE") == {"A": ""}


def test_a_second_define_without_replace_is_refused_and_changes_nothing():
    text = "DEF QL(A) CLUSTER(K)\nDEF QL(A) CLUSTER(J)\nDEF QL(A) CLUSTER(K)"
    assert queues(text) == {"A": "K"}
    assert reasons(text) == ["A is defined at line 1 already; say REPLACE; queue A stays as it was"]


def test_delete_takes_away_and_may_name_what_is_not_there():
    assert queues("DEF QL(A)\nDEL QL(A)\nDELETE QL(B)\nDEF QA(A) TARGET(B)", "qtype") == {
        "A": "QALIAS"
    }


def test_like_takes_the_other_objects_attributes_and_its_own_go_first():
    text = "DEF QL(A) CLUSTER(K) CLWLPRTY(2)\nDEF QL(B) LIKE(A) CLWLPRTY(1)"
    assert queues(text) == {"A": "K", "B": "K"}
    assert queues(text, "clwlprty") == {"A": 2, "B": 1}


def test_like_an_unknown_object_is_refused_unless_it_is_mqs_own():
    assert "LIKE(B), which this text does not define" in reasons("DEF QL(A) LIKE(B)")[0]
    assert reasons("DEF QL(A) LIKE(SYSTEM.DEFAULT.LOCAL.QUEUE)") == []


def test_an_altered_default_object_shapes_later_definitions_and_gives_no_row():
    text = "ALTER QL(SYSTEM.DEFAULT.LOCAL.QUEUE) DEFBIND(NOTFIXED)\nDEF QL(A)"
    assert queues(text, "defbind") == {"A": "NOTFIXED"}


def test_altering_what_is_not_defined_is_refused():
    assert "does not define" in reasons("ALTER QL(A) PUT(DISABLED)")[0]


def test_an_alter_that_mq_would_refuse_leaves_the_object_as_it_was():
    text = "DEF QL(A) CLWLPRTY(3)\nALTER QL(A) CLWLPRTY(12)\nALTER QMGR CLWLMRUC(0)"
    reading = read_own(text)
    assert [row["clwlprty"] for row in reading.rows["queues"]] == [3]
    assert [reject.text for reject in reading.rejects] == text.splitlines()[1:]


def test_an_object_does_not_change_its_type():
    assert reasons("DEF QL(A)\nDEF QA(A) TARGET(B) REPLACE") == [
        "A is a QLOCAL since line 1; queue A stays as it was"
    ]


def test_text_behind_end_is_ignored():
    assert queues("DEF QL(A)\nend\nDEF QL(B)") == {"A": ""}


def test_the_insert_qmname_is_the_queue_managers_name_and_others_are_refused():
    reading = read_own(
        "DEF CHL(K.+QMNAME+) CHLTYPE(CLUSRCVR) CLUSTER(K) DESCR('a+b+c')\n"
        "DEF QL(A) CLUSTER(+AUTOCL+)"
    )
    assert [row["channel"] for row in reading.rows["cluster_channels"]] == ["K.QM1"]
    (reject,) = reading.rejects
    assert (reject.file, reject.line) == ("own.mqsc", 2)
    assert "+AUTOCL+" in reject.reason


def test_namelists_give_a_row_per_cluster_and_unknown_ones_are_refused():
    text = (
        "DEF QL(A) CLUSNL(N)\nDEF NL(N) NAMES(K,J)\n"
        "DEF QL(B) CLUSNL(M)\nDEF QL(C) CLUSNL(N) CLUSTER(K)"
    )
    reading = read_own(text)
    assert [row["cluster"] for row in reading.rows["queues"]] == ["K", "J"]
    assert [reject.line for reject in reading.rejects] == [3, 4]


def test_a_channels_queue_manager_is_a_repository_of_the_clusters_it_names():
    text = (
        "ALTER QMGR REPOSNL(N)\nDEF NL(N) NAMES(K)\n"
        "DEF CHL(A) CHLTYPE(CLUSRCVR) CLUSTER(K)\nDEF CHL(B) CHLTYPE(CLUSRCVR) CLUSTER(J)"
    )
    rows = read_own(text).rows["cluster_channels"]
    assert [row["qmtype"] for row in rows] == ["REPOS", "NORMAL"]


def test_suspend_marks_the_own_channels_of_that_cluster_and_resume_clears():
    channels = "DEF CHL(A) CHLTYPE(CLUSRCVR) CLUSNL(N)\nDEF NL(N) NAMES(K,J,I)\n"
    text = channels + "SUSPEND QMGR CLUSNL(N)\nRESUME QMGR CLUSTER(J)"
    rows = read_own(text).rows["cluster_channels"]
    assert {row["cluster"]: row["suspended"] for row in rows} == {"K": True, "J": False, "I": True}
    assert {row["suspended"] for row in read_own(channels).rows["cluster_channels"]} == {None}
    assert len(read_own("SUSPEND QMGR CLUSNL(X)").rejects) == 1


def test_model_queues_other_channels_and_unclustered_receivers_give_no_rows():
    reading = read_own(
        "DEF QM(A)\nDEF CHL(B) CHLTYPE(SVRCONN)\nDEF CHL(C) CHLTYPE(CLUSRCVR)\n"
        "DEF CHL(D) CHLTYPE(CLUSSDR) CLUSTER(K)\nDEF LISTENER(L) TRPTYPE(TCP)\nSTART LISTENER(L)"
    )
    assert {table for table, rows in reading.rows.items() if rows} == {"cluster_senders"}
    assert reading.rejects == []


def test_absent_attributes_are_null_and_given_ones_are_kept():
    (row,) = read_own("DEF QL(A) CLWLRANK(0) PUT(ENABLED)").rows["queues"]
    assert (row["clwlrank"], row["put_enabled"], row["clwlprty"]) == (0, True, None)
    assert (row["observer"], row["qmgr"]) == ("*", "QM1")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("DEF QL(A) CLWLRANK(10)", "queues.clwlrank: '10' is not in 0 to 9"),
        ("DEF QL(A) CLWLPRTY(x)", "queues.clwlprty: 'X' is not in 0 to 9"),
        ("DEF QL(A) DEFBIND(ANY)", "queues.defbind: 'ANY' is not one of OPEN, NOTFIXED, GROUP"),
        ("DEF CHL(A) CHLTYPE(CLUSRCVR) CLUSTER(K) CLWLWGHT(0)", "clwlwght: '0' is not in 1 to 99"),
        ("ALTER QMGR CLWLUSEQ(QMGR)", "queue_managers.clwluseq: 'QMGR' is not one of LOCAL, ANY"),
        ("DEF QL('$q')", "queues.queue: '$q' is not a name"),
        ("DEF CHL(ABCDEFGHIJKLMNOPQRSTU) CHLTYPE(CLUSRCVR) CLUSTER(K)", "not a name of 1 to 20"),
        ("DEFNE QLOCAL(A)", "not an MQSC command"),
    ],
)
def test_a_reject_names_table_column_and_value(text, reason):
    reading = read_own(text + "\nDEF QL(GOOD)")
    assert reason in reading.rejects[0].reason
    assert [row["queue"] for row in reading.rows["queues"]] == ["GOOD"]


def test_a_subscriptions_topic_object_comes_before_its_own_string():
    text = (
        "DEF TOPIC(T) TOPICSTR('a/b')\nDEF SUB('S 1') TOPICOBJ(T) TOPICSTR('#') DEST(Q) DESTQMGR(R)"
    )
    (row,) = read_own(text).rows["subscriptions"]
    assert (row["sub_name"], row["topicstr"], row["subtype"]) == ("S 1", "a/b/#", "USER")
    assert (row["dest"], row["dest_qmgr"], row["wschema"]) == ("Q", "R", None)
    assert len(read_own("DEF SUB(S) TOPICOBJ(X)").rejects) == 1


def test_a_subscription_says_how_its_wildcards_are_read():
    reading = read_own(
        "DEF SUB(A) TOPICSTR('*') WSCHEMA(CHAR)\nDEF SUB(B) WSCHEMA(WORD)\nDEF QL(Q)"
    )
    assert [x["wschema"] for x in reading.rows["subscriptions"]] == ["CHAR"]
    assert "wschema" in reading.rejects[0].reason


def test_a_text_of_nobody_is_an_error_that_names_the_way_out():
    with pytest.raises(IngestError, match="--observer"):
        read_text("DEF QL(A)", "a.mqsc")
    assert read_text("just words\nand more", "a.txt").qmgrs == ()


def test_a_dump_names_its_queue_manager_whoever_observes():
    reading = read_text("* Queue manager name: QM4 \nDEF QL(A)", "dump", "OTHER")
    assert reading.qmgrs == ("QM4",)


def test_a_here_document_names_its_queue_manager():
    text = "runmqsc QM1 << EOF\nDEF QL(A)\nEND\nEOF\nrunmqsc $qm <<EOF\nDEF QL(B)\nEOF\n"
    reading = read_text(text, "x.sh")
    assert [(row["qmgr"], row["queue"]) for row in reading.rows["queues"]] == [("QM1", "A")]
    assert "$qm" in reading.rejects[0].reason


def test_namelists_count_across_the_files_of_a_queue_manager_only():
    reading = read_texts(
        [
            ("a", "* Queue manager name: QM1\nDEF QL(A) CLUSNL(N)"),
            ("b", "* Queue manager name: QM1\nDEF NL(N) NAMES(K)"),
            ("c", "* Queue manager name: QM2\nDEF QL(A) CLUSNL(N)"),
        ]
    )
    assert [(row["qmgr"], row["cluster"]) for row in reading.rows["queues"]] == [("QM1", "K")]
    assert [reject.file for reject in reading.rejects] == ["c"]


def test_reading_the_same_text_twice_gives_its_rows_once():
    text = "* Queue manager name: QM1\nDEF QL(A) CLUSTER(K)\nALTER QMGR REPOS(K)"
    reading = read_texts([("a", text), ("b", text)])
    assert reading.rows == read_texts([("a", text)]).rows
    assert reading.rejects == []


def test_of_two_versions_the_one_altered_last_counts():
    version = (
        "* Queue manager name: QM1\nDEF QL(A) +\n"
        "* ALTDATE({}) +\n* ALTTIME(01.02.03) +\nCLWLPRTY({})"
    )
    texts = [("a", version.format("2026-05-02", 7)), ("b", version.format("2026-05-01", 3))]
    for sources in (texts, texts[::-1]):
        reading = read_texts(sources)
        assert [row["clwlprty"] for row in reading.rows["queues"]] == [7]
        assert reading.rejects == []


def test_two_versions_without_dates_are_refused_and_both_places_named():
    texts = [("a", "DEF QL(A) CLWLPRTY(1)"), ("b", "\nDEF QL(A) CLWLPRTY(2)")]
    (reject,) = read_texts(texts, "QM1").rejects
    assert "a:1" in reject.reason
    assert "b:2" in reject.reason


def test_an_explicit_default_and_an_absent_attribute_do_not_contradict():
    reading = read_texts(
        [("a", "DEF QL(A)"), ("b", "DEF QL(A) DEFBIND(OPEN) CLCHNAME(' ')")], "QM1"
    )
    assert reading.rejects == []


def test_a_dump_of_five_thousand_objects_reads_in_time_in_proportion():
    text = dump(5000)
    start = time.process_time()
    reading = read_text(text, "big")
    seconds = time.process_time() - start
    assert len(reading.rows["queues"]) == 5000
    assert seconds < 5


@pytest.mark.parametrize(
    ("word", "value"), [("DISABLED", False), ("ENABLED", True), ("ASPARENT", None)]
)
def test_a_dump_says_whether_a_topic_can_be_subscribed_to(word, value):
    text = f"DEFINE TOPIC('T') +\n  TOPICSTR('/a') +\n  SUB({word}) +\n  PUB(ENABLED) REPLACE\n"
    row = one(read_own(text), "topics")
    assert (row["sub_enabled"], row["pub_enabled"]) == (value, True)


@pytest.mark.parametrize(
    ("said", "scopes"),
    [
        ("PUBSCOPE(QMGR) SUBSCOPE(ALL)", ("QMGR", "ALL")),
        ("PUBSCOPE(ASPARENT) SUBSCOPE(qmgr)", (None, "QMGR")),
        ("", (None, None)),
    ],
)
def test_a_topic_has_its_scopes(said, scopes):
    row = one(read_text(f"DEFINE TOPIC(T) TOPICSTR('a/b') {said}", "setup", "QM1"), "topics")
    assert (row["pub_scope"], row["sub_scope"]) == scopes


def test_an_altered_scope_is_that_of_the_parent_again():
    text = "DEFINE TOPIC(T) TOPICSTR('a') PUBSCOPE(QMGR)\nALTER TOPIC(T) PUBSCOPE(ASPARENT)\n"
    assert one(read_text(text, "setup", "QM1"), "topics")["pub_scope"] is None


def test_a_subscriptions_scope_is_all_or_qmgr():
    text = (
        "DEFINE SUB(S1) TOPICSTR('a') DEST(Q) SUBSCOPE(QMGR)\n"
        "DEFINE SUB(S2) TOPICSTR('a') DEST(Q)\n"
        "DEFINE SUB(S3) TOPICSTR('a') DEST(Q) SUBSCOPE(ASPARENT)\n"
    )
    reading = read_text(text, "setup", "QM1")
    assert [x["sub_scope"] for x in reading.rows["subscriptions"]] == ["QMGR", None]
    assert "sub_scope: 'ASPARENT' is not one of ALL, QMGR" in reading.rejects[0].reason
