"""Where the records of a file begin, and where the last whole one ends.

A file that MQ's tools still write ends in the middle of a record, whose rest comes later.
"""

import re
from mmap import mmap
from typing import Final

from clwl_spark.mq.traffic import amqsact, documents

_STEP: Final = 1 << 20
_LOOKED_AT: Final = 64 << 10
_LINES: Final = re.compile(rb"^[{\[]", re.MULTILINE)


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
        return len(data)
    record = data[at : len(data)]
    if pattern is amqsact.STARTS_BYTES:
        is_cut = amqsact.ENDS_BYTES.search(record) is None
    else:
        is_cut = documents.is_cut(record.decode(errors="replace"))
    return at if is_cut else len(data)


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
