"""What is loaded of a file, and how files are loaded.

Source: CONTRACT, `clwl load`.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from clwl_spark.mq.read.records import SHOWN_TEXT
from clwl_spark.studies.load.bounds import Bounds
from clwl_spark.studies.load.cells import Reading
from clwl_spark.studies.load.files import Refused, writable
from clwl_spark.studies.load.known import Part
from clwl_spark.studies.load.mapping import Mapped
from clwl_spark.studies.load.parts import FilePart
from clwl_spark.studies.load.spool import slices, spooled
from clwl_spark.tables import MESSAGES, OBSERVED_ROUTES

_ROW: Final = "\0row"
_APPENDED: Final = frozenset({MESSAGES.name, OBSERVED_ROUTES.name})
"""Tables in which a row that comes again would be there twice."""


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """How files are loaded.

    Attributes:
        fields: column -> field, where the names do not tell it.
        reading: what the files leave open.
        strict: refuse all if any piece cannot be used.
        dry_run: look, and write nothing.
        bounds: the moments between which rows are loaded.
        redact: store nothing of a piece that cannot be used but where it is and why.
        seed: make puts of the counts, drawn with it; None = do not.
    """

    fields: Mapping[str, str] = field(default_factory=dict)
    reading: Reading = field(default_factory=Reading)
    strict: bool = False
    dry_run: bool = False
    bounds: Bounds = field(default_factory=Bounds)
    redact: bool = False
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class LoadReject:
    """A piece that could not be used."""

    file: str
    line: int
    text: str
    reason: str


@dataclass(slots=True)
class LoadFile:
    """A file with something new.

    Attributes:
        name: as the user named it.
        part: what of it is new.
        size: bytes that are loaded then: up to a last piece that is not whole yet.
        rows: what it gives, by table.
        rejects: pieces that cannot be used.
        fields: of a table, column -> field.
        needless: of records, those that give no row, and how many there are.
        parts: of records, what is to be read yet.
        message_of: (observed_routes,) row of `messages` that each is about; -1 = it has none.
        again: puts that are left out because they came again.
        outside: rows that the bounds leave out.
        before: rows left out since a load with other bounds had them.
        between: the bounds, where they leave rows out.
    """

    name: str
    part: Part
    size: int
    rows: dict[str, pa.Table] = field(default_factory=dict)
    rejects: list[LoadReject] = field(default_factory=list)
    fields: Mapped = field(default_factory=dict)
    needless: Counter[str] = field(default_factory=Counter)
    parts: list[FilePart] = field(default_factory=list)
    message_of: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    again: int = 0
    outside: int = 0
    before: int = 0
    between: Bounds = field(default_factory=Bounds)

    @property
    def is_of_use(self) -> bool:
        """Whether it gives a row, or is of records that need none, or of another time.

        What grew by blank lines alone was of use before.
        """
        has_rows = any(x.num_rows for x in self.rows.values())
        is_needless = bool(self.needless) and not self.rejects
        has_grown = self.part.start > 0 and not self.rejects
        return has_rows or is_needless or has_grown or self._is_left_out

    @property
    def _is_left_out(self) -> bool:
        """Whether it has rows that are left out."""
        return bool(self.again or self.outside or self.before)

    @property
    def is_waiting(self) -> bool:
        """Whether nothing in it is new but a piece that is not whole yet."""
        return self.part.start == self.size > 0

    def refuse(self, pieces: Iterable[Refused]) -> None:
        """Note pieces that cannot be used."""
        self.rejects += [
            LoadReject(self.name, x.line, writable(x.text)[:SHOWN_TEXT], writable(x.reason))
            for x in pieces
        ]

    def bound(self, bounds: Bounds) -> None:
        """Keep the rows between some moments; where others are left out, the file is not whole.

        What a load with other bounds had of it is left out as well.
        """
        if not (bounds.name or self.part.earlier):
            return
        kept: dict[str, NDArray[np.int64]] = {}
        for name, rows in self.rows.items():
            numbered = rows.schema.append(pa.field(_ROW, pa.int64()))
            within = spooled(
                numbered,
                (bounds.within(name, _numbered(at, part)) for at, part in slices(rows)),
            )
            self.outside += rows.num_rows - within.num_rows
            new = self._not_before(name, within)
            kept[name] = new[_ROW].to_numpy()
            self.rows[name] = new.drop_columns([_ROW])
        if self.outside:
            self.part = replace(self.part, content=self.part.within)
            self.between = bounds
        if len(self.message_of):
            of = self.message_of[kept[OBSERVED_ROUTES.name]]
            place = np.full(int(of.max(initial=0)) + 1, -1, dtype=np.int64)
            own = kept.get(MESSAGES.name, np.zeros(0, dtype=np.int64))
            there = own < len(place)
            place[own[there]] = np.flatnonzero(there)
            self.message_of = np.where(of >= 0, place[of], -1)

    def _not_before(self, name: str, rows: pa.Table) -> pa.Table:
        """The rows of a table less those that a load with other bounds had."""
        found = rows
        for table, bounds in self.part.earlier:
            if table == name and name in _APPENDED:
                found = bounds.without(name, found)
        self.before += rows.num_rows - found.num_rows
        return found

    def leave_written(self) -> None:
        """Leave out tables without rows, and those that a killed run has written."""
        written = self.part.written
        self.rows = {x: y for x, y in self.rows.items() if y.num_rows and x not in written}


def _numbered(first: int, rows: pa.Table) -> pa.Table:
    """Rows with their numbers."""
    return rows.append_column(_ROW, pa.array(np.arange(first, first + rows.num_rows)))
