"""What files gave, written to the lake: each content once, however often it is tried."""

import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

import pyarrow as pa

from clwl_spark.delta.lake import Lake
from clwl_spark.studies.load.derived import Made, last_of_keys
from clwl_spark.studies.load.known import once
from clwl_spark.studies.load.load_file import LoadFile, LoadReject
from clwl_spark.tables import (
    CONFIG_EVENTS,
    COUNTER_READINGS,
    LOAD_REJECTS,
    LOADS,
    MESSAGES,
    OBSERVED_COUNTS,
    OBSERVED_ROUTES,
    STATUS_EVENTS,
    TABLES,
)

WRITTEN: Final = (
    OBSERVED_ROUTES.name, OBSERVED_COUNTS.name, COUNTER_READINGS.name, STATUS_EVENTS.name,
    CONFIG_EVENTS.name, MESSAGES.name,
)  # fmt: skip
"""In the order that they are written in: counts before the readings that they are made of."""
_KEYED: Final = frozenset(
    {OBSERVED_COUNTS.name, COUNTER_READINGS.name, STATUS_EVENTS.name, CONFIG_EVENTS.name}
)
"""Tables in which a record that comes again, in another file, is the same row."""


def write_contents(
    lake: Lake,
    files: Sequence[LoadFile],
    tables: Mapping[str, pa.Table],
    rejects: Sequence[LoadReject],
    made: Made,
) -> None:
    """Write which contents are loaded, then the rows: a content is whole when all tables are."""
    there = [x for x in WRITTEN if x in tables and (tables[x].num_rows or x == MESSAGES.name)]
    lake.create([*(TABLES[x] for x in there), LOADS, LOAD_REJECTS])
    load_id, now = uuid.uuid4().hex, datetime.now(UTC)
    loads = [
        (x.part.content, name, x.size, x.name, rows, now, load_id, *_bounds_of(x))
        for x in files
        if x.is_of_use
        for name, rows in ({y: z.num_rows for y, z in x.rows.items()} or {"": 0}).items()
    ]
    none = (None, None, None)
    loads += [
        (x, MESSAGES.name, 0, "", rows, now, load_id, *none) for x, rows in made.counts.items()
    ]
    transaction = once(load_id)
    if loads:
        lake.merge(LOADS.name, lake.arrow_rows(LOADS.name, loads))
    told = [(x.file, x.line, x.text, x.reason) for x in rejects]
    if told:
        lake.append(LOAD_REJECTS.name, lake.arrow_rows(LOAD_REJECTS.name, told), transaction)
    for name in there:
        if name in _KEYED:
            lake.merge(name, last_of_keys(tables[name], name), transaction)
        else:
            lake.append(name, tables[name], transaction)


def _bounds_of(file: LoadFile) -> tuple[str | None, datetime | None, datetime | None]:
    """The content of which only a part is loaded, and the bounds of that part."""
    bounds = file.between
    return (file.part.whole if bounds.name else None, bounds.since, bounds.until)
