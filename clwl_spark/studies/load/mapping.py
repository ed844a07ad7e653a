"""Which field of somebody's table is which column of `messages`.

A field is found by its name, whatever its case and its separators, and by the names that MQ's tools
and their users give it. Pure Python.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from clwl_spark.errors import UsageError, did_you_mean
from clwl_spark.small_files import read_small_text
from clwl_spark.tables import MESSAGES
from clwl_spark.tables import columns as c

Mapped = dict[str, str]
"""Column of `messages` -> field of the file."""

_OTHER_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    c.QMGR: ("queue manager", "queue manager name", "queuemgr", "qmgr name", "qm"),
    c.PUT_SEQ: ("seq", "sequence", "sequence number"),
    c.MESSAGE_ID: ("msg id", "msgid", "messageid"),
    c.PUT_TIME: ("time", "timestamp", "date time", "put date time", "operation time", "when"),
    c.OBJECT_TYPE: ("type", "destination type"),
    c.OBJECT_NAME: (
        "object", "queue", "queue name", "q name", "destination", "destination name", "topic",
        "topic string",
    ),
    c.OBJECT_QMGR: ("object queue manager", "object qmgr name", "object q mgr name", "remote qmgr"),
    c.BIND: ("bind option", "bind type"),
    c.OPEN_ID: ("handle", "hobj", "object handle"),
    c.GROUP_ID: ("group",),
    c.PERSISTENT: ("persistence",),
    c.MSG_LENGTH: ("message length", "length", "size", "bytes", "msg size"),
}  # fmt: skip


def _plain(name: str) -> str:
    """A name without case and separators."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


_COLUMNS: Final = {_plain(name): name for name in MESSAGES.names}
_KNOWN: Final = {
    **{_plain(other): column for column, names in _OTHER_NAMES.items() for other in names},
    **_COLUMNS,
}


def mapped(fields: Sequence[str], given: Mapping[str, str]) -> Mapped:
    """The fields of a table by the columns that they are.

    Args:
        fields: of the file, in their order; the first of several that mean the same counts, and
            one with the column's own name before any other.
        given: what the user says, column -> field.

    Raises:
        UsageError: the user names a field that the file does not have.
    """
    found: Mapped = {}
    for own_names in (True, False):
        for field in fields:
            column = (_COLUMNS if own_names else _KNOWN).get(_plain(field))
            if column is not None and column not in given:
                found.setdefault(column, field)
    for column, field in given.items():
        if field not in fields:
            raise UsageError(
                f"--map {column}={field}: no field '{field}': {did_you_mean(field, fields)}"
            )
        found[column] = field
    return {name: found[name] for name in MESSAGES.names if name in found}


def read_maps(texts: Sequence[str]) -> Mapped:
    """The `COLUMN=FIELD` texts of --map; `@FILE` stands for the lines of a file.

    Raises:
        UsageError: one cannot be read, or names no column of `messages`.
    """
    given: Mapped = {}
    for text in (x for one in texts for x in _lines(one)):
        column, equals, field = text.partition("=")
        if not equals or not field:
            raise UsageError(f"--map {text}: give COLUMN=FIELD, as in --map put_time=When")
        if column not in MESSAGES.names:
            raise UsageError(
                f"--map {text}: messages has no column {column}: "
                f"{did_you_mean(column, MESSAGES.names)}"
            )
        given[column] = field
    return given


def _lines(text: str) -> Sequence[str]:
    """A text of --map, or the lines of the file that it names, less blank ones and comments."""
    if not text.startswith("@"):
        return [text]
    try:
        lines = read_small_text(Path(text[1:])).splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--map {text}: it cannot be read ({error})") from error
    return [x.strip() for x in lines if x.strip() and not x.startswith("#")]


def save_map(file: Path, mappings: Mapping[str, Mapped]) -> str:
    """Write what was taken for what, for `--map @FILE`.

    Args:
        file: where to.
        mappings: file of puts -> its mapping.

    Returns:
        Why it was not written; "" = it was.
    """
    distinct = {tuple(x.items()) for x in mappings.values()}
    if len(distinct) != 1:
        return "its files have different mappings" if distinct else "no table of puts was new"
    (pairs,) = distinct
    try:
        file.write_text("".join(f"{column}={field}\n" for column, field in pairs), "utf-8")
    except OSError as error:
        return f"it cannot be written ({error})"
    return ""
