"""Views that a text shows to be whole: by the command itself, however it is written."""

import json

import pytest
from mq.mqsc_texts import clusqmgr, queue, session
from readings import read_text

from clwl_spark.mq.read.asking import asked, asked_on

OTHER = clusqmgr(
    "CLUSQMGR(QM2)", "CHANNEL(TO.QM2)", "CLUSTER(K)", "DEFTYPE(CLUSSDRA)", "QMID(QM2_1)"
)
CLUSTER_QUEUE = queue("QUEUE(APP.Q)", "TYPE(QCLUSTER)", "CLUSQMGR(QM2)", "CLUSTER(K)")


def views(text, observer="QM1"):
    """(observer, table) of the views that a text shows to be whole."""
    rows = read_text(text, "log", observer).rows["views"]
    assert all(row["whole"] for row in rows)
    return sorted((row["observer"], row["table"]) for row in rows)


@pytest.mark.parametrize(
    "command",
    [
        "DISPLAY CLUSQMGR(*)",
        "dis clusqmgr(*) all",
        "DIS CLUSQMGR ( * ) ALL",
        "DISPLAY  CLUSQMGR('*')  QMTYPE, SUSPEND DEFTYPE",
        "DISPLAY CLUSQMGR(*) CLUSTER CHANNEL STATUS;",
        "DISPLAY CLUSQMGR(*) CMDSCOPE(' ') ALL",
    ],
)
def test_a_command_for_all_cluster_queue_managers(command):
    assert asked(command) == "clusqmgr"
    assert views(session("QM1", f"     1 : {command}", OTHER)) == [("QM1", "cluster_channels")]


@pytest.mark.parametrize(
    "command",
    [
        "DISPLAY QCLUSTER(*)",
        "DIS QC(*) ALL",
        "display qcluster( * ) clusqmgr",
        "DISPLAY QUEUE(*) TYPE(QCLUSTER) CLUSQMGR CLUSTER",
        "DIS Q(*) CLUSQMGR TYPE ( QCLUSTER )",
        "DIS Q(*) QTYPE(qcluster) ALL",
    ],
)
def test_a_command_for_all_cluster_queues(command):
    assert asked(command) == "queue"
    assert views(session("QM1", f"     1 : {command}", CLUSTER_QUEUE)) == [("QM1", "queues")]


@pytest.mark.parametrize(
    "command",
    [
        "DISPLAY CLUSQMGR(QM*)",
        "DISPLAY CLUSQMGR(*) CLUSTER(K)",
        "DISPLAY CLUSQMGR(*) CHANNEL(TO.*) ALL",
        "DISPLAY CLUSQMGR(*) WHERE(SUSPEND EQ YES)",
        "DISPLAY CLUSQMGR(*) WHERE (CONNAME EQ 'h(1414)') ALL",
        "DISPLAY CLUSQMGR(*) CMDSCOPE(*)",
        "DISPLAY CLUSQMGR(*) NEWWORD WHERE(SUSPEND EQ YES)",
        "DISPLAY QCLUSTER(APP.*)",
        "DISPLAY QCLUSTER(*) CLUSTER(K)",
        "DISPLAY QCLUSTER(*) WHERE(CLUSQMGR EQ QM2)",
        "DISPLAY QUEUE(*) CLUSINFO ALL",
        "DISPLAY QUEUE(*) TYPE(QLOCAL)",
        "DISPLAY QUEUE(*)",
        "DISPLAY CHANNEL(*)",
    ],
)
def test_a_command_that_leaves_something_out_makes_no_whole_view(command):
    assert asked(command) == ""
    assert views(session("QM1", f"     1 : {command}", OTHER, CLUSTER_QUEUE)) == []


def test_a_text_without_a_command_shows_no_whole_view():
    text = session("QM1", OTHER, CLUSTER_QUEUE)
    assert views(text) == []
    reading = read_text(text, "log")
    assert {row["observer"] for row in reading.rows["queues"]} == {"QM1"}


def test_a_command_may_go_on_over_lines():
    echo = "     1 : DISPLAY QCLUSTER(*) +\n       :    CLUSQMGR +\n       :    CLUSTER"
    assert views(session("QM1", echo, CLUSTER_QUEUE)) == [("QM1", "queues")]
    echo = "     1 : DISPLAY QCLUSTER(*) +\n       :    WHERE(CLUSTER EQ K)"
    assert views(session("QM1", echo, CLUSTER_QUEUE)) == []


def test_each_command_is_about_its_own_output():
    blocks = [
        "     1 : DISPLAY CLUSQMGR(*)",
        OTHER,
        "     2 : DISPLAY QUEUE(*) TYPE(QCLUSTER) WHERE(CLUSTER EQ K)",
        CLUSTER_QUEUE,
        "     3 : DISPLAY CLUSQMGR(QM2) ALL",
        OTHER,
    ]
    assert views(session("QM1", *blocks)) == [("QM1", "cluster_channels")]


def test_a_session_without_echo_does_not_inherit_the_command_of_the_one_before():
    text = session("QM1", "     1 : DISPLAY CLUSQMGR(*)", OTHER) + session("QM3", OTHER)
    assert views(text) == [("QM1", "cluster_channels")]


def test_a_shells_line_shows_the_command_of_a_session_without_echo():
    text = "$ echo 'DIS CLUSQMGR(*) ALL' | runmqsc -e QM1\n" + session("QM1", OTHER)
    assert views(text) == [("QM1", "cluster_channels")]
    text = '$ echo "DIS CLUSQMGR(*) CLUSTER(K)" | runmqsc -e QM1\n' + session("QM1", OTHER)
    assert views(text) == []


def test_a_command_that_failed_shows_nothing():
    blocks = ["     1 : DISPLAY CLUSQMGR(*) FOO", "AMQ8405I: Syntax error detected.", OTHER]
    assert views(session("QM1", *blocks)) == []


@pytest.mark.parametrize("bad", ["CLWLWGHT(100)", "QMTYPE(BIG)"])
def test_a_view_of_which_an_object_was_set_aside_is_not_whole(bad):
    broken = clusqmgr("CLUSQMGR(QM3)", "CHANNEL(TO.QM3)", "CLUSTER(K)", bad)
    text = session("QM1", "     1 : DISPLAY CLUSQMGR(*) ALL", OTHER, broken)
    assert views(text) == []
    assert len(read_text(text, "log").rejects) == 1


def test_cluster_queues_without_their_queue_manager_are_no_whole_view():
    text = session("QM1", "     1 : DIS QC(*)", queue("QUEUE(A)", "TYPE(QCLUSTER)"), CLUSTER_QUEUE)
    assert views(text) == []


@pytest.mark.parametrize(
    ("line", "whole"),
    [
        (" +ZQ01 DIS CLUSQMGR(*) ALL", True),
        ("N 40 SYS1 24101 10:11:12.13 STC01234 00000090  /+ZQ01 DISPLAY CLUSQMGR(*)", True),
        (" +ZQ01 DIS CLUSQMGR(*) CMDSCOPE(ZQ02)", False),
        (" +ZQ01 DIS CLUSQMGR(ZQ*)", False),
    ],
)
def test_a_consoles_command(line, whole):
    answer = (
        " CSQM201I +ZQ01 CSQMDRTC  DIS CLUSQMGR DETAILS\n CLUSQMGR(ZQ02)\n CHANNEL(TO.ZQ02)\n"
        " CLUSTER(K)\n END CLUSQMGR DETAILS\n"
        " CSQ9022I +ZQ01 CSQMDRTC ' DIS CLUSQMGR' NORMAL COMPLETION\n"
    )
    expected = [("ZQ01", "cluster_channels")] if whole else []
    assert views(f"{line}\n{answer}", None) == expected


def test_the_utilitys_listing_repeats_its_commands():
    text = (
        "1CSQU000I CSQUTIL IBM MQ for z/OS\n CSQU055I  Target queue manager is ZQ03\n"
        "  DIS QC(*) ALL\n"
        "CSQN205I   COUNT=       3, RETURN=00000000, REASON=00000000\n"
        "CSQM407I %ZQ0 QUEUE(A) TYPE(QCLUSTER) CLUSQMGR(ZQ04) CLUSTER(K)\n"
        "CSQ9022I %ZQ0 CSQMDRTC ' DIS QC' NORMAL COMPLETION\n"
    )
    assert views(text, None) == [("ZQ03", "queues")]


ANSWER = {
    "commandResponse": [
        {
            "completionCode": 0,
            "parameters": {"clusqmgr": "QM2", "channel": "TO.QM2", "cluster": "K"},
        }
    ]
}


@pytest.mark.parametrize(
    ("more", "whole"),
    [
        ({"name": "*"}, True),
        ({"name": "*", "responseParameters": ["all"]}, True),
        ({"name": "QM*"}, False),
        ({"name": "*", "parameters": {"cluster": "K"}}, False),
        ({"name": "*", "parameters": {"where": "SUSPEND EQ YES"}}, False),
    ],
)
def test_a_request_to_the_rest_interface_is_a_command(more, whole):
    request = {"type": "runCommandJSON", "command": "display", "qualifier": "clusqmgr", **more}
    expected = [("QM1", "cluster_channels")] if whole else []
    assert views(f"{json.dumps(request)}\n{json.dumps(ANSWER)}") == expected
    shell = (
        f"$ curl -k https://h/ibmmq/rest/v2/admin/action/qmgr/QM1/mqsc -d '{json.dumps(request)}'\n"
    )
    assert views(shell + json.dumps(ANSWER, indent=1), None) == expected


def test_a_plain_request_is_a_command():
    request = {"type": "runCommand", "parameters": {"command": "DIS CLUSQMGR(*) ALL"}}
    text = f"{json.dumps(request)}\n{json.dumps(ANSWER)}"
    assert views(text) == [("QM1", "cluster_channels")]
    assert read_text(text, "log", "QM1").rejects == []
    assert views(json.dumps(ANSWER)) == []


def test_prose_that_names_a_command_is_not_one():
    assert asked_on("DISPLAY QCLUSTER(*) shows all of them") == ""
    assert asked_on("The cluster has no filters") is None


@pytest.mark.parametrize(
    "noise",
    ["$ ", "--More--", "Press ENTER to continue", "2026-09-14 09:00 some log", "\n\n$ \n", ": "],
)
def test_other_text_before_a_row_takes_nothing_from_it(noise):
    head, _, rest = CLUSTER_QUEUE.partition("\n")
    text = session("QM1", "     1 : DISPLAY QCLUSTER(*) ALL", f"{head}\n{noise}\n{rest}", OTHER)
    found = read_text(text, "log", "QM1")
    assert [row["qmgr"] for row in found.rows["queues"] if row["observer"] == "QM1"] == ["QM2"]
    assert found.rejects == []
    assert views(text) == [("QM1", "queues")]


@pytest.mark.parametrize(
    "behind", ["", "AMQ8409I: Display Queue details.", "     2 : DISPLAY QMGR", "END"]
)
def test_a_row_that_is_not_there_is_told_and_no_view_is_whole(behind):
    head, _, _ = CLUSTER_QUEUE.partition("\n")
    text = session("QM1", "     1 : DISPLAY QCLUSTER(*) ALL", CLUSTER_QUEUE, head, behind)
    found = read_text(text, "log", "QM1")
    assert {x.reason for x in found.rejects} == {
        "a message that shows an object, but no object comes behind it"
    }
    assert views(text) == []
