"""Which contents of files a lake has loaded already, by their bytes and not by their names."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from clwl_spark.delta.lake import Lake
from clwl_spark.delta.protocol import Transaction
from clwl_spark.tables import LOADS, MESSAGES
from clwl_spark.tables import loading as t

_APPLICATION: Final = "clwl-load-"


def once(load_id: str) -> Transaction:
    """What makes a run's append to a table be done once."""
    return Transaction(f"{_APPLICATION}{load_id}", 1)


@dataclass(frozen=True, slots=True)
class Part:
    """What of a file is new.

    Attributes:
        start: bytes of it that the lake has.
        content: the SHA-256 of all of it.
    """

    start: int
    content: str


@dataclass(frozen=True, slots=True)
class Known:
    """What a lake has loaded.

    Attributes:
        contents: size -> SHA-256 of contents of this size.
    """

    contents: Mapping[int, frozenset[str]]

    def part(self, data: bytes, *, grows: bool) -> Part:
        """What of a file's bytes is new; `start` is their number where nothing is.

        Args:
            data: the whole file.
            grows: it is of lines, so that more can come behind what was loaded.
        """
        digest, at, start = hashlib.sha256(), 0, 0
        for size in sorted(x for x in self.contents if x <= len(data)):
            digest.update(data[at:size])
            at = size
            if digest.hexdigest() in self.contents[size] and (grows or size == len(data)):
                start = size
        digest.update(data[at:])
        return Part(start, digest.hexdigest())


def known_contents(lake: Lake) -> Known:
    """What the lake has loaded.

    Files of a run that was killed before its messages were there are forgotten: they are loaded
    again.
    """
    if not lake.exists(LOADS.name):
        return Known({})
    rows = lake.rows(LOADS.name)
    # Only a table in a folder of this machine tells its transactions.
    giving = {x[t.LOAD_ID] for x in rows if x[t.ROWS] and lake.is_here}
    killed = [x for x in sorted(giving) if not lake.has_transaction(MESSAGES.name, once(x))]
    for load_id in killed:
        lake.delete(LOADS.name, t.LOAD_ID, load_id)
    found: dict[int, set[str]] = {}
    for row in rows:
        if row[t.LOAD_ID] not in killed:
            found.setdefault(row[t.BYTES], set()).add(row[t.CONTENT])
    return Known({size: frozenset(contents) for size, contents in found.items()})
