"""put_seq of messages whose files do not give it: in put order, on from where the lake ends."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.studies.load.spool import Gatherer, Longs, Spool, ranges, scratch, slices
from clwl_spark.tables import MESSAGES
from clwl_spark.tables import columns as c


@dataclass(frozen=True, slots=True)
class Numbered:
    """Messages with their put_seq.

    Attributes:
        rows: by queue manager and put_seq.
        guessed: messages put at the same moment as the one before: their files' order was taken.
        late: messages put before one that the lake has; they come behind it.
        put_seq: (rows,) in the order that the rows were given in.
    """

    rows: pa.Table
    guessed: int
    late: int
    put_seq: NDArray[np.int64]


def last_of_lake(lake: Lake, qmgrs: list[str]) -> dict[str, tuple[int, int]]:
    """The greatest put_seq and put_time (microseconds) that the lake has, by queue manager."""
    rows = lake.read_or_empty(MESSAGES.name).where(F.col(c.QMGR).isin(qmgrs))
    found = rows.groupBy(c.QMGR).agg(F.max(c.PUT_SEQ), F.max(F.unix_micros(c.PUT_TIME)))
    return {row[0]: (row[1] or 0, row[2] or 0) for row in found.collect()}


def numbered(rows: pa.Table, last: Mapping[str, tuple[int, int]]) -> Numbered:
    """Number messages; those that have a put_seq keep it.

    Args:
        rows: columns of `messages`, in the order of the files.
        last: as `last_of_lake`.

    Grain: one row per row.
    """
    senders = _Senders(rows, last)
    order = senders.order()
    source = Gatherer(rows)
    put_seq = scratch(len(order))
    done = Spool(rows.schema)
    at = rows.schema.get_field_index(c.PUT_SEQ)
    for part in ranges(len(order)):
        found = source.take(order[part])
        own = senders.number(found, order[part])
        put_seq[order[part]] = own
        done.write(found.set_column(at, rows.schema.field(at), pa.array(own)))
    return Numbered(done.table(), senders.guessed, senders.late, put_seq)


class _Senders:
    """Queue managers of messages, as they are met, and what each one's numbers have come to.

    Attributes:
        guessed: as of `Numbered`.
        late: as of `Numbered`.
    """

    def __init__(self, rows: pa.Table, last: Mapping[str, tuple[int, int]]) -> None:
        """Look through all messages.

        Args:
            rows: columns of `messages`.
            last: as `last_of_lake`.
        """
        self.guessed = self.late = 0
        self._code: NDArray[np.int32] = scratch(rows.num_rows, np.int32)
        self._time = scratch(rows.num_rows)
        names: dict[str, int] = {}
        given: dict[int, int] = {}
        for start, part in slices(rows.select((c.QMGR, c.PUT_TIME, c.PUT_SEQ))):
            words = part[c.QMGR].combine_chunks().dictionary_encode()
            numbers = [names.setdefault(x, len(names)) for x in words.dictionary.to_pylist()]
            own = np.array(numbers, dtype=np.int32)[words.indices.to_numpy()]
            self._code[start : start + len(own)] = own
            self._time[start : start + len(own)] = _micros(part)
            _raise_to(given, own, part[c.PUT_SEQ].combine_chunks())
        before = [last.get(x, (0, 0)) for x in names]
        self._counts = np.bincount(self._code, minlength=len(names))
        self._newest = np.array([x[1] for x in before], dtype=np.int64)
        self._number = np.array(
            [max(x[0], given.get(at, 0)) for at, x in enumerate(before)], dtype=np.int64
        )
        self._last = (-1, -1)

    def order(self) -> Longs:
        """The rows by queue manager and moment; those of one moment in the order of the files."""
        order: Longs = scratch(len(self._code))
        starts = np.cumsum(self._counts) - self._counts
        free = starts.copy()
        for at in ranges(len(order)):
            own = self._code[at]
            rows = np.argsort(own, kind="stable")
            sizes = np.bincount(own, minlength=len(free))
            shift = free - np.cumsum(sizes) + sizes
            order[np.arange(len(rows)) + shift[own[rows]]] = at.start + rows
            free += sizes
        for start, stop in zip(starts.tolist(), free.tolist(), strict=True):
            self._sort(order[start:stop])
        return order

    def _sort(self, rows: Longs) -> None:
        """Put one queue manager's rows in the order of their moments, where they are in another."""
        if all(
            np.all(np.diff(self._time[rows[at.start : at.stop + 1]]) >= 0)
            for at in ranges(len(rows))
        ):
            return
        rows[:] = rows[np.argsort(self._time[rows], kind="stable")]

    def number(self, part: pa.Table, rows: Longs) -> Longs:
        """The put_seq of the next messages in order; counts those that were guessed or are late.

        Args:
            part: the messages.
            rows: their numbers.
        """
        given = part[c.PUT_SEQ].combine_chunks()
        is_given = given.is_valid().to_numpy(zero_copy_only=False)
        code, time, own = self._code[rows], self._time[rows], ~is_given
        count = np.cumsum(own)
        starts = np.flatnonzero(np.diff(code, prepend=-1))
        sizes = np.diff([*starts, len(code)])
        before = np.repeat(count[starts] - own[starts], sizes)
        numbers = self._number[code] + count - before
        self._number[code[own]] = numbers[own]
        alike = (code == _after(self._last[0], code)) & (time == _after(self._last[1], time))
        self._last = (int(code[-1]), int(time[-1]))
        self.guessed += int(np.count_nonzero(own & alike))
        self.late += int(np.count_nonzero(own & (time < self._newest[code])))
        found: Longs = np.where(is_given, given.fill_null(0).to_numpy(), numbers)
        return found


def _after(last: int, numbers: NDArray[Any]) -> NDArray[Any]:
    """Of each number the one before; of the first one the last before them."""
    return np.concatenate([np.array([last], dtype=numbers.dtype), numbers[:-1]])


def _micros(rows: pa.Table) -> Longs:
    found: Longs = rows[c.PUT_TIME].combine_chunks().view(pa.int64()).to_numpy()
    return found


def _raise_to(greatest: dict[int, int], codes: NDArray[np.int32], given: pa.Array) -> None:
    """Keep the greatest put_seq of each queue manager, of those that are given."""
    if given.null_count == len(given):
        return
    is_given = given.is_valid().to_numpy(zero_copy_only=False)
    found = pa.table({"code": codes[is_given], "seq": given.drop_null()})
    for row in found.group_by("code").aggregate([("seq", "max")]).to_pylist():
        greatest[row["code"]] = max(greatest.get(row["code"], 0), row["seq_max"])
