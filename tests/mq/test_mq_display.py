import pytest
from mq.mqsc_texts import chstatus, clusqmgr, one, queue, session, two_columns
from readings import read_text, read_texts

from clwl_spark.errors import IngestError


def read(*blocks, qmgr="QM1"):
    return read_text(session(qmgr, *blocks), "log")


REMOTE = clusqmgr(
    "CLUSQMGR(QM2)", "CHANNEL(TO.QM2)", "CLUSTER(K)", "CLWLPRTY(4)", "CONNAME(h(1414))",
    "DEFTYPE(CLUSSDRA)", "QMID(QM2_1)", "QMTYPE(REPOS)", "STATUS(RETRYING)", "SUSPEND(YES)",
)  # fmt: skip


def test_a_remote_clusqmgr_gives_channel_identity_and_status():
    reading = read(REMOTE)
    channel = one(reading, "cluster_channels")
    assert (channel["observer"], channel["qmgr"], channel["channel"]) == ("QM1", "QM2", "TO.QM2")
    assert (channel["clwlprty"], channel["suspended"], channel["qmtype"]) == (4, True, "REPOS")
    assert channel["conname"] == "h(1414)"
    assert one(reading, "queue_managers")["qmid"] == "QM2_1"
    status = one(reading, "channel_status")
    assert (status["qmgr"], status["remote_qmgr"], status["status"]) == ("QM1", "QM2", "RETRYING")


def test_the_own_receiver_names_the_viewer_and_has_no_sender_status():
    own = clusqmgr(
        "CLUSQMGR(QM1)", "CHANNEL(TO.QM1)", "CLUSTER(K)", "DEFTYPE(CLUSRCVR)", "STATUS(RUNNING)"
    )
    reading = read_text(f"{REMOTE}\n{own}", "pasted")
    assert reading.qmgrs == ("QM1",)
    assert {row["observer"] for row in reading.rows["cluster_channels"]} == {"QM1"}
    assert [row["channel"] for row in reading.rows["channel_status"]] == ["TO.QM2"]


def test_a_view_without_viewer_is_an_error():
    with pytest.raises(IngestError):
        read_text(REMOTE, "pasted")


def test_a_manual_sender_gives_no_channel_row():
    manual = clusqmgr("CLUSQMGR(QM2)", "CHANNEL(TO.QM2)", "CLUSTER(K)", "DEFTYPE(CLUSSDR)")
    reading = read(manual)
    assert not any(reading.rows.values())
    assert reading.rejects == []


def test_a_link_never_completed_is_seen_in_its_status_alone():
    name = "SYSTEM.TEMPQMGR.h(1414)"
    unknown = clusqmgr(f"CLUSQMGR({name})", "CHANNEL(C)", "CLUSTER(K)", "STATUS(RETRYING)")
    reading = read(unknown)
    status = one(reading, "channel_status")
    assert (status["remote_qmgr"], status["status"]) == (name, "RETRYING")
    assert {table for table, rows in reading.rows.items() if rows} == {"channel_status"}


@pytest.mark.parametrize(
    "value", ["CLWLWGHT(100)", "STATUS(DANCING)", "QMTYPE(BIG)", "SUSPEND(MAYBE)"]
)
def test_a_value_that_mq_does_not_have_refuses_the_whole_object(value):
    reading = read(clusqmgr("CLUSQMGR(QM2)", "CHANNEL(C)", "CLUSTER(K)", "QMID(X)", value))
    assert not any(reading.rows.values())
    assert value.split("(")[1][:-1] in reading.rejects[0].reason


def test_channel_status_of_cluster_channels_only():
    reading = read(
        chstatus(
            "CHANNEL(A)",
            "CHLTYPE(CLUSSDR)",
            "RQMNAME(QM2)",
            "STATUS(RUNNING)",
            "XMITQ(X)",
            "CURRENT",
        ),
        chstatus("CHANNEL(B)", "CHLTYPE(CLUSRCVR)", "RQMNAME(QM3)", "STATUS(PAUSED)"),
        chstatus("CHANNEL(C)", "CHLTYPE(SVRCONN)", "STATUS(RUNNING)"),
    )
    rows = [
        (row["channel"], row["chltype"], row["status"], row["xmitq"])
        for row in reading.rows["channel_status"]
    ]
    assert rows == [("A", "CLUSSDR", "RUNNING", "X"), ("B", "CLUSRCVR", "PAUSED", None)]


def test_a_bare_word_may_stand_in_either_column():
    block = chstatus(
        "CHANNEL(A)", "CHLTYPE(CLUSSDR)", "CURRENT", "RQMNAME(QM2)", "STATUS(RUNNING)", "XMITQ(X)"
    )
    row = one(read(block + "\nEND"), "channel_status")
    assert (row["remote_qmgr"], row["status"]) == ("QM2", "RUNNING")


def test_saved_status_is_no_status():
    block = chstatus("CHANNEL(A)", "CHLTYPE(CLUSSDR)", "RQMNAME(QM2)", "SAVED", "STATUS(RUNNING)")
    assert read(block).rows["channel_status"] == []


def test_two_receiver_instances_keep_the_better_status():
    states = [
        chstatus("CHANNEL(B)", "CHLTYPE(CLUSRCVR)", "RQMNAME(Q)", f"STATUS({s})")
        for s in ("PAUSED", "RUNNING")
    ]
    assert one(read(*states), "channel_status")["status"] == "RUNNING"


def test_two_statuses_of_one_sender_are_refused():
    states = [
        chstatus("CHANNEL(B)", "CHLTYPE(CLUSSDR)", "RQMNAME(Q)", f"STATUS({s})")
        for s in ("PAUSED", "RUNNING")
    ]
    assert "log:5" in read(*states).rejects[0].reason


def test_a_blank_rqmname_is_told_by_the_channels_name():
    status = chstatus(
        "CHANNEL(TO.QM2)", "CHLTYPE(CLUSSDR)", "RQMNAME( )", "STATUS(RETRYING)", "XMITQ(X)"
    )
    row = one(read(REMOTE, status), "channel_status")
    assert (row["remote_qmgr"], row["status"], row["xmitq"]) == ("QM2", "RETRYING", "X")
    assert one(read(status), "channel_status")["remote_qmgr"] == ""


def test_cluster_queues_get_the_viewer_and_their_type():
    reading = read(
        queue(
            "QUEUE(A)",
            "TYPE(QCLUSTER)",
            "CLUSQMGR(QM2)",
            "CLUSQT(QALIAS)",
            "CLUSTER(K)",
            "PUT(DISABLED)",
        ),
        queue("QUEUE(B)", "TYPE(QLOCAL)", "CLUSQMGR(QM2)", "CLUSQT(QMGR)", "CLUSTER(K)"),
        queue("QUEUE(C)", "TYPE(QCLUSTER)", "CLUSQMGR(QM2)", "CLUSQT(QREMOTE)", "CLUSTER(K)"),
        queue("QUEUE(D)", "TYPE(QCLUSTER)", "CLUSTER(K)"),
    )
    rows = [(row["queue"], row["qtype"], row["rname"]) for row in reading.rows["queues"]]
    assert rows == [("A", "QALIAS", None), ("B", "QREMOTE", ""), ("C", "QREMOTE", "C")]
    assert {row["observer"] for row in reading.rows["queues"]} == {"QM1"}
    assert len(reading.rejects) == 1


def test_own_objects_displayed_are_definitions():
    reading = read(
        two_columns(
            "AMQ8408I: Display Queue Manager details.",
            ["QMNAME(QM1)", "CLWLUSEQ(ANY)", "REPOS(K)", "SYNCPT"],
        ),
        two_columns(
            "AMQ8414I: Display Channel details.",
            ["CHANNEL(C)", "CHLTYPE(CLUSRCVR)", "CLUSTER(K)", "NETPRTY(2)"],
        ),
        two_columns(
            "AMQ8633I: Display topic details.",
            ["TOPIC(T)", "TYPE(LOCAL)", "TOPICSTR(a/b)", "PUB(ASPARENT)"],
        ),
        two_columns(
            "AMQ8096I: IBM MQ subscription inquired.",
            ["SUBID(414D)", "SUB(P 1)", "TOPICSTR(a/b)", "SUBTYPE(PROXY)", "DESTQMGR(Q)"],
        ),
    )
    assert one(reading, "queue_managers")["clwluseq"] == "ANY"
    assert one(reading, "cluster_channels")["qmtype"] == "REPOS"
    assert (one(reading, "topics")["topicstr"], one(reading, "topics")["pub_enabled"]) == (
        "a/b",
        None,
    )
    assert one(reading, "subscriptions")["sub_name"] == "P 1"


def test_a_cluster_topic_gets_the_viewer():
    topic = two_columns(
        "AMQ8633I: x",
        [
            "TOPIC(T)",
            "TYPE(CLUSTER)",
            "TOPICSTR(a)",
            "CLUSTER(K)",
            "CLUSQMGR(QM2)",
            "CLROUTE(TOPICHOST)",
        ],
    )
    row = one(read(topic), "topics")
    assert (row["observer"], row["qmgr"], row["clroute"]) == ("QM1", "QM2", "TOPICHOST")


def test_a_namelist_displayed_over_lines_is_one_value():
    text = (
        "AMQ8550I: Display namelist details.\n   NAMELIST(N)\n   NAMCOUNT(2)\n"
        "   NAMES(K\n       ,low)\n   DESCR(x)"
    )
    reading = read(text, queue("QUEUE(A)", "TYPE(QLOCAL)", "CLUSNL(N)"))
    assert [row["cluster"] for row in reading.rows["queues"]] == ["K", "low"]


def test_a_partial_display_does_not_contradict_a_definition():
    texts = [
        ("dump", "* Queue manager name: QM1\nDEF QL(A) CLUSTER(K) CLWLPRTY(2)"),
        ("log", session("QM1", queue("QUEUE(A)", "TYPE(QLOCAL)", "CURDEPTH(1)"))),
    ]
    for sources in (texts, texts[::-1]):
        reading = read_texts(sources)
        assert (one(reading, "queues")["cluster"], one(reading, "queues")["clwlprty"]) == ("K", 2)
        assert reading.rejects == []
    assert one(read_texts(texts[1:]), "queues")["cluster"] == ""


def test_a_description_with_odd_parentheses_hides_nothing():
    block = queue(
        "QUEUE(A)", "TYPE(QLOCAL)", "DESCR(one (of two)", "CLUSTER(K)", "DESCR(a) PUT(DISABLED)"
    )
    row = one(read(block), "queues")
    assert (row["cluster"], row["put_enabled"]) == ("K", None)


def test_many_attributes_on_a_line():
    text = "AMQ8409: x\n   QUEUE(A) TYPE(QALIAS) TARGQ(B) CLUSTER(K) PUT (DISABLED)"
    row = one(read(text), "queues")
    assert (row["target"], row["cluster"], row["put_enabled"]) == ("B", "K", False)


CONNAMES = "CONNAME(mqhost1.example.com(1414),{}mqhost2.example.com(1414),10.0.0.3(1415))"


@pytest.mark.parametrize("broken", ["", "\n", "\n   ", " "])
@pytest.mark.parametrize(
    "rest",
    [
        "\n   CURRENT                                 RQMNAME(QM2)\n   STATUS(RETRYING)",
        "   CURRENT\n   RQMNAME(QM2)                            STATUS(RETRYING)",
        "\n   CURRENT\n   RQMNAME(QM2)\n   STATUS(RETRYING)",
        " CURRENT RQMNAME(QM2) STATUS(RETRYING)",
    ],
)
def test_a_list_of_hosts_hides_nothing_that_follows_it(broken, rest):
    head = "AMQ8417I: Display Channel Status details.\n   CHANNEL(A)"
    block = f"{head}                 CHLTYPE(CLUSSDR)\n   {CONNAMES.format(broken)}{rest}"
    both = read(block, block.replace("(A)", "(B)").replace("(QM2)", "(QM3)"))
    rows = [(x["remote_qmgr"], x["status"]) for x in both.rows["channel_status"]]
    assert rows == [("QM2", "RETRYING"), ("QM3", "RETRYING")]


def test_a_list_of_hosts_that_is_cut_off_ends_before_the_next_attribute():
    block = (
        "AMQ8417I: Display Channel Status details.\n   CHANNEL(A)      CHLTYPE(CLUSSDR)\n"
        "   CONNAME(mqhost1.example.com(1414),\n   RQMNAME(QM2)       STATUS(RETRYING)"
    )
    row = one(read(block), "channel_status")
    assert (row["remote_qmgr"], row["status"]) == ("QM2", "RETRYING")


def test_an_object_may_begin_on_the_line_of_its_message():
    text = "AMQ8417I: Display Channel Status details. CHANNEL(A) CHLTYPE(CLUSSDR) RQMNAME(QM2)"
    row = one(read(f"{text} CONNAME(a(1414),b(1414)) STATUS(RETRYING)"), "channel_status")
    assert (row["channel"], row["status"]) == ("A", "RETRYING")


@pytest.mark.parametrize(
    ("shown", "backlog"), [("0", 0), ("7", 7), ("999", 999), (" ", None), ("999999999", 999999999)]
)
def test_messages_that_wait_for_a_sender_are_its_backlog(shown, backlog):
    block = chstatus(
        "CHANNEL(TO.QM2)",
        "CHLTYPE(CLUSSDR)",
        "RQMNAME(QM2)",
        "STATUS(RUNNING)",
        f"XQMSGSA({shown})",
        "XQTIME(1042,977)",
    )
    reading = read(block)
    assert one(reading, "channel_status")["backlog"] == backlog
    assert reading.rejects == []


@pytest.mark.parametrize("shown", ["MANY", "-1", "1,024", "7 MSGS"])
def test_a_backlog_that_is_no_number_is_set_aside_and_the_status_is_used(shown):
    block = chstatus(
        "CHANNEL(A)", "CHLTYPE(CLUSSDR)", "RQMNAME(QM2)", "STATUS(PAUSED)", f"XQMSGSA({shown})"
    )
    reading = read(block)
    row = one(reading, "channel_status")
    assert (row["status"], row["backlog"]) == ("PAUSED", None)
    assert [reject.reason for reject in reading.rejects] == [
        f"XQMSGSA({shown}) is no number; the rest of the object is used"
    ]


def test_a_receiver_has_no_backlog():
    block = chstatus(
        "CHANNEL(B)", "CHLTYPE(CLUSRCVR)", "RQMNAME(Q)", "STATUS(RUNNING)", "XQMSGSA(3)"
    )
    assert one(read(block), "channel_status")["backlog"] is None


def test_the_later_count_is_the_backlog_and_no_contradiction():
    states = [
        chstatus("CHANNEL(TO.QM2)", "CHLTYPE(CLUSSDR)", "RQMNAME(QM2)", "STATUS(RETRYING)", *count)
        for count in (["XQMSGSA(5)"], ["XQMSGSA(0)"], [])
    ]
    reading = read(REMOTE, *states)
    assert (one(reading, "channel_status")["backlog"], reading.rejects) == (0, [])


@pytest.mark.parametrize(
    ("shown", "scopes"),
    [
        ("PUBSCOPE(QMGR) SUBSCOPE(ALL)", ("QMGR", "ALL")),
        ("PUBSCOPE(ASPARENT) SUBSCOPE(ASPARENT)", (None, None)),
        ("", (None, None)),
    ],
)
def test_a_cluster_topic_has_its_scopes(shown, scopes):
    block = (
        "AMQ8633I: Display topic details.\n"
        "   TOPIC(SPORT) TYPE(CLUSTER) TOPICSTR(Sport) CLUSQMGR(QM2) CLUSTER(K) " + shown
    )
    row = one(read_text(block, "log", "QM1"), "topics")
    assert (row["pub_scope"], row["sub_scope"]) == scopes


def test_a_displayed_subscription_has_its_scope():
    block = (
        "AMQ8096I: IBM MQ subscription inquired.\n"
        "   SUB(S1)                                 TOPICSTR(Sport/#)\n"
        "   DEST(Q)                                 SUBTYPE(ADMIN)\n"
        "   SUBSCOPE(QMGR)"
    )
    assert one(read_text(block, "log", "QM1"), "subscriptions")["sub_scope"] == "QMGR"


WHOLE = "     1 : DISPLAY CLUSQMGR(*) ALL"
HEAD = "AMQ8441I: Display Cluster Queue Manager details."


@pytest.mark.parametrize(
    "lines",
    [
        ("   CLUSQMGR  (QM3)   CHANNEL  (TO.QM3)", "   CLUSTER  (K)   QMID  (QM3_1)"),
        ("\tCLUSQMGR\t(QM3)\tCHANNEL\t(TO.QM3)", "\tCLUSTER\t(K)\tQMID\t(QM3_1)"),
        ("   CLUSQMGR( QM3 )   CHANNEL( TO.QM3 )", "   CLUSTER( K )   QMID( QM3_1 )"),
        ("   CLUSQMGR(QM3)                           CHANNEL   (TO.QM3)", "   CLUSTER   (K)"),
    ],
)
def test_other_spacing_within_a_block_hides_no_name(lines):
    reading = read(WHOLE, REMOTE, "\n".join([HEAD, *lines]))
    assert [x["qmgr"] for x in reading.rows["cluster_channels"]] == ["QM2", "QM3"]
    assert {x["cluster"] for x in reading.rows["cluster_channels"]} == {"K"}
    assert reading.rejects == []
    assert one(reading, "views")["whole"] is True


@pytest.mark.parametrize(
    "first", ["clusqmgr(QM3)   channel(TO.QM3)", "CLUSQMGR = QM3", "CLUSQMGR: QM3"]
)
def test_a_line_of_a_block_in_another_form_is_told_and_the_view_is_not_whole(first):
    reading = read(WHOLE, "\n".join([HEAD, f"   {first}", "   CLUSTER(K)"]), REMOTE)
    (reject,) = reading.rejects
    assert (reject.line, reject.text) == (6, first)
    assert "not KEYWORD(value)" in reject.reason
    assert one(reading, "cluster_channels")["qmgr"] == "QM2"
    assert reading.rows["views"] == []
