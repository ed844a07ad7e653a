"""Which MQOPEN each put's handle had.

Operations are gone through once, in the order of their connections, and what is remembered is the
handles that are open at the time.
"""

import hashlib
from collections import Counter
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from clwl_spark.mq.traffic.activity import Kind
from clwl_spark.studies.load import operations as o
from clwl_spark.studies.load.connections import Connections, begins, filled
from clwl_spark.studies.load.repeats import Flags, looked_through, several
from clwl_spark.studies.load.spool import Gatherer, Longs, ranges, scratch, slices

_NONE: Final = -1
_OUTPUT: Final = 0x10
_COLUMNS: Final = (
    o.KIND, o.QMGR, o.CONNECTION, o.TIME, "hobj", "reasoncode", "openoptions",
)  # fmt: skip
_WORDS: Final = (o.QMGR, o.CONNECTION, "hobj")


@dataclass(frozen=True, slots=True)
class Handles:
    """What operations are beside one another.

    Attributes:
        again: (operations,) it is there before.
        opened: (operations,) row of the MQOPEN of each put's handle; -1 = the trace has none.
        ids: (operations,) of an MQOPEN that has puts, the open that they belong to: a number that
            its handle, connection and moment give.
        set_back: by queue manager, puts before the one before them in their connection.
    """

    again: Flags
    opened: Longs
    ids: Longs
    set_back: Counter[str]


def handles_of(operations: pa.Table) -> Handles:
    """What operations are beside one another.

    Args:
        operations: as `operations_of` gives them, of all files.
    """
    connections = Connections()
    again, is_ordered = looked_through(operations, connections)
    walk = _Walk(connections, again)
    if is_ordered:
        for start, part in slices(operations.select(_COLUMNS)):
            walk.go(part, np.arange(start, start + part.num_rows))
    else:
        order, source = _in_order(operations), Gatherer(operations.select(_COLUMNS))
        for at in ranges(len(order)):
            walk.go(source.take(order[at]), order[at])
    qmgrs = dict.fromkeys(x or "" for x, _ in connections.names)
    set_back = Counter({x: walk.set_back[x] for x in qmgrs if x in walk.set_back})
    return Handles(again, walk.opened, _ids(operations, walk.opened), set_back)


def _in_order(operations: pa.Table) -> Longs:
    """The rows by the numbers of their events: each connection's are in its order then."""
    sequence = pc.fill_null(operations[o.SEQUENCE], 0).to_numpy()
    order: Longs = scratch(len(sequence))
    order[:] = np.argsort(sequence, kind="stable")
    return order


class _Walk:
    """Goes through operations in the order of their connections."""

    def __init__(self, connections: Connections, again: Flags) -> None:
        """Nothing is open yet."""
        self.opened: Longs = scratch(len(again))
        self.set_back: Counter[str] = Counter()
        self._again = again
        self._connections = connections
        self._open_at: dict[int, int] = {}
        self._moment_of: dict[int, int] = {}

    def go(self, part: pa.Table, rows: Longs) -> None:
        """Take the next operations.

        Args:
            part: `_COLUMNS` of them, one chunk.
            rows: their numbers.
        """
        code = self._connections.codes(part)
        kept = ~self._again[rows]
        kind = filled(part, o.KIND)
        is_bad = filled(part, "reasoncode") != 0
        is_mark = kept & ((kind == Kind.CLOSE) | ((kind == Kind.OPEN) & ~is_bad))
        handle = (code << 32) | (filled(part, "hobj", _NONE) & 0xFFFF_FFFF)
        opened = self._open(handle, np.where(is_mark, kind, _NONE), rows)
        self.opened[rows] = np.where(kept & (kind == Kind.PUT), opened, _NONE)
        is_taken = kept & taken_of(part)
        moment = pc.fill_null(part[o.TIME].cast(pa.int64()), 0).to_numpy()
        if is_taken.any():
            self._look_back(code[is_taken], moment[is_taken])

    def _open(self, handle: Longs, mark: Longs, rows: Longs) -> Longs:
        """(rows,) of the MQOPEN that each one's handle is open by; -1 = by none that is known."""
        order = np.argsort(handle, kind="stable")
        handle, mark, row = handle[order], mark[order], rows[order]
        place, is_first = np.arange(len(order)), begins(handle)
        last = np.maximum.accumulate(np.where(mark != _NONE, place, _NONE))
        starts = np.flatnonzero(is_first)
        sizes = np.diff(np.append(starts, len(order)))
        before = [self._open_at.get(x, _NONE) for x in handle[starts].tolist()]
        is_known = last >= np.repeat(starts, sizes)
        at = np.maximum(last, 0)
        now = np.where(mark[at] == Kind.OPEN, row[at], _NONE)
        found = np.where(is_known, now, np.repeat(np.array(before, dtype=np.int64), sizes))
        self._keep(handle[starts].tolist(), found[starts + sizes - 1].tolist())
        opened = np.empty_like(found)
        opened[order] = found
        return opened

    def _keep(self, handles: list[int], rows: list[int]) -> None:
        for handle, row in zip(handles, rows, strict=True):
            if row == _NONE:
                self._open_at.pop(handle, None)
            else:
                self._open_at[handle] = row

    def _look_back(self, code: Longs, moment: Longs) -> None:
        """Count the puts whose moment is before that of the one before in their connection."""
        order = np.argsort(code, kind="stable")
        code, moment = code[order], moment[order]
        starts = np.flatnonzero(begins(code))
        back = np.zeros(len(code), dtype=np.bool_)
        back[1:] = np.diff(moment) < 0
        own = code[starts].tolist()
        first = moment[starts]
        before = [self._moment_of.get(x, y) for x, y in zip(own, first.tolist(), strict=True)]
        back[starts] = first < np.array(before, dtype=np.int64)
        ends = np.append(starts[1:], len(code)) - 1
        self._moment_of.update(zip(own, moment[ends].tolist(), strict=True))
        for at, count in zip(*np.unique(code[back], return_counts=True), strict=True):
            self.set_back[self._connections.names[at][0] or ""] += int(count)


def taken_of(operations: pa.Table) -> Flags:
    """Puts, and MQOPENs for output that failed: the put that was meant never came."""
    kind = filled(operations, o.KIND)
    failed: Flags = (kind == Kind.OPEN) & (filled(operations, "reasoncode") != 0)
    failed &= (filled(operations, "openoptions") & _OUTPUT) != 0
    failed &= operations[o.TIME].is_valid().to_numpy()
    found: Flags = failed | (kind >= Kind.PUT)
    return found


def _ids(operations: pa.Table, opened: Longs) -> Longs:
    """(operations,) the number of each MQOPEN that has puts; those that are alike are counted."""
    is_used = np.zeros(len(opened), dtype=np.bool_)
    for at in ranges(len(opened)):
        is_used[opened[at][opened[at] >= 0]] = True
    found: Longs = scratch(len(opened))
    ordered: Longs = scratch(int(np.count_nonzero(is_used)))
    columns = operations.select((*_WORDS, o.OPENED_AT))
    done = 0
    for start, part in slices(columns):
        rows = np.flatnonzero(is_used[start : start + part.num_rows])
        numbers = [number_of(*x, 0) for x in words_of(part, rows)]
        found[start + rows] = numbers
        ordered[done : done + len(rows)] = numbers
        done += len(rows)
    ordered.sort()
    twice = several(ordered)
    if len(twice):
        _count_alike(columns, found, is_used, twice)
    return found


def _count_alike(columns: pa.Table, found: Longs, is_used: Flags, twice: Longs) -> None:
    """Give MQOPENs of the same moment and handle numbers of their own."""
    seen: Counter[tuple[Any, ...]] = Counter()
    for start, part in slices(columns):
        at = slice(start, start + part.num_rows)
        rows = np.flatnonzero(is_used[at] & np.isin(found[at], twice))
        for row, words in zip(rows.tolist(), words_of(part, rows), strict=True):
            found[start + row] = number_of(*words, seen[words])
            seen[words] += 1


def words_of(operations: pa.Table, rows: NDArray[np.int64]) -> list[tuple[Any, ...]]:
    """The cells of rows."""
    found = operations.take(pa.array(rows))
    return list(zip(*(x.to_pylist() for x in found.columns), strict=True))


def lone_ids(operations: pa.Table, rows: Longs) -> list[int]:
    """The open of each of these puts, whose MQOPEN is not known: one for each handle."""
    words = words_of(operations.select(_WORDS), rows)
    numbers = {x: number_of(*x) for x in set(words)}
    return [numbers[x] for x in words]


def number_of(*words: object) -> int:
    """A number below 2**63 that these words always give."""
    digest = hashlib.blake2b("|".join(map(str, words)).encode(), digest_size=8).digest()
    return int.from_bytes(digest) >> 1
