"""The output of runmqsc's DISPLAY commands: two columns, one, or many attributes on a line."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from clwl_spark.mq.read.pairs import KEY, Pairs, clean, is_open, pairs_of
from clwl_spark.mq.read.records import Attributes, Shown
from clwl_spark.mq.read.words import ENDS, OTHER_VERBS, VERBS

AMQ_KINDS: Final = {
    "8408": "qmgr",
    "8705": "qmstatus",
    "8723": "pubsub",
    "8409": "queue",
    "8414": "channel",
    "8417": "status",
    "8441": "clusqmgr",
    "8550": "namelist",
    "8633": "topic",
    "8096": "sub",
}
"""Number of the AMQ message before an object -> kind; objects of other numbers are not read."""

FIRST_KEYS: Final = {
    "QMNAME": "qmgr",
    "QUEUE": "queue",
    "CHANNEL": "channel",
    "CHSTATUS": "status",
    "CLUSQMGR": "clusqmgr",
    "NAMELIST": "namelist",
    "TOPIC": "topic",
    "SUB": "sub",
    "SUBID": "sub",
    "QMSTATUS": "qmstatus",
}
"""First attribute of an object -> kind, for z/OS messages, which serve all objects alike."""

SECOND_COLUMN: Final = 40
"""runmqsc writes attributes at two columns, this far apart."""

_PLAIN: Final = re.compile(
    rf"\s*+(?!(?:{'|'.join([*VERBS, *OTHER_VERBS])})\s+[A-Z]|(?:{'|'.join(ENDS)})\b)"
    r"(?:[A-Z][A-Z0-9]+\s+)*(?:[A-Z][A-Z0-9]* ?\(|[A-Z][A-Z0-9]+\s*$)"
)
_TAIL: Final = re.compile(r"\s{2,}(?=[A-Z][A-Z0-9]* ?\()")

Line = tuple[int, str]
Found = tuple[int, str, str]


def read_block(lines: Sequence[str], index: int, code: str) -> tuple[list[Shown], int]:
    """Read the objects behind one message.

    Args:
        lines: all lines of the text.
        index: the message's line; attributes may begin on it.
        code: the AMQ message's number.

    Returns:
        The objects, and the index of the first line that is not theirs; objects of a kind that
        gives no row are stepped over.

    Source: CONTRACT, "What MQ's texts become", 1-3; MQSC reference, DISPLAY commands.
    """
    end = _end_of_block(lines, index + 1)
    kind = AMQ_KINDS.get(code, "")
    if not kind:
        return [], end
    body = [(number + 1, lines[number]) for number in range(index + 1, end)]
    tail = _TAIL.search(lines[index])
    if tail:
        body.insert(0, (index + 1, lines[index][tail.end() :]))
    return list(objects(_attributes(body), kind)), end


def objects(attributes: Iterable[Found], kind: str, system: str = "") -> Iterator[Shown]:
    """Group attributes into objects; the first keyword coming again starts the next one.

    Args:
        attributes: line, keyword and value of each.
        kind: the objects' kind, '' where their first keyword tells it.
        system: command prefix of a z/OS message.
    """
    first = ""
    start = 0
    current: Attributes = {}
    for line, key, value in attributes:
        if key == first and current:
            yield Shown(start, kind or FIRST_KEYS.get(first, ""), current, system)
            current = {}
        if not current:
            if not value:
                continue
            first, start = key, line
        current.setdefault(key, value)
    if current:
        yield Shown(start, kind or FIRST_KEYS.get(first, ""), current, system)


def _end_of_block(lines: Sequence[str], index: int) -> int:
    """Find the first line that is no attribute of the objects shown."""
    still_open = False
    while index < len(lines):
        line = lines[index]
        if line.strip() and not still_open and not _PLAIN.match(line):
            break
        # Only a list of names goes on over lines; other values end where the line ends.
        still_open = (still_open or "NAMES(" in line) and not line.rstrip().endswith(")")
        index += 1
    return index


def _attributes(body: Sequence[Line]) -> Iterator[Found]:
    """Give (line, keyword, value) of every attribute; bare words have the value ''."""
    margin = min((_indent(line) for _, line in body if line.strip()), default=0)
    column = margin + SECOND_COLUMN
    columnar = any(_is_pair_of_cells(line, column) for _, line in body)
    for number, line in _whole(body):
        if columnar and "\n" not in line:
            yield from ((number, key, value) for key, value in _columns(line, column))
        else:
            yield from ((number, key, value) for key, value in pairs_of(line.replace("\n", "")))


def _whole(body: Iterable[Line]) -> Iterator[Line]:
    """Put lists of names that go on over lines together."""
    waiting: list[str] = []
    first = 0
    for number, line in body:
        if waiting:
            waiting.append(line.strip())
        elif "NAMES(" in line and is_open(line):
            waiting, first = [line.strip()], number
        else:
            yield number, line
        if waiting and line.rstrip().endswith(")"):
            yield first, "\n".join(waiting)
            waiting = []
    if waiting:
        yield first, "\n".join(waiting)


def _indent(line: str) -> int:
    """Columns before the first non-blank."""
    return len(line) - len(line.lstrip())


def _starts_at(line: str, column: int) -> bool:
    """True where a second attribute starts at this column."""
    return len(line) > column and line[column - 1] == " " and bool(KEY.match(line, column))


def _is_pair_of_cells(line: str, column: int) -> bool:
    """True where a line is two attributes, the second at the second column."""
    if not _starts_at(line, column):
        return False
    return len(pairs_of(line[:column])) == len(pairs_of(line[column:])) == 1


def _columns(line: str, column: int) -> Pairs:
    """Split a line at the second column; in such output one column holds one attribute."""
    found: Pairs = []
    halves = (line[:column], line[column:]) if _starts_at(line, column) else (line,)
    for half in halves:
        text = half.strip()
        key = KEY.match(text)
        if key and text.endswith(")") and len(half) <= column + SECOND_COLUMN:
            # A description may hold parentheses that do not match, so the last one counts.
            found.append((key[0], clean(text[text.index("(") + 1 : -1])))
        else:
            found += pairs_of(half)
    return found
