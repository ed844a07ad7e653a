"""Authority records, as SET AUTHREC of a dump and DISPLAY AUTHREC tell them."""

import json

import pytest
from mq.mqsc_texts import HEADER, one, session, two_columns
from readings import read_text, read_texts

from clwl_spark.mq.read import read_states

HEAD = HEADER.format(qmgr="QM1")
DUMPED = """\
SET AUTHREC +
   PROFILE('SYSTEM.CLUSTER.**') +
   GROUP('app') +
   OBJTYPE(QUEUE) +
   AUTHADD(PUT,BROWSE)
"""
SHOWN = two_columns(
    "AMQ8864I: Display authority record details.",
    ["PROFILE(SYSTEM.CLUSTER.**)", "ENTITY(app)", "ENTTYPE(GROUP)", "OBJTYPE(QUEUE)",
     "AUTHLIST(BROWSE,PUT)"],
)  # fmt: skip
ROW = {
    "qmgr": "QM1", "profile": "SYSTEM.CLUSTER.**", "objtype": "QUEUE", "entity_type": "GROUP",
    "entity": "app", "authorities": "BROWSE,PUT",
}  # fmt: skip


def records(reading):
    return [{k: x for k, x in row.items() if k != "source"} for row in reading.rows["authorities"]]


def words(script):
    reading = read_text(HEAD + script, "own.mqsc")
    assert reading.rejects == []
    return {(x["profile"], x["entity"]): x["authorities"] for x in records(reading)}


def test_a_dump_and_a_display_give_the_same_record():
    answer = {
        "profile": "SYSTEM.CLUSTER.**", "entity": "app", "enttype": "GROUP", "objtype": "QUEUE",
        "authlist": ["BROWSE", "PUT"],
    }  # fmt: skip
    rest = json.dumps({"commandResponse": [{"completionCode": 0, "parameters": answer}]})
    for text in (HEAD + DUMPED, session("QM1", SHOWN), rest):
        reading = read_text(text, "some", "QM1")
        assert (records(reading), reading.rejects) == ([ROW], [])
    assert one(read_text(HEAD + DUMPED, "own.mqsc"), "authorities")["source"] == "own.mqsc:2"


def test_commands_add_and_remove_in_order():
    about = "SET AUTHREC PROFILE(A.Q) OBJTYPE(QUEUE) GROUP('app')"
    assert words(f"{about} AUTHADD(PUT)\n{about} AUTHADD(GET)\n{about} AUTHRMV(PUT)\n") == {
        ("A.Q", "app"): "GET"
    }
    assert words(f"{about} AUTHADD(ALLMQI) AUTHRMV(SETALL,SETID,SET,PASSALL,PASSID)\n") == {
        ("A.Q", "app"): "BROWSE,GET,INQ,PUT"
    }
    assert words(f"{about} AUTHADD(NONE);\n") == {("A.Q", "app"): ""}
    gone = "DELETE AUTHREC PROFILE(A.Q) OBJTYPE(QUEUE) GROUP('app')\n"
    assert words(f"{about} AUTHADD(PUT)\n{gone}") == {}


def test_one_command_may_name_several_principals_and_groups():
    script = "SET AUTHREC PROFILE(Q) OBJTYPE(QUEUE) PRINCIPAL('a@h','b') GROUP(C) AUTHADD(PUT)\n"
    assert words(script) == {("Q", "a@h"): "PUT", ("Q", "b"): "PUT", ("Q", "C"): "PUT"}


def test_a_record_of_the_queue_manager_has_no_profile_name():
    script = "SET AUTHREC OBJTYPE(QMGR) GROUP('app') AUTHADD(CONNECT,INQ)\n"
    assert words(script) == {("", "app"): "CONNECT,INQ"}


def test_texts_of_a_queue_manager_add_up_and_a_display_tells_all():
    more = HEAD + DUMPED.replace("PUT,BROWSE", "GET")
    both = read_texts([("one", HEAD + DUMPED), ("two", more)])
    assert (records(both), both.rejects) == ([ROW | {"authorities": "BROWSE,GET,PUT"}], [])
    last = read_texts([("one", more), ("two", session("QM1", SHOWN))])
    assert records(last) == [ROW]


@pytest.mark.parametrize(
    "command",
    [
        "SET AUTHREC PROFILE(Q) GROUP('app') AUTHADD(PUT)",
        "SET AUTHREC PROFILE(Q OBJTYPE(QUEUE) GROUP('app')",
        "SET AUTHREC PROFILE(Q) OBJTYPE(NOPE) GROUP('app') AUTHADD(PUT)",
        "SET AUTHREC PROFILE(Q) OBJTYPE(QUEUE) GROUP('app') AUTHADD(PUT,WIBBLE)",
    ],
)
def test_a_record_that_mq_does_not_have_is_a_reject(command):
    reading = read_text(f"{HEAD}DEFINE QLOCAL(A)\n{command}\n", "own.mqsc")
    assert (len(reading.rejects), records(reading)) == (1, [])
    assert one(reading, "queues")["queue"] == "A"


def test_a_record_of_nobody_is_left_out():
    assert words("SET AUTHREC PROFILE(Q) OBJTYPE(QUEUE) AUTHADD(PUT)\n") == {}


def test_authorities_alone_are_no_needless_text():
    assert read_states(HEAD + DUMPED, "own.mqsc").needless == {}
