"""Counts from what counters showed: the difference of neighbouring readings.

A counter that began anew between two readings counted something before that nobody knows. Where a
reading tells when it began, the count from then on is a row; where it does not, there is none.

Source: CONTRACT, `counter_readings`.
"""

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby, pairwise
from typing import Any, Final

import pyarrow as pa

from clwl_spark.delta.lake import Lake
from clwl_spark.mq.traffic.records import ACCOUNTING, MOST
from clwl_spark.tables import COUNTER_READINGS, OBSERVED_COUNTS
from clwl_spark.tables import columns as c
from clwl_spark.tables import loading as t

FROM: Final = "from_time"
TO: Final = "to_time"
COUNT: Final = "messages"
_PART: Final = f" ({ACCOUNTING})"
Row = Mapping[str, Any]
_OBJECT: Final = (c.QMGR, c.OBJECT_TYPE, c.OBJECT_NAME, c.REMOTE_QMGR)
_COUNTER: Final = (*_OBJECT, t.COUNTER)


@dataclass(frozen=True, slots=True)
class Counted:
    """What readings give.

    Attributes:
        rows: columns of `observed_counts`.
        alone: counters of which there is one reading, and no beginning.
        restarted: pairs of readings between which a counter began anew.
    """

    rows: pa.Table
    alone: int = 0
    restarted: int = 0


def added_up(rows: pa.Table) -> pa.Table:
    """The counts of a file, those of several connections or tasks in the same time as one.

    Accounting counts each by itself, to the second; what statistics say again is the same count.

    Args:
        rows: columns of `observed_counts`, of one file.

    Grain: one row per row, or per key where accounting has several.
    """
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for at, row in enumerate(rows.to_pylist()):
        own = _count_of(row) if _is_part(row) else (at,)
        before = found.setdefault(own, {**row, COUNT: 0})
        before[COUNT] = min(before[COUNT] + (row[COUNT] or 0), MOST)
    if len(found) == rows.num_rows:
        return rows
    return pa.Table.from_pylist([*found.values()], rows.schema)


def settled(lake: Lake, rows: pa.Table, grown: Container[str]) -> pa.Table:
    """The counts of a load, one of each key, as they stand beside those of the lake.

    Statistics and counters count all puts, accounting those of one connection or task: where both
    have the same time, the first stand, whichever came first. Of alike ones the last stands; what
    accounting of a file that grew has is added to what the file gave before.

    Args:
        lake: whose counts are looked at, where there is accounting.
        rows: columns of `observed_counts`, of all files.
        grown: names of the files of which only what they grew by is read.

    Grain: one row per key.
    """
    own = rows.to_pylist()
    qmgrs = sorted({x[c.QMGR] for x in own if _is_part(x)})
    old = lake.in_memory(OBSERVED_COUNTS.name, c.QMGR, qmgrs).to_pylist() if qmgrs else []
    there = {_count_of(x): x for x in old}
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in own:
        name = _count_of(row)
        if name in found:
            found[name] = _standing(found[name], row)
        else:
            found[name] = _standing(there.get(name), row, grown)
    return pa.Table.from_pylist([*found.values()], rows.schema)


def _standing(
    before: dict[str, Any] | None, row: dict[str, Any], grown: Container[str] = ()
) -> dict[str, Any]:
    """Which of two counts of one key stands, or their sum.

    Args:
        before: the first one; None = there is none.
        row: the second one.
        grown: names of the files whose accounting is added up.
    """
    if before is None or not _is_part(row):
        return row
    if not _is_part(before):
        return before
    if _file_of(row) == _file_of(before) and _file_of(row) in grown:
        return {**row, COUNT: min((before[COUNT] or 0) + row[COUNT], MOST)}
    return row


def _is_part(of: Row) -> bool:
    """Whether a count is one of accounting."""
    return str(of[c.SOURCE]).endswith(_PART)


def _count_of(of: Row) -> tuple[Any, ...]:
    """The key of a count."""
    return tuple(of[x] for x in OBSERVED_COUNTS.keys)


def _file_of(part: Row) -> str:
    """The file that a count of accounting is of."""
    return str(part[c.SOURCE]).removesuffix(_PART).rpartition(":")[0]


def counted(lake: Lake, fresh: pa.Table) -> Counted:
    """The counts that new readings give, with those before and after them in the lake.

    Args:
        lake: whose `counter_readings` are looked at.
        fresh: new rows of `counter_readings`.

    Grain: one row per object and time between two neighbouring readings, at least one of them new.
    """
    new = {_key(x): x for x in fresh.to_pylist()}
    qmgrs = sorted({x[c.QMGR] for x in new.values()})
    old = lake.in_memory(COUNTER_READINGS.name, c.QMGR, qmgrs) if qmgrs else fresh
    readings = {_key(x): x for x in old.to_pylist()} | new
    ordered = [readings[x] for x in sorted(readings)]
    alone = restarted = 0
    rows: list[dict[str, Any]] = []
    for _, group in groupby(ordered, _counter):
        own = list(group)
        found, breaks = _differences(own, new)
        rows += found
        restarted += breaks
        alone += len(own) == 1 and not found and _key(own[0]) in new
    kept = OBSERVED_COUNTS.arrow(OBSERVED_COUNTS.names)
    return Counted(pa.Table.from_pylist(list(_summed(rows)), kept), alone, restarted)


def _counter(of: Row) -> tuple[str, ...]:
    return tuple(of[x] for x in _COUNTER)


def _key(of: Row) -> tuple[Any, ...]:
    return (*_counter(of), of[t.AT])


def _differences(own: list[Row], fresh: Container[Any]) -> tuple[list[dict[str, Any]], int]:
    """The counts of one counter's readings, and how often it began anew."""
    rows: list[dict[str, Any]] = []
    breaks = 0
    if own[0][t.BEGAN] and _key(own[0]) in fresh:
        rows += _row(own[0], own[0][t.BEGAN], own[0][t.VALUE], own[0][c.SOURCE])
    for before, after in pairwise(own):
        if _key(before) not in fresh and _key(after) not in fresh:
            continue
        source = f"{before[c.SOURCE]} to {after[c.SOURCE]}"
        if after[t.SINCE_LAST]:
            rows += _row(after, before[t.AT], after[t.VALUE], source)
        elif _goes_on(before, after):
            rows += _row(after, before[t.AT], after[t.VALUE] - before[t.VALUE], source)
        else:
            breaks += 1
            if after[t.BEGAN] and after[t.BEGAN] >= before[t.AT]:
                rows += _row(after, after[t.BEGAN], after[t.VALUE], after[c.SOURCE])
    return rows, breaks


def _goes_on(before: Row, after: Row) -> bool:
    """Whether a counter did not begin anew between two readings, as far as they tell."""
    return bool(before[t.BEGAN] == after[t.BEGAN] and before[t.VALUE] <= after[t.VALUE])


def _row(of: Row, begin: datetime, messages: int, source: str) -> Iterator[dict[str, Any]]:
    """A count; none where no time passed."""
    if begin < of[t.AT]:
        yield {
            **{x: of[x] for x in _OBJECT},
            FROM: begin,
            TO: of[t.AT],
            COUNT: messages,
            c.SOURCE: source,
        }


def _summed(rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Counts of several counters of one object in the same time as one row."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows:
        key = tuple(row[x] for x in (*_OBJECT, FROM, TO))
        if key in found:
            found[key][COUNT] += row[COUNT]
        else:
            found[key] = row
    yield from found.values()
