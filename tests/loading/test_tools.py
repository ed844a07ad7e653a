"""Counts and probes of MQ's tools and exporters: each text gives its rows, and says the rest."""

import json
from datetime import UTC, datetime

import pytest
from loading.tool_texts import (
    AMQSMON,
    DSPMQRTE,
    SMF_JSON,
    SMF_QCST,
    SMF_WQ,
    chstatus,
    dspmqrtj,
    otlp,
    scrape,
)

from clwl_spark.mq.traffic import is_recorded, records_of


def rows(text, *columns):
    """The rows of a text, some of their columns."""
    assert is_recorded(text.encode())
    found = records_of(text)
    assert not found.refused
    return [tuple(x.values[name] for name in columns) for _, x in found.records]


def local(moment):
    return moment.when.strftime("%H:%M:%S.%f")


def test_amqsmon_s_statistics_and_accounting_are_counts():
    columns = ("object_type", "object_name", "remote_qmgr", "messages")
    assert rows(AMQSMON, *columns) == [
        ("QUEUE", "ORDERS", "", 8),
        ("QUEUE", "STOCK", "", 5),
        ("CHANNEL", "TO.QM2", "QM2", 7),
        ("QUEUE", "ORDERS", "", 2),
    ]
    found = records_of(AMQSMON)
    assert [x.kind for _, x in found.records] == ["", "", "", "accounting"]
    assert dict(found.needless) == {"MQIStatistics": 1}
    (times, *_) = rows(AMQSMON, "from_time", "to_time")
    assert [local(x) for x in times] == ["10:00:00.000000", "10:15:00.000000"]


@pytest.mark.parametrize("name", ["queueAccountingData", "qAccountingData"])
def test_accounting_of_amqsevt_is_a_count_of_each_queue_put_to(name):
    times = {"startDate": "2026-09-14", "startTime": "10.00.00", "endDate": "2026-09-14"}
    queues = [{"queueName": "ORDERS", "puts": [1, 2], "put1s": ["3", 0]}, {"queueName": "GOT"}]
    event = {
        "eventType": {"name": "Accounting Queue", "value": 168},
        "eventData": {"queueMgrName": "QM1", **times, "endTime": "10.15.00", name: queues},
    }
    assert rows(json.dumps(event), "qmgr", "object_name", "messages") == [("QM1", "ORDERS", 6)]


def test_a_display_of_channels_is_a_reading_at_the_moment_above_it():
    columns = ("qmgr", "object_name", "remote_qmgr", "value", "at")
    at = datetime(2026, 9, 14, 8, tzinfo=UTC)
    assert rows(chstatus(), *columns) == [("QM1", "TO.QM2", "QM2", 100, at)]
    assert local(records_of(chstatus()).records[0][1].values["began"]) == "09:00:00.000000"
    assert records_of(chstatus(kind="SDR")).needless
    (refused,) = records_of(chstatus(at="when I looked")).refused
    assert refused.reason.startswith("no moment is above it")
    (refused,) = records_of(chstatus(messages="many")).refused
    assert refused.reason == "'many' is no count"


def test_gauges_of_messages_count_since_the_scrape_before_and_counters_from_their_beginning():
    columns = ("object_type", "object_name", "remote_qmgr", "value", "since_last")
    assert rows(scrape(), *columns) == [
        ("QUEUE", "ORDERS", "", 7, True),
        ("CHANNEL", "TO.QM2", "QM2", 100, True),
    ]
    assert {x for (x,) in rows(scrape(kind="counter"), "since_last")} == {False}
    raw = scrape().replace("ibmmq_channel_messages", "ibmmq_channel_msgs").replace("CLUSSDR", "9")
    assert rows(raw, "since_last")[1] == (False,)


@pytest.mark.parametrize(
    ("sample", "at"),
    [
        ("7 1789372800000", datetime(2026, 9, 14, 8, tzinfo=UTC)),
        ("7.0 1789372800.5", datetime(2026, 9, 14, 8, 0, 0, 500_000, tzinfo=UTC)),
    ],
)
def test_a_sample_may_have_a_moment_of_its_own(sample, at):
    text = f'ibmmq_queue_mqput_mqput1_count{{qmgr="QM1",queue="ORDERS"}} {sample}\n'
    assert rows(text, "value", "at") == [(7, at)]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('ibmmq_queue_mqput_mqput1_count{qmgr="QM1",queue="A"} 7', "no moment is at it"),
        ('ibmmq_queue_mqput_mqput1_count{qmgr="QM1",queue="A"} 7.5 1789372800000', "'7.5' is no"),
        ('ibmmq_queue_mqput_mqput1_count{qmgr="QM1",queue="A"} NaN 1789372800000', "'NaN' is no"),
        ('ibmmq_queue_mqput_mqput1_count{qmgr="QM1",queue="A"} 7 soon', "'soon' is no timestamp"),
        ('ibmmq_queue_mqput_mqput1_count{qmgr="QM1"} 7 1789372800000', "it has no label queue"),
        ('ibmmq_queue_mqput_mqput1_count{qmgr="QM1",que', "it is no sample"),
    ],
)
def test_a_sample_that_cannot_be_used_is_told(line, reason):
    found = records_of(line)
    assert [(x.line, x.reason[: len(reason)]) for x in found.refused] == [(1, reason)]
    assert not found.records


def test_metrics_of_the_collector_are_readings_or_counts_of_their_interval():
    columns = ("object_name", "value", "since_last", "at")
    at = datetime(2026, 9, 14, 8, 1, tzinfo=UTC)
    assert rows(otlp(5, 1), *columns) == [("TO.QM2", 5, False, at)]
    assert rows(otlp(5, 1, "gauge"), *columns) == [("TO.QM2", 5, True, at)]
    columns = ("object_name", "messages", "from_time", "to_time")
    begin = datetime(2026, 9, 14, 8, tzinfo=UTC)
    assert rows(otlp(5, 1, temporality=1), *columns) == [("TO.QM2", 5, begin, at)]
    assert records_of(otlp(name="ibmmq.queue.depth")).needless
    assert records_of(otlp(value=-1)).refused


@pytest.mark.parametrize("text", [SMF_WQ, SMF_JSON])
def test_smf_116_counts_the_puts_of_a_task_to_what_it_opened(text):
    (row,) = rows(text, "qmgr", "object_type", "object_name", "messages", "from_time", "to_time")
    assert row[:4] == ("QML1", "QUEUE", "ORDERS", 101)
    assert [local(x) for x in row[4:]] == ["08:00:05.559301", "08:00:18.307147"]
    assert sum(records_of(text).needless.values()) == 1


def test_smf_116_counts_what_a_session_of_a_cluster_sender_sent():
    columns = ("qmgr", "object_type", "object_name", "remote_qmgr", "messages")
    assert rows(SMF_QCST, *columns) == [("QML1", "CHANNEL", "TO.QM2", "QM2", 42)]


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('"2026/09/14","08:00:18,307147",100', '"","",100', "it has no end"),
        ('"2026/09/14","08:00:18,307147",100', '"2026/09/13","08:00:18,307147",100', "it ends bef"),
        (",100,1,0,", ",many,1,0,", "'many' is no count"),
        ('"ORDERS              "', '""', "it has no openname"),
        (",100,1,0,", ",100,1,0,7,", "it has 16 fields"),
    ],
)
def test_a_row_of_smf_that_cannot_be_used_is_told(old, new, reason):
    found = records_of(SMF_WQ.replace(old, new))
    assert [(x.line, x.reason[: len(reason)]) for x in found.refused] == [(2, reason)]


def test_a_probe_s_puts_are_routes_hop_by_hop():
    columns = ("qmgr", "object_name", "dest_qmgr", "channel", "xmitq", "reason")
    xmitq = "SYSTEM.CLUSTER.TRANSMIT.QUEUE"
    hops = [
        ("QM1", "ORDERS", "QM2", "TO.QM2", xmitq, 0),
        ("QM2", "ORDERS", "QM2", None, None, 0),
    ]
    assert rows(DSPMQRTE, *columns) == hops
    assert rows(json.dumps(dspmqrtj()), *columns) == hops
    found = records_of(DSPMQRTE)
    assert {x.kind for _, x in found.records} == {"probe"}
    first = found.records[0][1].values
    assert (local(first["put_time"]), first["message_id"]) == ("10:00:05.500000", b"\n\x0b")


def test_a_probe_without_its_put_is_one_that_its_command_asked_for():
    columns = ("qmgr", "object_name", "dest_qmgr", "channel", "reason")
    document = json.dumps(dspmqrtj("QM3", with_put=False))
    assert rows(document, *columns) == [("QM1", "ORDERS", "QM3", "TO.QM3", 0)]
    failed = json.dumps(dspmqrtj(error=2085))
    assert rows(failed, *columns) == [("QM1", "ORDERS", None, None, 2085)]
    lost = dspmqrtj(with_put=False)
    del lost["summary"]["finalQueueManager"]
    (refused,) = records_of(json.dumps(lost)).refused
    assert refused.reason == "a probe without a put"


def test_a_probe_that_is_discarded_for_a_reason_ends_with_it():
    columns = ("qmgr", "dest_qmgr", "reason")
    for feedback, reason in (("2053", 2053), ("MQRC_UNKNOWN_OBJECT_NAME", 2085)):
        text = DSPMQRTE.replace("NotDelivered", feedback)
        assert rows(text, *columns)[1] == ("QM2", None, reason)
    assert rows(DSPMQRTE.replace("NotDelivered", "Unsupported"), *columns)[1][2] is None
