"""One text cut into commands, displayed objects and marks of whose text it is.

Formats are told apart by what a line is, not by a file's name, so a text may hold several.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from clwl_spark.mq.display import read_block
from clwl_spark.mq.joining import join
from clwl_spark.mq.mqsc import ENDS, OTHER_VERBS, VERBS
from clwl_spark.mq.records import Ending, Event, Failure, Opening, Other, Script
from clwl_spark.mq.rest import read_answer

_LINE: Final = re.compile(
    r"""\s*+(?:
      (?P<blank>$)
    | \*\s*Queue\ manager\ name:\s*(?P<dump>\S+)
    | (?P<comment>\*)
    | (?P<echo>\d+)\ :\s(?P<echoed>.*)
    | (?P<aside>:\s)
    | AMQ(?P<amq>\d{4})(?P<severity>[A-Z])?:
    | .*\brunmqsc\s+(?:-\S+\s+)*(?P<here>[^\s|<-]+)[^|]*<<-?\s*['"]?(?P<terminator>\w+)
    | .*Starting\ MQSC\ for\ queue\ manager\ (?P<session>\S+)
    | (?P<ending>(?:\d+|One|No)\ (?:MQSC\ )?commands?\ (?:read|have\ a)|All\ valid\ MQSC\ commands)
    | (?P<verb>[A-Za-z]+)\b(?!\s*[:=])
    | .{0,80}?\b(?P<csq>CSQ[A-Z0-9]\d{3}[A-Z])\b
    )""",
    re.VERBOSE,
)
_ZOS: Final = re.compile(r".{0,80}?\b(CSQ[A-Z0-9]\d{3}[A-Z])\b\s*(.*)")
_ECHO_REST: Final = re.compile(r"\s+: ?(.*)")
_COMMAND: Final = re.compile(r"\s*[A-Za-z]+\s+[A-Za-z]+\s*(?:\(|$|[+-]\s*$|\s)")
_FAILED: Final = re.compile(
    r"\b(?:error|invalid|failed|cannot|unable|unknown|missing|already|not)\b", re.IGNORECASE
)
_FAILED_CODES: Final = frozenset({"8405", "8427"})

Found = tuple[list[Event], int]


def scan(text: str) -> Iterator[Event]:
    """Cut a text into events, in its order; linear in its length.

    Args:
        text: one whole text, decoded.

    Returns:
        Commands with their lines joined, displayed objects, marks and lines of no meaning.

    Source: CONTRACT, "What MQ's texts become", 1 and 6.
    """
    text = text.lstrip("\ufeff").replace("\r", "")
    answer = read_answer(text)
    if answer is not None:
        yield from answer
        return
    lines = text.split("\n")
    index = 0
    while index < len(lines):
        match = _LINE.match(lines[index])
        events: list[Event] = []
        if match is None:
            events, index = [Other(index + 1, lines[index])], index + 1
        else:
            reader = _READERS.get(match.lastgroup or "", _skip)
            events, index = reader(lines, index, match)
        yield from events


def _skip(_lines: Sequence[str], index: int, _match: re.Match[str]) -> Found:
    return [], index + 1


def _opening(_lines: Sequence[str], index: int, match: re.Match[str]) -> Found:
    origin = "dump" if match["dump"] else "here" if match["here"] else "session"
    name = match["dump"] or match["here"] or match["session"].removesuffix(".")
    return [Opening(index + 1, name.strip("'\""), origin, match["terminator"] or "")], index + 1


def _ending(_lines: Sequence[str], index: int, _match: re.Match[str]) -> Found:
    return [Ending(index + 1)], index + 1


def _echo(lines: Sequence[str], index: int, match: re.Match[str]) -> Found:
    """A command echoed by runmqsc; the lines it goes on with are numbered by blanks."""
    own = [match["echoed"]]
    end = index + 1
    while end < len(lines) and (rest := _ECHO_REST.match(lines[end])):
        own.append(rest[1])
        end += 1
    joined = join(own, 0, own[0])
    verb = joined.text.split(maxsplit=1)[0].upper() if joined.text.strip() else ""
    event = Script(index + 1, joined.text.strip(), verb, int(match["echo"]), joined.notes)
    return [event], end


def _command(lines: Sequence[str], index: int, match: re.Match[str]) -> Found:
    """A command that stands for itself, or a line that is none."""
    line = lines[index]
    verb = match["verb"].upper().removesuffix(";")
    if not _is_command(verb, line):
        zos = _ZOS.match(line)
        return _zos(lines, index, zos) if zos else ([Other(index + 1, line)], index + 1)
    joined = join(lines, index, line.lstrip())
    return [Script(index + 1, joined.text, verb, 0, joined.notes)], joined.next_index


def _is_command(verb: str, line: str) -> bool:
    """True where a line starts an MQSC command: prose may begin with a verb, too."""
    if verb in ENDS:
        return line.strip().rstrip(";").isalpha()
    return (verb in VERBS or verb in OTHER_VERBS) and bool(_COMMAND.match(line))


def _message(lines: Sequence[str], index: int, match: re.Match[str]) -> Found:
    """An AMQ message: the head of displayed objects, or the answer to a command."""
    line = lines[index]
    code = match["amq"]
    shown, end = read_block(lines, index, code, "")
    if shown:
        return list(shown), end
    failed = match["severity"] in ("E", "S", "T") or code in _FAILED_CODES
    if failed or (match["severity"] is None and _FAILED.search(line)):
        return [Failure(index + 1)], index + 1
    return [], max(end, index + 1)


def _zos(lines: Sequence[str], index: int, match: re.Match[str]) -> Found:
    """A z/OS message: CSQM201I and CSQM4xxI show objects, the others answer commands."""
    code, rest = match[1], match[2]
    if code == "CSQM201I" or code.startswith("CSQM4"):
        shown, end = read_block(lines, index, "CSQ", rest)
        return list(shown), max(end, index + 1)
    return ([Failure(index + 1)] if code.endswith("E") else []), index + 1


def _zos_message(lines: Sequence[str], index: int, _match: re.Match[str]) -> Found:
    """A z/OS message behind other columns of a log."""
    zos = _ZOS.match(lines[index])
    return _zos(lines, index, zos) if zos else _skip(lines, index, _match)


_READERS: Final[dict[str, Callable[[Sequence[str], int, re.Match[str]], Found]]] = {
    "dump": _opening,
    "here": _opening,
    "terminator": _opening,
    "session": _opening,
    "echoed": _echo,
    "amq": _message,
    "severity": _message,
    "ending": _ending,
    "verb": _command,
    "csq": _zos_message,
}
