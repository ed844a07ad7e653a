"""A whole file for each reader of `clwl load`, which tests of bad input begin with.

Texts are written for these tests; `test_every_reader_is_met` fails where a reader has none.
"""

import io
import json
from datetime import UTC, datetime, timedelta

import activity_traces as written
import pyarrow as pa
import pyarrow.parquet as pq
from loading.tool_texts import ALL, dspmqrtj, scrape

NOON = datetime(2026, 9, 14, 12, tzinfo=UTC)
PUT = {
    "qmgr": "QM1", "put_time": NOON, "object_type": "QUEUE", "object_name": "ORDERS",
    "object_qmgr": "", "bind": "NOT_FIXED", "open_id": 1, "group_id": None, "persistent": True,
    "msg_length": 20, "reason": 0, "dest_qmgr": "QM2", "dest_object": "ORDERS", "is_local": False,
    "xmitq": "XMIT",
}  # fmt: skip
CREATED = {"timeStamp": "2026-09-14T12:00:00Z", "epoch": int(NOON.timestamp())}
INTERVAL = {
    "startDate": "2026-09-14", "startTime": "10.00.00", "endDate": "2026-09-14",
    "endTime": "10.15.00",
}  # fmt: skip


def trace():
    """The events of some puts: opened, unopened, to a topic, in a group, and one that failed."""
    alone = {"open_id": None, "bind": None}
    kinds = [{}, {}, alone, {"object_type": "TOPIC", "object_name": "/a"}, {"group_id": b"g" * 24},
             {"reason": 2053, "dest_qmgr": None}]  # fmt: skip
    puts = [
        {**PUT, **more, "put_time": NOON + timedelta(seconds=x), "message_id": bytes([x + 1] * 24)}
        for x, more in enumerate(kinds)
    ]
    return written.events_of(puts, per_event=5)


def event(kind, reason, data, **more):
    return {
        "eventSource": {"objectName": "SYSTEM.ADMIN.EVENT", "queueMgr": "QM1"},
        "eventType": {"name": "Event", "value": kind},
        "eventReason": {"name": "Reason", "value": reason},
        "eventCreation": CREATED,
        "eventData": {"queueMgrName": "QM1", **data},
        **more,
    }


EVENTS = {
    "channel events": [
        event(46, 2282, {"channelName": "TO.QM2"}),
        event(46, 2283, {"channelName": "TO.QM2", "reasonQualifier": "Channel Stopped Retry"}),
        event(46, 2577, {"connectionName": "10.0.0.7"}),
    ],
    "queue manager events": [
        event(44, 2085, {"queueName": "NOWHERE", "objectQMgrName": "QM9"}),
        event(44, 2222, {}),
    ],
    "configuration events": [
        event(43, 2368, {"objectType": "Queue", "queueType": "Local", "queueName": "ORDERS",
                         "clwlQueueRank": 3, "defBind": "Bind Not Fixed",
                         "inhibitPut": "Put Inhibited", "clusterName": "K"}),
        event(43, 2367, {"objectType": "Channel", "channelName": "TO.QM1",
                         "channelType": "Cluster Receiver", "clwlChannelWeight": 9}),
        event(43, 2368, {"objectType": "Queue Mgr", "clwlUseq": "Useq Local"}),
        event(43, 2368, {"objectType": "Queue", "queueType": "Local", "queueName": "ORDERS"},
              objectState="Before Change"),
        event(43, 2369, {"objectType": "Queue", "queueType": "Local", "queueName": "OLD"}),
    ],
    "statistics and accounting": [
        event(165, 0, {**INTERVAL, "queueStatisticsData": [
            {"queueName": "ORDERS", "puts": [3, 4], "put1s": ["0", 1]}]}),
        event(166, 0, {**INTERVAL, "chlStatisticsData": [
            {"channelName": "TO.QM2", "channelType": "Clussdr", "remoteQueueMgrName": "QM2",
             "msgs": 7}]}),
        event(168, 0, {**INTERVAL, "queueAccountingData": [
            {"queueName": "ORDERS", "puts": [1, 0], "put1s": [0, 0]}]}),
        event(164, 0, INTERVAL),
    ],
}  # fmt: skip


def span(number, **told):
    """A span of a put, as the collector's file exporter has it."""
    words = {
        "messaging.operation.name": "MQPUT", "messaging.destination.name": "ORDERS",
        "messaging.message.id": f"0A{number:02X}", "messaging.message.body.size": 20,
        "messaging.ibmmq.message.persistent": True,
        "messaging.ibmmq.destination.resolved_qmgr_name": "QM2", **told,
    }  # fmt: skip
    kinds = {bool: "boolValue", int: "intValue", str: "stringValue"}
    attributes = [
        {"key": key, "value": {kinds[type(x)]: str(x) if type(x) is int else x}}
        for key, x in words.items()
    ]
    start = str(int(NOON.timestamp()) * 10**9 + number)
    return {"name": "MQPUT ORDERS", "startTimeUnixNano": start, "attributes": attributes}


def spans():
    failed = {"messaging.ibmmq.application.reason_code": "MQRC_UNKNOWN_OBJECT_NAME"}
    some = [span(1), span(2, **failed), span(3, **{"messaging.operation.name": "MQGET"})]
    service = {"attributes": [{"key": "service.name", "value": {"stringValue": "QM1"}}]}
    return {"resourceSpans": [{"resource": service, "scopeSpans": [{"spans": some}]}]}


CSV = """qmgr,put_time,object_name,bind,open_id,message_id,persistent,msg_length
QM1,2026-09-14T08:00:00Z,ORDERS,NOT_FIXED,,0A0B,true,100
QM1,2026-09-14T08:00:02.5+00:00,"OR""DERS",ON_OPEN,7,,no,
QM2,2026-09-14 10:00:01,STOCK,,1.0,,,"12"
"""
SERIES = """qmgr,count,object_type,object_name,start,interval,per_open,per_group
QM1,3,QUEUE,ORDERS,2026-09-14T08:00:00Z,2s,2,
QM1,2,QUEUE,STOCK,2026-09-14T08:00:00Z,500ms,,2
"""


def _rows():
    names, *lines = (x.split(",") for x in CSV.replace('"', "").splitlines())
    return [dict(zip(names, x, strict=True)) for x in lines]


def _plain_span(one):
    """The attributes of a span by key."""
    told = {x["key"]: next(iter(x["value"].values())) for x in one["attributes"]}
    return {x: str(y).lower() if isinstance(y, bool) else y for x, y in told.items()}


def spans_in_rows(**attributes):
    """A row per span, as lakes of traces have them."""
    own = spans()["resourceSpans"][0]["scopeSpans"][0]["spans"]
    columns = {
        "ServiceName": ["QM1"] * len(own),
        "Timestamp": pa.array(
            [int(x["startTimeUnixNano"]) for x in own], pa.timestamp("ns", "UTC")
        ),
        "SpanAttributes": pa.array([[*_plain_span(x).items()] for x in own], WORDS),
    }
    return pa.table({**columns, **attributes})


WORDS = pa.map_(pa.string(), pa.string())


def spans_in_columns():
    """The collector's documents, as a table."""
    return pa.Table.from_pylist([spans(), spans()])


def spans_in_json():
    """A row per span, with objects as texts."""
    own = spans()["resourceSpans"][0]["scopeSpans"][0]["spans"]
    return pa.table(
        {
            "start_time_unix_nano": [int(x["startTimeUnixNano"]) for x in own],
            "attributes": [json.dumps(x["attributes"]) for x in own],
            "resource": [json.dumps({"service.name": "QM1"})] * len(own),
        }
    )


def _parquet(rows):
    file = io.BytesIO()
    pq.write_table(rows, file)
    return file.getvalue()


def _arrow():
    file = io.BytesIO()
    with pa.ipc.new_file(file, typed_puts().schema) as writer:
        writer.write_table(typed_puts())
    return file.getvalue()


def typed_puts(first=0):
    """Puts as a program writes them."""
    return pa.table(
        {
            "qmgr": pa.array(["QM1", "QM2"]).dictionary_encode(),
            "put_time": pa.array(
                [NOON, NOON + timedelta(seconds=first)], pa.timestamp("ns", "UTC")
            ),
            "queue": ["ORDERS", "STOCK"],
            "open_id": [7, None],
            "message_id": [b"\n", None],
            "persistent": [True, None],
        }
    )


def _lines(documents):
    return "".join(f"{json.dumps(x)}\n" for x in documents)


TEXTS = {
    **ALL,
    **{name: _lines(documents) for name, documents in EVENTS.items()},
    "activity trace, json": written.as_json(trace()),
    "activity trace, json at the left": written.as_raw_json(trace()),
    "activity trace, json_compact": written.as_compact(trace()),
    "activity trace, amqsact -v": written.as_amqsact(trace()),
    "activity trace, amqsact": written.as_terse(trace()),
    "scrape, with moments of its own": "".join(
        f"{x} {1789372800000 + at}\n" if x[:1] != "#" else f"{x}\n"
        for at, x in enumerate(scrape().splitlines()[1:])
    ),
    "dspmqrtj, without puts": json.dumps(dspmqrtj(with_put=False))
    + "\n"
    + json.dumps(dspmqrtj(error=2085)),
    "spans": _lines([spans(), spans()]),
    "CSV": CSV,
    "CSV, semicolons": CSV.replace(",", ";"),
    "CSV, numbers for moments": CSV.replace("2026-09-14T08:00:00Z", "1789372800.25"),
    "series": SERIES,
    "JSON lines": _lines(_rows()),
    "JSON list": json.dumps(_rows()),
}
SAMPLES = {name: text.encode() for name, text in TEXTS.items()} | {
    "Parquet": _parquet(typed_puts()),
    "Parquet, numbers for moments": _parquet(
        pa.table({"qmgr": ["QM1"], "time": [1789372800123], "queue": [800]})
    ),
    "Parquet of spans, by row": _parquet(spans_in_rows()),
    "Parquet of spans, in columns": _parquet(spans_in_columns()),
    "Parquet of spans, in JSON": _parquet(spans_in_json()),
    "Arrow": _arrow(),
    "CSV, UTF-16": CSV.encode("utf-16"),
    "CSV, EBCDIC": CSV.encode("cp037"),
    "events, EBCDIC": TEXTS["statistics and accounting"].encode("cp500"),
}
"""Name -> the bytes of a file."""
