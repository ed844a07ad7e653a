"""Plans as they would be if a status or an attribute were otherwise, by the package's own rules.

What is supposed is tried on all plans of a queue manager at once. Suppositions that leave the same
routes are told apart by nothing, so the first of them stands for all.

Source: SEMANTICS 3, 4.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import pairwise
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from clwl_spark.algorithm.ladder import EXIT
from clwl_spark.mq.vocabulary import STATUS_TIERS, Algorithm, PlanKind
from clwl_spark.rules import eliminate
from clwl_spark.spark.frames import frame_from_arrow, to_arrow
from clwl_spark.studies.conform.evidence import SEEN, Evidence
from clwl_spark.tables import ROUTE_CANDIDATES
from clwl_spark.tables import columns as c


class Cause(StrEnum):
    """Why what was seen is not what was foretold."""

    STATUS_KNOWN_LATE = "STATUS_KNOWN_LATE"
    HISTORY_BEFORE_TRACE = "HISTORY_BEFORE_TRACE"
    ADMINISTRATION = "ADMINISTRATION"
    OTHER_PUTTERS = "OTHER_PUTTERS"
    WEIGHT = "WEIGHT"
    PARTIAL_VIEW = "PARTIAL_VIEW"
    EXIT = "EXIT"
    VERSION = "VERSION"
    UNKNOWN = "UNKNOWN"


Key = tuple[str, str]
"""(dest_qmgr, channel)."""
_WORST: Final = max(STATUS_TIERS.values())
_LIFTED: Final = (c.CHANNEL_RANK, c.QUEUE_RANK, c.NETPRTY, c.CHANNEL_PRTY, c.QUEUE_PRTY)
_OF_QUEUE: Final = (c.QUEUE_RANK, c.QUEUE_PRTY)
_NAMES: Final = {
    c.CHANNEL_RANK: "CLWLRANK of",
    c.QUEUE_RANK: "CLWLRANK of the queue on",
    c.NETPRTY: "NETPRTY of",
    c.CHANNEL_PRTY: "CLWLPRTY of",
    c.QUEUE_PRTY: "CLWLPRTY of the queue on",
}
_TOP: Final = 99
_FLAGS: Final = (c.SUSPENDED, c.PUT_ENABLED, c.USES_LOCAL)
_CHANGED: Final = (c.STATUS_TIER, *_LIFTED, *_FLAGS)


@dataclass(frozen=True, slots=True)
class Supposed:
    """What is supposed of a queue manager's plans.

    Attributes:
        cause: what it would be.
        told: in words: "TO.QM2 to QM2 was not RUNNING".
        of: the channel that it is about; None = no single one.
        routes: rows of `route_candidates` that are left.
        changes: how many things are otherwise.
        by_factor: whether the balancing looks at the factor whatever the weights are.
        also: what would leave the same routes.
    """

    cause: Cause
    told: str
    of: Key | None
    routes: pa.Table
    changes: int = 1
    by_factor: bool | None = None
    also: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Change:
    """A change of candidates: sets cells of the attributes' arrays where rows are its."""

    cause: Cause
    told: str
    of: Key
    make: Callable[[dict[str, NDArray[Any]]], None]


def supposed(spark: Any, evidence: Sequence[Evidence]) -> list[list[Supposed]]:  # noqa: ANN401
    """What can be supposed of each queue manager's plans.

    Args:
        spark: the session.
        evidence: of each queue manager.

    Returns:
        A list for each; its first is what the plans are, without a cause to name.
    """
    tables, changes, unknown = [], [], []
    first = 0
    for x in evidence:
        own = list(_changes(x))
        changes.append(own)
        unknown.append(_unknown(x))
        parts = [_changed(x, own), _with_unknown(x, unknown[-1]), x.candidates]
        sizes = [len(own), 1, 1]
        for part, size in zip(parts, sizes, strict=True):
            tables.append(_numbered(part, x, first, size))
            first += size * x.plans.num_rows
    judged = _survive(spark, pa.concat_tables(tables), evidence[0].semantics.algorithm)
    other = _judged_by_other(spark, evidence)
    found, first = [], 0
    for x, own, new, version in zip(evidence, changes, unknown, other, strict=True):
        size = x.plans.num_rows
        routes = [_cut(judged, first + at * size, size) for at in range(len(own) + 2)]
        first += size * (len(own) + 2)
        partial = Supposed(Cause.PARTIAL_VIEW, _partial_text(new), None, routes[-2], len(new))
        rest = [Supposed(y.cause, y.told, y.of, z) for y, z in zip(own, routes[:-2], strict=True)]
        rest += [partial] if new else []
        rest.append(Supposed(Cause.EXIT, "the exit takes nothing away", None, routes[-1]))
        rest.append(_by_other_version(x, version))
        found.append(_distinct(x, rest))
    return found


def _by_other_version(x: Evidence, routes: pa.Table) -> Supposed:
    """That it chooses by the other order of the rules."""
    is_v7 = x.semantics.algorithm == Algorithm.V9
    told = f"the queue manager chooses by the order of {'v7' if is_v7 else 'v9'}"
    by_factor = replace(x.semantics, algorithm=_other(x.semantics.algorithm)).by_factor
    return Supposed(Cause.VERSION, told, None, routes, by_factor=by_factor)


def _other(algorithm: Algorithm) -> Algorithm:
    return Algorithm.V7 if algorithm == Algorithm.V9 else Algorithm.V9


def _distinct(x: Evidence, each: Sequence[Supposed]) -> list[Supposed]:
    """The plans as they are, and what leaves other routes than they and one another."""
    asis = Supposed(Cause.UNKNOWN, "", None, _numbered(_survivors(x.candidates), x, 0, 1))
    own = x.semantics.by_factor
    met = {(_signature(asis.routes), own): asis}
    for one in each:
        key = _signature(one.routes), own if one.by_factor is None else one.by_factor
        if met.setdefault(key, one) not in (asis, one):
            met[key].also.append(one.told)
    return list(met.values())


def _signature(routes: pa.Table) -> tuple[Any, ...]:
    """What tells sets of routes apart."""
    names = (c.PLAN_ID, c.CHOICE, c.DEST_QMGR, c.DEST_OBJECT, c.CHANNEL, c.CLWLWGHT)
    return tuple(sorted(zip(*(routes[x].to_pylist() for x in names), strict=True), key=repr))


def _survivors(rows: pa.Table) -> pa.Table:
    return rows.filter(pc.is_null(rows[c.ELIMINATED_BY]))


def _changes(x: Evidence) -> Iterator[_Change]:
    """Statuses first, then attributes, of each channel and instance that a plan knows."""
    asked = _asked(x.candidates)
    rows = asked.filter(pc.invert(asked[c.IS_LOCAL]))
    names = (c.DEST_QMGR, c.CHANNEL, c.ELIMINATED_BY)
    met: dict[Key, set[int | None]] = {}
    for dest, channel, by in zip(*(rows[n].to_pylist() for n in names), strict=True):
        met.setdefault((dest, channel), set()).add(by)
    keys = sorted(met)
    dest = np.array(asked[c.DEST_QMGR].to_pylist(), dtype=object)
    channel = np.array(asked[c.CHANNEL].to_pylist(), dtype=object)
    is_queue = _are_of_queues(x, asked)
    for key in keys:
        own = (dest == key[0]) & (channel == key[1])
        yield from _of_status(key, own, met[key])
    for host, key in {x[0]: x for x in reversed(keys)}.items():
        yield from _of_suspension(key, dest == host, [met[x] for x in keys if x[0] == host])
    for key in keys:
        own = (dest == key[0]) & (channel == key[1])
        yield from _of_attributes(key, own, dest == key[0], is_queue)


def _are_of_queues(x: Evidence, candidates: pa.Table) -> NDArray[np.bool_]:
    """Which candidates are instances of a queue: rules 4 and 14 see no others."""
    kinds = dict(zip(*(x.plans[n].to_pylist() for n in (c.PLAN_ID, c.KIND)), strict=True))
    of = candidates[c.PLAN_ID].to_pylist()
    return np.array([kinds[y] == PlanKind.QUEUE.value for y in of], dtype=np.bool_)


def _of_status(key: Key, own: NDArray[np.bool_], by: set[int | None]) -> Iterator[_Change]:
    name = f"{key[1]} to {key[0]}"

    def tier(value: int) -> Callable[[dict[str, NDArray[Any]]], None]:
        return lambda cells: cells[c.STATUS_TIER].__setitem__(own, value)

    if None in by:
        yield _Change(Cause.STATUS_KNOWN_LATE, f"{name} was not up", key, tier(_WORST))
    if by - {None}:
        yield _Change(Cause.STATUS_KNOWN_LATE, f"{name} was up", key, tier(1))


def _of_suspension(
    key: Key, host: NDArray[np.bool_], each: Sequence[set[int | None]]
) -> Iterator[_Change]:
    """A queue manager is suspended with all of its channels."""
    by = set().union(*each)

    def suspended(*, value: bool) -> Callable[[dict[str, NDArray[Any]]], None]:
        return lambda cells: cells[c.SUSPENDED].__setitem__(host, value)

    if by - {None}:
        told = f"{key[0]} was not suspended"
        yield _Change(Cause.STATUS_KNOWN_LATE, told, key, suspended(value=False))
    if None in by:
        told = f"{key[0]} was suspended"
        yield _Change(Cause.STATUS_KNOWN_LATE, told, key, suspended(value=True))


def _of_attributes(
    key: Key, own: NDArray[np.bool_], host: NDArray[np.bool_], is_queue: NDArray[np.bool_]
) -> Iterator[_Change]:
    def lift(attribute: str, at: NDArray[np.bool_], *, up: bool) -> Callable[..., None]:
        def make(cells: dict[str, NDArray[Any]]) -> None:
            cells[attribute] += 1
            cells[attribute][at] = _TOP if up else 0

        return make

    def flag(attribute: str, at: NDArray[np.bool_] | slice, value: bool) -> Callable[..., None]:  # noqa: FBT001
        return lambda cells: cells[attribute].__setitem__(at, value)

    for word, is_enabled in (("enabled", True), ("disabled", False)):
        told = f"PUT is {word} on {key[0]}"
        yield _Change(Cause.WEIGHT, told, key, flag(c.PUT_ENABLED, host, value=is_enabled))
    for attribute in _LIFTED:
        of_queue = attribute in _OF_QUEUE
        at, whose = (host & is_queue, key[0]) if of_queue else (own, f"{key[1]} to {key[0]}")
        for up in (True, False):
            told = f"{_NAMES[attribute]} {whose} is {'greater' if up else 'less'} than known"
            yield _Change(Cause.WEIGHT, told, key, lift(attribute, at, up=up))
    every = slice(None)
    yield _Change(
        Cause.WEIGHT, "CLWLUSEQ takes remote ones, too", key, flag(c.USES_LOCAL, every, value=False)
    )


def _changed(x: Evidence, changes: Sequence[_Change]) -> pa.Table:
    """The candidates once for each change, with it, one behind the other."""
    base = _asked(x.candidates)
    size = base.num_rows
    arrays = {name: np.array(base[name].to_pylist(), dtype=object) for name in _CHANGED}
    made: dict[str, list[NDArray[Any]]] = {name: [] for name in _CHANGED}
    for change in changes:
        cells = {name: values.copy() for name, values in arrays.items()}
        change.make(cells)
        for name in _CHANGED:
            made[name].append(cells[name])
    table = base.take(pa.array(np.tile(np.arange(size), len(changes))))
    for name in _CHANGED:
        values = np.concatenate(made[name]) if changes else np.empty(0, dtype=object)
        at = table.schema.get_field_index(name)
        table = table.set_column(at, name, pa.array(values.tolist(), table.schema.field(name).type))
    return table


def _asked(candidates: pa.Table) -> pa.Table:
    """Candidates that rules look at: the exit's verdict stays, others are made anew."""
    by = candidates[c.ELIMINATED_BY]
    return candidates.filter(pc.or_kleene(pc.is_null(by), pc.not_equal(by, EXIT)).fill_null(True))


def _unknown(x: Evidence) -> list[tuple[int, str, str]]:
    """(plan_id, dest_qmgr, channel) that were seen and are none of the plan's candidates."""
    names = (c.PLAN_ID, c.DEST_QMGR, c.CHANNEL)
    known = set(zip(*(x.candidates[n].to_pylist() for n in names), strict=True))
    hosts = {(plan, dest) for plan, dest, _ in known}
    plans = {plan for plan, _ in hosts}
    told = zip(*(x.puts[n].tolist() for n in (c.PLAN_ID, SEEN[1], SEEN[2])), strict=True)
    seen = {y for y in told if isinstance(y[1], str) and y[0] in plans and y[1] != x.qmgr}
    found = []
    for plan, dest, channel in sorted(seen, key=repr):
        named = channel if isinstance(channel, str) else ""
        if (plan, dest) not in hosts or (named and (plan, dest, named) not in known):
            found.append((int(plan), dest, named or f"(to {dest})"))
    return found


def _partial_text(unknown: Sequence[tuple[int, str, str]]) -> str:
    ways = sorted({f"{dest} by {channel}" for _, dest, channel in unknown})
    return f"{', '.join(ways)} can be chosen, which the lake does not know"


def _with_unknown(x: Evidence, unknown: Sequence[tuple[int, str, str]]) -> pa.Table:
    """The candidates, and each destination that was seen like the best one that is known."""
    base = _asked(x.candidates)
    by_plan: dict[int, dict[str, Any]] = {}
    for row in base.to_pylist() if unknown else ():
        best = by_plan.get(row[c.PLAN_ID])
        if not row[c.IS_LOCAL] and (best is None or row[c.ELIMINATED_BY] is None):
            by_plan[row[c.PLAN_ID]] = row
    rows = [
        {**by_plan[plan], c.DEST_QMGR: dest, c.CHANNEL: channel, c.STATUS_TIER: 1}
        for plan, dest, channel in unknown
        if plan in by_plan
    ]
    return pa.concat_tables([base, pa.Table.from_pylist(rows, base.schema)]) if rows else base


def _numbered(rows: pa.Table, x: Evidence, first: int, sets: int) -> pa.Table:
    """Rows whose plan_id tells the set, too: they come in as many sets of one size."""
    place = {plan: at for at, plan in enumerate(x.plans[c.PLAN_ID].to_pylist())}
    own = np.array([place[y] for y in rows[c.PLAN_ID].to_pylist()], dtype=np.int64)
    each = rows.num_rows // max(sets, 1)
    number = first + own + np.repeat(np.arange(sets), each) * x.plans.num_rows
    at = rows.schema.get_field_index(c.PLAN_ID)
    return rows.set_column(at, c.PLAN_ID, pa.array(number, pa.int64()))


def _survive(spark: Any, rows: pa.Table, algorithm: Algorithm) -> pa.Table:  # noqa: ANN401
    """The rows that rules leave, by plan_id."""
    frame = frame_from_arrow(spark, rows.drop_columns([c.ELIMINATED_BY]))
    names = [*ROUTE_CANDIDATES.names]
    return _survivors(to_arrow(eliminate(frame, algorithm).select(*names))).sort_by(c.PLAN_ID)


def _judged_by_other(spark: Any, evidence: Sequence[Evidence]) -> list[pa.Table]:  # noqa: ANN401
    """What the other order of the rules leaves of each queue manager's candidates."""
    sizes = np.cumsum([0, *(x.plans.num_rows for x in evidence)])
    numbers = zip(evidence, sizes.tolist(), strict=False)
    tables = [_numbered(_asked(x.candidates), x, first, 1) for x, first in numbers]
    rows = _survive(spark, pa.concat_tables(tables), _other(evidence[0].semantics.algorithm))
    return [_cut(rows, int(a), int(b - a)) for a, b in pairwise(sizes)]


def _cut(rows: pa.Table, first: int, size: int) -> pa.Table:
    """The rows of plans of some numbers, with numbers from 0 on."""
    ids = rows[c.PLAN_ID].to_numpy()
    begin, end = np.searchsorted(ids, [first, first + size])
    part = rows.slice(begin, end - begin)
    at = part.schema.get_field_index(c.PLAN_ID)
    return part.set_column(at, c.PLAN_ID, pa.array(ids[begin:end] - first, pa.int64()))
