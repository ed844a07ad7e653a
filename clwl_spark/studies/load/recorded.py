"""What MQ recorded, as rows of the lake's tables."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

import pyarrow as pa

from clwl_spark.mq.traffic import LocalMoment, Record
from clwl_spark.mq.traffic import records_of as records_of_text
from clwl_spark.studies.load.cells import Reading
from clwl_spark.studies.load.files import Refused
from clwl_spark.studies.load.operations import SCHEMA, operations_of
from clwl_spark.tables import TABLES
from clwl_spark.tables import columns as c

_FROM: Final = "from_time"
_TO: Final = "to_time"
_NO_ROOM: Final = (pa.ArrowException, UnicodeError, OverflowError, TypeError)


@dataclass(frozen=True, slots=True)
class RecordedRows:
    """The rows of a text.

    Attributes:
        rows: by table, with the contract's columns.
        refused: pieces that cannot be used.
        needless: what of the text gives no row, and how many there are.
        operations: of activity trace, as `operations.SCHEMA` says.
    """

    rows: Mapping[str, pa.Table]
    refused: list[Refused] = field(default_factory=list)
    needless: Counter[str] = field(default_factory=Counter)
    operations: pa.Table = field(default_factory=SCHEMA.empty_table)


def recorded(text: str, file: str, how: Reading, first_line: int = 1) -> RecordedRows:
    """The rows that the records of a text give.

    Args:
        text: JSON documents, or output of a tool.
        file: its name, for `source`.
        how: the queue manager of records that name none, and the zone of moments that MQ writes
            down without one; where there is none, these records are refused.
        first_line: the line that the text begins with.

    Grain: by table, one row per record.
    """
    found = records_of_text(text, first_line)
    refused = [Refused(*x) for x in found.refused]
    rows: dict[str, list[tuple[int, dict[str, Any]]]] = {}
    for line, record in found.records:
        values = _in_zone(record, how.zone)
        if values is None:
            why = "its times have no time zone: give --time-zone"
            refused.append(Refused(line, record.table, why))
            continue
        values[c.QMGR] = values.get(c.QMGR) or how.observer
        if values[c.QMGR] is None:
            why = "it names no queue manager: give --observer"
            refused.append(Refused(line, record.table, why))
            continue
        if c.SOURCE in TABLES[record.table].names:
            values[c.SOURCE] = f"{file}:{line}" + (f" ({record.kind})" if record.kind else "")
        rows.setdefault(record.table, []).append((line, values))
    tables = {name: _table(name, x, refused) for name, x in rows.items()}
    operations, unusable = operations_of(found.operations, how.zone)
    refused = sorted([*refused, *unusable], key=_line)
    return RecordedRows(tables, refused, found.needless + found.operations.others, operations)


def _line(of: Refused) -> int:
    return of.line


def _in_zone(record: Record, zone: ZoneInfo | None) -> dict[str, Any] | None:
    """A record's values with moments in UTC; None = their zone is not known."""
    values: dict[str, Any] = {}
    for name, value in record.values.items():
        if not isinstance(value, LocalMoment):
            values[name] = value
        elif zone is None:
            return None
        else:
            values[name] = _utc(value.when, zone)
    _turn_forward(record, values, zone)
    return values


def _turn_forward(record: Record, values: dict[str, Any], zone: ZoneInfo | None) -> None:
    """Take an end that is before its beginning for the second time that its hour came."""
    begin, end = (record.values.get(x) for x in (_FROM, _TO))
    if zone is None or not isinstance(begin, LocalMoment) or not isinstance(end, LocalMoment):
        return
    if values[_TO] < values[_FROM]:
        again = _utc(end.when.replace(fold=1), zone)
        values[_TO] = again if again > values[_FROM] else values[_TO]


def _utc(when: datetime, zone: ZoneInfo) -> datetime:
    """A moment of a zone in UTC; the first and the last days of the calendar stay what they are."""
    try:
        return when.replace(tzinfo=zone).astimezone(UTC)
    except OverflowError:
        return when.replace(tzinfo=UTC)


def _table(name: str, rows: list[tuple[int, dict[str, Any]]], refused: list[Refused]) -> pa.Table:
    """The rows of a table; those that its types have no room for are refused."""
    try:
        return _typed(name, [x for _, x in rows])
    except _NO_ROOM:
        kept = []
        for line, row in rows:
            try:
                _typed(name, [row])
            except _NO_ROOM:
                refused.append(
                    Refused(line, name, "it has a value that is not of its column's type")
                )
            else:
                kept.append(row)
        return _typed(name, kept)


def _typed(name: str, rows: list[dict[str, Any]]) -> pa.Table:
    table = TABLES[name]
    cells = [{x: row.get(x) for x in table.names} for row in rows]
    return pa.Table.from_pylist(cells, table.arrow(table.names))
