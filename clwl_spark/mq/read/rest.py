"""JSON: answers of the administrative REST interface, and displayed objects one to a line."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from clwl_spark.mq.read.asking import asked, request_of
from clwl_spark.mq.read.display import FIRST_KEYS
from clwl_spark.mq.read.documents import DECODER, LineNumbers, Piece, document_items, pieces_of
from clwl_spark.mq.read.records import (
    Attributes,
    Broken,
    Embedded,
    Event,
    Opening,
    Passed,
    Script,
    Shown,
)
from clwl_spark.mq.read.resources import RESOURCES, shown_resource

_KEY_ORDER: Final = "QSTATUS QUEUE TOPIC SUB CLUSQMGR CHSTATUS CHANNEL NAMELIST QMNAME"
_KIND_ORDER: Final = tuple(_KEY_ORDER.split())
"""Of these keys the first that an object has tells its kind: many kinds have a CLUSQMGR."""

_OTHER_KEYS: Final = frozenset(
    {"APPLNAME", "AUTHINFO", "CHLAUTH", "CONN", "ENTITY", "LISTENER", "OBJNAME", "POLICY"}
    | {"PROFILE", "SBSTATUS", "SERVICE", "TPSTATUS"}
)
"""Keys of objects that give no row, though they have a CHANNEL or a QUEUE as well."""

_OF_AUTHORITY: Final = frozenset({"PROFILE", "ENTITY", "AUTHLIST"})

_STATUS_KEYS: Final = {
    "CHANNEL": ("STATUS", "status"),
    "QMNAME": ("STATUS", "qmstatus"),
    "SUB": ("NUMMSGS", ""),
    "QUEUE": ("MSGAGE", "qstatus"),
}
"""Key of a kind -> the attribute by which the object is a status, and the status's kind."""

ERROR_LOG: Final = "error log message"
_LOGGED: Final = "ibm_messageId"
_ANSWER: Final = '"commandResponse"'


def read_json(text: str) -> list[Event] | None:
    """Read a text of JSON documents: one, an array, one behind the other, or one a line.

    Args:
        text: a whole text.

    Returns:
        The objects that were found, with keys and values as MQSC has them, and the documents that
        are broken; None where the text is no JSON that MQ or its tools write.

    Source: MQ REST API, "POST /admin/action/qmgr/{qmgrName}/mqsc", and the resources' GET.
    """
    if text.lstrip()[:1] not in ("{", "["):
        return None
    pieces = pieces_of(text)
    if not pieces or (isinstance(pieces[0].item, Broken) and not pieces[0].of):
        return None
    counts = LineNumbers(text)
    events = [event for piece in pieces for event in _events(piece, counts.at(piece.offset))]
    if any(piece.of for piece in pieces):
        return events
    return events if any(not isinstance(event, Broken) for event in events) else None


def read_embedded(lines: Sequence[str], index: int) -> tuple[list[Event], int] | None:
    """Read an answer that stands among other text, as a terminal's log or a document shows it.

    Args:
        lines: all lines of the text.
        index: the line that the answer may begin on.

    Returns:
        Its objects, and the index of the first line behind it; None where none begins here.
    """
    if lines[index].lstrip()[:1] != "{" or _ANSWER not in "".join(lines[index : index + 4]):
        return None
    end = _end_of_answer(lines, index)
    text = "\n".join(lines[index:end])
    try:
        document, stop = DECODER.raw_decode(text, text.index("{"))
    except (json.JSONDecodeError, RecursionError):
        return None
    if not isinstance(document.get("commandResponse"), list):
        return None
    counts = LineNumbers(text)
    found: list[Event] = []
    for piece in document_items(text, 0, stop, document):
        found.extend(_events(piece, index + counts.at(piece.offset)))
    return [event for event in found if not isinstance(event, Embedded)], end


def _end_of_answer(lines: Sequence[str], index: int) -> int:
    """The line behind an answer: its braces match there, or the next answer begins."""
    depth = answers = 0
    for place in range(index, len(lines)):
        depth += lines[place].count("{") - lines[place].count("}")
        answers += _ANSWER in lines[place]
        if depth <= 0 or answers > 1:
            return place + 1
    return len(lines)


def _events(piece: Piece, line: int) -> Iterator[Event]:
    """What one item says; an item with a completion code tells of an object not found."""
    item = piece.item
    if isinstance(item, Broken):
        yield Broken(line, item.text, item.reason)
    elif not isinstance(item, dict):
        return
    elif _LOGGED in item:
        yield Passed(line, ERROR_LOG)
    elif asked(request_of(item)) is not None:
        yield Script(line, request_of(item), "DISPLAY")
    elif piece.of in RESOURCES:
        yield from shown_resource(piece.of, item, line)
    elif piece.of and item.get("completionCode"):
        return
    elif isinstance(item.get("text"), list):
        yield Embedded(line, "\n".join(str(part) for part in item["text"]))
    else:
        yield from _objects(item, line)


def _objects(item: Mapping[str, object], line: int) -> Iterator[Event]:
    """The objects of an item: its parameters, or itself where it is a row of a display."""
    name = item.get("qmgr")
    if isinstance(name, str) and name.strip():
        yield Opening(line, name.strip(), "json")
    parameters = item.get("parameters", item)
    if not isinstance(parameters, dict):
        return
    parts = parameters.get("objects")
    for part in parts if isinstance(parts, list) else [{}]:
        attributes = _attributes({**parameters, **(part if isinstance(part, dict) else {})})
        kind = _kind(attributes)
        if kind is not None:
            yield Shown(line, kind, attributes)
        elif attributes:
            text = " ".join(f"{key}({value})" for key, value in attributes.items())
            yield Broken(line, text, "an object without an attribute that names it")


def _attributes(parameters: Mapping[str, object]) -> Attributes:
    """Keys in upper case; lists with commas; blank values as ''."""
    return {
        str(key).upper(): ",".join(str(part).strip() for part in value)
        if isinstance(value, list)
        else ("" if value is None else str(value).strip())
        for key, value in parameters.items()
        if key not in ("objects", "qmgr")
    }


def _kind(attributes: Attributes) -> str | None:
    """Kind of an object by its keys, '' where it gives no row; None where MQ has no such keys."""
    if attributes.keys() >= _OF_AUTHORITY:
        return "authrec"
    if not _OTHER_KEYS.isdisjoint(attributes):
        return ""
    key = next((key for key in _KIND_ORDER if key in attributes), None)
    if key is None:
        return None
    sign, status = _STATUS_KEYS.get(key, ("", ""))
    return status if sign in attributes else FIRST_KEYS[key]
