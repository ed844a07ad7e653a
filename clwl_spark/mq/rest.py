"""Answers of the administrative REST interface (runCommandJSON) as displayed objects."""

import json
import re
from collections.abc import Iterator
from typing import Final

from clwl_spark.mq.display import FIRST_KEYS
from clwl_spark.mq.records import Attributes, Shown

_KIND_ORDER: Final = (
    "QUEUE",
    "TOPIC",
    "SUB",
    "CLUSQMGR",
    "CHSTATUS",
    "CHANNEL",
    "NAMELIST",
    "QMNAME",
)
"""Of these keys the first that an object has tells its kind: many kinds have a CLUSQMGR."""

_PARAMETERS: Final = re.compile(r'"parameters"\s*:')


def read_answer(text: str) -> list[Shown] | None:
    """Read a text that is one JSON answer, or an array of them.

    Args:
        text: a whole text.

    Returns:
        The objects that were found, with keys and values as MQSC has them; None where the text is
        no such answer.

    Source: MQ REST API, "POST /admin/action/qmgr/{qmgrName}/mqsc", JSON formatted.
    """
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        document = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        return None
    answers = document if isinstance(document, list) else [document]
    if not all(isinstance(answer, dict) and "commandResponse" in answer for answer in answers):
        return None
    lines = (text.count("\n", 0, match.start()) + 1 for match in _PARAMETERS.finditer(text))
    return [shown for answer in answers for shown in _objects(answer["commandResponse"], lines)]


def _objects(items: object, lines: Iterator[int]) -> Iterator[Shown]:
    """Objects of one answer; an item with a completion code tells of an object not found."""
    for item in items if isinstance(items, list) else []:
        if not isinstance(item, dict) or not isinstance(item.get("parameters"), dict):
            continue
        line = next(lines, 1)
        if item.get("completionCode"):
            continue
        parameters = item["parameters"]
        parts = parameters.get("objects")
        for part in parts if isinstance(parts, list) else [{}]:
            attributes = _attributes({**parameters, **(part if isinstance(part, dict) else {})})
            yield Shown(line, _kind(attributes), attributes)


def _attributes(parameters: dict[str, object]) -> Attributes:
    """Keys in upper case; lists with commas; blank values as ''."""
    return {
        str(key).upper(): ",".join(str(part).strip() for part in value)
        if isinstance(value, list)
        else str(value).strip()
        for key, value in parameters.items()
        if key != "objects"
    }


def _kind(attributes: Attributes) -> str:
    """Kind of an object by its keys; a channel with a STATUS is a running one."""
    key = next((key for key in _KIND_ORDER if key in attributes), "")
    if key == "CHANNEL" and "STATUS" in attributes:
        key = "CHSTATUS"
    return FIRST_KEYS.get(key, "")
