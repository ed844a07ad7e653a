"""Puts in compact form: a line says how many, from when on and how far apart.

`data/samples/messages.csv` is of this form. Pure Python.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from clwl_spark.errors import UsageError
from clwl_spark.settings import duration, moment
from clwl_spark.tables import columns as c

FIELDS: Final = frozenset({"count", "start", "interval"})
"""The fields by which such a table is known."""

MESSAGE_ID_BYTES: Final = 24
_MOST: Final = 1_000_000
"""Puts of a line: a slip of the pen is no reason to fill the machine's memory."""
_DIGITS: Final = 12
_LENGTH: Final = 1_000
_OF_EACH: Final = (c.QMGR, c.OBJECT_TYPE, c.OBJECT_NAME, c.OBJECT_QMGR, c.BIND, c.VIA)


@dataclass(frozen=True, slots=True)
class Series:
    """One line: `count` puts, an interval apart.

    Attributes:
        number: of the line; it is in the identifiers of its messages, opens and groups.
        words: by field. `per_open` and `per_group` say how many puts an open or a group has; blank
            = none.
    """

    number: int
    words: Mapping[str, str | None]

    def puts(self) -> Iterator[dict[str, Any]]:
        """The messages, without put_seq.

        Raises:
            UsageError: a word that is no number, moment or duration.
        """
        start = moment(self._word("start"))
        step = duration(self._word("interval"))
        count = self._number("count")
        try:
            start + (count - 1) * step
        except OverflowError as error:
            raise UsageError(f"interval {self._word('interval')!r} leads out of time") from error
        for index in range(count):
            yield self._put(index, start + index * step)

    def _put(self, index: int, put_time: datetime) -> dict[str, Any]:
        """One message."""
        group = self._part("per_group", index)
        return {
            **{name: self.words.get(name) for name in _OF_EACH},
            c.MESSAGE_ID: _identifier("message", self.number, index),
            c.PUT_TIME: put_time,
            c.OPEN_ID: self._part("per_open", index),
            c.GROUP_ID: None if group is None else _identifier("group", group),
            c.LOGICAL_ORDER: group is not None,
            c.PERSISTENT: True,
            c.MSG_LENGTH: _LENGTH,
        }

    def _part(self, per: str, index: int) -> int | None:
        """Number of the open or group that the message belongs to; None where there are none."""
        return self.number * 1_000_000 + index // self._number(per) if self.words.get(per) else None

    def _word(self, name: str) -> str:
        return self.words.get(name) or ""

    def _number(self, name: str) -> int:
        word = self._word(name)
        number = int(word) if word.isdecimal() and len(word) <= _DIGITS else 0
        if not 0 < number <= _MOST:
            raise UsageError(f"{name} {word[:40]!r} is no number from 1 to {_MOST:,}")
        return number


def _identifier(*parts: object) -> bytes:
    """24 bytes, as MQ's identifiers have, that these parts always give."""
    return hashlib.sha256("|".join(map(str, parts)).encode()).digest()[:MESSAGE_ID_BYTES]
