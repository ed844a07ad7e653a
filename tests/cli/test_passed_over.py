"""Texts of MQ that give no row, and files that are no texts: passed over, and said."""

import json
import os

import pytest
from mq.mqsc_texts import HEADER, chstatus, session

from clwl_spark.cli import main

pytestmark = pytest.mark.usefixtures("spark")

SVRCONN = chstatus("CHANNEL(APP.SVRCONN)", "CHLTYPE(SVRCONN)", "CONNAME(10.0.0.1)", "CURRENT")
QUEUE = HEADER.format(qmgr="QM1") + "DEFINE QLOCAL(A)\n"
ERROR_LOG = """\
05/06/2024 10:11:12 AM - Process(1234.1) User(mqm) Program(amqrmppa)
                    Host(host1) Installation(Installation1)
                    VRMF(9.3.0.0) QMgr(QM1)

AMQ9202E: Remote host 'qm2 (1414)' not available, retry later.

EXPLANATION:
Start the channel again, then DISPLAY CHSTATUS(TO.QM2) shows it.
ACTION:
DEFINE QLOCAL(FROM.PROSE) is no command here.
----- amqccita.c : 1234 -------------------------------------------------------
05/06/2024 10:11:13 AM - Process(1234.1) User(mqm) Program(amqrmppa)

AMQ9999E: Channel 'TO.QM2' to host 'qm2 (1414)' ended abnormally.
----- amqrccca.c : 1234 -------------------------------------------------------
"""
JSON_LOG = '{"ibm_messageId":"AMQ9209E","message":"AMQ9209E: closed"}\n' * 3


def run(words, capsys):
    """Exit code, JSON document (None = none), standard error."""
    code = main([*words, "--json"])
    told = capsys.readouterr()
    return code, json.loads(told.out) if told.out else None, told.err


@pytest.mark.parametrize(
    ("text", "held"),
    [
        (SVRCONN, "1 x SVRCONN channel status"),
        (session("QM1", "     1 : DIS CHS(*)", SVRCONN), "1 x SVRCONN channel status"),
        (ERROR_LOG, "2 x error log message"),
        (JSON_LOG, "3 x error log message"),
        (HEADER.format(qmgr="QM1") + "DEFINE LISTENER(L) TRPTYPE(TCP)\n", "1 x DEFINE LISTENER"),
    ],
)
def test_a_text_that_routing_does_not_need_is_fine_and_is_said(text, held, tmp_path, capsys):
    file = tmp_path / "some.txt"
    file.write_text(text)
    words = ["ingest", str(file), "--lake", str(tmp_path / "lake"), "--snapshot", "S1"]
    code, document, said = run(words, capsys)
    assert code == 0
    assert held in said
    assert "snapshot S1 was not made" in said
    assert document["written"] is False
    assert document["passed_over"][0]["file"] == str(file)
    assert main(["snapshots", "--lake", str(tmp_path / "lake")]) == 2


def test_such_a_text_is_no_change_of_a_snapshot_that_is_there(tmp_path, capsys):
    (tmp_path / "QM1.mqsc").write_text(QUEUE)
    (tmp_path / "AMQERR01.LOG").write_text(ERROR_LOG)
    words = ["ingest", str(tmp_path), "--lake", str(tmp_path / "lake"), "--snapshot", "S1"]
    code, document, said = run(words, capsys)
    assert (code, document["rows"]["queues"], document["written"]) == (0, 1, True)
    told = "it says nothing of a cluster; it holds 2 x error log message"
    assert f"AMQERR01.LOG is passed over: {told}" in said
    log = str(tmp_path / "AMQERR01.LOG")
    again = run(["ingest", log, *words[2:4], "--snapshot", "S2", "--base", "S1"], capsys)
    assert again[0] == 0
    code, document, _ = run(["diff", "S1", "S2", *words[2:4]], capsys)
    assert (code, document["changes"]) == (0, [])


@pytest.mark.parametrize(
    "text",
    [
        '{"commandResponse":[{"completionCode":0,"parameters":{"queue":"A","ty',
        '{"queue":[{"name":"A","ty',
        '[{"queue": "A", "type": "QLOCAL',
        '{"overallCompl',
    ],
)
def test_a_document_that_breaks_off_before_anything_is_refused(text, tmp_path, capsys):
    lake = ["--lake", str(tmp_path / "lake"), "--observer", "QM1"]
    file = tmp_path / "answer.json"
    file.write_text(text)
    code, document, said = run(["ingest", str(file), *lake, "--snapshot", "S1"], capsys)
    assert (code, document) == (2, None)
    assert "nothing in 1 file(s) can be used" in said
    (tmp_path / "QM1.mqsc").write_text(QUEUE)
    assert run(["ingest", str(tmp_path / "QM1.mqsc"), *lake, "--snapshot", "S1"], capsys)[0] == 0
    assert run(["ingest", str(file), *lake, "--snapshot", "S1"], capsys)[0] == 2


def test_pipes_and_links_out_of_the_folder_are_not_read(tmp_path, capsys):
    folder, elsewhere = tmp_path / "texts", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    secret = elsewhere / "secret.txt"
    secret.write_text("the password\n")
    (folder / "QM1.mqsc").write_text(QUEUE)
    (folder / "same.mqsc").symlink_to(folder / "QM1.mqsc")
    (folder / "secret.mqsc").symlink_to(secret)
    (folder / "out").symlink_to(elsewhere)
    (folder / "gone.mqsc").symlink_to(folder / "nothing")
    os.mkfifo(folder / "pipe")
    lake = ["--lake", str(tmp_path / "lake"), "--snapshot", "S1"]
    code, document, said = run(["ingest", str(folder), *lake], capsys)
    assert (code, document["files"], document["rejects"]) == (0, 2, [])
    assert "password" not in said
    why = {x["file"].rpartition("/")[2]: x["why"] for x in document["passed_over"]}
    assert list(why) == ["gone.mqsc", "out", "pipe", "secret.mqsc"]
    assert "leads out of" in why["secret.mqsc"]
    assert "leads out of" in why["out"]
    for path in (folder / "pipe", "/dev/zero"):
        code, _, said = run(["ingest", str(path), *lake], capsys)
        assert code == 2
        assert f"{path} is a pipe or a device: pipe what it holds into `-`" in said
