"""Metrics of mq_prometheus and its kin, as text exposition.

Source: Prometheus, "Exposition formats"; ibm-messaging/mq-golang, `mqmetric`: gauges of messages
count since the collection before, counters since the exporter's start.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

from clwl_spark.mq.traffic.counters import Counter, reading
from clwl_spark.mq.traffic.headings import Headings, Moment
from clwl_spark.mq.traffic.records import (
    MOST,
    Item,
    Items,
    Needless,
    Record,
    RecordRefusedError,
    Unusable,
)

SIGN: Final = re.compile(r"^(?:# (?:HELP|TYPE) )?ibmmq_\w+", re.MULTILINE)
_CHANNEL: Final = ("channel_messages", "channel_msgs")
_QUEUE: Final = ("queue_mqput_mqput1",)
_NAME: Final = re.compile(rf"ibmmq_({'|'.join([*_CHANNEL, *_QUEUE])})(?:_count)?(?:_total)?")
_CUMULATIVE: Final = frozenset({"channel_msgs"})
"""Metrics that pass on what DISPLAY CHSTATUS shows, whatever their type."""
_SAMPLE: Final = re.compile(r"(\w+)(?:\{(.*)\})?\s+(\S+)(?:\s+(\S+))?")
_LABEL: Final = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_TYPE: Final = re.compile(r"# TYPE (\w+) (\w+)")
_CLUSTER_SENDER: Final = frozenset({"CLUSSDR", "MQCHT_CLUSSDR", "9"})
_NONE: Final = frozenset({"", "-"})
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SECONDS: Final = 10**11
"""Timestamps below are seconds since 1970, as OpenMetrics has them, else milliseconds."""
_SHOWN: Final = 60

OTHERS: Final = Needless("metric, none of a cluster sender's messages or of puts to a queue")


def metric_items(text: str) -> Items:
    """A reading of each counter of messages, at its own moment or that of the heading above."""
    headings = Headings(text)
    counters: set[str] = set()
    others = False
    for line, words in enumerate(text.split("\n"), 1):
        kind = _TYPE.match(words)
        if kind and kind[2] == "counter":
            counters |= {kind[1], f"{kind[1]}_total"}
        if not words.strip() or words.startswith("#"):
            continue
        name = " ".join(words.partition("{")[0].split(maxsplit=1)[:1])
        if not _NAME.fullmatch(name):
            others = True
            continue
        yield line, _item(words, headings.before(line), is_counter=name in counters)
    if others:
        yield 1, OTHERS


def _item(words: str, heading: Moment | None, *, is_counter: bool) -> Item:
    """What a sample gives."""
    sample = _SAMPLE.fullmatch(words.strip())
    if sample is None:
        return Unusable(words.partition("{")[0][:_SHOWN], "it is no sample of a metric")
    name, labels, value, at = sample.groups()
    try:
        counter = counter_of(name, dict(_LABEL.findall(labels or "")))
        if counter is None:
            return OTHERS
        moment = _moment(at) if at else heading
        if moment is None:
            why = "no moment is at it or above it: write one as in '# 2026-09-14T08:00:00Z'"
            return Unusable(f"{name} of {counter.object_name}", why)
        return reading_of(counter, moment, whole(value), is_counter=is_counter)
    except RecordRefusedError as error:
        return Unusable(name, str(error))


def counter_of(name: str, labels: Mapping[str, str]) -> Counter | None:
    """What a metric counts; None = no messages of a cluster sender, and no puts.

    Args:
        name: the metric's, with underscores.
        labels: of the sample.

    Raises:
        RecordRefusedError: a label is not there.
    """
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    qmgr = labels.get("qmgr") or labels.get("queue_manager")
    if found[1] in _CHANNEL:
        if labels.get("type", "").upper() not in _CLUSTER_SENDER:
            return None
        remote, job = labels.get("rqmname", ""), labels.get("jobname", "")
        channel = _named(labels, "channel")
        other = "" if remote in _NONE else remote
        return Counter(qmgr, "CHANNEL", channel, other, f"{name} {job}".strip())
    queue = _named(labels, "queue", "queue_name")
    return Counter(qmgr, "QUEUE", queue, "", name)


def reading_of(counter: Counter, at: Moment, value: int, *, is_counter: bool) -> Record:
    """A reading of a metric; a gauge counts since the one before."""
    found = _NAME.match(counter.counter)
    since_last = not is_counter and (found is None or found[1] not in _CUMULATIVE)
    return reading(counter, at, value, since_last=since_last)


def whole(value: object) -> int:
    """A count as metrics write it: `147655`, `1.47655e+05`.

    Raises:
        RecordRefusedError: it is none.
    """
    try:
        number = float(str(value))
        if number >= 0 and number.is_integer() and number <= MOST:
            return int(str(value)) if str(value).isdecimal() else int(number)
    except (ValueError, OverflowError):
        pass
    raise RecordRefusedError(f"{value!r} is no count")


def _named(labels: Mapping[str, str], *names: str) -> str:
    found = next((labels[x] for x in names if labels.get(x)), "")
    if not found:
        raise RecordRefusedError(f"it has no label {names[0]}")
    return found


def _moment(words: str) -> datetime:
    try:
        number = float(words)
        return _EPOCH + timedelta(seconds=number if number < _SECONDS else number / 1_000)
    except (ValueError, OverflowError) as error:
        raise RecordRefusedError(f"{words!r} is no timestamp") from error
