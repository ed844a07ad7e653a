"""Continuation lines of MQSC commands put together; line numbers are kept by the caller."""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from clwl_spark.mq.read.records import Attributes

_NOTE: Final = re.compile(r"\b(ALTDATE|ALTTIME|QMID)\s*\(([^()]*)\)")
_NEW: Final = re.compile(
    r"(?:DEF|DEFINE|ALT|ALTER|DELETE)\s+(?:NOREPLACE\s+|REPLACE\s+)?[A-Z]+\s*\(|ALTER\s+QMGR\b",
    re.IGNORECASE,
)
_NEW_STARTS: Final = frozenset({"DEF", "ALT", "DEL", "def", "alt", "del", "Def", "Alt", "Del"})
_SIGNS: Final = frozenset({"+", "-"})


class Joined(NamedTuple):
    """A command on one line, the attributes in its comment lines, and where the next one starts.

    `cut` is true where its last line says that it goes on, but it does not.
    """

    text: str
    notes: Attributes
    next_index: int
    cut: bool = False


def join(lines: Sequence[str], index: int, first: str) -> Joined:
    """Join the command that starts at `lines[index]`.

    A `+` at the end goes on with the first non-blank of the next line, a `-` with its column 1;
    blanks behind the sign, and comment and blank lines in between, do not count. A line that
    starts a command ends the one before it, whatever that one's last line says.

    Args:
        lines: all lines of the text.
        index: the command's first line.
        first: that line's text, without what precedes the command.

    Returns:
        The command's text; the values of ALTDATE, ALTTIME and QMID in its comments.

    Source: MQSC, "Rules for using MQSC commands"; CONTRACT, "What MQ's texts become", 4.
    """
    parts: list[str] = []
    notes: Attributes = {}
    body = first.rstrip()
    while True:
        sign = body[-1:]
        if sign not in _SIGNS:
            parts.append(body)
            return Joined("".join(parts), notes, index + 1)
        parts.append(body[:-1])
        index = _next(lines, index + 1, notes)
        body = lines[index].strip() if index < len(lines) else ""
        if not body or (body[:3] in _NEW_STARTS and _NEW.match(body)):
            return Joined("".join(parts), notes, index, cut=True)
        if sign == "-":
            body = lines[index].rstrip()


def _next(lines: Sequence[str], index: int, notes: Attributes) -> int:
    """The command's next line; comments on the way leave their notes."""
    for place in range(index, len(lines)):
        body = lines[place].lstrip()
        if not body:
            continue
        if body[0] != "*":
            return place
        notes.update(notes_of(body))
    return len(lines)


def notes_of(comment: str) -> Attributes:
    """The attributes in a comment that no command can set: when it was changed, and QMID."""
    return {key: value.strip().strip("'").strip() for key, value in _NOTE.findall(comment)}
