from mq.mqsc_texts import clusqmgr, one, session
from readings import read_text

REMOTE = clusqmgr(
    "CLUSQMGR(QM2)", "CHANNEL(TO.QM2)", "CLUSTER(K)", "CLWLPRTY(4)", "CONNAME(h(1414))",
    "DEFTYPE(CLUSSDRA)", "QMID(QM2_1)", "QMTYPE(REPOS)", "STATUS(RETRYING)", "SUSPEND(YES)",
)  # fmt: skip

ECHO = """\
     1 : DEFINE QLOCAL(A) +
       :   CLUSTER(K)
AMQ8006I: IBM MQ queue created.
     2 : DEFINE QLOCAL(B)
AMQ8150E: IBM MQ object already exists.
DEFINE QLOCAL(TYPED)
     3 : DEFINE QLOCAL(C
AMQ8405I: Syntax error detected at or near end of command segment below:-
     4 : end"""


def test_a_log_counts_what_was_echoed_and_carried_out():
    text = (
        "Some words.\n"
        + session("QM1", ECHO)
        + "\nDEFINE QLOCAL(PROSE)\nWords again.\n"
        + session("QM2", ECHO)
    )
    reading = read_text(text, "log")
    assert [(row["qmgr"], row["queue"]) for row in reading.rows["queues"]] == [
        ("QM1", "A"),
        ("QM2", "A"),
    ]
    assert [reject.text for reject in reading.rejects] == ["DEFINE QLOCAL(PROSE)"]


def test_a_script_and_a_session_may_share_a_text():
    reading = read_text(
        "* Queue manager name: QM1\nDEF QL(A)\n"
        + session("QM1", "     1 : DIS CLUSQMGR(*)", REMOTE),
        "both",
    )
    assert one(reading, "queues")["queue"] == "A"
    assert one(reading, "cluster_channels")["observer"] == "QM1"


def test_a_log_in_a_document_is_indented_by_tabs():
    text = (
        session("QM1", "     1 : dis clusqmgr(*)", REMOTE)
        .replace("\n", "\n\t")
        .replace("\n", "\r\n")
    )
    assert one(read_text(text, "doc"), "cluster_channels")["qmgr"] == "QM2"


def test_a_text_may_show_two_queue_managers():
    names = ["QM1", "QM2"]
    text = "\n".join(
        f"AMQ8408I: x\n   QMNAME({name})\nAMQ8409I: x\n   QUEUE(A) TYPE(QLOCAL)" for name in names
    )
    assert [row["qmgr"] for row in read_text(text, "both").rows["queues"]] == names
