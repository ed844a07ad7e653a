"""The records that readers pass on."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from clwl_spark.errors import InputError

Document = dict[str, Any]
MOST: Final = 2**63 - 1
ACCOUNTING: Final = "accounting"
"""Kind of a record that counts for one connection or task alone."""


class RecordRefusedError(InputError):
    """A record that cannot be used."""


@dataclass(frozen=True, slots=True)
class Record:
    """A row that a record gives.

    Attributes:
        table: of the contract.
        values: by column; moments of `LocalMoment` have no zone yet.
        kind: of the record, where `source` has to tell it: "probe"; "" = it has not.
    """

    table: str
    values: Document
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Unusable:
    """A piece of a text that cannot be used: what it says, and why."""

    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Needless:
    """A record that gives no row: what it is."""

    kind: str


Item = Record | Unusable | Needless
Items = Iterator[tuple[int, Item]]
"""What a text holds: line, item."""


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


def is_writable(words: str) -> bool:
    r"""Whether a text can be written down: JSON may have half a character, as in "\ud800"."""
    try:
        words.encode()
    except UnicodeEncodeError:
        return False
    return True


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
    if number > MOST:
        raise RecordRefusedError(f"{number} is no count that a bigint has room for")
    return number


def local_moment(date: str, time: str) -> LocalMoment:
    """A date and a time as MQ's tools write them: with / or -, with points or a comma.

    Raises:
        RecordRefusedError: they are none.
    """
    clock = time.strip() if ":" in time else time.strip().replace(".", ":", 2)
    words = f"{date.strip().replace('/', '-')}T{clock.replace(',', '.')}"
    try:
        return LocalMoment(datetime.fromisoformat(words).replace(tzinfo=None))
    except ValueError as error:
        raise RecordRefusedError(f"{date} {time} is no moment") from error
