from mq.mqsc_texts import one

from clwl_spark.mq import read_text

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
