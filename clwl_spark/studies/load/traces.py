"""Messages, and where they went, out of the operations of activity trace.

An MQPUT takes object and bind option from the MQOPEN of its handle and connection; MQPUT1 has both
itself.

Source: IBM MQ documentation, "Application activity trace message reference"; MQOO_*, MQPMO_*.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clwl_spark.mq.traffic.activity import Kind
from clwl_spark.mq.vocabulary import Bind, ObjectType, Reach, Via
from clwl_spark.studies.load import operations as o
from clwl_spark.studies.load.connections import filled
from clwl_spark.studies.load.handles import Handles, handles_of, lone_ids, taken_of
from clwl_spark.studies.load.repeats import Flags
from clwl_spark.studies.load.spool import Gatherer, Longs, Spool, scratch, slices
from clwl_spark.tables import MESSAGES, OBSERVED_ROUTES
from clwl_spark.tables import columns as c
from clwl_spark.tables.loading import RESOLVED

FILE: Final = "file"
"""Column beside those of `operations`: number of the file."""
SCHEMA: Final = o.SCHEMA.append(pa.field(FILE, pa.int32()))

_TOPICS: Final = ("Topic", "MQOT_TOPIC", "TOPIC", "8")
_BINDS: Final = ((0x40_0000, Bind.ON_GROUP), (0x8000, Bind.NOT_FIXED), (0x4000, Bind.ON_OPEN))
_LOGICAL_ORDER: Final = 0x8000
_SCOPE_QMGR: Final = 0x400_0000
_NONE: Final = -1


@dataclass(frozen=True, slots=True)
class Traced:
    """What operations give.

    Attributes:
        messages: columns of `messages`, put_seq null, in the order of the operations.
        routes: columns of `observed_routes`, put_seq null.
        message_of: (routes,) row of `messages` that it is about; -1 = it has none.
        messages_of: (files,) messages of each file.
        routes_of: (files,) routes of each file.
        is_exact: (messages,) their moments are told to the microsecond.
        is_exact_route: (routes,) theirs are.
        refused: (file, line, text, reason) of puts that cannot be used.
        repeated: (files,) puts that were there already.
        unopened: MQPUTs without an MQOPEN that has its options: how they bind is not known.
        set_back: by queue manager, puts before the one before them in their connection.
    """

    messages: pa.Table
    routes: pa.Table
    message_of: Longs
    messages_of: Longs
    routes_of: Longs
    is_exact: Flags
    is_exact_route: Flags
    refused: list[tuple[int, int, str, str]]
    repeated: Longs
    unopened: int
    set_back: Counter[str]


def traced(operations: pa.Table, files: Sequence[str]) -> Traced:
    """The messages that operations put, and where they went.

    Args:
        operations: as `operations_of` gives them, of all files, and column `file`.
        files: their names.

    Grain: messages: one row per put that succeeded; routes: one row per put that failed, or of
    which the record tells where it went.
    """
    handles = handles_of(operations)
    given = _Given(handles, operations, files)
    for start, part in slices(operations):
        given.take(start, part)
    return given.traced()


class _Given:
    """Collects what slices of operations give."""

    def __init__(self, handles: Handles, operations: pa.Table, files: Sequence[str]) -> None:
        """Nothing yet."""
        self._handles = handles
        self._opens = Gatherer(operations.select(_OF_OPEN))
        self._names = pa.array(files, pa.string())
        self._messages = Spool(MESSAGES.arrow(MESSAGES.names))
        self._routes = Spool(OBSERVED_ROUTES.arrow(OBSERVED_ROUTES.names))
        self._message_of = scratch(operations.num_rows)
        self._messages_of, self._routes_of, self._repeated = (
            np.zeros(len(files), dtype=np.int64) for _ in range(3)
        )
        self._is_exact, self._is_exact_route = (
            np.zeros(operations.num_rows, dtype=np.bool_) for _ in range(2)
        )
        self._refused: list[tuple[int, int, str, str]] = []
        self._unopened = 0

    def take(self, start: int, part: pa.Table) -> None:
        """Take the operations from a place on."""
        again = self._handles.again[start : start + part.num_rows]
        of_puts = again & (filled(part, o.KIND) >= Kind.PUT)
        self._repeated += self._by_file(filled(part, FILE)[of_puts])
        taken = start + np.flatnonzero(~again & taken_of(part))
        if len(taken):
            self._take(part.take(pa.array(taken - start)), taken)

    def _take(self, puts: pa.Table, numbers: Longs) -> None:
        """Take puts, and MQOPENs that failed.

        Args:
            puts: operations.
            numbers: their rows.
        """
        opened = self._handles.opened[numbers]
        opens = self._opened(opened)
        rows = _rows(puts, opens, self._open_ids(puts, opened))
        of_put = filled(puts, o.KIND) == Kind.PUT
        unopened = ~_is_valid(opens["openoptions"]) & of_put
        named, is_good = _is_valid(rows[c.OBJECT_NAME]), filled(puts, "reasoncode") == 0
        of_message, of_route = named & is_good, named & (~is_good | _tells(rows))
        number = np.where(of_message, np.cumsum(of_message) - 1 + self._messages.rows, _NONE)
        done, there = self._messages.rows, self._routes.rows
        self._messages.write(_messages(rows_of(rows, of_message)))
        self._routes.write(self._with_source(rows_of(rows, of_route)))
        is_exact = puts[o.IS_EXACT].to_numpy()
        self._is_exact[done : self._messages.rows] = is_exact[of_message]
        self._is_exact_route[there : self._routes.rows] = is_exact[of_route]
        self._message_of[there : self._routes.rows] = number[of_route]
        file = filled(puts, FILE)
        self._messages_of += self._by_file(file[of_message])
        self._routes_of += self._by_file(file[of_route])
        self._refused += _nameless(puts.select((FILE, o.LINE, "hobj")).filter(pa.array(~named)))
        self._unopened += int(np.count_nonzero(unopened & named))

    def _by_file(self, files: Longs) -> Longs:
        return np.bincount(files, minlength=len(self._names)).astype(np.int64)

    def _opened(self, opened: Longs) -> pa.Table:
        """Of each put, its MQOPEN; null = it is not known."""
        distinct, place = np.unique(opened[opened >= 0], return_inverse=True)
        at = np.zeros(len(opened), dtype=np.int64)
        at[opened >= 0] = place
        return self._opens.take(distinct).take(pa.array(at, mask=opened < 0))

    def _open_ids(self, puts: pa.Table, opened: Longs) -> pa.Array:
        """The open that each put belongs to."""
        found = np.where(opened >= 0, self._handles.ids[opened], 0)
        of_put = filled(puts, o.KIND) == Kind.PUT
        lone = np.flatnonzero(of_put & (opened < 0))
        if len(lone):
            found[lone] = lone_ids(puts, lone)
        return pa.array(found, mask=~of_put)

    def _with_source(self, rows: pa.Table) -> pa.Table:
        """Columns of `observed_routes`."""
        names = self._names.take(rows[FILE].combine_chunks())
        lines = rows[o.LINE].combine_chunks().cast(pa.string())
        rows = rows.append_column(c.SOURCE, pc.binary_join_element_wise(names, lines, ":"))
        names = OBSERVED_ROUTES.names
        return rows.select(names).cast(OBSERVED_ROUTES.arrow(names))

    def traced(self) -> Traced:
        """All of it."""
        messages, routes = self._messages.table(), self._routes.table()
        return Traced(
            messages=messages,
            routes=routes,
            message_of=self._message_of[: routes.num_rows],
            messages_of=self._messages_of,
            routes_of=self._routes_of,
            is_exact=self._is_exact[: messages.num_rows],
            is_exact_route=self._is_exact_route[: routes.num_rows],
            refused=self._refused,
            repeated=self._repeated,
            unopened=self._unopened,
            set_back=self._handles.set_back,
        )


def rows_of(table: pa.Table, wanted: Flags) -> pa.Table:
    """Rows of a table; without a copy where they follow one another."""
    at = np.flatnonzero(wanted)
    if len(at) and at[-1] - at[0] + 1 == len(at):
        return table.slice(at[0], len(at))
    return table.filter(pa.array(wanted))


def _is_valid(column: pa.ChunkedArray) -> Flags:
    found: Flags = column.is_valid().to_numpy()
    return found


def _rows(puts: pa.Table, opens: pa.Table, open_ids: pa.Array) -> pa.Table:
    """Columns of `messages`, and those of `observed_routes` beside them.

    Args:
        puts: operations.
        opens: of each put, its MQOPEN; null = it is not known.
        open_ids: of each put.

    Grain: one row per put.
    """
    is_topic = pc.or_kleene(_is_topic(opens), _is_topic(puts))
    topic = pc.coalesce(*(_text(x, y) for y in _TOPIC_NAMES for x in (opens, puts)))
    queue = pc.coalesce(_text(opens, "objectname"), _text(puts, "objectname"))
    options, put_options = opens["openoptions"], filled(puts, "putoptions")
    bound_there = pc.equal(_flag(options, 0x4000), True)
    went = {x: pc.coalesce(_text(puts, x), pc.if_else(bound_there, _text(opens, x), None))
            for x in _WENT}  # fmt: skip
    qmgr = _text(puts, o.QMGR)
    dest = pc.coalesce(went["resolvedqmgr"], went["remoteqmgr"])
    local_queue = went["resolvedlocalqname"]
    is_away = pc.and_(pc.not_equal(dest, qmgr), pc.not_equal(local_queue, went["resolvedqname"]))
    columns = {
        c.QMGR: qmgr,
        c.PUT_SEQ: pa.nulls(len(puts), pa.int64()),
        c.MESSAGE_ID: puts["msgid"],
        c.PUT_TIME: puts[o.TIME],
        c.OBJECT_TYPE: pc.if_else(is_topic, ObjectType.TOPIC.value, ObjectType.QUEUE.value),
        c.OBJECT_NAME: pc.if_else(is_topic, topic, queue),
        c.OBJECT_QMGR: pc.coalesce(_text(opens, "objectqmgr"), _text(puts, "objectqmgr"), ""),
        c.BIND: _bind(puts, options),
        c.OPEN_ID: open_ids,
        c.GROUP_ID: puts["groupid"],
        c.LOGICAL_ORDER: pa.array((put_options & _LOGICAL_ORDER) != 0),
        c.VIA: pc.if_else(puts[o.BY_CLUSTER], Via.CLUSTER.value, Via.LOCAL.value),
        c.PERSISTENT: pc.if_else(
            pc.is_in(puts["persistence"], pa.array([0, 1], pa.int32())),
            pc.equal(puts["persistence"], 1),
            None,
        ),
        c.MSG_LENGTH: puts["msglength"],
        c.SCOPE: pc.if_else(pa.array((put_options & _SCOPE_QMGR) != 0), Reach.QMGR.value, None),
        c.REASON: pc.fill_null(puts["reasoncode"], 0),
        RESOLVED: went["resolvedqname"],
        c.DEST_QMGR: dest,
        c.CHANNEL: pa.nulls(len(puts), pa.string()),
        c.XMITQ: pc.if_else(is_away, local_queue, None),
        FILE: puts[FILE],
        o.LINE: puts[o.LINE],
    }
    return pa.table(columns)


_OF_OPEN: Final = (
    "openoptions", "objecttype", "objectname", "objectqmgr", "objectstring", "resolvedobjectstring",
    "resolvedqname", "resolvedqmgr", "resolvedlocalqname", "remoteqmgr",
)  # fmt: skip
_TOPIC_NAMES: Final = ("resolvedobjectstring", "objectstring", "objectname")
_WENT: Final = ("resolvedqname", "resolvedqmgr", "resolvedlocalqname", "remoteqmgr")


def _text(of: pa.Table, name: str) -> pa.ChunkedArray:
    return of[name].cast(pa.string())


def _is_topic(operations: pa.Table) -> pa.ChunkedArray:
    return pc.is_in(_text(operations, "objecttype"), pa.array(_TOPICS))


def _flag(options: pa.ChunkedArray, flag: int) -> pa.ChunkedArray:
    return pc.not_equal(pc.bit_wise_and(options, flag), 0)


def _bind(puts: pa.Table, options: pa.ChunkedArray) -> pa.ChunkedArray:
    """What the options of the MQOPEN say; null where they are not known, and for MQPUT1."""
    found = pc.if_else(pc.is_valid(options), Bind.AS_Q_DEF.value, None)
    for flag, bind in reversed(_BINDS):
        found = pc.if_else(pc.fill_null(_flag(options, flag), False), bind.value, found)
    return pc.if_else(pc.equal(puts[o.KIND], Kind.PUT.value), found, None)


def _tells(rows: pa.Table) -> Flags:
    """Where a record tells where the message went."""
    return _is_valid(rows[RESOLVED]) | _is_valid(rows[c.DEST_QMGR])


def _messages(rows: pa.Table) -> pa.Table:
    """Columns of `messages`."""
    schema = MESSAGES.arrow(MESSAGES.names)
    cells = [
        rows[x.name].cast(x.type) if x.name in rows.column_names else pa.nulls(len(rows), x.type)
        for x in schema
    ]
    return pa.table(cells, schema=schema)


def _nameless(puts: pa.Table) -> list[tuple[int, int, str, str]]:
    """Puts of which neither they nor an MQOPEN say to what."""
    why = "neither it nor an MQOPEN of its handle names an object"
    return [
        (file, line, f"put of handle {handle}", why)
        for file, line, handle in zip(
            puts[FILE].to_pylist(), puts[o.LINE].to_pylist(), puts["hobj"].to_pylist(), strict=True
        )
    ]
