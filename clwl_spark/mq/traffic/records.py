"""The records that readers pass on."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from clwl_spark.errors import InputError

Document = dict[str, Any]


class RecordRefusedError(InputError):
    """A record that cannot be used."""


@dataclass(frozen=True, slots=True)
class Record:
    """A row that a record gives.

    Attributes:
        table: of the contract.
        values: by column; moments of `LocalMoment` have no zone yet.
    """

    table: str
    values: Document


@dataclass(frozen=True, slots=True)
class LocalMoment:
    """A moment as MQ writes it down without a zone: in that of the queue manager's machine."""

    when: datetime


def text(of: Document, *names: str) -> str:
    """The first of some texts that is there, without blanks at its end; '' = none."""
    for name in names:
        value = of.get(name)
        if isinstance(value, str) and value.strip():
            return value.rstrip()
    return ""


def count(value: object) -> int:
    """A count, which MQ gives as a number, a text or a list by persistence.

    Raises:
        RecordRefusedError: it is none.
    """
    if isinstance(value, list):
        return sum(map(count, value))
    try:
        number = int(str(value if value is not None else 0))
    except ValueError as error:
        raise RecordRefusedError(f"{value!r} is no count") from error
    if number < 0:
        raise RecordRefusedError(f"{number} is no count")
    return number
