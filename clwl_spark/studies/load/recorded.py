"""What MQ recorded, as rows of the lake's tables."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa

from clwl_spark.mq.traffic import LocalMoment, Record
from clwl_spark.mq.traffic import records_of as records_of_text
from clwl_spark.studies.load.files import Refused
from clwl_spark.studies.load.operations import SCHEMA, operations_of
from clwl_spark.tables import TABLES
from clwl_spark.tables import columns as c


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


def recorded(text: str, file: str, zone: ZoneInfo | None, first_line: int = 1) -> RecordedRows:
    """The rows that the records of a text give.

    Args:
        text: JSON documents, or of amqsact.
        file: its name, for `source`.
        zone: of moments that MQ writes down without one; None = these records are refused.
        first_line: the line that the text begins with.

    Grain: by table, one row per record.
    """
    found = records_of_text(text, first_line)
    refused = [Refused(*x) for x in found.refused]
    rows: dict[str, list[dict[str, Any]]] = {}
    for line, record in found.records:
        values = _in_zone(record, zone)
        if values is None:
            why = "its times have no time zone: give --time-zone"
            refused.append(Refused(line, record.table, why))
            continue
        if c.SOURCE in TABLES[record.table].names:
            values[c.SOURCE] = f"{file}:{line}"
        rows.setdefault(record.table, []).append(values)
    operations, unusable = operations_of(found.operations, zone)
    refused = sorted([*refused, *unusable], key=_line)
    tables = {name: _table(name, x) for name, x in rows.items()}
    needless = found.needless + found.operations.others
    return RecordedRows(tables, refused, needless, operations)


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
            moment: datetime = value.when.replace(tzinfo=zone)
            values[name] = moment.astimezone(UTC)
    return values


def _table(name: str, rows: list[dict[str, Any]]) -> pa.Table:
    table = TABLES[name]
    cells = [{x: row.get(x) for x in table.names} for row in rows]
    return pa.Table.from_pylist(cells, table.arrow(table.names))
