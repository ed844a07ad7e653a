"""The output of DISPLAY commands: two columns, many attributes on a line, or z/OS."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from clwl_spark.mq.mqsc import ENDS, OTHER_VERBS, VERBS
from clwl_spark.mq.records import Attributes, Shown

AMQ_KINDS: Final = {
    "8408": "qmgr",
    "8705": "qmgr",
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
}
"""First attribute of an object -> kind, for z/OS messages, which serve all objects alike."""

SECOND_COLUMN: Final = 40
"""runmqsc writes attributes at two columns, this far apart."""

_KEY: Final = re.compile(r"[A-Z][A-Z0-9]*(?= ?\()")
_WORD: Final = re.compile(r"[A-Z][A-Z0-9]*")
_PARENTHESIS: Final = re.compile(r"[()]")
_PLAIN: Final = re.compile(
    rf"\s*+(?!(?:{'|'.join([*VERBS, *OTHER_VERBS])})\s+[A-Z]|(?:{'|'.join(ENDS)})\b)"
    r"(?:[A-Z][A-Z0-9]+\s+)*(?:[A-Z][A-Z0-9]* ?\(|[A-Z][A-Z0-9]+\s*$)"
)
_ZOS_END: Final = re.compile(r"\s*(?:\S+\s+)?END\s+\w+\s+DETAILS|.{0,80}\bCSQ\w\d{3}\w\b")


def read_block(lines: Sequence[str], index: int, code: str, rest: str) -> tuple[list[Shown], int]:
    """Read the objects behind one message.

    Args:
        lines: all lines of the text.
        index: the message's line.
        code: an AMQ message's number, or "CSQ" for z/OS.
        rest: what follows the message's identifier on its line.

    Returns:
        The objects, and the index of the first line that is not theirs.

    Source: CONTRACT, "What MQ's texts become", 1-3; MQSC reference, DISPLAY commands.
    """
    zos = code == "CSQ"
    end = _end_of_block(lines, index + 1, zos=zos)
    body = [(number + 1, lines[number]) for number in range(index + 1, end)]
    system = ""
    if zos:
        system, rest = _split_system(rest)
        body = [(index + 1, rest), *body] if _KEY.search(rest) else body
        end += end < len(lines) and "DETAILS" in lines[end] and "CSQ" not in lines[end]
    kind = AMQ_KINDS.get(code, "")
    if not zos and not kind:
        return [], end
    return list(_objects(_attributes(body), kind, system)), end


def _split_system(rest: str) -> tuple[str, str]:
    """Take the command prefix (usually the queue manager's name) off a z/OS message."""
    head, _, tail = rest.strip().partition(" ")
    if "(" in head:
        return "", rest
    return re.sub(r"^[^A-Za-z0-9]+", "", head), tail


def _end_of_block(lines: Sequence[str], index: int, *, zos: bool) -> int:
    """Find the first line that is no attribute of the objects shown."""
    still_open = False
    while index < len(lines):
        line = lines[index]
        if zos:
            if _ZOS_END.match(line):
                break
        elif line.strip() and not still_open and not _PLAIN.match(line):
            break
        else:
            # Only a list of names goes on over lines; other values end where the line ends.
            still_open = (still_open or "NAMES(" in line) and not line.rstrip().endswith(")")
        index += 1
    return index


def _attributes(body: Sequence[tuple[int, str]]) -> Iterator[tuple[int, str, str]]:
    """Give (line, keyword, value) of every attribute; bare words have the value ''."""
    margin = min((_indent(line) for _, line in body if line.strip()), default=0)
    column = margin + SECOND_COLUMN
    columnar = any(_starts_at(line, column) for _, line in body)
    waiting: list[str] = []
    waiting_line = 0
    for number, line in body:
        if waiting:
            waiting.append(line.strip())
        elif "NAMES(" in line and not line.rstrip().endswith(")"):
            waiting, waiting_line = [line.strip()], number
        else:
            for part in _columns(line, column, columnar=columnar):
                yield from ((number, key, value) for key, value in part)
        if waiting and line.rstrip().endswith(")"):
            yield from ((waiting_line, key, value) for key, value in _scan("".join(waiting)))
            waiting = []


def _indent(line: str) -> int:
    """Columns before the first non-blank."""
    return len(line) - len(line.lstrip())


def _starts_at(line: str, column: int) -> bool:
    """True where a second attribute starts at this column."""
    return len(line) > column and line[column - 1] == " " and bool(_KEY.match(line, column))


def _columns(line: str, column: int, *, columnar: bool) -> Iterator[list[tuple[str, str]]]:
    """Split a line at the second column; in such output one column holds one attribute."""
    if not columnar:
        yield _scan(line)
        return
    halves = (line[:column], line[column:]) if _starts_at(line, column) else (line,)
    for half in halves:
        text = half.strip()
        key = _KEY.match(text)
        if key and text.endswith(")") and len(half) <= column + SECOND_COLUMN:
            # A description may hold parentheses that do not match, so the last one counts.
            yield [(key[0], _clean(text[text.index("(") + 1 : -1]))]
        else:
            yield _scan(half)


def _scan(text: str) -> list[tuple[str, str]]:
    """Find KEY(value) and bare words on a line; parentheses within a value must match."""
    found: list[tuple[str, str]] = []
    position = 0
    while position < len(text):
        key = _WORD.search(text, position)
        if not key:
            break
        start = key.end()
        while text[start : start + 1] == " ":
            start += 1
        if text[start : start + 1] != "(":
            found.append((key[0], ""))
            position = key.end()
            continue
        end = _closing(text, start)
        found.append((key[0], _clean(text[start + 1 : end])))
        position = end + 1
    return found


def _closing(text: str, start: int) -> int:
    """Index of the parenthesis that closes the one at `start`, or the end of the text."""
    depth = 0
    for match in _PARENTHESIS.finditer(text, start):
        depth += 1 if match[0] == "(" else -1
        if depth == 0:
            return match.start()
    return len(text)


def _clean(value: str) -> str:
    """A shown value without padding and, where some tools add them, its quotes."""
    value = value.strip()
    if len(value) > 1 and value[0] == value[-1] == "'":
        value = value[1:-1].strip()
    return value


def _objects(attributes: Iterator[tuple[int, str, str]], kind: str, system: str) -> Iterator[Shown]:
    """Group attributes into objects; the first keyword coming again starts the next one."""
    first = ""
    start = 0
    current: Attributes = {}
    for line, key, value in attributes:
        if key == first and current:
            yield Shown(start, kind or FIRST_KEYS.get(first, ""), current, system)
            current = {}
        if not current:
            if not value:
                # A log's own columns before a z/OS console line.
                continue
            first, start = key, line
        current.setdefault(key, value)
    if current:
        yield Shown(start, kind or FIRST_KEYS.get(first, ""), current, system)
