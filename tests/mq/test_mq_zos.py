import pytest
from mq.mqsc_texts import one
from readings import read_text

ZOS = """\
 CSQM201I {cpf} CSQMDRTC  DISPLAY CHSTATUS DETAILS 610
 CHSTATUS(TO.QM2)
 CHLDISP(PRIVATE)
 CURRENT
 CHLTYPE(CLUSSDR)
 STATUS(STOPPED)
 SUBSTATE()
 RQMNAME(QM2)
  END CHSTATUS DETAILS
 CSQM201I {cpf} CSQMDRTC  DISPLAY QUEUE DETAILS
 QUEUE(A)
 TYPE(QLOCAL)
 QSGDISP(SHARED)
 END QUEUE DETAILS
 CSQ9022I {cpf} CSQMDRTC ' DISPLAY QUEUE' NORMAL COMPLETION
"""


def test_a_zos_console_is_read_and_its_prefix_is_the_last_resort_for_a_name():
    reading = read_text(ZOS.format(cpf="+ZQ01"), "syslog")
    assert reading.qmgrs == ("ZQ01",)
    assert one(reading, "channel_status")["status"] == "STOPPED"
    assert one(reading, "queues")["qsgdisp"] == "SHARED"
    assert read_text(ZOS.format(cpf="+ZQ01"), "syslog", "ZED").qmgrs == ("ZED",)


def test_columns_of_a_system_log_do_not_matter():
    lines = [f"D  610 00000090 {line}" for line in ZOS.format(cpf="ZQ01").splitlines()]
    reading = read_text("\n".join(lines), "syslog")
    assert one(reading, "channel_status")["remote_qmgr"] == "QM2"
    assert one(reading, "queues")["queue"] == "A"


def test_a_zos_reply_names_its_queue_manager():
    text = (
        "CSQM408I !ZQ02 QMNAME(ZQ02)\nQSGNAME(GRP1)\n"
        "CSQ9022I !ZQ02 CSQMDRTC ' DIS QMGR' NORMAL COMPLETION"
    )
    row = one(read_text(text, "csqutil"), "queue_managers")
    assert (row["qmgr"], row["qsgname"]) == ("ZQ02", "GRP1")


def test_the_utilitys_listing_names_its_target_and_wraps_values():
    text = (
        "1CSQU000I CSQUTIL IBM MQ for z/OS\n CSQU055I  Target queue manager is ZQ03\n"
        "  DIS QUEUE(*) ALL\n"
        "CSQM401I %ZQ0 QUEUE(A             ) TYPE(QLOCAL  ) NOTRIGGER CLUSTER(K  \n"
        "       ) CLWLPRTY(         3) DESCR(one (of two) PUT(DISABLED)\n"
        "CSQN205I   COUNT=       3, RETURN=00000000, REASON=00000000\n"
    )
    reading = read_text(text, "sysprint")
    row = one(reading, "queues")
    assert (row["qmgr"], row["cluster"], row["clwlprty"]) == ("ZQ03", "K", 3)
    assert row["put_enabled"] is False


def test_a_value_goes_on_below_itself_in_the_system_log():
    prefix = "D                     123 00000090 "
    lines = [
        "N 40 SYS1 24101 10:11:12.13 STC01234 00000090 CSQM201I !ZQ01 CSQMDRTC  DIS CLUSQMGR 123",
        prefix + "CLUSQMGR(ZQ02)",
        prefix + "CHANNEL(TO.ZQ02)",
        prefix + "CLUSTER(K)",
        prefix + "CONNAME(a(1414),",
        prefix + "b(1414))",
        "E                     123 00000090 END CLUSQMGR DETAILS",
    ]
    row = one(read_text("\n".join(lines), "syslog"), "cluster_channels")
    assert (row["observer"], row["conname"]) == ("ZQ01", "a(1414),b(1414)")


def test_answers_of_other_members_of_the_group_are_theirs():
    block = (
        " CSQN121I !ZQ01 CSQNLSNR DIS QUEUE command responses from {0}\n"
        " CSQM201I !{0} CSQMDRTC  DIS QUEUE DETAILS\n QUEUE(A)\n TYPE(QLOCAL)\n END QUEUE DETAILS\n"
    )
    reading = read_text(block.format("ZQ02") + block.format("ZQ03"), "syslog")
    assert [row["qmgr"] for row in reading.rows["queues"]] == ["ZQ02", "ZQ03"]


def test_a_command_that_failed_with_two_messages_takes_only_itself_back():
    text = (
        " CSQU055I  Target queue manager is ZQ01\n DEFINE QL(A)\n"
        "CSQ9022I %ZQ01 CSQMAQLC ' DEFINE QL' NORMAL COMPLETION\n DEFINE QL(B)\n"
        "CSQ9016E %ZQ01 ' DEFINE' command request not authorized\n"
        "CSQ9023E %ZQ01 CSQ9SCND ' DEFINE QL' ABNORMAL COMPLETION\n"
    )
    assert one(read_text(text, "sysprint"), "queues")["queue"] == "A"


def test_sequence_numbers_are_no_part_of_a_command():
    lines = ["DEFINE QLOCAL(LONG-", "NAME) +", "   DESCR('it''s -", "  x') CLUSTER(K)"]
    text = "\n".join(f"{line:<72}{number:08d}" for number, line in enumerate(lines))
    row = one(read_text(text, "csqinp2", "ZQ01"), "queues")
    assert (row["queue"], row["cluster"]) == ("LONGNAME", "K")


def test_a_made_definition_says_noreplace_first():
    text = "DEFINE NOREPLACE +\nQLOCAL('A') +\nQSGDISP(QMGR) +\nCLUSTER('K')\n"
    assert one(read_text(text, "makedef", "ZQ01"), "queues")["cluster"] == "K"


def test_a_group_definition_is_the_master_of_the_copy_that_counts():
    texts = [f"DEFINE NOREPLACE QLOCAL(A) QSGDISP({d}) CLWLPRTY({n})" for d, n in (
        ("GROUP", 1), ("COPY", 2),
    )]  # fmt: skip
    for script in (texts, texts[::-1]):
        reading = read_text("\n".join(script), "makedef", "ZQ01")
        assert (one(reading, "queues")["qsgdisp"], reading.rejects) == ("COPY", [])


@pytest.mark.parametrize("answer", ["CSQM420I ]MQ21 {}", "]MQ21 CSQM420I {}", "CSQM420I (MQ21 {}"])
def test_a_prefix_may_begin_with_a_sign_and_stand_on_either_side(answer):
    status = "CHSTATUS(TO.QM{0}) CHLTYPE(CLUSSDR) CONNAME(a(1414),b(1414)) CURRENT STATUS({1})"
    lines = [answer.format(status.format(*x)) for x in ((2, "RETRYING"), (3, "RUNNING"))]
    reading = read_text("\n".join(lines), "sysprint")
    found = [(x["channel"], x["status"]) for x in reading.rows["channel_status"]]
    assert (reading.qmgrs, found) == (("MQ21",), [("TO.QM2", "RETRYING"), ("TO.QM3", "RUNNING")])


@pytest.mark.parametrize(("shown", "backlog"), [("3", 3), ("", None)])
def test_a_backlog_that_zos_cannot_tell_is_blank(shown, backlog):
    text = (
        " CSQM201I +ZQ01 CSQMDRTC  DIS CHSTATUS DETAILS\n CHSTATUS(TO.QM2)\n CHLDISP(PRIVATE)\n"
        f" CURRENT\n CHLTYPE(CLUSSDR)\n STATUS(RUNNING)\n XQMSGSA({shown})\n RQMNAME(QM2)\n"
        " END CHSTATUS DETAILS\n"
    )
    assert one(read_text(text, "syslog"), "channel_status")["backlog"] == backlog
