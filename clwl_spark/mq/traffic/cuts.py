"""Where the records of a file begin, and where the last whole one ends.

A file that MQ's tools still write ends in the middle of a record, whose rest comes later.
"""

import csv
import re
from mmap import mmap
from typing import Final

from clwl_spark.mq.read.encoding import decode
from clwl_spark.mq.traffic import amqsact, documents, metrics, monitoring, smf

_STEP: Final = 1 << 20
_LOOKED_AT: Final = 64 << 10
_LINES: Final = re.compile(rb"^[{\[]", re.MULTILINE)
_REPORTS: Final = (re.compile(rb"^MonitoringType: ", re.MULTILINE),)
_SCRAPES: Final = (
    re.compile(rb"^# *\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*[ \t\r]*$", re.MULTILINE),
    re.compile(rb"^(?:# HELP [^\n]*\n)?# TYPE ", re.MULTILINE),
)
"""What the samples of metrics need above them: the moment of the scrape, or else their type."""


Bytes = bytes | mmap
"""Bytes, or a file that is mapped into memory."""


def beginnings(data: Bytes) -> re.Pattern[bytes] | None:
    """What the records of a file begin with, as its beginning tells; None = only the file does."""
    head = data[:_LOOKED_AT]
    for pattern in (amqsact.STARTS_BYTES, documents.STARTS_BYTES):
        if pattern.search(head):
            return pattern
    return _LINES if head.lstrip()[:1] in (b"{", b"[") else None


def whole_size(data: Bytes) -> int:
    """How many bytes come before a record that the file ends in the middle of.

    It is their number where the file ends with a whole record, or with one that is broken.
    """
    pattern = beginnings(data)
    at = _last(pattern, data) if pattern else None
    if at is None:
        return _whole_lines(data)
    record = data[at : len(data)]
    if pattern is amqsact.STARTS_BYTES:
        is_cut = amqsact.ENDS_BYTES.search(record) is None
    else:
        is_cut = documents.is_cut(record.decode(errors="replace"))
    return at if is_cut else len(data)


def _whole_lines(data: Bytes) -> int:
    """The same of texts of lines, of which the last one may be cut.

    A line of SMF has as many fields as the first; amqsmon's text and metrics end with a line end,
    and a cut line takes with it what stands above it. Of other texts nothing tells.
    """
    last = data.rfind(b"\n") + 1
    head = decode(data[:_LOOKED_AT])
    if last == len(data):
        return last
    if smf.SIGN.search(head):
        fields = _fields(decode(data[last : len(data)]))
        return last if fields < _fields(head.split("\n", 1)[0]) else len(data)
    for sign, patterns in ((monitoring.SIGN, _REPORTS), (metrics.SIGN, _SCRAPES)):
        if sign.search(head):
            found = (_last(x, data) for x in patterns)
            return next((x for x in found if x is not None), last)
    return len(data)


def _fields(line: str) -> int:
    """How many fields a line of CSV has; 0 where it is none."""
    try:
        return len(next(csv.reader([line]), []))
    except csv.Error:
        return 0


def _last(pattern: re.Pattern[bytes], data: Bytes) -> int | None:
    """Where the last record begins; None = there is none."""
    step = _STEP
    while True:
        start = max(len(data) - step, 0)
        last = None
        for last in pattern.finditer(data, start):  # noqa: B007  (the last one counts)
            pass
        if last is not None:
            return last.start()
        if not start:
            return None
        step *= 4
