"""Continuation lines of MQSC commands put together; line numbers are kept by the caller."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from clwl_spark.mq.records import Attributes

_NOTE = re.compile(r"\*\s*(ALTDATE|ALTTIME|QMID)\s*\((.*)\)[\s+-]*$")


class Joined(NamedTuple):
    """A command on one line, the attributes in its comment lines, and where the next one starts."""

    text: str
    notes: Attributes
    next_index: int


def join(lines: Sequence[str], index: int, first: str) -> Joined:
    """Join the command that starts at `lines[index]`.

    A `+` at the end goes on with the first non-blank of the next line, a `-` with its column 1;
    blanks behind the sign, and comment and blank lines in between, do not count.

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
    body = first
    while True:
        index += 1
        body = body.rstrip()
        sign = body[-1:]
        if sign not in ("+", "-"):
            parts.append(body)
            return Joined("".join(parts), notes, index)
        parts.append(body[:-1])
        index = _skip_comments(lines, index, notes)
        if index >= len(lines):
            return Joined("".join(parts), notes, index)
        body = lines[index] if sign == "-" else lines[index].lstrip()


def _skip_comments(lines: Sequence[str], index: int, notes: Attributes) -> int:
    """Go to the next line of the command, collecting notes on the way."""
    while index < len(lines):
        body = lines[index].lstrip()
        if body and body[0] != "*":
            break
        note = _NOTE.match(body)
        if note:
            notes[note[1]] = note[2].strip().strip("'").strip()
        index += 1
    return index
