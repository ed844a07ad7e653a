"""The output of runmqsc's DISPLAY commands: two columns, one, or many attributes on a line."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from clwl_spark.mq.read.keywords import EVERY_KEYWORD
from clwl_spark.mq.read.pairs import KEY, Pairs, clean, is_unclosed, pairs_of
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
    "8450": "qstatus",
    "8550": "namelist",
    "8633": "topic",
    "8096": "sub",
    "8864": "authrec",
}
"""Number of the AMQ message before an object -> kind; objects of other numbers are not read."""

FIRST_KEYS: Final = {
    "QMNAME": "qmgr",
    "QUEUE": "queue",
    "CHANNEL": "channel",
    "CHSTATUS": "status",
    "CLUSQMGR": "clusqmgr",
    "QSTATUS": "qstatus",
    "NAMELIST": "namelist",
    "TOPIC": "topic",
    "SUB": "sub",
    "SUBID": "sub",
    "QMSTATUS": "qmstatus",
    "PROFILE": "authrec",
}
"""First attribute of an object -> kind, for z/OS messages, which serve all objects alike."""

SECOND_COLUMN: Final = 40
"""runmqsc writes attributes at two columns, this far apart."""

_PLAIN: Final = re.compile(
    rf"\s*+(?!(?:{'|'.join([*VERBS, *OTHER_VERBS])})\s+[A-Z]|(?:{'|'.join(ENDS)})\b)"
    r"(?:[A-Z][A-Z0-9]+\s+)*(?:[A-Z][A-Z0-9]*\s*\(|[A-Z][A-Z0-9]+\s*$)"
)
_TAIL: Final = re.compile(r"(?:\s{2,}|[.:]\s)(?=[A-Z][A-Z0-9]*\s*\()")
_FIRST_WORD: Final = re.compile(r"\s*([A-Z][A-Z0-9]*)(?:\s*\(|\s|$)")
_UNLIKE: Final = re.compile(r"\s+(?:([A-Za-z][A-Za-z0-9]*)\s*\(|([A-Z][A-Z0-9]*)\s*[=:])")
"""A line that says something of an object in another form than MQ's: in small letters, with `=`."""
_TEXTS: Final = (
    "CUSTOM DESCR MSGDATA RCVDATA SCYDATA SELECTOR SENDDATA SSLPEER TOPICSTR TRIGDATA USERDATA"
)
_FREE_TEXT: Final = frozenset(_TEXTS.split())
"""Attributes of which the value may hold any sign, parentheses included."""
_LONGEST_VALUE: Final = 40
"""Lines that one value may take: ten kilobytes of a topic string."""

_SOMETHING_ELSE: Final = re.compile(
    r"\s*(?:AMQ\d{4}|CSQ\w|\d+ : |Starting MQSC|One MQSC|"
    rf"(?:{'|'.join([*VERBS, *OTHER_VERBS])})\s+[A-Z])"
)
"""A line that begins another message, or a command."""
_OTHER_LINES: Final = 8
"""Lines of other text that may stand between a message and its object."""

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
        gives no row are stepped over. A line among their attributes that is written in another
        way ends what is read, and is an object that is `unread`. So is the message itself where
        no object comes behind it, nor behind a few lines of other text: a prompt, a pager's word.

    Source: CONTRACT, "What MQ's texts become", 1-3; MQSC reference, DISPLAY commands.
    """
    end = _end_of_block(lines, _end_of_value(lines, index))
    kind = AMQ_KINDS.get(code, "")
    if not kind:
        return [], end
    tail = _TAIL.search(lines[index])
    head = lines[index][tail.end() :] if tail else ""
    found = list(objects(_attributes([head, *lines[index + 1 : end]], index + 1), kind))
    is_unlike = end < len(lines) and _is_unlike(lines[end])
    if not found and not is_unlike:
        begin = _behind_other_text(lines, end, kind)
        if begin is None:
            return [Shown(index + 1, kind, {}, unread=lines[index].strip())], end
        return _objects_at(lines, begin, kind)
    if is_unlike:
        found.append(Shown(end + 1, kind, {}, unread=lines[end].strip()))
        end = _end_of_unlike(lines, end)
    return found, end


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
    while index < len(lines):
        if lines[index].strip() and not _PLAIN.match(lines[index]):
            break
        index = _end_of_value(lines, index)
    return index


def _objects_at(lines: Sequence[str], begin: int, kind: str) -> tuple[list[Shown], int]:
    """The objects that begin on a line, as `read_block` gives them."""
    end = _end_of_block(lines, begin)
    return list(objects(_attributes(lines[begin:end], begin + 1), kind)), end


def _behind_other_text(lines: Sequence[str], index: int, kind: str) -> int | None:
    """Where an object begins behind lines that have nothing of it; None = not near."""
    for at in range(index, min(len(lines), index + _OTHER_LINES)):
        word = _FIRST_WORD.match(lines[at])
        if word is not None and FIRST_KEYS.get(word[1]) == kind and _PLAIN.match(lines[at]):
            return at
        if _SOMETHING_ELSE.match(lines[at]) or _is_unlike(lines[at]):
            return None
    return None


def _is_unlike(line: str) -> bool:
    """True where a line means an attribute, but is not written as MQ writes one."""
    word = _UNLIKE.match(line)
    return word is not None and (word[1] or word[2]).upper() in EVERY_KEYWORD


def _end_of_unlike(lines: Sequence[str], index: int) -> int:
    """Find the first line that is no attribute in either way."""
    while index < len(lines) and (_is_unlike(lines[index]) or _PLAIN.match(lines[index])):
        index += 1
    return index


def _end_of_value(lines: Sequence[str], index: int) -> int:
    """The line behind a line's last value: lists of names, and what a terminal breaks, go on.

    A value that does not close before the next attribute ends with its own line.
    """
    text = lines[index]
    if not is_unclosed(text):
        return index + 1
    if "NAMES(" in text:
        behind = range(index + 1, len(lines))
        return next((x + 1 for x in behind if lines[x].strip().endswith(")")), len(lines))
    for end in range(index + 1, min(len(lines), index + _LONGEST_VALUE)):
        line = lines[end].strip()
        if not line or _begins_attribute(line):
            break
        text += line
        if not is_unclosed(text):
            return end + 1
    return index + 1


def _begins_attribute(line: str) -> bool:
    word = _FIRST_WORD.match(line)
    return word is not None and word[1] in EVERY_KEYWORD


def _attributes(body: Sequence[str], first: int) -> Iterator[Found]:
    """Give (line, keyword, value) of every attribute; bare words have the value ''."""
    whole = list(_whole(body))
    margin = min((_indent(line) for _, line in whole if line.strip()), default=0)
    column = margin + SECOND_COLUMN
    columnar = any(_is_pair_of_cells(line, column) for _, line in whole)
    for index, line in whole:
        pairs = _columns if columnar and "\n" not in line else _pairs
        yield from ((first + index, key, value) for key, value in pairs(line, column))


def _whole(body: Sequence[str]) -> Iterator[Line]:
    """Index and text of each line, with the lines that its last value goes on over."""
    index = 0
    while index < len(body):
        end = _end_of_value(body, index)
        parts = [body[index].rstrip(), *(line.strip() for line in body[index + 1 : end])]
        yield index, "\n".join(parts) if parts[1:] else body[index]
        index = end


def _pairs(line: str, _column: int) -> Pairs:
    return pairs_of(line.replace("\n", ""))


def _indent(line: str) -> int:
    """Columns before the first non-blank."""
    return len(line) - len(line.lstrip())


def _starts_at(line: str, column: int) -> bool:
    """True where a second attribute starts at this column."""
    whole = len(line) > column and line[column - 1] == " " and not is_unclosed(line[:column])
    return whole and bool(KEY.match(line, column))


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
        free = key is not None and key[0] in _FREE_TEXT
        if key and free and text.endswith(")") and len(half) <= column + SECOND_COLUMN:
            # A description may hold parentheses that do not match, so the last one counts.
            found.append((key[0], clean(text[text.index("(") + 1 : -1])))
        else:
            found += pairs_of(half)
    return found
