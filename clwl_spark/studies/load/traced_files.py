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
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.logs import OnProgress
from clwl_spark.mq.traffic.activity import Kind
from clwl_spark.studies.load import operations as o
from clwl_spark.studies.load.files import Refused, writable
from clwl_spark.studies.load.load_file import LoadFile
from clwl_spark.studies.load.parts import FilePart, read_parts
from clwl_spark.studies.load.recorded import RecordedRows
from clwl_spark.studies.load.repeats import Flags
from clwl_spark.studies.load.spool import Longs, Spool, ranges, scratch, slices, spooled
from clwl_spark.studies.load.traces import FILE, SCHEMA, Traced, traced
from clwl_spark.tables import MESSAGES, OBSERVED_ROUTES
from clwl_spark.tables import columns as c

_NONE: Final = -1
_ASKED: Final = 1 << 19
"""Messages of which the lake is asked at a time whether it has them."""
_IDENTITY: Final = (c.QMGR, c.PUT_TIME, c.MESSAGE_ID, c.OBJECT_NAME)
"""What a put, or its route, is the same by that the lake has: a moment to the microsecond, and an
identifier."""
_FAILURE: Final = (c.QMGR, c.PUT_TIME, c.OBJECT_TYPE, c.OBJECT_NAME, c.OBJECT_QMGR, c.REASON)
"""What a put, or an MQOPEN, that failed is the same by: it has no identifier."""


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


def read_records(files: Sequence[LoadFile], tell: OnProgress) -> pa.Table:
    """Read the parts of files of records, and take what they give.

    Returns:
        The operations of activity trace of all files, with the file's number.
    """
    spool = Spool(SCHEMA)
    parts = [part for one in files for part in one.parts]
    for done, (part, taken) in enumerate(read_parts(parts)):
        tell("reading records", done, len(parts))
        operations = _take(files[part.file], part, taken)
        if operations.num_rows:
            number = np.full(operations.num_rows, part.file, dtype=np.int32)
            spool.write(operations.append_column(FILE, pa.array(number)))
    if parts:
        tell("reading records", len(parts), len(parts))
    return spool.table()


def _take(file: LoadFile, part: FilePart, taken: RecordedRows) -> pa.Table:
    """Take what a part gives but for its operations, which are returned."""
    operations = taken.operations
    if part.is_known:
        is_mark = pc.less(operations[o.KIND], Kind.PUT.value)
        is_good = pc.equal(pc.fill_null(operations["reasoncode"], 0), 0)
        return operations.filter(pc.and_(is_mark, is_good))
    file.needless += Counter({writable(x): count for x, count in taken.needless.items()})
    file.refuse(taken.refused)
    for name, rows in taken.rows.items():
        file.rows[name] = pa.concat_tables([file.rows[name], rows]) if name in file.rows else rows
    return operations


def take_traces(lake: Lake, files: Sequence[LoadFile], operations: pa.Table) -> TraceNotes:
    """Give files the messages and routes that their activity trace tells.

    Args:
        lake: puts that it has are left out.
        files: of all that is loaded.
        operations: as `read_records` gives them.
    """
    if not operations.num_rows:
        return TraceNotes()
    found = traced(operations, [x.name for x in files])
    puts = _puts_in_lake(lake, found)
    there = _routes_in_lake(lake, found, puts)
    in_lake = _InLake(puts, _failures_in_lake(lake, found), there)
    ends = [np.cumsum([0, *x]) for x in (found.messages_of, found.routes_of)]
    for number, one in enumerate(files):
        messages, routes = (slice(x[number], x[number + 1]) for x in ends)
        one.again = int(found.repeated[number])
        _give(one, found, in_lake, messages, routes)
    for number, line, text, reason in found.refused:
        files[number].refuse([Refused(line, text, reason)])
    repeated = int(found.repeated.sum()) + sum(
        int(np.count_nonzero(x)) for x in (in_lake.messages, in_lake.failures)
    )
    return TraceNotes(repeated, found.unopened, found.set_back)


@dataclass(frozen=True, slots=True)
class _InLake:
    """What the lake has: of an earlier load of the trace, or from other programs.

    Attributes:
        messages: (messages,) it has the put.
        failures: (routes,) it has the put, or the MQOPEN, that failed.
        routes: (routes,) it has where the put went, or that cannot be told for certain.
    """

    messages: Flags
    failures: Flags
    routes: Flags


def _give(file: LoadFile, found: Traced, in_lake: _InLake, messages: slice, routes: slice) -> None:
    """Give a file its messages and routes; those that the lake has are left out.

    Args:
        file: gets them.
        found: what all files tell.
        in_lake: what the lake has.
        messages: of the file, among all.
        routes: of the file, among all.
    """
    known, failed = in_lake.messages[messages], in_lake.failures[routes]
    file.again += int(np.count_nonzero(known)) + int(np.count_nonzero(failed))
    before = file.rows[MESSAGES.name].num_rows if MESSAGES.name in file.rows else 0
    there = file.rows[OBSERVED_ROUTES.name].num_rows if OBSERVED_ROUTES.name in file.rows else 0
    place = scratch(len(known))
    np.cumsum(~known, out=place)
    is_old = np.zeros(routes.stop - routes.start, dtype=np.bool_)
    links = scratch(there + len(is_old))
    links[:there] = _NONE
    for at in ranges(len(is_old)):
        of = found.message_of[routes][at]
        has, own = of >= 0, np.maximum(of - messages.start, 0)
        is_there = has & known[own] if len(known) else np.zeros(len(of), dtype=np.bool_)
        is_old[at] = failed[at] | (is_there & in_lake.routes[routes][at])
        # Of a put of other programs the lake knows the put_seq; the identifier matches it, too.
        own_put = has & ~is_there
        links[there:][at] = (
            np.where(own_put, place[own] - 1 + before, _NONE) if len(known) else _NONE
        )
    count = there + int(np.count_nonzero(~is_old))
    if is_old.any():
        links[there:count] = links[there:][~is_old]
    file.message_of = links[:count]
    _add(file, MESSAGES.name, _kept(found.messages, messages, known))
    _add(file, OBSERVED_ROUTES.name, _kept(found.routes, routes, is_old))


def _kept(rows: pa.Table, of: slice, left_out: Flags) -> pa.Table:
    """Rows from a place on, less some."""
    own = rows.slice(of.start, of.stop - of.start)
    if not left_out.any():
        return own
    return spooled(
        rows.schema,
        (x.filter(pa.array(~left_out[at : at + x.num_rows])) for at, x in slices(own)),
    )


def _add(file: LoadFile, name: str, rows: pa.Table) -> None:
    if rows.num_rows:
        file.rows[name] = pa.concat_tables([file.rows[name], rows]) if name in file.rows else rows


def _puts_in_lake(lake: Lake, found: Traced) -> Flags:
    """(messages,) those that the lake has."""
    asked = found.messages.select(_IDENTITY)
    is_sure = found.is_exact & asked[c.MESSAGE_ID].is_valid().to_numpy()
    return _known(lake, MESSAGES.name, asked, np.flatnonzero(is_sure))


def _routes_in_lake(lake: Lake, found: Traced, puts: Flags) -> Flags:
    """(routes,) those that the lake has, and those of which that cannot be told for certain.

    Only routes of `puts` that it has are looked for.
    """
    if not puts.any():
        return np.ones(found.routes.num_rows, dtype=np.bool_)
    asked = found.routes.select(_IDENTITY)
    is_sure = found.is_exact_route & asked[c.MESSAGE_ID].is_valid().to_numpy()
    known = _known(lake, OBSERVED_ROUTES.name, asked, np.flatnonzero(is_sure))
    known[~is_sure] = True
    return known


def _failures_in_lake(lake: Lake, found: Traced) -> Flags:
    """(routes,) those of puts that failed, and that the lake has."""
    asked = found.routes.select(_FAILURE)
    has_failed = pc.not_equal(asked[c.REASON], 0).to_numpy()
    return _known(
        lake, OBSERVED_ROUTES.name, asked, np.flatnonzero(found.is_exact_route & has_failed)
    )


def _known(lake: Lake, name: str, asked: pa.Table, sure: Longs) -> Flags:
    """(asked,) those that a table of the lake has.

    Args:
        lake: with or without it.
        name: of the table.
        asked: what tells its rows apart.
        sure: rows of `asked` that can be told for certain.
    """
    known = np.zeros(asked.num_rows, dtype=np.bool_)
    if not len(sure) or not lake.exists(name):
        return known
    if _within(lake, name, asked).limit(1).isEmpty():
        return known
    for start in range(0, len(sure), _ASKED):
        rows = sure[start : start + _ASKED]
        part = asked.take(pa.array(rows))
        there = _within(lake, name, part).toArrow().cast(asked.schema)
        same = part.append_column("row", pa.array(rows)).join(
            there, asked.column_names, join_type="left semi", use_threads=False
        )
        known[same["row"].to_numpy()] = True
    return known


def _within(lake: Lake, name: str, asked: pa.Table) -> DataFrame:
    """What tells a table's rows between the first and the last moment of some; nothing is null."""
    times = pc.min_max(asked[c.PUT_TIME]).as_py()
    between = F.col(c.PUT_TIME).between(times["min"], times["max"])
    return lake.read_or_empty(name).where(between).select(*asked.column_names).dropna()


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
    numbers, is_there = scratch(routes.num_rows), np.zeros(routes.num_rows, dtype=np.bool_)
    for at in ranges(routes.num_rows):
        of = file.message_of[at]
        is_there[at] = of >= 0
        numbers[at][of >= 0] = put_seq[of[of >= 0] + first]
    at = routes.schema.get_field_index(c.PUT_SEQ)
    flags = pa.array(is_there).buffers()[1]
    column = pa.Array.from_buffers(pa.int64(), len(numbers), [flags, pa.py_buffer(numbers)])
    file.rows[OBSERVED_ROUTES.name] = routes.set_column(at, routes.schema.field(at), column)
