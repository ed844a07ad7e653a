"""Records of files, read part by part, and the puts that activity trace tells of them all.

An MQOPEN may stand in another file than the puts of its handle, so that operations are put together
when all files are read.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.logs import OnProgress
from clwl_spark.mq.traffic.activity import Kind
from clwl_spark.studies.load import operations as o
from clwl_spark.studies.load.files import Refused, writable
from clwl_spark.studies.load.one_file import LoadFile
from clwl_spark.studies.load.operations import SCHEMA
from clwl_spark.studies.load.parts import FilePart, read_parts
from clwl_spark.studies.load.recorded import RecordedRows
from clwl_spark.studies.load.traces import FILE, Flags, Longs, Traced, rows_of, traced
from clwl_spark.tables import MESSAGES, OBSERVED_ROUTES
from clwl_spark.tables import columns as c

_NONE: Final = -1
_IDENTITY: Final = (c.QMGR, c.PUT_TIME, c.MESSAGE_ID, c.OBJECT_NAME)
"""What a put is the same by that the lake has: moments to the microsecond, and an identifier."""


@dataclass(frozen=True, slots=True)
class TraceNotes:
    """What is to be told of activity trace.

    Attributes:
        repeated: puts that came again, in the files or since an earlier load; they count once.
        unopened: MQPUTs without an MQOPEN that has its options: AS_Q_DEF is taken for them.
        set_back: by queue manager, puts that are earlier than the one before in their connection.
    """

    repeated: int = 0
    unopened: int = 0
    set_back: Counter[str] = field(default_factory=Counter)


def read_records(files: Sequence[LoadFile], tell: OnProgress) -> None:
    """Read the parts of files of records, and take what they give."""
    parts = [part for one in files for part in one.parts]
    for done, (part, taken) in enumerate(read_parts(parts)):
        tell("reading records", done, len(parts))
        _take(files[part.file], part, taken)
    if parts:
        tell("reading records", len(parts), len(parts))


def _take(file: LoadFile, part: FilePart, taken: RecordedRows) -> None:
    operations = taken.operations
    if part.is_known:
        is_mark = pc.less(operations[o.KIND], Kind.PUT.value)
        is_good = pc.equal(pc.fill_null(operations["reasoncode"], 0), 0)
        file.operations.append(operations.filter(pc.and_(is_mark, is_good)))
        return
    file.operations.append(operations)
    file.needless += Counter({writable(x): count for x, count in taken.needless.items()})
    file.refuse(taken.refused)
    for name, rows in taken.rows.items():
        file.rows[name] = pa.concat_tables([file.rows[name], rows]) if name in file.rows else rows


def take_traces(lake: Lake, files: Sequence[LoadFile]) -> TraceNotes:
    """Give files the messages and routes that their activity trace tells."""
    found = traced_in(files)
    if found is None:
        return TraceNotes()
    in_lake = _in_lake(lake, found)
    for number, one in enumerate(files):
        _give(one, number, found, in_lake)
    for number, line, text, reason in found.refused:
        files[number].refuse([Refused(line, text, reason)])
    repeated = found.repeated.total() + int(np.count_nonzero(in_lake))
    return TraceNotes(repeated, found.unopened, found.set_back)


def traced_in(files: Sequence[LoadFile]) -> Traced | None:
    """What the activity trace of all files tells; None = they have none.

    The files do not hold it any more.
    """
    if not any(table.num_rows for one in files for table in one.operations):
        return None
    return traced(_operations(files))


def _operations(files: Sequence[LoadFile]) -> pa.Table:
    """The operations of all files, which do not hold them any more; with the file's number."""
    tables = [SCHEMA.empty_table().append_column(FILE, pa.array([], pa.int64()))]
    for number, one in enumerate(files):
        for table in one.operations:
            numbers = pa.array(np.full(table.num_rows, number), pa.int64())
            tables.append(table.append_column(FILE, numbers))
        one.operations.clear()
    return pa.concat_tables(tables).unify_dictionaries().combine_chunks()


def _give(file: LoadFile, number: int, found: Traced, in_lake: Flags) -> None:
    """Give a file its messages and routes; those that the lake has are left out."""
    is_message = (found.message_file == number) & ~in_lake
    has_message = found.message_of >= 0
    is_old = np.zeros(len(has_message), dtype=np.bool_)
    is_old[has_message] = in_lake[found.message_of[has_message]]
    is_route = (found.route_file == number) & ~is_old
    before = file.rows[MESSAGES.name].num_rows if MESSAGES.name in file.rows else 0
    place = np.cumsum(is_message) - 1 + before
    routes = rows_of(found.routes, is_route)
    of = found.message_of[is_route]
    there = file.rows[OBSERVED_ROUTES.name].num_rows if OBSERVED_ROUTES.name in file.rows else 0
    links = np.full(there + len(of), _NONE, dtype=np.int64)
    links[there:][of >= 0] = place[of[of >= 0]]
    file.message_of = links
    at = routes.schema.get_field_index(c.SOURCE)
    source = pc.binary_join_element_wise(f"{file.name}:", routes[c.SOURCE], "")
    routes = routes.set_column(at, routes.schema.field(at), source)
    file.again = found.repeated[number] + int(
        np.count_nonzero(in_lake & (found.message_file == number))
    )
    _add(file, MESSAGES.name, rows_of(found.messages, is_message))
    _add(file, OBSERVED_ROUTES.name, routes)


def _add(file: LoadFile, name: str, rows: pa.Table) -> None:
    if rows.num_rows:
        file.rows[name] = pa.concat_tables([file.rows[name], rows]) if name in file.rows else rows


def _in_lake(lake: Lake, found: Traced) -> Flags:
    """(messages,) those that the lake has: an earlier load had another trace of the same puts."""
    known = np.zeros(found.messages.num_rows, dtype=np.bool_)
    sure = found.is_exact & found.messages[c.MESSAGE_ID].is_valid().to_numpy()
    rows = np.flatnonzero(sure)
    if not len(rows) or not lake.exists(MESSAGES.name):
        return known
    asked = found.messages.take(pa.array(rows)).select(_IDENTITY)
    times = pc.min_max(asked[c.PUT_TIME]).as_py()
    there = (
        lake.read_or_empty(MESSAGES.name)
        .where(F.col(c.PUT_TIME).between(times["min"], times["max"]))
        .where(F.col(c.MESSAGE_ID).isNotNull())
        .select(*_IDENTITY)
        .toArrow()
        .cast(asked.schema)
    )
    if not there.num_rows:
        return known
    asked = asked.append_column("row", pa.array(rows))
    same = asked.join(there, list(_IDENTITY), join_type="left semi", use_threads=False)
    known[same["row"].to_numpy()] = True
    return known


def link_routes(file: LoadFile, put_seq: Longs, first: int) -> None:
    """Give a file's routes the put_seq of their messages.

    Args:
        file: its messages are in the lake's order from here on.
        put_seq: of all messages, in the order of the files.
        first: place of the file's first message among them.
    """
    if OBSERVED_ROUTES.name not in file.rows or not len(file.message_of):
        return
    routes = file.rows[OBSERVED_ROUTES.name]
    of = file.message_of
    is_there = of >= 0
    numbers = np.zeros(len(of), dtype=np.int64)
    numbers[is_there] = put_seq[of[is_there] + first]
    at = routes.schema.get_field_index(c.PUT_SEQ)
    column = pa.array(numbers, pa.int64(), mask=~is_there)
    file.rows[OBSERVED_ROUTES.name] = routes.set_column(at, routes.schema.field(at), column)
