"""DISPLAY commands that a text shows: which of them ask for all that a queue manager sees.

A full repository knows everything, so of a name that it does not show it can be said that there
is none: but only where the text itself shows that nothing was left out of it.

Source: CONTRACT, "What MQ's texts become", 11; MQSC reference, DISPLAY CLUSQMGR and QUEUE.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from clwl_spark.mq.read.documents import DECODER
from clwl_spark.mq.read.keywords import EVERY_KEYWORD
from clwl_spark.mq.read.records import Ending, Event, Failure, Hint, Opening, Other, Script, Shown

TABLES_OF_VIEWS: Final = {"clusqmgr": "cluster_channels", "queue": "queues"}
"""Kind of a displayed object -> the table of which a queue manager's view can be whole."""

PART: Final = ""
"""What is asked for is no whole view."""

_OBJECTS: Final = {"CLUSQMGR": "clusqmgr", "QCLUSTER": "queue", "QC": "queue"}
_ANY_QUEUES: Final = frozenset({"QUEUE", "Q"})
_TYPES: Final = frozenset({"TYPE", "QTYPE"})
_DISPLAY: Final = re.compile(
    r"(?<![A-Z0-9])DIS(?:PLAY)?\s+([A-Z]+)\s*\(([^()]*)\)(.*)", re.IGNORECASE | re.DOTALL
)
_WORDS: Final = re.compile(r"[\s,]*([A-Z][A-Z0-9]*)(?:\s*\(([^()]*)\))?", re.IGNORECASE)
_AROUND: Final = re.compile(r"[\s;,\"'`}\])]*(?:[|<>#].*)?$", re.DOTALL)
_WANTED: Final = EVERY_KEYWORD | {"ALL", "CLUSINFO", "MONITOR", "WHERE"}
_REQUESTS: Final = frozenset({"runCommand", "runCommandJSON"})


def with_questions(events: Iterable[Event]) -> Iterator[Event]:
    """Note on displayed objects the command that asked for all of their kind, where one did.

    Args:
        events: the events of one text.

    Returns:
        The same events; `asked` of a displayed object is the line of such a command.
    """
    question = _Question(PART)
    for event in events:
        if isinstance(event, Shown):
            whole = question.kind != PART and event.kind == question.kind
            yield replace(event, asked=question.line) if whole else event
        else:
            yield event
            question = _question_after(question, event)


class _Question(NamedTuple):
    """What was asked for last."""

    kind: str
    line: int = 0
    by_script: bool = False


def _question_after(question: _Question, event: Event) -> _Question:
    """What is asked for from an event on."""
    if isinstance(event, Script):
        return _Question(asked(event.text) or PART, event.line, by_script=True)
    if isinstance(event, Other | Hint):
        found = asked_on(event.text)
        return question if found is None else _Question(found, event.line)
    # What a shell's line asks for comes behind the words that a session opens with.
    ends = isinstance(event, Failure | Ending) or (
        isinstance(event, Opening) and question.by_script
    )
    return _Question(PART) if ends else question


def asked(command: str) -> str | None:
    """The kind of objects that a DISPLAY command asks for without leaving any out.

    Args:
        command: one command on one line.

    Returns:
        A kind as in `TABLES_OF_VIEWS`; `PART` where it asks for some, or for others; None where
        it is no DISPLAY command.
    """
    found = _DISPLAY.match(command.strip())
    return _kind(found) if found else None


def asked_on(line: str) -> str | None:
    """As `asked`, of a line that is more than a command: a prompt's, a shell's, a console's."""
    if "{" in line and (request := _request_on(line)):
        return asked(request)
    found = _DISPLAY.search(line)
    return _kind(found) if found else None


def _words(text: str) -> Iterator[re.Match[str]]:
    """The attributes at the start of a text."""
    at = 0
    while (word := _WORDS.match(text, at)) and word[1].upper() in _WANTED:
        yield word
        at = word.end()


def _kind(command: re.Match[str]) -> str:
    """What a command asks for."""
    word = command[1].upper()
    name = command[2].strip().strip("'").strip()
    if name != "*" or (word not in _OBJECTS and word not in _ANY_QUEUES):
        return PART
    limits = _limits(command[3])
    if limits is None:
        return PART
    types = {limits.pop(key) for key in _TYPES if key in limits}
    if limits or not types <= {"QCLUSTER"} or (word in _ANY_QUEUES and not types):
        return PART
    return _OBJECTS.get(word, "queue")


def _limits(text: str) -> dict[str, str] | None:
    """What a command leaves objects out by: its attributes with a value; None = not understood."""
    words = list(_words(text))
    if not _AROUND.match(text, words[-1].end() if words else 0):
        return None
    told = {x[1].upper(): (x[2] or "").strip().strip("'").strip().upper() for x in words}
    return {key: value for key, value in told.items() if value or key == "WHERE"}


def request_of(item: Mapping[str, object]) -> str:
    """The MQSC command that a request to the REST interface is; '' = it is none.

    Args:
        item: a JSON document, as it is posted to /admin/action/qmgr/{qmgrName}/mqsc.

    Source: MQ REST API, "POST /admin/action/qmgr/{qmgrName}/mqsc", request body.
    """
    parameters = item.get("parameters", {})
    if item.get("type") not in _REQUESTS or not isinstance(parameters, dict):
        return ""
    if item["type"] == "runCommand":
        return str(parameters.get("command", ""))
    limits = [f"{str(key).upper()}({value})" for key, value in parameters.items()]
    wanted = item.get("responseParameters", [])
    words = [str(x).upper() for x in wanted] if isinstance(wanted, list) else []
    head = f"{item.get('command')} {item.get('qualifier')}".upper()
    return " ".join([f"{head}({item.get('name', '')})", *limits, *words])


def _request_on(line: str) -> str:
    """The command of a request that stands on a line; '' = there is none."""
    try:
        item, _ = DECODER.raw_decode(line, line.index("{"))
    except (json.JSONDecodeError, RecursionError):
        return ""
    return request_of(item) if isinstance(item, dict) else ""
