"""The small cluster of `data/samples`: its texts, and its messages from a compact list."""

import csv
import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from clwl_spark.settings import duration, moment
from clwl_spark.tables import MESSAGES
from clwl_spark.tables import columns as c

MESSAGE_ID_BYTES: Final = 24
_LENGTH: Final = 1_000


@dataclass(frozen=True, slots=True)
class _Series:
    """One line of the list: `count` puts, an interval apart."""

    number: int
    words: Mapping[str, str]

    def puts(self) -> Iterator[dict[str, Any]]:
        """The messages, without put_seq."""
        start, step = moment(self.words["start"]), duration(self.words["interval"])
        for index in range(int(self.words["count"])):
            yield self._put(index, start + index * step)

    def _put(self, index: int, put_time: datetime) -> dict[str, Any]:
        """One message."""
        words = self.words
        group = self._part("per_group", index)
        return {
            c.QMGR: words[c.QMGR],
            c.MESSAGE_ID: _identifier("message", self.number, index),
            c.PUT_TIME: put_time,
            c.OBJECT_TYPE: words[c.OBJECT_TYPE],
            c.OBJECT_NAME: words[c.OBJECT_NAME],
            c.OBJECT_QMGR: words[c.OBJECT_QMGR],
            c.BIND: words[c.BIND],
            c.OPEN_ID: self._part("per_open", index),
            c.GROUP_ID: None if group is None else _identifier("group", group),
            c.LOGICAL_ORDER: group is not None,
            c.VIA: words[c.VIA],
            c.PERSISTENT: True,
            c.MSG_LENGTH: _LENGTH,
        }

    def _part(self, per: str, index: int) -> int | None:
        """Number of the open or group that the message belongs to; None where there are none."""
        size = self.words[per]
        return self.number * 1_000_000 + index // int(size) if size else None


def samples_folder() -> Path:
    """The samples: within the package, or beside it in a checkout."""
    package = Path(__file__).parents[1]
    packaged = package / "samples"
    return packaged if packaged.is_dir() else package.parent / "data" / "samples"


def sample_messages(path: Path) -> list[tuple[Any, ...]]:
    """The messages of the list, in the order of the contract's columns.

    `put_seq` counts each queue manager's messages by put_time.
    """
    with path.open(encoding="utf-8", newline="") as lines:
        series = [_Series(number, words) for number, words in enumerate(csv.DictReader(lines), 1)]
    puts = sorted((put for one in series for put in one.puts()), key=_by_time)
    return [tuple(map(put.get, MESSAGES.names)) for put in _numbered(puts)]


def _numbered(puts: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The messages with the put_seq that each queue manager gives them."""
    last: defaultdict[str, int] = defaultdict(int)
    for put in puts:
        last[put[c.QMGR]] += 1
        yield {**put, c.PUT_SEQ: last[put[c.QMGR]]}


def _by_time(put: Mapping[str, Any]) -> datetime:
    put_time: datetime = put[c.PUT_TIME]
    return put_time


def _identifier(*parts: object) -> bytes:
    """24 bytes, as MQ's identifiers have, that these parts always give."""
    return hashlib.sha256("|".join(map(str, parts)).encode()).digest()[:MESSAGE_ID_BYTES]
