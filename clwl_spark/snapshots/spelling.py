"""How MQSC spells a value, and how a row is called in a sentence."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from clwl_spark.mq.read import values
from clwl_spark.tables import TABLES
from clwl_spark.tables import columns as c

_AS_IT_IS: Final = re.compile(r"[A-Z0-9._/%]+")


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What no text of MQ's can say of a snapshot.

    Attributes:
        row: the row, as `key_of` calls it.
        column: the attribute; '' = the whole row.
        why: the reason.
    """

    row: str
    column: str
    why: str

    def __str__(self) -> str:
        column = f", {self.column}" if self.column else ""
        return f"{self.row}{column}: {self.why}"


def left_out_of(table: str, row: Mapping[str, Any], column: str, why: str) -> LeftOut:
    """Note a row, or an attribute of it, that a text leaves out."""
    return LeftOut(key_of(table, row), column, why)


def named(name: str) -> str:
    """An object's name in a command: in quotes, where MQ would read it in upper case."""
    return name if _AS_IT_IS.fullmatch(name) else spelled(name)


def spelled(value: object) -> str:
    """A value within the parentheses of an attribute of a command; a blank one is ' '."""
    if isinstance(value, bool):
        return "ENABLED" if value else "DISABLED"
    if isinstance(value, int):
        return str(value)
    text = str(value).replace("'", "''")
    return f"'{text or ' '}'"


def stamp_pairs(row: Mapping[str, Any], prefix: str) -> list[tuple[str, str]]:
    """When a row was altered, as the attributes ALTDATE and ALTTIME, or with another prefix."""
    date, _, time = str(row.get(c.ALTERED) or "").partition(" ")
    return [(f"{prefix}{x}", value) for x, value in (("DATE", date), ("TIME", time)) if value]


def key_of(table: str, row: Mapping[str, Any]) -> str:
    """A row's name in a sentence: `queues (*, QM1, APP.Q, K)`."""
    keys = (key for key in TABLES[table].keys if key != c.SNAPSHOT_ID)
    return f"{table} ({', '.join(str(row.get(key)) for key in keys)})"


def shown(column: str, value: object) -> str:
    """A value within the parentheses of a displayed attribute; a blank one is one blank.

    Quotes around a value are taken for those that some tools add, so its own come within others.
    """
    if isinstance(value, bool):
        words = values.WORDS[column]
        return next(word for word, meaning in words.items() if meaning is value)
    text = str(value)
    return f"'{text}'" if text[:1] == text[-1:] == "'" else text or " "
