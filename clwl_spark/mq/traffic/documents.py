"""The JSON documents of a text, one after the other, and where they begin and end.

A document that is broken costs itself alone; one that the text ends in before it does is told
apart, since the rest of it may come yet.
"""

import json
import re
from collections.abc import Iterator
from typing import Final

from clwl_spark.mq.read.documents import Piece
from clwl_spark.mq.read.records import SHOWN_TEXT, Broken

STARTS: Final = re.compile(
    r'\{\s*"(?:event(?:Source|Type|Reason|Creation|Data)|resourceSpans)"\s*:'
)
"""What documents of amqsevt and of the OpenTelemetry Collector begin with, in whatever order."""
STARTS_BYTES: Final = re.compile(STARTS.pattern.encode())
_LINES: Final = re.compile(r"^[{\[]", re.MULTILINE)
_BETWEEN: Final = re.compile(r"[\s,\[\]\ufeff]*")
_STRINGS: Final = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)', re.DOTALL)
# amqsevt writes control characters as they are.
_DECODER: Final = json.JSONDecoder(strict=False)


def documents_of(text: str) -> Iterator[Piece]:
    """The documents of a text, in order; a broken one is a `Broken`."""
    starts = STARTS if '"activityTrace"' in text else _LINES
    at = _behind_blank(text, 0)
    while at < len(text):
        try:
            item, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            near = text[at:].split("\n", 1)[0][:SHOWN_TEXT]
            yield Piece(at, "", Broken(0, near, "JSON that breaks off here or behind"))
            following = starts.search(text, at + 1)
            at = following.start() if following else len(text)
            continue
        yield Piece(at, "", item)
        at = _behind_blank(text, end)


def is_cut(document: str) -> bool:
    """Whether a text is a document's beginning: more of its brackets open than close."""
    bare = _STRINGS.sub("", document)
    opened = sum(map(bare.count, "{["))
    return document[:1] in ("{", "[") and opened > sum(map(bare.count, "}]"))


def _behind_blank(text: str, at: int) -> int:
    """Where the next value begins."""
    between = _BETWEEN.match(text, at)
    return between.end() if between else at
