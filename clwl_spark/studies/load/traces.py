"""Messages, and where they went, out of the operations of activity trace.

An MQPUT takes object and bind option from the MQOPEN of its handle and connection; MQPUT1 has both
itself.

Source: IBM MQ documentation, "Application activity trace message reference"; MQOO_*, MQPMO_*.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from clwl_spark.mq.traffic.activity import Kind
from clwl_spark.mq.vocabulary import Bind, ObjectType, Reach, Via
from clwl_spark.studies.load import operations as o
from clwl_spark.tables import MESSAGES, OBSERVED_ROUTES
from clwl_spark.tables import columns as c
from clwl_spark.tables.loading import RESOLVED

Longs = NDArray[np.int64]
Flags = NDArray[np.bool_]
FILE: Final = "file"
"""Column beside those of `operations`: number of the file."""

_TOPICS: Final = ("Topic", "MQOT_TOPIC", "TOPIC", "8")
_BINDS: Final = ((0x40_0000, Bind.ON_GROUP), (0x8000, Bind.NOT_FIXED), (0x4000, Bind.ON_OPEN))
_OUTPUT: Final = 0x10
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
        message_file: (messages,) number of the file.
        route_file: (routes,) number of the file.
        is_exact: (messages,) their moments are told to the microsecond.
        refused: (file, line, text, reason) of puts that cannot be used.
        repeated: puts that were there already, by file.
        unopened: MQPUTs without an MQOPEN that has its options: how they bind is not known.
        set_back: by queue manager, puts before the one before them in their connection.
    """

    messages: pa.Table
    routes: pa.Table
    message_of: Longs
    message_file: Longs
    route_file: Longs
    is_exact: Flags
    refused: list[tuple[int, int, str, str]]
    repeated: Counter[int]
    unopened: int
    set_back: Counter[str]


def traced(operations: pa.Table) -> Traced:
    """The messages that operations put, and where they went.

    Args:
        operations: as `operations_of` gives them, of all files and as one chunk, and column
            `file`.

    Grain: messages: one row per put that succeeded; routes: one row per put that failed, or of
    which the record tells where it went.
    """
    again = _repeated(operations)
    of_puts = again & (_longs(operations, o.KIND) >= Kind.PUT)
    repeated = Counter(_longs(operations, FILE)[of_puts].tolist())
    if again.any():
        operations = operations.filter(pa.array(~again)).combine_chunks()
    kind, reason = _longs(operations, o.KIND), _longs(operations, "reasoncode")
    opened = _opened(operations)
    taken = np.flatnonzero((kind >= Kind.PUT) | _failed_opens(operations))
    puts, reason, of_put = operations.take(pa.array(taken)), reason[taken], kind[taken] == Kind.PUT
    opens = operations.select(_OF_OPEN).take(pa.array(opened[taken], mask=opened[taken] < 0))
    ids = _open_ids(operations, opened)[taken]
    rows = _rows(puts, opens, pa.array(ids, mask=~of_put))
    unopened = ~_is_valid(opens["openoptions"]) & of_put
    set_back = _set_back(puts)
    nameless = puts.select((FILE, o.LINE, "hobj"))
    file, is_exact = _longs(puts, FILE), puts[o.IS_EXACT].to_numpy()
    del operations, puts, opens  # large, and what comes needs memory
    named = _is_valid(rows[c.OBJECT_NAME])
    of_message = named & (reason == 0)
    of_route = named & ((reason != 0) | _tells(rows))
    number = np.where(of_message, np.cumsum(of_message) - 1, _NONE)
    return Traced(
        messages=_messages(rows_of(rows, of_message)),
        routes=_routes(rows_of(rows, of_route)),
        message_of=number[of_route],
        message_file=file[of_message],
        route_file=file[of_route],
        is_exact=is_exact[of_message],
        refused=_nameless(nameless.filter(pa.array(~named))),
        repeated=repeated,
        unopened=int(np.count_nonzero(unopened & named)),
        set_back=set_back,
    )


def rows_of(table: pa.Table, wanted: Flags) -> pa.Table:
    """Rows of a table; without a copy where they follow one another."""
    at = np.flatnonzero(wanted)
    if len(at) and at[-1] - at[0] + 1 == len(at):
        return table.slice(at[0], len(at))
    return table.filter(pa.array(wanted))


def _longs(of: pa.Table, name: str, absent: int = 0) -> Longs:
    found: Longs = pc.fill_null(of[name], absent).to_numpy().astype(np.int64)
    return found


def _codes(of: pa.Table, name: str) -> Longs:
    """Numbers that names have in common; -1 = null."""
    column = of[name].combine_chunks()
    codes: Longs = pc.fill_null(column.indices, _NONE).to_numpy().astype(np.int64)
    return codes


def _is_valid(column: pa.ChunkedArray) -> Flags:
    found: Flags = column.is_valid().to_numpy()
    return found


def _failed_opens(operations: pa.Table) -> Flags:
    """MQOPENs for output that failed: the put that was meant never came."""
    failed: Flags = _longs(operations, o.KIND) == Kind.OPEN
    failed &= _longs(operations, "reasoncode") != 0
    failed &= (_longs(operations, "openoptions") & _OUTPUT) != 0
    failed &= _is_valid(operations[o.TIME])
    return failed


def _opened(operations: pa.Table) -> Longs:
    """(operations,) row of the MQOPEN of each put's handle; -1 = the trace does not have it."""
    keys = (*(_codes(operations, x) for x in (o.QMGR, o.CONNECTION)),
            _longs(operations, "hobj", _NONE))  # fmt: skip
    kind, reason = _longs(operations, o.KIND), _longs(operations, "reasoncode")
    order = np.lexsort((_longs(operations, o.SEQUENCE), *reversed(keys)))
    opened = np.full(len(order), _NONE, dtype=np.int64)
    if not len(order):
        return opened
    marks = (kind == Kind.CLOSE) | ((kind == Kind.OPEN) & (reason == 0))
    place = np.arange(len(order))
    last = np.maximum.accumulate(np.where(marks[order], place, _NONE))
    first = np.maximum.accumulate(np.where(_begins(order, keys), place, 0))
    at = order[np.maximum(last, 0)]
    is_open = (last >= first) & (kind[at] == Kind.OPEN) & (kind[order] == Kind.PUT)
    opened[order] = np.where(is_open, at, _NONE)
    return opened


def _begins(order: Longs, keys: tuple[Longs, ...]) -> Flags:
    """Where rows in an order have other keys than the one before."""
    begins = np.zeros(len(order), dtype=np.bool_)
    begins[:1] = True
    for key in keys:
        begins[1:] |= np.diff(key[order]) != 0
    return begins


def _repeated(operations: pa.Table) -> Flags:
    """Operations that are certainly there a second time.

    They have the connection, the microsecond and the message's identifier of an earlier one; where
    there is no such moment or no identifier, the connection, the number of its event and the place
    in it.
    """
    is_exact = operations[o.IS_EXACT].to_numpy() & _is_valid(operations["msgid"])
    place = (_longs(operations, o.SEQUENCE) << 32) | _longs(operations, o.PLACE)
    moment = pc.fill_null(operations[o.TIME].cast(pa.int64()), 0).to_numpy()
    keys = {
        o.QMGR: _codes(operations, o.QMGR),
        o.CONNECTION: _codes(operations, o.CONNECTION),
        "hobj": _longs(operations, "hobj", _NONE),
        o.KIND: _longs(operations, o.KIND),
        "is_exact": is_exact,
        "at": np.where(is_exact, moment, place),
    }
    rows = np.flatnonzero(operations[o.IS_CONNECTION].to_numpy() & _are_alike(keys))
    found = pa.table({name: pa.array(key[rows]) for name, key in keys.items()})
    identifiers = pc.if_else(pa.array(is_exact), operations["msgid"].combine_chunks(), b"")
    found = found.append_column("msgid", identifiers.take(pa.array(rows)))
    found = found.append_column("row", pa.array(rows))
    first = found.group_by([*keys, "msgid"], use_threads=False).aggregate([("row", "min")])
    repeated = np.zeros(operations.num_rows, dtype=np.bool_)
    repeated[rows] = True
    repeated[first["row_min"].to_numpy()] = False
    return repeated


def _are_alike(keys: Mapping[str, NDArray[Any]]) -> Flags:
    """Rows that may have the keys of another one: a sum of the keys tells most that do not."""
    with np.errstate(over="ignore"):
        parts = [x.astype(np.int64) * _STRIDE**at for at, x in enumerate(keys.values())]
        total: Longs = np.sum(parts, axis=0)
    order = np.argsort(total)
    same = np.diff(total[order]) == 0
    alike = np.zeros(len(order), dtype=np.bool_)
    alike[order[1:][same]] = True
    alike[order[:-1][same]] = True
    return alike


_STRIDE: Final = np.int64(1_000_003)


def _open_ids(operations: pa.Table, opened: Longs) -> Longs:
    """The open that each put belongs to: a number that its handle, connection and MQOPEN give."""
    found = np.zeros(operations.num_rows, dtype=np.int64)
    lone = np.flatnonzero((_longs(operations, o.KIND) == Kind.PUT) & (opened < 0))
    numbers = {words: _number_of(*words) for words in set(_words(operations, lone))}
    found[lone] = [numbers[x] for x in _words(operations, lone)]
    opens = np.unique(opened[opened >= 0])
    seen: Counter[tuple[Any, ...]] = Counter()
    moments = operations[o.OPENED_AT].take(pa.array(opens)).to_pylist()
    for row, words, at in zip(opens.tolist(), _words(operations, opens), moments, strict=True):
        found[row] = _number_of(*words, at, seen[*words, at])
        seen[*words, at] += 1
    return np.where(opened >= 0, found[opened], found)


def _words(operations: pa.Table, rows: Longs) -> list[tuple[Any, ...]]:
    """Queue manager, connection and handle of rows."""
    columns = (operations[x].take(pa.array(rows)) for x in (o.QMGR, o.CONNECTION, "hobj"))
    return list(zip(*(x.to_pylist() for x in columns), strict=True))


def _number_of(*words: object) -> int:
    """A number below 2**63 that these words always give."""
    digest = hashlib.blake2b("|".join(map(str, words)).encode(), digest_size=8).digest()
    return int.from_bytes(digest) >> 1


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
    options, put_options = opens["openoptions"], _longs(puts, "putoptions")
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


def _routes(rows: pa.Table) -> pa.Table:
    """Columns of `observed_routes`; the source is the line alone yet."""
    rows = rows.append_column(c.SOURCE, rows[o.LINE].cast(pa.string()))
    return rows.select(OBSERVED_ROUTES.names).cast(OBSERVED_ROUTES.arrow(OBSERVED_ROUTES.names))


def _nameless(puts: pa.Table) -> list[tuple[int, int, str, str]]:
    """Puts of which neither they nor an MQOPEN say to what."""
    why = "neither it nor an MQOPEN of its handle names an object"
    return [
        (file, line, f"put of handle {handle}", why)
        for file, line, handle in zip(
            puts[FILE].to_pylist(), puts[o.LINE].to_pylist(), puts["hobj"].to_pylist(), strict=True
        )
    ]


def _set_back(puts: pa.Table) -> Counter[str]:
    """By queue manager, puts whose moment is before that of the one before in their connection."""
    keys = tuple(_codes(puts, x) for x in (o.QMGR, o.CONNECTION))
    order = np.lexsort((_longs(puts, o.SEQUENCE), *reversed(keys)))
    moment = pc.fill_null(puts[o.TIME].cast(pa.int64()), 0).to_numpy()[order]
    back = np.zeros(len(order), dtype=np.bool_)
    back[1:] = (np.diff(moment) < 0) & ~_begins(order, keys)[1:]
    return Counter(puts[o.QMGR].take(pa.array(order[back])).to_pylist())
