"""amqsmon's text: statistics and accounting, as it prints them without `-a` for fields.

Source: IBM MQ documentation, "amqsmon (Display formatted monitoring information)".
"""

import re
from collections.abc import Iterator
from typing import Final

from clwl_spark.mq.traffic.events import event_records
from clwl_spark.mq.traffic.records import (
    Document,
    Items,
    Needless,
    RecordRefusedError,
    Unusable,
)

SIGN: Final = re.compile(r"^MonitoringType: ", re.MULTILINE)
_LINE: Final = re.compile(r"\s*(\w+):\s*(.*?)\s*")
_TYPES: Final = {
    "MQIStatistics": 164,
    "QueueStatistics": 165,
    "ChannelStatistics": 166,
    "MQIAccounting": 167,
    "QueueAccounting": 168,
}
"""MonitoringType -> the command that its message has."""
_GROUPS: Final = {
    "QueueStatistics": "queueStatisticsData",
    "ChannelStatistics": "chlStatisticsData",
    "QueueAccounting": "queueAccountingData",
}
_NAMES: Final = {
    "QueueManager": "queueMgrName",
    "IntervalStartDate": "startDate",
    "IntervalStartTime": "startTime",
    "IntervalEndDate": "endDate",
    "IntervalEndTime": "endTime",
    "QueueName": "queueName",
    "QName": "queueName",
    "PutCount": "puts",
    "Put1Count": "put1s",
    "ChannelName": "channelName",
    "ChannelType": "channelType",
    "RemoteQMgr": "remoteQueueMgrName",
    "RemoteQmgr": "remoteQueueMgrName",
    "MsgCount": "msgs",
}
"""amqsmon's name of a field -> amqsevt's."""


def monitoring_items(text: str) -> Items:
    """The rows of amqsmon's records."""
    for line, kind, data in _messages(text):
        if kind not in _TYPES:
            yield line, Unusable(f"MonitoringType: {kind}", "it is no MonitoringType that is known")
            continue
        document = {"eventType": {"value": _TYPES[kind]}, "eventData": data}
        given = 0
        try:
            for record in event_records(document):
                given += 1
                yield line, record
        except RecordRefusedError as error:
            given += 1
            yield line, Unusable(kind, str(error))
        if not given:
            yield line, Needless(kind)


def _messages(text: str) -> Iterator[tuple[int, str, Document]]:
    """Line, MonitoringType and fields of each message, the groups in lists as amqsevt has them."""
    kind, begins = "", 0
    data: Document = {}
    group = data
    for number, line in enumerate(text.split("\n"), 1):
        found = _LINE.fullmatch(line)
        if not found:
            continue
        name, value = found.groups()
        if name == "MonitoringType":
            if begins:
                yield begins, kind, data
            kind, begins, data = value, number, {}
            group = data
        elif name in _GROUPS:
            group = {}
            data.setdefault(_GROUPS[name], []).append(group)
        elif name in _NAMES:
            group[_NAMES[name]] = _value(value)
    if begins:
        yield begins, kind, data


def _value(value: str) -> str | list[str]:
    """A text in quotation marks, a list of numbers, or a number, which stays a text."""
    if value.startswith("[") and value.endswith("]"):
        return [x.strip() for x in value[1:-1].split(",")]
    return value.strip("'")
