"""One text cut into commands, displayed objects and marks of whose text it is.

Formats are told apart by what a line is, not by a file's name, so a text may hold several.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from clwl_spark.mq.read import zos
from clwl_spark.mq.read.display import AMQ_KINDS, read_block
from clwl_spark.mq.read.encoding import is_binary, packed
from clwl_spark.mq.read.joining import join, notes_of
from clwl_spark.mq.read.records import (
    Attributes,
    Broken,
    Embedded,
    Ending,
    Event,
    Failure,
    Hint,
    Opening,
    Other,
    Passed,
    Script,
)
from clwl_spark.mq.read.rest import ERROR_LOG, read_embedded, read_json
from clwl_spark.mq.read.words import ENDS, OTHER_VERBS, VERBS

_LINE: Final = re.compile(
    r"""\s*+(?:
      (?P<blank>$)
    | [*\#]+\s*Queue\ manager(?:\ name)?\s*:\s*(?P<dump>\S+)\s*\**\s*$
    | (?P<comment>\*)
    | (?P<echo>\d+)\ :\s(?P<echoed>.*)
    | (?P<aside>:\s|(?:setmqaut|GRTMQMAUT)\s)
    | AMQ(?P<amq>\d{4})(?P<severity>[A-Z])?:
    | .*Starting\ MQSC\ for\ queue\ manager\ (?P<session>\S+)
    | (?P<ending>(?:\d+|One|No)\ (?:MQSC\ )?commands?\ (?:read|have\ a)|All\ valid\ MQSC\ commands)
    | (?P<prompt>[\w./%]{1,48})\s?>\s?(?:DIS|DEF|ALT|DELETE|START|STOP|REF|SET|PING|END)\w*\b
    | (?P<verb>[A-Za-z]+)\b(?!\s*[:=])
    | .{0,100}?(?<![A-Z])(?P<csq>CSQ[A-Z0-9]\d{3}[A-Z])\b
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_ECHO_REST: Final = re.compile(r"\s+: ?(.*)")
_COMMAND: Final = re.compile(r"\s*[A-Za-z]+\s+[A-Za-z]+\s*(?:\(|$|[+-]\s*$|\s)")
_TERMINATED: Final = re.compile(r"((?:[^;']++|'[^']*+'?+)*+);(.*)", re.DOTALL)
_RUNMQSC: Final = re.compile(
    r"(?:\brunmqsc\s+(?:-[a-z]+\s+)*|/admin/(?:action/)?qmgr/)([\w.%]{1,48})\s*(?:$|[/<|&;>\"'`)?])"
)
_HERE: Final = re.compile(r"""\brunmqsc\s+(?:-\S+\s+)*([^\s|<-]+)[^|]{0,200}?<<-?\s*['"]?(\w+)""")
_LOGGED: Final = re.compile(r"\s*\d[^()]{5,40} - Process\(\d+\.\d+\)")
_LOGGED_END: Final = re.compile(r"-{5} \S+ : \d+ -+")
_LONGEST_ENTRY: Final = 100
"""Lines of one message of an error log."""
_BANNER: Final = re.compile(r"\(C\) Copyright IBM Corp", re.IGNORECASE)
_LOCAL_SESSION: Final = re.compile(r"[^():]*\bMQSC\b[^():]*$")
_FAILED: Final = re.compile(
    r"\b(?:error|invalid|failed|cannot|unable|unknown|missing|already|not)\b", re.IGNORECASE
)
_FAILED_CODES: Final = frozenset({"8405", "8427"})
_ZOS_FAILED: Final = re.compile(r"CSQ[9MNU]\d{3}E")
_NUMBERED: Final = re.compile(r"(.{72})\d{8}\s*$")
_ESCAPES: Final = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\n]*\x07?|[=>])|\x07")

Found = tuple[list[Event], int]
Lines = Sequence[str]
Match = re.Match[str]


def scan(text: str) -> Iterator[Event]:
    """Cut a text into events, in its order; linear in its length.

    Args:
        text: one whole text, decoded.

    Returns:
        Commands with their lines joined, displayed objects, marks and lines of no meaning.

    Source: CONTRACT, "What MQ's texts become", 1 and 6.
    """
    text = text.lstrip("\ufeff").replace("\r", "")
    if not text.strip():
        yield Broken(1, "", "the text is empty")
        return
    if is_binary(text):
        reason = "binary data, not a text; name its encoding if it is one of EBCDIC"
        if by := packed(text):
            reason = f"it is packed by {by}: unpack it first"
        yield Broken(1, ascii(text[:20]), reason)
        return
    found = read_json(text)
    if found is None:
        yield from _lines(_significant(text))
        return
    for event in found:
        if isinstance(event, Embedded):
            inner = _lines(event.text.split("\n"))
            yield from (replace(part, line=event.line) for part in inner)
        else:
            yield event


def _significant(text: str) -> list[str]:
    """Lines without what terminals add, and without z/OS's sequence numbers in columns 73-80."""
    if "\x1b" in text or "\x07" in text:
        text = _ESCAPES.sub("", text)
    lines = text.split("\n")
    filled = [line for line in lines if line.strip()]
    if filled and all(_NUMBERED.match(line) for line in filled):
        return [line[:72] for line in lines]
    return lines


def _lines(lines: Lines) -> Iterator[Event]:
    """Cut lines into events; notes in a comment right before a command are the command's."""
    index = 0
    notes: Attributes = {}
    while index < len(lines):
        match = _LINE.match(lines[index])
        kind = (match.lastgroup or "") if match else ""
        events, following = _read(lines, index, match, kind)
        if kind == "comment":
            notes.update(notes_of(lines[index]))
        elif kind != "blank":
            if notes and events and isinstance(events[0], Script):
                events[0].notes.update(notes)
            notes = {}
        index = following
        yield from events


def _read(lines: Lines, index: int, match: Match | None, kind: str) -> Found:
    """Read what begins on a line."""
    if match is None:
        return read_embedded(lines, index) or _log_entry(lines, index) or _unknown(lines, index)
    return _READERS.get(kind, _skip)(lines, index, match)


def _unknown(lines: Lines, index: int) -> Found:
    return _other(lines, index), index + 1


def _log_entry(lines: Lines, index: int) -> Found | None:
    """A message of a queue manager's error log, with its explanation."""
    if not _LOGGED.match(lines[index]):
        return None
    limit = min(len(lines), index + _LONGEST_ENTRY)
    ends = (at for at in range(index + 1, limit) if _LOGGED_END.match(lines[at]))
    entry: list[Event] = [Passed(index + 1, ERROR_LOG)]
    return entry, next(ends, index) + 1


def _other(lines: Lines, index: int) -> list[Event]:
    """A line that is no command; it may tell which queue manager what follows is of."""
    line = lines[index]
    here = _HERE.search(line) if "<<" in line else None
    if here:
        return [Opening(index + 1, here[1].strip("'\""), "here", here[2])]
    run = _RUNMQSC.search(line)
    if run:
        return [Hint(index + 1, run[1], line)]
    before = lines[max(0, index - 2) : index]
    if "MQSC" in line and _LOCAL_SESSION.match(line) and any(map(_BANNER.search, before)):
        words = [word.rstrip(".") for word in line.split() if word != "MQSC"]
        names = [word for word in words if re.search(r"[A-Z0-9]", word)]
        return [Opening(index + 1, names[-1], "session")] if names else []
    return [Other(index + 1, line)]


def _skip(_lines: Lines, index: int, _match: Match) -> Found:
    return [], index + 1


def _opening(_lines: Lines, index: int, match: Match) -> Found:
    origin = "dump" if match["dump"] else "session"
    name = match["dump"] or match["session"].removesuffix(".")
    return [Opening(index + 1, name.strip("'\""), origin)], index + 1


def _ending(_lines: Lines, index: int, _match: Match) -> Found:
    return [Ending(index + 1)], index + 1


def _prompt(_lines: Lines, index: int, match: Match) -> Found:
    """A command typed behind a prompt: runmqsc echoes it, so only the prompt counts."""
    return [Hint(index + 1, match["prompt"], _lines[index])], index + 1


def _echo(lines: Lines, index: int, match: Match) -> Found:
    """A command echoed by runmqsc; the lines it goes on with are numbered by blanks."""
    own = [match["echoed"]]
    end = index + 1
    while end < len(lines) and (rest := _ECHO_REST.match(lines[end])):
        own.append(rest[1])
        end += 1
    joined = join(own, 0, own[0])
    text = joined.text.strip()
    verb = text.split(maxsplit=1)[0].upper() if text else ""
    return [Script(index + 1, text, verb, int(match["echo"][:9]), joined.notes, joined.cut)], end


def _command(lines: Lines, index: int, match: Match) -> Found:
    """A command that stands for itself, or a line that is none."""
    line = lines[index]
    verb = match["verb"].upper().removesuffix(";")
    if not _is_command(verb, line):
        message = zos.MESSAGE.match(line)
        return _zos(lines, index, message) if message else (_other(lines, index), index + 1)
    joined = join(lines, index, line.lstrip())
    text, rest = joined.text, ""
    if ";" in text and (ended := _TERMINATED.match(text)):
        text, rest = ended[1], ended[2].strip()
    found: list[Event] = [Script(index + 1, text, verb, 0, joined.notes, joined.cut)]
    if rest:
        reason = "behind a semicolon, where MQ ignores the rest of the line"
        found.append(Broken(index + 1, rest, reason))
    return found, joined.next_index


def _is_command(verb: str, line: str) -> bool:
    """True where a line starts an MQSC command: prose may begin with a verb, too."""
    if verb in ENDS:
        return line.strip().rstrip(";").isalpha()
    return (verb in VERBS or verb in OTHER_VERBS) and bool(_COMMAND.match(line))


def _message(lines: Lines, index: int, match: Match) -> Found:
    """An AMQ message: the head of displayed objects, or the answer to a command."""
    line = lines[index]
    code = match["amq"]
    shown, end = read_block(lines, index, code)
    if shown:
        return list(shown), end
    failed = match["severity"] in ("E", "S", "T") or code in _FAILED_CODES
    if failed or (match["severity"] is None and _FAILED.search(line)):
        return [Failure(index + 1)], index + 1
    text = line.partition(":")[2].strip().rstrip(".")
    passed: list[Event] = (
        [Passed(index + 1, f"'{text}'")] if end > index + 1 and code not in AMQ_KINDS else []
    )
    return passed, max(end, index + 1)


def _zos(lines: Lines, index: int, match: Match) -> Found:
    """A z/OS message: some show objects or name the queue manager, others answer commands."""
    code = match[2]
    if zos.shows(code):
        shown, end = zos.read_details(lines, index, match)
        return list(shown), max(end, index + 1)
    name = zos.named(lines[index])
    if name:
        return [Opening(index + 1, name, "zos")], index + 1
    return ([Failure(index + 1)] if _ZOS_FAILED.match(code) else []), index + 1


def _zos_message(lines: Lines, index: int, match: Match) -> Found:
    """A z/OS message behind other columns of a log."""
    message = zos.MESSAGE.match(lines[index])
    return _zos(lines, index, message) if message else _skip(lines, index, match)


_READERS: Final[dict[str, Callable[[Lines, int, Match], Found]]] = {
    "dump": _opening,
    "session": _opening,
    "echoed": _echo,
    "amq": _message,
    "severity": _message,
    "ending": _ending,
    "prompt": _prompt,
    "verb": _command,
    "csq": _zos_message,
}
