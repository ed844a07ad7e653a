"""What MQ records: each kind of record gives its rows, and what cannot be used is told."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from clwl_spark.cli import main
from clwl_spark.mq.traffic import configuration, records_of

CREATED = {"timeStamp": "2026-09-14T08:00:05Z", "epoch": 1789372805}
AT = datetime(2026, 9, 14, 8, 0, 5, tzinfo=UTC)


def event(kind, reason, data, name="Event"):
    return {
        "eventSource": {"objectName": "SYSTEM.ADMIN.EVENT", "queueMgr": "QM1"},
        "eventType": {"name": name, "value": kind},
        "eventReason": {"name": "Some Reason", "value": reason},
        "eventCreation": CREATED,
        "eventData": {"queueMgrName": "QM1", **data},
    }


def channel_event(reason, qualifier=None, **more):
    data = {"channelName": "TO.QM2", **more}
    return event(46, reason, data | ({"reasonQualifier": qualifier} if qualifier else {}))


def statistics(**more):
    times = {"startDate": "2026-09-14", "startTime": "10.00.00", "endDate": "2026-09-14"}
    return {**times, "endTime": "10.15.00", **more}


def span(name, operation="MQPUT", qmgr="QM1", nanos="1789372805000123456", **told):
    words = {
        "messaging.operation.name": operation, "messaging.destination.name": name,
        "messaging.message.id": "0A0B", **told,
    }  # fmt: skip
    kinds = {bool: "boolValue", int: "intValue", str: "stringValue"}
    attributes = [
        {"key": key, "value": {kinds[type(x)]: str(x) if type(x) is int else x}}
        for key, x in words.items()
    ]
    spans = [{"name": f"{operation} {name}", "startTimeUnixNano": nanos, "attributes": attributes}]
    service = {"attributes": [{"key": "service.name", "value": {"stringValue": qmgr}}]}
    return {"resourceSpans": [{"resource": service, "scopeSpans": [{"spans": spans}]}]}


def values(*documents):
    found = records_of("\n".join(map(json.dumps, documents)))
    assert not found.refused
    return [(x.table, x.values) for _, x in found.records]


@pytest.mark.parametrize(
    ("reason", "qualifier", "status"),
    [
        (2282, None, "RUNNING"),
        (2295, None, "STARTING"),
        (2296, None, "STARTING"),
        (2283, "Channel Stopped Ok", "INACTIVE"),
        (2283, "Channel Stopped Error", "INACTIVE"),
        (2283, "Channel Stopped Retry", "RETRYING"),
        (2283, "Channel Stopped Disabled", "STOPPED"),
        (2279, "Channel Stopped Disabled", "STOPPED"),
    ],
)
def test_a_channel_event_is_a_change_of_status(reason, qualifier, status):
    ((table, row),) = values(channel_event(reason, qualifier))
    assert table == "status_events"
    assert (row["qmgr"], row["channel"], row["at"], row["status"]) == ("QM1", "TO.QM2", AT, status)


@pytest.mark.parametrize("reason", [2051, 2085, 2087])
def test_a_put_that_failed_is_an_observed_route_with_its_reason(reason):
    ((table, row),) = values(event(44, reason, {"queueName": "ORDERS", "objectQMgrName": "QM9"}))
    assert table == "observed_routes"
    assert (row["object_name"], row["object_qmgr"], row["reason"]) == ("ORDERS", "QM9", reason)
    assert row["put_time"] == AT


def test_statistics_are_counts_of_cluster_senders_and_of_queues():
    channels = [
        {"channelName": "TO.QM2", "channelType": "Clussdr", "remoteQueueMgrName": "QM2", "msgs": 7},
        {"channelName": "CLIENTS", "channelType": "Svrconn", "msgs": 9},
    ]
    queues = [{"queueName": "ORDERS", "puts": [3, 4], "put1s": [0, 1]}]
    found = values(
        event(166, 0, statistics(chlStatisticsData=channels)),
        event(165, 0, statistics(queueStatisticsData=queues)),
    )
    assert [(x["object_type"], x["object_name"], x["messages"]) for _, x in found] == [
        ("CHANNEL", "TO.QM2", 7), ("QUEUE", "ORDERS", 8)
    ]  # fmt: skip
    assert {x["from_time"].when for _, x in found} == {datetime(2026, 9, 14, 10)}  # noqa: DTZ001


def test_a_span_of_a_put_is_a_message_and_where_it_went():
    resolved = {"messaging.ibmmq.destination.resolved_qmgr_name": "QM2"}
    xmitq = {"messaging.ibmmq.destination.transmission_queue": "XMIT.QM2"}
    put = span("ORDERS", **resolved, **xmitq, **{"messaging.message.body.size": 20})
    (_, message), (_, route) = values(put, span("ORDERS", "MQGET"))
    assert (message["qmgr"], message["object_name"], message["msg_length"]) == ("QM1", "ORDERS", 20)
    assert message["put_time"] == AT.replace(microsecond=123)
    assert message["message_id"] == route["message_id"] == b"\n\x0b"
    assert (route["dest_qmgr"], route["xmitq"], route["reason"]) == ("QM2", "XMIT.QM2", 0)
    failed = {"messaging.ibmmq.application.reason_code": "MQRC_UNKNOWN_OBJECT_NAME"}
    ((table, row),) = values(span("NOWHERE", **failed))
    assert (table, row["reason"]) == ("observed_routes", 2085)


def test_a_channel_event_of_another_reason_is_refused():
    found = records_of(json.dumps(channel_event(9999)))
    assert [why for _, _, why in found.refused] == [
        "9999 is no reason of a channel event that is known"
    ]


CONSTANTS = """
MQIA_INHIBIT_PUT MQIA_CLWL_USEQ MQIA_DEF_BIND MQIA_USAGE MQIA_Q_TYPE MQIA_DEF_CLUSTER_XMIT_Q_TYPE
MQIA_CLWL_Q_RANK MQIA_CLWL_Q_PRIORITY MQIACH_CLWL_CHANNEL_RANK MQIACH_CLWL_CHANNEL_PRIORITY
MQIACH_CLWL_CHANNEL_WEIGHT MQIACH_NETWORK_PRIORITY MQIA_CLWL_MRU_CHANNELS MQCA_CLUSTER_NAME
MQCA_CLUS_CHL_NAME MQCA_BASE_OBJECT_NAME MQCA_BASE_Q_NAME MQCA_REMOTE_Q_NAME
MQCA_REMOTE_Q_MGR_NAME MQCA_XMIT_Q_NAME MQCACH_CONNECTION_NAME MQCA_DEF_XMIT_Q_NAME
"""


def test_fields_of_configuration_events_are_what_amqsevt_makes_of_mq_s_constants():
    def field_of(constant):
        _, *words = constant.replace("_Q_", "_QUEUE_", 1).split("_")
        return words[0].lower() + "".join(x.title() for x in words[1:])

    of_words, numbers, names = configuration._WORDS, configuration._NUMBERS, configuration._NAMES
    assert {*map(field_of, CONSTANTS.split())} == {*of_words, *numbers, *names}


def test_what_cannot_be_used_is_told_with_its_line_and_the_rest_is_taken():
    good = json.dumps(channel_event(2282))
    bad = event(46, 2282, {})
    later = json.dumps(bad, indent=1)
    found = records_of(f"{good}\n{later}\n[1]\n{good}\n" + good[:40])
    assert len(found.records) == 2
    lines = later.count("\n") + 1
    assert [(line, why) for line, _, why in found.refused] == [
        (2, "it has no channelName"),
        (2 + lines, "it is no record of MQ"),
        (4 + lines, "JSON that breaks off here or behind"),
    ]
    documents = [event(164, 0, {}, "Statistics MQI"), event(43, 2368, {}, "Config Event")]
    blocked = event(46, 2577, {"connectionName": "10.0.0.7"}, "Channel Event")
    needless = records_of("\n".join(map(json.dumps, [*documents, blocked]))).needless
    assert dict(needless) == {
        "Statistics MQI, Some Reason": 1,
        "Config Event, Some Reason": 1,
        "Channel Event, Some Reason": 1,
    }


def test_records_are_loaded_once_each_into_its_table(lake, tmp_path, capsys):
    folder = tmp_path / "records"
    folder.mkdir()
    counted = statistics(qStatisticsData=[{"queueName": "ORDERS", "puts": 3, "put1s": 0}])
    documents = [channel_event(2282), event(44, 2085, {"queueName": "X"}), event(165, 0, counted)]
    (folder / "events.json").write_text("\n".join(map(json.dumps, documents)))
    (folder / "spans.json").write_text(json.dumps(span("ORDERS")) + "\n")
    words = ["load", str(folder), "--lake", lake.root, "--json"]
    assert main(words) == 0
    first = json.loads(capsys.readouterr().out)
    assert first["rows"] == {"observed_routes": 2, "status_events": 1, "messages": 1}
    assert [x["reason"] for x in first["rejects"]] == [
        "its times have no time zone: give --time-zone"
    ]
    (row,) = lake.read("status_events").collect()
    assert (row.channel, row.status, row.source) == (
        "TO.QM2", "RUNNING", f"{folder}/events.json:1"
    )  # fmt: skip
    assert main(words) == 0
    again = json.loads(capsys.readouterr().out)
    assert (again["known"], again["written"]) == (2, False)
    assert lake.read("observed_routes").count() == 2
    (folder / "counts.json").write_text(json.dumps(documents[2]))
    assert main([*words, "--time-zone", "Europe/Paris"]) == 0
    (row,) = lake.read("observed_counts").collect()
    assert row.from_time.astimezone(UTC) == datetime(2026, 9, 14, 8, tzinfo=UTC)


SAMPLES = Path(__file__).parents[3] / "shared" / "traffic"


OTHERS = {
    "01-otel-zos-spans/file.in.first-lines.json": {"messages": 18, "observed_routes": 18},
    "02-smf116-channel-accounting-csv/SMF-QCST.csv": "SMF 116 QCST of a channel that is no",
    "03-smf116-queue-accounting-csv/SMF-WQ.TEST116.csv": {"observed_counts": 2},
    "03-smf116-queue-accounting-csv/SMF-WQ.TESTCHL.csv": {"observed_counts": 11},
    "03-smf116-queue-accounting-csv/SMF-WTID.TEST116.csv": "SMF 116 another structure",
    "05-prometheus-text/qm1_metrics_remote.selected.txt": "metric, none of a cluster sender's",
    "07-statchl-amqsevt-json/SYSTEM.ADMIN.STATISTICS.QUEUE.Statistics_Channel.json": {
        "observed_counts": 1
    },
    "09-statmqi-amqsevt-json/SYSTEM.ADMIN.STATISTICS.QUEUE.Statistics_MQI.json": "Statistics MQI",
    "10-channel-events-json/2279-channel-stopped-by-user.json": {"status_events": 1},
    "10-channel-events-json/2282-channel-started.json": {"status_events": 1},
    "10-channel-events-json/2283-channel-stopped.json": {"status_events": 1},
    "12-qmgr-events-json/2051-put-inhibited.json": {"observed_routes": 1},
    "12-qmgr-events-json/2085-unknown-object-name.json": {"observed_routes": 1},
    "13-dspmqrtj-json/README-excerpt.txt": {"observed_routes": 1},
    "14-dspmqrte-text/example.txt": {"observed_routes": 1},
}
"""File -> the rows that it gives, or what it holds that gives none."""
REJECTED = {
    "13-dspmqrtj-json/README-excerpt.txt": {(1, "## Program output"), (7, "{"), (112, "```")},
}
"""File -> line and text of its pieces that cannot be used: prose, and JSON with gaps in it."""


def others():
    files = (x for x in SAMPLES.glob("*/*") if x.name != "SOURCE.txt")
    return sorted(str(x.relative_to(SAMPLES)) for x in files)


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="no records of others here")
@pytest.mark.parametrize("name", OTHERS)
def test_records_of_others_give_rows_or_say_what_they_hold(name, lake, capsys):
    words = ["load", str(SAMPLES / name), "--time-zone", "UTC", "--lake", lake.root, "--json"]
    assert main(words) == 0
    document = json.loads(capsys.readouterr().out)
    expected = OTHERS[name]
    if isinstance(expected, str):
        assert expected in document["passed_over"][0]["why"]
        expected = {}
    assert {x: count for x, count in document["rows"].items() if count} == expected
    rejected = {(x["line"], x["text"].rstrip()) for x in document["rejects"]}
    assert rejected == REJECTED.get(name, set())


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="no records of others here")
def test_all_records_of_others_are_looked_at():
    assert others() == sorted(OTHERS)
