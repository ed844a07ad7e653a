"""Changes as texts, without Spark."""

import pytest

from clwl_spark.errors import InputError
from clwl_spark.studies.what_if.texts import Known, NothingHitError, texts_of
from clwl_spark.studies.what_if.words import understood

KNOWN = Known(
    qmgrs=frozenset({"QM1", "QM2", "QM3", "qm4", "ALONE"}),
    owners={
        ("channel", "TO.QM1"): frozenset({"QM1"}),
        ("channel", "TO.QM2"): frozenset({"QM2"}),
        ("channel", "ANY"): frozenset({"QM1", "QM2"}),
        ("channel", "TO.ALONE"): frozenset({"ALONE"}),
        ("queue", "Q"): frozenset({"QM1", "QM3"}),
        ("queue", "mixed"): frozenset({"QM1"}),
        ("queue", "OWN"): frozenset({"QM2"}),
        ("topic", "T"): frozenset({"QM3"}),
    },
    clusters={
        "QM1": frozenset({"K"}),
        "QM2": frozenset({"K", "L"}),
        "QM3": frozenset({"L"}),
        "ALONE": frozenset({"M"}),
    },
    senders={
        ("QM1", "TO.QM2", "QM2"): ("RUNNING", "X1"),
        ("QM3", "TO.QM2", "QM2"): ("STOPPED", ""),
    },
    receiving={("QM1", "ANY"): frozenset({"", "GONE", "QM2"})},
)


def texts(*words):
    return texts_of([understood(x) for x in words], KNOWN)


def shown(qmgr, *statuses):
    """A text with what DISPLAY CHSTATUS shows: (channel, chltype, other end, status, xmitq)."""
    lines = [f"Starting MQSC for queue manager {qmgr}."]
    for channel, chltype, other, status, xmitq in statuses:
        of_queue = f" XMITQ({xmitq})" if xmitq else ""
        lines += [
            "AMQ8417I: Display Channel Status details.",
            f"   CHANNEL({channel}) CHLTYPE({chltype})",
            f"   RQMNAME({other}) STATUS({status}){of_queue}",
        ]
    return "\n".join(lines) + "\n"


def test_a_definition_goes_to_its_one_owner():
    found = texts("ALTER CHANNEL(TO.QM1) CLWLWGHT(80)", "ALTER QLOCAL(OWN) PUT(DISABLED)")
    assert found.of_qmgr == {
        "QM1": "Starting MQSC for queue manager QM1.\nALTER CHANNEL(TO.QM1) CLWLWGHT(80)\n",
        "QM2": "Starting MQSC for queue manager QM2.\nALTER QLOCAL(OWN) PUT(DISABLED)\n",
    }
    assert found.down == frozenset()


@pytest.mark.parametrize(
    ("words", "qmgrs"),
    [
        ("DELETE QLOCAL(Q) ON QM1", ["QM1"]),
        ("DELETE QLOCAL(Q) ON *", ["QM1", "QM3"]),
        ("DELETE QLOCAL('mixed')", ["QM1"]),
        ("DELETE TOPIC(T)", ["QM3"]),
        ("DEFINE QLOCAL(NEW) ON QM2", ["QM2"]),
        ("DEFINE QLOCAL(OWN) REPLACE ON QM1", ["QM1"]),
        ("SUSPEND QMGR(QM2) CLUSTER(K)", ["QM2"]),
        ("ALTER QMGR CLWLMRUC(2) ON 'qm4'", ["qm4"]),
    ],
)
def test_a_definition_goes_where_it_is_said(words, qmgrs):
    assert sorted(texts(words).of_qmgr) == qmgrs


def test_changes_of_one_queue_manager_keep_their_order():
    found = texts("DELETE QLOCAL(OWN)", "DEFINE QLOCAL(OWN) ON QM2", "STOP CHANNEL(TO.QM2)")
    lines = found.of_qmgr["QM2"].splitlines()
    assert lines[1:] == ["DELETE QLOCAL(OWN)", "DEFINE QLOCAL(OWN)"]
    assert sorted(found.of_qmgr) == ["QM1", "QM2", "QM3"]


def test_a_change_finds_what_those_before_it_define_and_delete():
    found = texts("DEFINE QLOCAL(NEW) ON QM3", "ALTER QLOCAL(NEW) CLWLPRTY(2)")
    assert found.of_qmgr["QM3"].splitlines()[1:] == [
        "DEFINE QLOCAL(NEW)", "ALTER QLOCAL(NEW) CLWLPRTY(2)",
    ]  # fmt: skip
    found = texts("DELETE QLOCAL(Q) ON QM1", "ALTER QLOCAL(Q) PUT(DISABLED)")
    assert found.of_qmgr["QM3"].splitlines()[1:] == ["ALTER QLOCAL(Q) PUT(DISABLED)"]
    with pytest.raises(NothingHitError, match=r"defined on QM1, QM2: add ON"):
        texts("DEFINE QLOCAL(OWN) ON QM1", "ALTER QLOCAL(OWN) CLWLPRTY(2)")
    with pytest.raises(NothingHitError, match=r"no queue manager defines queue OWN") as refused:
        texts("DELETE QLOCAL(OWN)", "ALTER QLOCAL(OWN) CLWLPRTY(2)")
    assert "OWN," not in str(refused.value)


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (
            "STOP CHANNEL(TO.QM2) ON QM1",
            {"QM1": [("TO.QM2", "CLUSSDR", "QM2", "STOPPED", "X1")]},
        ),
        (
            "STOP CHANNEL(TO.QM2)",
            {
                "QM1": [("TO.QM2", "CLUSSDR", "QM2", "STOPPED", "X1")],
                "QM3": [("TO.QM2", "CLUSSDR", "QM2", "STOPPED", "")],
            },
        ),
        (
            "START CHANNEL(ANY) QMNAME(QM1) ON *",
            {"QM2": [("ANY", "CLUSSDR", "QM1", "RUNNING", "")]},
        ),
        (
            "STOP CHANNEL(TO.QM1) ON QM1",
            {
                "QM1": [("TO.QM1", "CLUSRCVR", "QM2", "STOPPED", "")],
                "QM2": [("TO.QM1", "CLUSSDR", "QM1", "RETRYING", "")],
            },
        ),
        (
            "STOP CHANNEL(ANY) QMNAME(QM1) ON QM1",
            {
                "QM1": [
                    ("ANY", "CLUSRCVR", other, "STOPPED", "") for other in (" ", "GONE", "QM2")
                ],
                "QM2": [("ANY", "CLUSSDR", "QM1", "RETRYING", "")],
            },
        ),
        (
            "START CHANNEL(TO.QM1) ON QM1",
            {
                "QM1": [("TO.QM1", "CLUSRCVR", "QM2", "RUNNING", "")],
                "QM2": [("TO.QM1", "CLUSSDR", "QM1", "RUNNING", "")],
            },
        ),
    ],
)
def test_a_channel_is_stopped_where_it_sends_or_receives(words, found):
    expected = {qmgr: shown(qmgr, *statuses) for qmgr, statuses in found.items()}
    assert texts(words).of_qmgr == expected


def test_channels_to_a_queue_manager_that_ends_are_retried_unless_they_are_worse():
    found = texts("ENDMQM QM2")
    assert found.down == {"QM2"}
    assert found.of_qmgr == {
        "QM1": shown(
            "QM1",
            ("ANY", "CLUSSDR", "QM2", "RETRYING", ""),
            ("TO.QM2", "CLUSSDR", "QM2", "RETRYING", "X1"),
        ),
        "QM3": shown("QM3", ("ANY", "CLUSSDR", "QM2", "RETRYING", "")),
    }


def test_a_queue_manager_to_which_nobody_has_a_channel_ends_as_well():
    """Nothing is put there any more; an assertion's failure of it hits no channel, either."""
    found = texts("ENDMQM ALONE")
    assert (found.down, found.of_qmgr) == ({"ALONE"}, {})


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("STOP CHANNEL(TO.QM2) ON QM1", "ENDMQM QM2"), "STOPPED"),
        (("ENDMQM QM2", "STOP CHANNEL(TO.QM2) ON QM1"), "STOPPED"),
        (("STOP CHANNEL(TO.QM2) ON QM1", "STOP CHANNEL(TO.QM2) ON QM2"), "STOPPED"),
        (("STOP CHANNEL(TO.QM2) ON QM1", "START CHANNEL(TO.QM2) ON QM2"), "STOPPED"),
        (("STOP CHANNEL(TO.QM2) ON QM2", "START CHANNEL(TO.QM2) ON QM2"), "RUNNING"),
        (("STOP CHANNEL(TO.QM2) ON QM1", "START CHANNEL(TO.QM2) ON QM1"), "RUNNING"),
        (("STOP CHANNEL(TO.QM2)", "START CHANNEL(TO.QM2)", "ENDMQM QM2"), "RETRYING"),
        (("ENDMQM QM2", "START CHANNEL(TO.QM2) ON QM1"), "RETRYING"),
        (("ENDMQM QM2", "STOP CHANNEL(TO.QM2) STATUS(INACTIVE) ON QM1"), "RETRYING"),
    ],
)
def test_a_change_finds_channels_as_those_before_left_them(words, status):
    shown_last = texts(*words).of_qmgr["QM1"].split("CHANNEL(TO.QM2)")[-1]
    assert f" STATUS({status}) " in shown_last


def test_a_channel_that_is_stopped_stays_so_when_a_queue_manager_ends_or_a_receiver_starts():
    # On QM3 the snapshot has it as STOPPED.
    assert "TO.QM2" not in texts("ENDMQM QM2").of_qmgr["QM3"]
    for verb in ("STOP", "START"):
        assert "QM3" not in texts(f"{verb} CHANNEL(TO.QM2) ON QM2").of_qmgr
    started = texts("START CHANNEL(TO.QM2) ON QM3", "ENDMQM QM2").of_qmgr["QM3"]
    assert started.split("CHANNEL(TO.QM2)")[-1].count("STATUS(RETRYING)") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("DELETE QLOCAL(Q)", "queue Q is defined on QM1, QM3: add ON and one of them, or ON \\*"),
        ("DELETE QLOCAL(MIXED)", "no queue manager defines .*there are mixed, ...$"),
        ("DELETE QLOCAL(Z)", "there are OWN, Q, mixed$"),
        ("DELETE TOPIC(Z) ON *", "there are T$"),
        ("DELETE QLOCAL(Q) ON QM9", "no queue manager QM9 .case counts"),
        ("DELETE QLOCAL(Q) ON QM4", "there are qm4, ...$"),
        ("DEFINE QLOCAL(NEW)", "say where, with ON"),
        ("DEFINE QLOCAL(NEW) ON *", "say where, with ON"),
        ("ALTER QMGR CLWLMRUC(2)", "say where, with ON"),
        ("STOP CHANNEL(NONE)", "no queue manager has the CLUSRCVR NONE: there are ANY"),
        ("STOP CHANNEL('to.qm1')", "there are TO.QM1, ...$"),
        ("STOP CHANNEL(TO.QM1) QMNAME(QM2)", "no queue manager has the CLUSRCVR TO.QM1 and is QM2"),
        ("STOP CHANNEL(TO.QM1) ON QM3", "QM3 is in no cluster with QM1, so there is no channel"),
        ("STOP CHANNEL(TO.QM1) ON QM9", "no queue manager QM9"),
        ("STOP CHANNEL(TO.ALONE)", "no queue manager is in a cluster with ALONE"),
        ("ENDMQM QM9", "no queue manager QM9"),
    ],
)
def test_a_change_of_what_is_not_there_is_bad_input(words, said):
    with pytest.raises(NothingHitError, match=said) as raised:
        texts(words)
    assert isinstance(raised.value, InputError)
