"""Changes in words, without Spark."""

import pytest

from clwl_spark.studies.what_if.words import (
    ChannelState,
    Definition,
    QmgrDown,
    UnknownChangeError,
    understood,
)


@pytest.mark.parametrize(
    ("words", "text", "on"),
    [
        ("ALTER CHANNEL(TO.QM3) CLWLWGHT(80)", "ALTER CHANNEL(TO.QM3) CLWLWGHT(80)", ""),
        ("alter ql(orders) put(disabled) on qm1", "alter ql(orders) put(disabled)", "QM1"),
        ("DELETE QLOCAL('orders') ON 'qm1'", "DELETE QLOCAL('orders')", "qm1"),
        ("DELETE QLOCAL(Q) ON QMGR(QM1);", "DELETE QLOCAL(Q)", "QM1"),
        ("DELETE QLOCAL(Q)\n  ON   *", "DELETE QLOCAL(Q)", "*"),
        ("DEFINE QALIAS(A) TARGET(Q) ON QM1", "DEFINE QALIAS(A) TARGET(Q)", "QM1"),
        ("SUSPEND QMGR(QM4) CLUSTER(A)", "SUSPEND QMGR CLUSTER(A)", "QM4"),
        ("RESUME QMGR('qm4') CLUSTER(A)", "RESUME QMGR CLUSTER(A)", "qm4"),
        ("SUSPEND QMGR CLUSTER(A) ON QM4", "SUSPEND QMGR CLUSTER(A)", "QM4"),
        ("ALTER QMGR CLWLUSEQ(ANY) ON QM4", "ALTER QMGR CLWLUSEQ(ANY)", "QM4"),
    ],
)
def test_a_definition_is_a_command_and_a_place(words, text, on):
    found = understood(words)
    assert isinstance(found, Definition)
    assert (found.words, found.text, found.on) == (words, text, on)


@pytest.mark.parametrize(
    ("words", "channel", "status", "on", "to"),
    [
        ("STOP CHANNEL(TO.QM2)", "TO.QM2", "STOPPED", "", ""),
        ("stop chl ( to.qm2 ) on qm1;", "TO.QM2", "STOPPED", "QM1", ""),
        ("STOP CHANNEL('To.Qm2') ON 'qm1'", "To.Qm2", "STOPPED", "qm1", ""),
        ("STOP CHANNEL(ANY) QMNAME(QM2) ON QM1", "ANY", "STOPPED", "QM1", "QM2"),
        ("STOP CHANNEL(C) MODE(FORCE) STATUS(INACTIVE) ON QM1", "C", "INACTIVE", "QM1", ""),
        ("STOP CHANNEL(C) status(stopped)", "C", "STOPPED", "", ""),
        ("START CHANNEL(C) ON *", "C", "RUNNING", "", ""),
        ("START CHANNEL(C) ON QM1", "C", "RUNNING", "QM1", ""),
    ],
)
def test_an_operator_stops_and_starts_channels(words, channel, status, on, to):
    assert understood(words) == ChannelState(words, channel, status, on, to)


@pytest.mark.parametrize(
    ("words", "qmgr"),
    [
        ("ENDMQM QM2", "QM2"),
        ("endmqm -i qm2", "QM2"),
        ("ENDMQM -w 'qm2' ;", "qm2"),
        ("STOP QMGR(QM2)", "QM2"),
        ("stop qmgr qm2", "QM2"),
    ],
)
def test_a_queue_manager_ends(words, qmgr):
    assert understood(words) == QmgrDown(words, qmgr)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("ALTR QLOCAL(Q) PUT(DISABLED)", "is not understood; did you mean ALTER QLOCAL"),
        ("SUSPND QMGR(QM1) CLUSTER(A)", "did you mean SUSPEND QMGR"),
        ("STOPP CHANNEL(C)", "did you mean STOP CHANNEL"),
        ("DISPLAY QLOCAL(Q)", "is not understood"),
        ("", "is not understood"),
        ("make it faster", "say it as runmqsc takes it and where"),
        ("ALTER CHANNEL(C) CLWLWEIGHT(80)", "did you mean CLWLWGHT"),
        ("ALTER QLOCAL(Q) CLWLRNK(8)", "did you mean CLWLRANK"),
        ("STOP CHANNEL(C) STATUS(RUNNING)", r"STATUS\(RUNNING\) is not STOPPED or INACTIVE"),
        ("STOP CHANNEL(C) STATS(STOPPED)", "STOP CHANNEL has no STATS; did you mean STATUS"),
        ("STOP CHANNEL(C) FORCE", "STOP CHANNEL has no FORCE"),
        ("ALTER QLOCAL(Q PUT(DISABLED)", "'ALTER QLOCAL"),
    ],
)
def test_words_that_are_not_understood_have_the_nearest_ones(words, said):
    with pytest.raises(UnknownChangeError, match=said):
        understood(words)
