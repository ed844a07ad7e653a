import gzip
import random
import time
from pathlib import Path

import pytest
from mq.mqsc_texts import one, read_own, session, two_columns
from mq.reading_laws import check_reading
from readings import read_text

SAMPLES = Path(__file__).parents[2] / "data" / "samples" / "topology"


def rejects(text, observer="QM1"):
    return [(x.line, x.text, x.reason) for x in read_text(text, "f", observer).rejects]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("DEF QL(A) CLWLRANK(99)", "queues.clwlrank: '99' is not in 0 to 9"),
        ("DEF QL(A) CLWLUSEQ(MAYBE)", "queues.clwluseq: 'MAYBE' is not one of"),
        ("DEF QL(A) CLWLFOO(1)", "QLOCAL has no attribute CLWLFOO"),
        ("DEF QL(A) NETPRTY(1) HARDENBO", "QLOCAL has no attribute NETPRTY"),
        ("DEF QA(A) RNAME(B)", "QALIAS has no attribute RNAME"),
        ("DEF QR(A) TRIGGER", "QREMOTE has no attribute TRIGGER"),
        ("DEF TOPIC(A) PUT(ENABLED)", "TOPIC has no attribute PUT"),
        ("ALTER QMGR CLWLRANK(1)", "QMGR has no attribute CLWLRANK"),
        ("SUSPEND QMGR CLUSTER(K) NOW", "QMGR has no attribute NOW"),
        ("DEF QUEUE(A)", "MQ has no object type QUEUE that DEFINE takes"),
        ("DEF CHL(A) CONNAME(h)", "CHLTYPE(): a channel is one of"),
        ("DEF CHL(A) CHLTYPE(CLUSTER)", "CHLTYPE(CLUSTER): a channel is one of"),
        ("DEF QL(A) CLUSTER", "no value of CLUSTER"),
        ("DEF QL(A CLUSTER(K)", "not a valid MQSC command"),
        ("DEF QL(A) DESCR('b) CLUSTER(K)", "not a valid MQSC command"),
        ("DEF QL(A) CLUSTER(K))", "not a valid MQSC command"),
        ("DEFNE QL(A)", "MQ has no verb DEFNE"),
        ("  CLUSTER(K)", "an attribute that no line before goes on with"),
    ],
)
def test_each_piece_that_cannot_be_used_is_a_reject_and_the_rest_is_used(text, reason):
    reading = read_own(f"DEF QL(BEFORE)\n{text}\nDEF QL(AFTER)")
    assert [row["queue"] for row in reading.rows["queues"]] == ["BEFORE", "AFTER"]
    (reject,) = reading.rejects
    assert (reject.file, reject.line) == ("own.mqsc", 2)
    assert reason in reject.reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        (" \n\t\n", "empty"),
        ("\0\1\2\3" * 40, "binary"),
        (gzip.compress(b"DEFINE QLOCAL(A)").decode("latin-1"), "packed by gzip: unpack it first"),
        ("\xc4\xc5\x04\x15\x00\x03" * 40, "EBCDIC"),
        ("DEFINE QLOCAL(A) +\n   CLUSTER(K)\n".encode("cp037").decode("latin-1"), "EBCDIC"),
        ("just words\nand (more)", "no format of MQ's"),
        ('{"a": [1, 2]}', "no format of MQ's"),
        ("DEF NONSENSE(A)", "no object type NONSENSE"),
    ],
)
def test_a_text_of_which_nothing_is_read_is_one_reject(text, reason):
    reading = read_text(text, "f")
    assert reading.qmgrs == ()
    assert reason in reading.rejects[0].reason
    assert len(reading.rejects) == 1


def test_a_text_cut_off_within_a_command_loses_that_command_alone():
    text = "DEF QL(A) +\n  CLUSTER(K)\nDEF QL(B) +\n  CLUSTER(K) +\n"
    assert one(read_own(text), "queues")["queue"] == "A"
    ((line, start, reason),) = rejects(text)
    assert (line, start[:9]) == (3, "DEF QL(B)")
    assert "ends" in reason


def test_a_command_that_never_ended_does_not_swallow_the_next_one():
    text = "DEF QL(A) CLUSTER(K) +\n\nDEF QL(B) +\n  DEFBIND(OPEN) +\n  CLUSTER(K)\n"
    assert one(read_own(text), "queues")["queue"] == "B"
    assert [line for line, _, _ in rejects(text)] == [1]


def test_the_rest_of_a_line_behind_a_semicolon_is_refused():
    text = "DEF QL(A) DESCR('a;b'); DEF QL(B)\nDEF QL(C);\n"
    assert [row["queue"] for row in read_own(text).rows["queues"]] == ["A", "C"]
    assert [piece for _, piece, _ in rejects(text)] == ["DEF QL(B)"]


def test_yaml_and_shell_around_commands_are_noise():
    text = (
        "apiVersion: v1\ndata:\n  a.mqsc: |-\n    DEF QL(A)\n---\n"
        "# a comment\nexport PATH=$PATH:/opt/mqm/bin\n[mqm@host ~]$ ls (x)\n"
    )
    assert one(read_own(text), "queues")["queue"] == "A"
    assert rejects(text) == []


def test_objects_that_give_no_row_are_left_out_silently():
    text = (
        "DEF LISTENER(L) TRPTYPE(TCP)\nSET CHLAUTH('*') TYPE(BLOCKUSER)\nDEF PROCESS(P)\n"
        "REFRESH CLUSTER(K) REPOS(YES)\nDIS QUEUE(*)\nSTART CHANNEL(C)\nSET AUTHREC OBJTYPE(QMGR)\n"
        "setmqaut -m QM1 -t qmgr -g mqm +connect\nDEF CHL(C) CHLTYPE(CLNTCONN)\n"
        "DEF CHL(C) CHLTYPE(SVRCONN)\n"
    )
    assert rejects(text) == []


def test_an_attribute_of_a_later_release_costs_a_display_nothing_else():
    block = two_columns("AMQ8409I: x", ["QUEUE(A)", "TYPE(QLOCAL)", "LATER(1)", "CLUSTER(K)"])
    reading = read_text(session("QM1", block), "log")
    assert one(reading, "queues")["cluster"] == "K"
    assert "no attribute LATER" in reading.rejects[0].reason


def test_a_displayed_type_that_mq_does_not_have_is_refused():
    text = " CSQM201I !ZQ01 CSQMDRTC  DIS X DETAILS\n NONSENSE(A)\n END X DETAILS\n"
    assert "no object type NONSENSE" in read_text(text, "log", "ZQ01").rejects[0].reason


@pytest.mark.parametrize(
    "piece",
    [
        "DEF QL(A) DESCR(" + "('" * 20000,
        "DEF QL(" + "(" * 50000,
        "X" * 100000,
        "DEF QL(A) +\n" * 20000,
        "AMQ8550I: x\n   NAMES(" + "A\n,B" * 20000,
        "CSQM201I !Q X\n QUEUE(" + "A\n" * 50000,
        '{"commandResponse"\n' * 20000,
        "[" * 100000,
        '{"a":' * 50000,
        "     1 : DEF QL(A) +\n" * 20000,
        "runmqsc " * 20000,
        "(" * 100000 + ")" * 100000,
        "A " * 100000 + "(",
        "AMQ8409I: x\n" + "   QUEUE(A" * 30000,
    ],
)
def test_no_piece_takes_long(piece):
    start = time.process_time()
    read_text(piece, "f", "QM1")
    assert time.process_time() - start < 5


def test_the_laws_of_reading_hold_of_samples_that_are_cut_mixed_and_spoilt():
    samples = [file.read_bytes() for file in sorted(SAMPLES.iterdir())]
    for seed in range(300):
        check_reading(spoilt(random.Random(seed), samples))


def spoilt(chosen: random.Random, samples: list[bytes]) -> bytes:
    """Lines of two samples in disorder, cut off somewhere, with wrong characters."""
    lines = [x for text in chosen.sample(samples, 2) for x in text.splitlines(keepends=True)]
    some = chosen.sample(lines, chosen.randint(1, len(lines)))
    data = bytearray(b"".join(some)[: chosen.randint(1, 4000)])
    for _ in range(chosen.randint(0, 9)):
        data[chosen.randrange(len(data))] = chosen.choice(b"()'\",:;*+-{}[] \n\0A1")
    return bytes(data)
