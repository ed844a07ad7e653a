"""Depth and handles of queues, as DISPLAY QSTATUS and DISPLAY QLOCAL show them."""

import json

import pytest
from mq.mqsc_texts import HEADER, one, queue, session, two_columns
from readings import read_text, read_texts

from clwl_spark.mq.read import read_states

COMMANDS = "SYSTEM.CLUSTER.COMMAND.QUEUE"


def qstatus(*attributes):
    return two_columns("AMQ8450I: Display queue status details.", attributes)


SHOWN = qstatus(
    f"QUEUE({COMMANDS})", "TYPE(QUEUE)", "CURDEPTH(3)", "IPPROCS(1)", "LGETDATE( )", "LGETTIME( )",
    "MSGAGE(12)", "OPPROCS(2)", "QTIME(4, 5)", "UNCOM(NO)",
)  # fmt: skip
ROW = {"qmgr": "QM1", "queue": COMMANDS, "curdepth": 3, "ipprocs": 1, "opprocs": 2}


def counts(reading):
    row = one(reading, "queue_status")
    return {name: value for name, value in row.items() if name != "source"}


def test_qstatus_gives_depth_and_handles():
    reading = read_text(session("QM1", SHOWN), "log")
    assert counts(reading) == ROW
    assert one(reading, "queue_status")["source"] == "log:5"
    assert {table for table, rows in reading.rows.items() if rows} == {"queue_status"}
    assert reading.rejects == []


def test_a_queue_shown_with_its_depth_is_a_queue_and_its_status():
    shown = queue(f"QUEUE({COMMANDS})", "TYPE(QLOCAL)", "CURDEPTH(3)", "IPPROCS(1)", "OPPROCS(2)")
    reading = read_text(session("QM1", shown), "log")
    assert counts(reading) == ROW
    assert one(reading, "queues")["queue"] == COMMANDS


def test_answers_of_rest_and_of_z_os_give_the_same():
    item = {
        "queue": COMMANDS, "type": "QUEUE", "curdepth": 3, "ipprocs": 1, "opprocs": 2, "msgage": 9,
    }  # fmt: skip
    answer = {"commandResponse": [{"completionCode": 0, "parameters": item}]}
    assert counts(read_text(json.dumps(answer), "answer.json", "QM1")) == ROW
    for first in ("QSTATUS", "QUEUE"):
        text = (
            "CSQM201I !QM1 CSQMDMSG DIS QSTATUS DETAILS\n"
            f"{first}({COMMANDS})\nTYPE(QUEUE)\nCURDEPTH(3)\nIPPROCS(1)\nOPPROCS(2)\n"
            "END QSTATUS DETAILS\n"
        )
        assert counts(read_text(text, "joblog", "QM1")) == ROW


def test_who_has_a_queue_open_is_no_count_and_no_reject():
    handle = qstatus(f"QUEUE({COMMANDS})", "TYPE(HANDLE)", "APPLTAG(amqrrmfa)", "INPUT(SHARED)")
    reading = read_text(session("QM1", SHOWN, handle), "log")
    assert (counts(reading), reading.rejects) == (ROW, [])
    assert read_states(session("QM1", handle), "log").needless == {"QSTATUS of handles": 1}


def test_of_two_depths_the_later_one_counts_and_nothing_contradicts():
    later = qstatus(f"QUEUE({COMMANDS})", "TYPE(QUEUE)", "CURDEPTH(0)", "IPPROCS( )")
    sources = [("one", session("QM1", SHOWN)), ("two", session("QM1", later))]
    reading = read_texts(sources)
    assert (counts(reading), reading.rejects) == (ROW | {"curdepth": 0}, [])


@pytest.mark.parametrize("value", ["many", "-1", "1234567890123"])
def test_a_depth_that_is_no_count_refuses_the_status(value):
    bad = qstatus(f"QUEUE({COMMANDS})", "TYPE(QUEUE)", f"CURDEPTH({value})")
    reading = read_text(session("QM1", bad), "log")
    assert reading.rows["queue_status"] == []
    assert "queue_status.curdepth" in reading.rejects[0].reason


def test_commands_that_only_act_are_named_with_their_first_line():
    text = HEADER.format(qmgr="QM1") + (
        "DEFINE QLOCAL(A)\nREFRESH CLUSTER(K) REPOS(NO)\nREF CLUSTER(L)\n"
        "RESET CHL(TO.QM2) SEQNUM(1)\nRESET CLUSTER(K) QMNAME(QM9) ACTION(FORCEREMOVE)\n"
    )
    found = read_states(text, "some.mqsc")
    assert found.actions == {"REFRESH CLUSTER": 3, "RESET CHANNEL": 5, "RESET CLUSTER": 6}
    assert (found.rejects, found.states[0].rejects) == ((), [])
    alone = read_states(HEADER.format(qmgr="QM1") + "REFRESH CLUSTER(K)\n", "some.mqsc")
    assert (alone.needless, alone.actions) == ({"REFRESH CLUSTER": 1}, {})
