"""Operations of activity trace that are there a second time, and whether they are in order."""

from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from clwl_spark.studies.load import operations as o
from clwl_spark.studies.load.connections import Connections, begins, filled
from clwl_spark.studies.load.spool import Gatherer, Longs, pieces, ranges, scratch, slices

Flags = NDArray[np.bool_]
_NONE: Final = -1
_STRIDE: Final = np.int64(1_000_003)
_COLUMNS: Final = (
    o.KIND, o.QMGR, o.CONNECTION, o.IS_CONNECTION, o.SEQUENCE, o.PLACE, o.TIME, o.IS_EXACT, "hobj",
    "msgid",
)  # fmt: skip


def looked_through(operations: pa.Table, connections: Connections) -> tuple[Flags, bool]:
    """Operations that are certainly there a second time; and whether their files are in order.

    They have the connection, the microsecond and the message's identifier of an earlier one; where
    there is no such moment or no identifier, the connection, the number of its event and the place
    in it.

    Args:
        operations: of all files.
        connections: gets theirs.

    Returns:
        (operations,) whether it is there before; and whether the events of each connection have
        the order of their numbers.
    """
    operations = operations.select(_COLUMNS)
    sums = scratch(operations.num_rows)
    last: dict[int, int] = {}
    is_ordered = True
    for start, part in slices(operations):
        codes = connections.codes(part)
        sequence = filled(part, o.SEQUENCE)
        is_ordered = is_ordered and _are_in_order(codes, sequence, last)
        keys = [codes, *_keys(part).values()]
        with np.errstate(over="ignore"):
            parts = [x.astype(np.int64) * _STRIDE**at for at, x in enumerate(keys)]
            sums[start : start + len(codes)] = np.sum(parts, axis=0)
    return _repeated(operations, sums, connections), is_ordered


def _are_in_order(codes: Longs, sequence: Longs, last: dict[int, int]) -> bool:
    """Whether numbers do not become less in a connection.

    Args:
        codes: the connections.
        sequence: the numbers.
        last: the last number of each connection; these become it.
    """
    order = np.argsort(codes, kind="stable")
    of, number = codes[order], sequence[order]
    first = np.flatnonzero(begins(of))
    ends = np.append(first[1:], len(of)) - 1
    less = np.diff(number) < 0
    less[first[1:] - 1] = False
    found = not less.any()
    for code, at, end in zip(of[first].tolist(), first.tolist(), ends.tolist(), strict=True):
        found = found and bool(last.get(code, number[at]) <= number[at])
        last[code] = int(number[end])
    return found


def _keys(operations: pa.Table) -> dict[str, NDArray[Any]]:
    """What tells operations of a connection apart, but for identifiers."""
    is_exact = operations[o.IS_EXACT].to_numpy() & operations["msgid"].is_valid().to_numpy()
    place = (filled(operations, o.SEQUENCE) << 32) | filled(operations, o.PLACE)
    moment = pc.fill_null(operations[o.TIME].cast(pa.int64()), 0).to_numpy()
    return {
        "hobj": filled(operations, "hobj", _NONE),
        o.KIND: filled(operations, o.KIND),
        "is_exact": is_exact,
        "at": np.where(is_exact, moment, place),
    }


def _repeated(operations: pa.Table, sums: Longs, connections: Connections) -> Flags:
    """Operations that are there before, among those whose keys have the same sum."""
    repeated = np.zeros(len(sums), dtype=np.bool_)
    alike = _alike(sums)
    if not len(alike):
        return repeated
    source = Gatherer(operations)
    buckets = pieces(len(alike))
    for bucket in range(buckets):
        rows = alike[sums[alike] % buckets == bucket]
        if not len(rows):
            continue
        part = source.take(rows)
        keys = {"connection": connections.codes(part), **_keys(part)}
        found = pa.table({name: pa.array(key) for name, key in keys.items()})
        msgid = pc.if_else(pa.array(keys["is_exact"]), part["msgid"], b"")
        found = found.append_column("msgid", msgid).append_column("row", pa.array(rows))
        found = found.filter(part[o.IS_CONNECTION])
        first = found.group_by([*keys, "msgid"], use_threads=False).aggregate([("row", "min")])
        repeated[found["row"].to_numpy()] = True
        repeated[first["row_min"].to_numpy()] = False
    return repeated


def _alike(sums: Longs) -> Longs:
    """The rows whose number others have as well."""
    ordered = scratch(len(sums))
    for at in ranges(len(sums)):
        ordered[at] = sums[at]
    ordered.sort()
    twice = several(ordered)
    if not len(twice):
        return np.zeros(0, dtype=np.int64)
    found = [at.start + np.flatnonzero(np.isin(sums[at], twice)) for at in ranges(len(sums))]
    return np.concatenate(found)


def several(ordered: Longs) -> Longs:
    """The numbers that are there more than once among numbers in order; each once."""
    found = [np.zeros(0, dtype=np.int64)]
    for at in ranges(len(ordered)):
        own = ordered[at.start : at.stop + 1]
        found.append(own[1:][np.diff(own) == 0])
    return np.unique(np.concatenate(found))
