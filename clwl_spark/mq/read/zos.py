"""What z/OS prints: messages CSQ..., on the console, in the system log, by the utility program."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from clwl_spark.mq.read.display import objects
from clwl_spark.mq.read.pairs import is_open, pairs_of
from clwl_spark.mq.read.records import Shown

MESSAGE: Final = re.compile(r"(.{0,100}?)(?<![A-Z])(CSQ[A-Z0-9]\d{3}[A-Z])\b\s*(.*)")
"""Any message: what stands before it are columns of a log or a listing, or the command prefix."""

_NAMING: Final = re.compile(
    r"CSQU055I\s+Target queue manager is (?P<target>\S+)"
    r"|CSQU121I\s+Connected to queue manager (?P<connected>\S+)"
    r"|CSQN121I.*\bcommand responses from (?P<scope>\S+)"
)
_END: Final = re.compile(r"\s*(?:\S+\s+){0,9}?END\s+\w+\s+DETAILS")
_ATTRIBUTE: Final = re.compile(r"[A-Z][A-Z0-9]+ ?\(")
_SIGNS: Final = re.compile(r"^[^A-Za-z0-9]+")
_PREFIX: Final = re.compile(r"\s*[^\sA-Za-z0-9]+([A-Z0-9]{1,8})\s+")
_BARE: Final = re.compile(r"(?:[^a-z(]*\s)?([A-Z][A-Z0-9]{2,})\s*$")
_NEXT: Final = re.compile(r"[^a-z(]*\b[A-Z][A-Z0-9]+\(.*\)\s*$")
_LONGEST_VALUE: Final = 40
"""Lines that one value may take: ten kilobytes of a topic string."""

Found = tuple[int, str, str]


def shows(code: str) -> bool:
    """True where a message shows objects; the others answer commands."""
    return code == "CSQM201I" or code.startswith("CSQM4")


def named(line: str) -> str:
    """The queue manager that a message names as the one the following is of, else ''."""
    found = _NAMING.search(line)
    return (found[found.lastgroup or 0] or "").rstrip(".'") if found else ""


def read_details(
    lines: Sequence[str], index: int, message: re.Match[str]
) -> tuple[list[Shown], int]:
    """Read the objects of one message.

    Args:
        lines: all lines of the text.
        index: the message's line.
        message: that line, as `MESSAGE` matches it.

    Returns:
        The objects, and the index of the first line that is not theirs.

    Source: CONTRACT, "What MQ's texts become", 1-3; MQSC reference, "DISPLAY commands" on z/OS.
    """
    system, rest = _split_system(message[1], message[3])
    end = index + 1
    found = [(index + 1, key, value) for key, value in pairs_of(rest)] if "(" in rest else []
    while end < len(lines) and not _ends(lines[end]):
        text, following = _whole(lines, end)
        if not text and lines[end].strip():
            break
        found.extend(_pairs(text, end + 1))
        end = following
    ended = end < len(lines) and _END.match(lines[end]) is not None
    return list(objects(found, "", system)), end + ended


def _ends(line: str) -> bool:
    """True where a message's objects end: by its last line, or with the next message."""
    if "END" in line and _END.match(line):
        return True
    return "CSQ" in line and MESSAGE.match(line) is not None


def _split_system(before: str, rest: str) -> tuple[str, str]:
    """Take the command prefix (usually the queue manager's name) off a message.

    A prefix may begin with a sign; one that stands before the message's identifier does.
    """
    head, _, tail = rest.strip().partition(" ")
    if not _ATTRIBUTE.match(head):
        return _SIGNS.sub("", head), tail
    prefix = _PREFIX.fullmatch(before)
    return (prefix[1] if prefix else ""), rest


def _whole(lines: Sequence[str], index: int) -> tuple[str, int]:
    """The attributes on a line, with the lines that its last value goes on over; '' = none."""
    line = lines[index]
    start = _ATTRIBUTE.search(line)
    if not start:
        bare = _BARE.match(line)
        return (bare[1] if bare else ""), index + 1
    at = start.start()
    parts = [line[at:].rstrip()]
    logged = bool(line[:at].strip())
    index += 1
    limit = min(len(lines), index + _LONGEST_VALUE)
    while is_open("".join(parts)) and index < limit and not _stops(lines[index], parts[-1]):
        parts.append((lines[index][at:] if logged else lines[index].lstrip()).rstrip())
        index += 1
    return "".join(parts), index


def _stops(line: str, before: str) -> bool:
    """True where a value with an odd parenthesis has ended all the same."""
    if _ends(line):
        return True
    return before.endswith(")") and bool(_NEXT.match(line) or _BARE.match(line))


def _pairs(text: str, line: int) -> Iterator[Found]:
    """Line, keyword and value of the attributes in a text."""
    for key, value in pairs_of(text):
        yield line, key, value
