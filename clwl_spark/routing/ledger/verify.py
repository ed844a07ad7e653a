"""Whether a lake's outcomes lead to what its queue managers remember."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final
from urllib.parse import unquote

import pyarrow as pa
from deltalake.exceptions import DeltaError

from clwl_spark.delta.files import transactions_of_files
from clwl_spark.delta.lake import Lake
from clwl_spark.errors import EngineError, LakeStateError
from clwl_spark.planning.facts import FACTS, read_document
from clwl_spark.routing.ledger.imported import imported_before, imported_semantics
from clwl_spark.routing.ledger.losses import BATCH, losses
from clwl_spark.routing.ledger.replayed import (
    ANSWER,
    NOT_KNOWN,
    ORDER,
    Made,
    Outcomes,
    Replayed,
    Resets,
    outcomes_of,
    replayed,
)
from clwl_spark.routing.ledger.runs import DONE, after, newest_run, run_of_batch
from clwl_spark.routing.plans.gather import InUse, gathered_here
from clwl_spark.routing.state.bound_routes import bindings_astray
from clwl_spark.routing.state.bucket_plans import read_facts
from clwl_spark.routing.state.history import Memory, from_bytes
from clwl_spark.routing.state.memory_table import current_rows, memories_before, memories_in
from clwl_spark.routing.state.resets import resets_among
from clwl_spark.snapshots.changes import neighbours
from clwl_spark.snapshots.semantics import semantics_of
from clwl_spark.tables import BALANCE_HISTORY, OUTCOMES, ROUTER_MEMORY, RUNS
from clwl_spark.tables import columns as c

_NOTHING: Final = "nothing"
_FAR: Final = "Spark's checkpoint alone has its memory, from an earlier version of this package"


@dataclass(frozen=True, slots=True)
class Difference:
    """What a queue manager remembers otherwise than its outcomes lead to.

    Attributes:
        qmgr: the queue manager; '' = not of one.
        what: is remembered.
        remembered: in words.
        replayed: what the outcomes lead to, in words.
    """

    qmgr: str
    what: str
    remembered: str
    replayed: str


@dataclass
class Verdict:
    """What verifying a lake's memory has come to.

    Attributes:
        queue_managers: that were compared.
        outcomes: that were replayed.
        bindings: that were compared with the last message of their key.
        differences: by queue manager, in order.
        untold: by queue manager, why it could not be compared.
    """

    queue_managers: int = 0
    outcomes: int = 0
    bindings: int = 0
    differences: list[Difference] = field(default_factory=list)
    untold: dict[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The document of `clwl state verify --json`, but for the lake."""
        return asdict(self)


def verify(lake: Lake) -> Verdict:
    """Replay the outcomes, and compare what they lead to with the memory.

    Args:
        lake: in folders of this machine.

    Raises:
        EngineError: the lake is elsewhere, or its tables need Spark.
        LakeStateError: a run is in hand, or tables are not of one moment.
    """
    last = newest_run(lake) if lake.exists(RUNS.name) else None
    if last is None:
        return Verdict()
    if last[c.STATUS] != DONE:
        raise LakeStateError(
            f"a run on lake {lake.root} is in hand or was killed: run clwl route, then this again"
        )
    verdict = Verdict(differences=[*_lost(lake)])
    runs = _runs_since(lake, imported_before(lake))
    outcomes = outcomes_of(_parts(lake, last, {x[BATCH] for x in runs}))
    made = _made(lake, outcomes, runs)
    before = _before(lake, runs)
    found = replayed(outcomes, made, before, _batches(lake, runs))
    known = {x: from_bytes(y, x) for x, y in memories_in(current_rows(lake)).items()}
    if any(x["memory_version"] is None for x in runs):
        found.untold |= dict.fromkeys(found.memories.keys() - known.keys(), _FAR)
    _compare(verdict, known, found, before)
    _compare_history(lake, verdict, known)
    verdict.outcomes = len(outcomes.answer)
    told = {x: y for x, y in known.items() if x not in found.untold}
    verdict.bindings, astray = bindings_astray(lake, told, outcomes, made)
    verdict.differences += [Difference(*x) for x in astray]
    verdict.differences.sort(key=lambda x: x.qmgr)
    return verdict


def _lost(lake: Lake) -> Iterator[Difference]:
    for table, batches in losses(lake).by_table().items():
        words = ", ".join(map(str, batches))
        yield Difference("", f"batches of {table}", _NOTHING, f"{words}: run clwl state repair")


def _runs_since(lake: Lake, batch_id: int) -> list[dict[str, Any]]:
    """The rows of `runs` from a batch on, in order."""
    rows = [x for x in lake.rows(RUNS.name) if x[BATCH] >= batch_id and x[c.STATUS] == DONE]
    return sorted(rows, key=lambda x: int(x[BATCH]))


def _parts(lake: Lake, last: Mapping[str, Any], batches: set[int]) -> list[tuple[int, pa.Table]]:
    """The outcomes of each file, with its batch; without those of other batches than these."""
    found = lake.dataset(OUTCOMES.name)
    if found is None:
        raise EngineError(
            f"the outcomes of lake {lake.root} can only be read by Spark, which cannot replay "
            "them: copy the lake to a folder of this machine"
        )
    application = after(last).once(OUTCOMES.name).application
    batch_of = transactions_of_files(lake.path(OUTCOMES.name), application)
    columns = list(dict.fromkeys([*ANSWER, *ORDER]))
    parts = [(NOT_KNOWN, lake.arrow_schema(OUTCOMES.name).empty_table().select(columns))]
    for fragment in found.get_fragments():
        batch = batch_of.get(unquote(fragment.path), NOT_KNOWN)
        if batch in batches or batch == NOT_KNOWN:
            rows = fragment.to_table(schema=found.schema, columns=columns)
            parts.append((batch, rows.cast(parts[0][1].schema)))
    return parts


def _made(lake: Lake, outcomes: Outcomes, runs: Sequence[Mapping[str, Any]]) -> Made:
    """What the outcomes' answers say, by the plans that the lake has."""
    used = {x for row in runs for x in row["snapshots"]}
    order = [x for x in _by_validity(lake) if x in used]
    snapshots = [*order, *sorted(used.difference(order))]
    ids = frozenset(outcomes.answers[c.PLAN_ID].to_pylist())
    gathered = gathered_here(lake, InUse(snapshots, ids, semantics_of(lake).by_factor), most=None)
    if gathered is None:
        raise EngineError(f"the plans of lake {lake.root} cannot be read here: give --engine spark")
    facts: Any = gathered.facts
    rows = zip(*(facts[x].to_pylist() for x in (c.QMGR, FACTS)), strict=True)
    documents = {qmgr: read_document(text) for qmgr, text in rows}
    return Made(outcomes.answers, read_facts(documents, snapshots), snapshots)


def _by_validity(lake: Lake) -> list[str]:
    """All snapshots in the order of C1."""
    rows = [x for x in lake.rows("snapshots") if x[c.VALID_FROM] is not None]
    rows.sort(key=lambda x: (x[c.VALID_FROM], x[c.SNAPSHOT_ID].encode()))
    return [x[c.SNAPSHOT_ID] for x in rows]


def _before(lake: Lake, runs: Sequence[Mapping[str, Any]]) -> dict[str, Memory]:
    """What was remembered before the first of the batches: nothing, unless it was imported.

    Raises:
        LakeStateError: what was imported is not there any more.
    """
    if imported_semantics(lake) is None or not runs:
        return {}
    try:
        found = memories_before(lake, run_of_batch(lake, runs[0][BATCH]))
    except (EngineError, DeltaError, OSError, pa.ArrowException) as error:
        raise LakeStateError(
            f"files of the memory that was imported into lake {lake.root} are gone from table "
            f"{ROUTER_MEMORY.name}: its outcomes cannot be replayed; restore them"
        ) from error
    return {x: from_bytes(y, x) for x, y in found.items()}


def _batches(lake: Lake, runs: Sequence[Mapping[str, Any]]) -> dict[int, Resets]:
    """What each batch knew of the snapshots."""
    lists = {tuple(x["snapshots"]) for x in runs}
    known = {x: Resets(x, resets_among(lake, neighbours(x))) for x in lists}
    return {x[BATCH]: known[tuple(x["snapshots"])] for x in runs}


def _compare(
    verdict: Verdict,
    known: Mapping[str, Memory],
    found: Replayed,
    before: Mapping[str, Memory],
) -> None:
    """Add what memories differ in, but for bindings."""
    verdict.untold = dict(sorted(found.untold.items()))
    for qmgr in sorted((known.keys() | found.memories.keys()) - found.untold.keys()):
        verdict.queue_managers += 1
        memory = found.memories.get(qmgr, before.get(qmgr, Memory()))
        differ = _differences(known.get(qmgr, Memory()), memory)
        verdict.differences += [Difference(qmgr, *x) for x in differ]


def _differences(known: Memory, found: Memory) -> Iterator[tuple[str, str, str]]:
    """What two memories of a queue manager differ in, but for bindings."""
    for name in ("counter", "highest_put_seq"):
        yield from _unequal(name, getattr(known, name), getattr(found, name))
    for name in sorted(known.brought ^ found.brought):
        words = ("brought", _NOTHING)
        yield (f"reset of {name}", *(words if name in known.brought else words[::-1]))
    yield from _of_balance("", known.balance, found.balance)


Balance = Mapping[tuple[str, str], tuple[int, int]]


def _of_balance(lead: str, known: Balance, found: Balance) -> Iterator[tuple[str, str, str]]:
    """The channels that two histories differ in."""
    for channel in sorted(known.keys() | found.keys()):
        ends = [x.get(channel, (0, 0)) for x in (known, found)]
        if ends[0] != ends[1]:
            words = (f"number {number}, factor {factor}" for number, factor in ends)
            yield (f"{lead}channel {channel[1]} to {channel[0]}", *words)  # type: ignore[misc]


def _unequal(what: str, known: int, found: int) -> Iterator[tuple[str, str, str]]:
    if known != found:
        yield what, str(known), str(found)


def _compare_history(lake: Lake, verdict: Verdict, known: Mapping[str, Memory]) -> None:
    """Add what `balance_history` has otherwise than the memory."""
    rows: dict[str, dict[tuple[str, str], tuple[int, int]]] = {}
    for row in lake.read_or_empty(BALANCE_HISTORY.name).toArrow().to_pylist():
        qmgr, to, channel, number, factor = (row[x] for x in BALANCE_HISTORY.names)
        rows.setdefault(qmgr, {})[to, channel] = (number, factor)
    for qmgr, memory in known.items():
        chosen = {x: y for x, y in memory.balance.items() if y[0] > 0}
        differ = _of_balance(f"{BALANCE_HISTORY.name}: ", rows.get(qmgr, {}), chosen)
        verdict.differences += [Difference(qmgr, *x) for x in differ]
