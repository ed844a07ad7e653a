"""Which contents of files a lake has loaded already, by their bytes and not by their names."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from mmap import mmap
from typing import Any, Final

from clwl_spark.delta.lake import Lake
from clwl_spark.delta.protocol import Transaction
from clwl_spark.studies.load.bounds import Bounds
from clwl_spark.tables import LOADS
from clwl_spark.tables import columns as c
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
        written: tables that have its rows already: a run was killed before the others had.
        within: what it is known by where only its rows between some moments are loaded.
        whole: `content`, also where only such rows are loaded.
        earlier: tables that have rows of all of it already, and the bounds of these rows.
    """

    start: int
    content: str
    written: frozenset[str] = frozenset()
    within: str = ""
    whole: str = ""
    earlier: Sequence[tuple[str, Bounds]] = ()


@dataclass(frozen=True, slots=True)
class Known:
    """What a lake has loaded.

    Attributes:
        contents: size -> SHA-256 of contents of this size, whole in all their tables.
        written: SHA-256 of a content that is not whole -> the tables that have its rows.
        bounded: SHA-256 of a content -> tables that have rows of it, and the bounds of these rows.
    """

    contents: Mapping[int, frozenset[str]] = field(default_factory=dict)
    written: Mapping[str, frozenset[str]] = field(default_factory=dict)
    bounded: Mapping[str, Sequence[tuple[str, Bounds]]] = field(default_factory=dict)

    def part(
        self, data: bytes | mmap, *, grows: bool, size: int | None = None, bounds: str = ""
    ) -> Part:
        """What of a file's bytes is new; `start` is their number where nothing is.

        Args:
            data: the whole file.
            grows: it is of lines, so that more can come behind what was loaded.
            size: how many of its bytes count; None = all.
            bounds: the moments between which its rows are loaded; "" = all of them are.
        """
        with memoryview(data) as whole, whole[:size] as view:
            digest, at, start = hashlib.sha256(), 0, 0
            for there in sorted(x for x in self.contents if x <= len(view)):
                digest.update(view[at:there])
                at = there
                is_known = self.has(digest.hexdigest(), there, bounds)
                if is_known and (grows or there == len(view)):
                    start = there
            digest.update(view[at:])
        return self.part_from(start, digest.hexdigest(), bounds)

    def part_from(self, start: int, content: str, bounds: str) -> Part:
        """What is new of a content from a place on."""
        within = _within(content, bounds)
        written = self.written.get(content, frozenset()) | self.written.get(within, frozenset())
        return Part(start, content, written, within, content, self.bounded.get(content, ()))

    def has(self, content: str, size: int, bounds: str = "") -> bool:
        """Whether a content of this size is loaded: all of it, or its rows between these bounds."""
        there = self.contents.get(size, ())
        return content in there or _within(content, bounds) in there


def _within(content: str, bounds: str) -> str:
    """What a content is known by of which only rows between some moments are loaded."""
    return hashlib.sha256(f"{content} {bounds}".encode()).hexdigest() if bounds else ""


def known_contents(lake: Lake) -> Known:
    """What the lake has loaded.

    A content is whole when each of its tables has the run's transaction: a run that was killed is
    gone on with. Only a table in a folder of this machine tells its transactions.
    """
    if not lake.exists(LOADS.name):
        return Known()
    rows = lake.rows(LOADS.name)
    missing = _not_written(lake, rows)
    there = [x for x in rows if (x[c.TABLE], x[t.LOAD_ID]) not in missing]
    broken = {x[t.CONTENT] for x in rows if (x[c.TABLE], x[t.LOAD_ID]) in missing}
    found: dict[int, set[str]] = {}
    written: dict[str, set[str]] = {}
    bounded: dict[str, list[tuple[str, Bounds]]] = {}
    for row in there:
        if row[t.CONTENT] in broken:
            written.setdefault(row[t.CONTENT], set()).add(row[c.TABLE])
        else:
            found.setdefault(row[t.BYTES], set()).add(row[t.CONTENT])
        if row[t.WHOLE]:
            between = Bounds(row[t.SINCE], row[t.UNTIL])
            bounded.setdefault(row[t.WHOLE], []).append((row[c.TABLE], between))
    return Known(
        {size: frozenset(contents) for size, contents in found.items()},
        {content: frozenset(tables) for content, tables in written.items()},
        bounded,
    )


def _not_written(lake: Lake, rows: Iterable[Mapping[str, Any]]) -> set[tuple[str, str]]:
    """(table, load_id) of what a run that was killed had not written yet."""
    asked = {(x[c.TABLE], x[t.LOAD_ID]) for x in rows if x[c.TABLE]}
    return {
        (table, load_id)
        for table, load_id in asked
        if lake.is_here and not (lake.exists(table) and lake.has_transaction(table, once(load_id)))
    }
