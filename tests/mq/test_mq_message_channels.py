"""Sender and server channels, which are in no cluster: scripts, dumps, displays and answers."""

import json

from mq.mqsc_texts import HEADER, read_own, session, two_columns
from readings import apply_changes, read_text

from clwl_spark.mq.read import read_states

SENDER = "DEF CHL(OUT) CHLTYPE(SDR) XMITQ(FAR) CONNAME('far(1414)')\n"
COLUMNS = ("channel", "chltype", "xmitq", "conname")


def told(reading):
    return [tuple(row[x] for x in COLUMNS) for row in reading.rows["message_channels"]]


def test_a_channel_is_a_row_and_a_server_need_not_name_where_it_leads():
    reading = read_own(SENDER + "DEF CHL(BACK) CHLTYPE(SVR)\nDEF CHL(IN) CHLTYPE(RCVR)")
    assert told(reading) == [("OUT", "SDR", "FAR", "far(1414)"), ("BACK", "SVR", None, None)]
    assert {table for table, rows in reading.rows.items() if rows} == {"message_channels"}
    assert reading.rejects == []
    row = reading.rows["message_channels"][0]
    assert (row["qmgr"], row["source"]) == ("QM1", "own.mqsc:1")


def test_alter_delete_replace_like_and_defaults_count():
    reading = read_own(
        "ALTER CHL(SYSTEM.DEF.SENDER) CHLTYPE(SDR) CONNAME('any(1414)')\n"
        "DEF CHL(A) CHLTYPE(SDR) XMITQ(X)\nDEF CHL(B) CHLTYPE(SDR) LIKE(A) XMITQ(Y)\n"
        "DEF CHL(C) CHLTYPE(SVR) XMITQ(Z)\nALTER CHL(A) CHLTYPE(SDR) XMITQ(W)\n"
        "DELETE CHL(C)\nDEF CHL(B) CHLTYPE(SDR) XMITQ(V) CONNAME(b) REPLACE"
    )
    assert told(reading) == [("A", "SDR", "W", "any(1414)"), ("B", "SDR", "V", "B")]
    assert reading.rejects == []


def test_a_channel_has_one_type_and_a_name_of_mqs():
    reading = read_own(
        SENDER + "DEF CHL(OUT) CHLTYPE(SVR) REPLACE\nALTER CHL(OUT) CHLTYPE(CLUSSDR) CLUSTER(K)\n"
        "DEF CHL(ABCDEFGHIJKLMNOPQRSTU) CHLTYPE(SVR)"
    )
    assert told(reading) == [("OUT", "SDR", "FAR", "far(1414)")]
    assert ["OUT is a SDR" in x.reason for x in reading.rejects] == [True, True, False]
    assert "message_channels.channel" in reading.rejects[2].reason


def test_a_dump_tells_when_a_channel_was_altered():
    text = HEADER.format(qmgr="QM1") + (
        "DEFINE CHANNEL('OUT') +\n   CHLTYPE(SDR) +\n*  ALTDATE(2024-05-06) +\n"
        "*  ALTTIME(12.00.00) +\n   CONNAME('far(1414)') +\n   XMITQ('Far.Queue') +\n   REPLACE\n"
    )
    reading = read_text(text, "own.mqsc")
    assert told(reading) == [("OUT", "SDR", "Far.Queue", "far(1414)")]
    assert reading.altered["message_channels"] == ["2024-05-06 12.00.00"]


def test_a_display_tells_what_it_shows():
    shown = ["CHANNEL(OUT)", "CHLTYPE(SDR)", "ALTDATE(2024-05-06)", "XMITQ(FAR)"]
    block = two_columns("AMQ8414I: Display Channel details.", shown)
    reading = read_text(session("QM1", block), "log")
    assert told(reading) == [("OUT", "SDR", "FAR", None)]
    receiver = two_columns("AMQ8414I: Display Channel details.", ["CHANNEL(IN)", "CHLTYPE(RCVR)"])
    assert read_states(session("QM1", receiver), "log").needless == {"RCVR channel": 1}
    assert read_states(session("QM1", block), "log").needless == {}
    assert read_states(SENDER, "own").needless == {}


def test_its_status_gives_no_row():
    status = ["CHANNEL(OUT)", "CHLTYPE(SDR)", "STATUS(RUNNING)", "XMITQ(FAR)"]
    text = session("QM1", two_columns("AMQ8417I: Display Channel Status details.", status))
    assert not any(read_text(text, "log").rows.values())
    assert read_states(text, "log").needless == {"SDR channel status": 1}


def test_the_rest_interface_calls_it_by_other_names():
    item = {
        "name": "OUT",
        "type": "sender",
        "sender": {
            "transmissionQueueName": "FAR",
            "connection": [{"host": "far", "port": 1414}],
        },
    }
    bare = {"name": "BACK", "type": "server", "server": {"transmissionQueueName": ""}}
    other = {"name": "IN", "type": "receiver"}
    reading = read_text(json.dumps({"channel": [item, bare, other]}), "answer.json", "QM1")
    assert told(reading) == [("OUT", "SDR", "FAR", "far(1414)"), ("BACK", "SVR", "", None)]


def test_commands_change_the_channels_of_an_earlier_state():
    others = "DEF CHL(BACK) CHLTYPE(SVR) XMITQ(FAR)\nDEF CHL(C) CHLTYPE(SDR)"
    before = read_own(SENDER + others).rows
    script = "ALTER CHL(OUT) CHLTYPE(SDR) XMITQ(OTHER)\nDELETE CHL(BACK)\nALTER CHL(C) CHLTYPE(SVR)"
    changes = apply_changes(before, script, "change", "QM1")
    assert [(x["channel"], x["xmitq"], x["conname"]) for x in changes.rows["message_channels"]] == [
        ("OUT", "OTHER", "far(1414)")
    ]
    assert changes.deleted == {"message_channels": [("QM1", "BACK")]}
    assert ["C is a SDR" in x.reason for x in changes.rejects] == [True]
