"""What worker processes of engine embedded do: pack messages, route buckets, write outcomes.

Between the steps blocks wait in files of the run's temporary folder; what goes from process to
process says where. The blocks, the choice and the writer are those of the other engines.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from io import BufferedWriter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from clwl_spark.algorithm.request import Request
from clwl_spark.delta.commits import DataFile
from clwl_spark.errors import LakeStateError
from clwl_spark.routing.engines.arrow import ArrowEngine
from clwl_spark.routing.intake.blocks import (
    BUCKET,
    KEYS,
    KIND,
    KIND_MESSAGES,
    KIND_REJECTS,
    MESSAGES,
    PAYLOAD,
    REJECT,
    SPLIT,
    apart,
    from_ipc,
    gathered,
    message_blocks,
    peak_mib,
)
from clwl_spark.routing.intake.by_arrow import SPLIT_ROW, keys_of, rejected_rows
from clwl_spark.routing.intake.requests import NO_ERROR, Requests
from clwl_spark.routing.intake.splits import Split
from clwl_spark.routing.output.outcome_files import answered, write_file
from clwl_spark.routing.output.routed import (
    KIND_ASKED,
    KIND_HISTORY,
    KIND_MISSING,
    KIND_OUTCOMES,
    RoutedBlock,
)
from clwl_spark.routing.output.unpack import ANSWERS, DATA, missing_plan_ids
from clwl_spark.routing.state.bindings import BindingRules
from clwl_spark.routing.state.bucket import Bucket
from clwl_spark.snapshots.catalog import Pin
from clwl_spark.tables import columns as c


@dataclass(frozen=True, slots=True)
class Stored:
    """Bytes of several names, one behind the other in a file.

    Attributes:
        file: path.
        at: byte where they begin.
        sizes: of each name's, in order.
    """

    file: str
    at: int
    sizes: tuple[tuple[str, int], ...]

    def read(self) -> dict[str, bytes]:
        """The bytes by name."""
        with Path(self.file).open("rb") as file:
            file.seek(self.at)
            return {name: file.read(size) for name, size in self.sizes}


@dataclass(frozen=True, slots=True)
class WaitingBlock:
    """Messages of one bucket and split that wait for their turn."""

    bucket: str
    split: str
    messages: int
    stored: Stored


@dataclass(frozen=True, slots=True)
class PackTask:
    """Splits to pack.

    Attributes:
        splits: of files of `messages`.
        packing: name of what the task is a part of: a process says what it meets in it once.
        pins: the run's snapshots.
        buckets: that queue managers are in.
        skipped: queue managers whose messages are left out.
        file: where blocks wait; no other task has it.
    """

    splits: tuple[Split, ...]
    packing: str
    pins: tuple[Pin, ...]
    buckets: int
    skipped: frozenset[str]
    file: str


@dataclass(slots=True)
class Packed:
    """What a `PackTask` found.

    Attributes:
        blocks: of the messages that can be routed.
        requests: with their plan_ids, those that the process has not met in this packing before.
        rejected: (rejected,) messages with the reason, by table; few or in memory all the same.
        peak_mib: of the process.
    """

    blocks: list[WaitingBlock] = field(default_factory=list)
    requests: list[tuple[int, Request]] = field(default_factory=list)
    rejected: list[pa.Table] = field(default_factory=list)
    peak_mib: float = 0.0


@dataclass(slots=True)
class _Met:
    """What this process has met in a packing.

    Attributes:
        requests: judged once, however many tasks have them.
        looked_at: so many of them were looked at.
        unsaid: (unsaid,) the numbers of those among them that no message needed yet.
    """

    requests: Requests
    looked_at: int = 0
    unsaid: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def new(self, plan_ids: NDArray[np.int64]) -> list[tuple[int, Request]]:
        """The requests of some plans that were not said before, with their plan_ids."""
        known = self.requests
        numbers = np.concatenate([self.unsaid, np.arange(self.looked_at, len(known.plan_ids))])
        is_new = np.isin(known.plan_ids[numbers], plan_ids) & (known.errors[numbers] == NO_ERROR)
        self.looked_at, self.unsaid = len(known.plan_ids), numbers[~is_new]
        return known.with_ids(numbers[is_new])


@lru_cache(maxsize=1)
def _met_in(_packing: str, pins: tuple[Pin, ...]) -> _Met:
    return _Met(Requests.under(pins))


def pack(task: PackTask) -> Packed:
    """Put the messages of splits into blocks."""
    packed = Packed()
    known = _met_in(task.packing, task.pins)
    met: set[str] = set()
    with Path(task.file).open("wb") as file:
        for split in task.splits:
            for table in gathered(_keys_without(split, known.requests, task.skipped), task.buckets):
                routable, rejected = apart(table)
                packed.requests += known.new(pc.unique(routable[c.PLAN_ID]).to_numpy())
                rows = message_blocks(routable, task.buckets, met, [SPLIT_ROW], split.name)
                packed.blocks += (
                    _waiting(x, file, task.file) for x in rows if x[KIND] == KIND_MESSAGES
                )
                if rejected.num_rows:
                    rows_of = rejected[SPLIT_ROW].to_numpy()
                    packed.rejected.append(rejected_rows(split, rows_of, rejected[REJECT]))
    packed.peak_mib = peak_mib()
    return packed


def _waiting(block: Mapping[str, Any], file: BufferedWriter, name: str) -> WaitingBlock:
    """Put a block aside."""
    stored = _store(file, name, {x: block[x] for x in (KEYS, PAYLOAD)})
    return WaitingBlock(block[BUCKET], block[SPLIT], block[MESSAGES], stored)


def _keys_without(split: Split, requests: Requests, skipped: frozenset[str]) -> Iterator[pa.Table]:
    """`keys_of` without the messages of some queue managers."""
    names = pa.array(sorted(skipped), pa.string())
    for table in keys_of(split, requests):
        if skipped:
            is_in = pc.is_in(table[c.QMGR].cast(pa.string()), names)
            yield table.filter(pc.invert(is_in))
        else:
            yield table


def _store(file: BufferedWriter, name: str, parts: Mapping[str, Any]) -> Stored:
    stored = Stored(name, file.tell(), tuple((x, len(y)) for x, y in parts.items()))
    file.writelines(parts.values())
    return stored


@dataclass(frozen=True, slots=True)
class BucketTask:
    """A bucket to route.

    Attributes:
        bucket: its name.
        blocks: of its messages.
        facts: documents of `planning.facts`, by queue manager with messages.
        memories: of its queue managers before the batch (`history.to_bytes`).
        told: what `duplicates.Duplicates` is told; None = duplicates are kept.
    """

    bucket: str
    blocks: tuple[WaitingBlock, ...]
    facts: dict[str, str]
    memories: dict[str, bytes]
    told: dict[str, bytes] | None

    @property
    def messages(self) -> int:
        """How many it has to route."""
        return sum(x.messages for x in self.blocks)


@dataclass(frozen=True, slots=True)
class RouteTask:
    """Buckets to route.

    Attributes:
        buckets: they.
        pins: all valid snapshots, in order.
        binding: what messages are bound by.
        memory_mib: what one bucket's messages may take.
        file: where answers wait; no other task has it.
        message_exit: `module:function` that is asked for each message; blank = none.
    """

    buckets: tuple[BucketTask, ...]
    pins: tuple[Pin, ...]
    binding: BindingRules
    memory_mib: int
    file: str
    message_exit: str = ""


@dataclass(slots=True)
class Routed:
    """What a `RouteTask` came to.

    Attributes:
        blocks: answered, by split.
        figures: of each block (`routed.Pieces.routed`).
        history: of the buckets (`history.history_table`).
        memories: after the batch, by queue manager that had messages.
        duplicates: by split, rows of it (`split_row`) that are set aside.
        asked: keys (`duplicates.ASKED`) by bucket that cannot be routed without knowing of them;
            nothing else is said of it.
        peak_mib: of the process.
    """

    blocks: dict[str, list[Stored]] = field(default_factory=dict)
    figures: list[str] = field(default_factory=list)
    history: list[pa.Table] = field(default_factory=list)
    memories: dict[str, bytes] = field(default_factory=dict)
    duplicates: dict[str, list[pa.Table]] = field(default_factory=dict)
    asked: dict[str, list[pa.Table]] = field(default_factory=dict)
    peak_mib: float = 0.0

    def add(self, other: "Routed") -> None:
        """Take over what another bucket came to."""
        for mine, its in ((self.blocks, other.blocks), (self.duplicates, other.duplicates)):
            for split, found in its.items():
                mine.setdefault(split, []).extend(found)
        self.figures += other.figures
        self.history += other.history
        self.memories |= other.memories


def route(task: RouteTask) -> Routed:
    """Route buckets, each in the order of its queue managers' put_seq.

    Raises:
        LakeStateError: a plan is not there.
    """
    routed = Routed()
    with Path(task.file).open("wb") as file:
        for bucket in task.buckets:
            _route_bucket(bucket, task, routed, file)
    routed.peak_mib = peak_mib()
    return routed


def _route_bucket(one: BucketTask, task: RouteTask, routed: Routed, file: BufferedWriter) -> None:
    memories = dict(one.memories)
    how = (task.binding, task.memory_mib, ArrowEngine.form, task.message_exit)
    bucket = Bucket(memories, task.pins, *how)
    for waiting in one.blocks:
        parts = waiting.stored.read()
        bucket.add(parts[KEYS], parts[PAYLOAD], waiting.split)
    found = Routed()
    asked: list[pa.Table] = []
    for block in bucket.route(one.facts, one.told):
        if block.kind == KIND_MISSING:
            ids = missing_plan_ids(block.data)
            raise LakeStateError(f"{len(ids)} plans are missing, of them {ids[:3]}: report it")
        if block.kind == KIND_ASKED:
            asked.append(from_ipc(block.data))
        else:
            _take(block, found, file, task.file)
    if asked:
        routed.asked[one.bucket] = asked
        return
    found.memories = {x: memories[x] for x in bucket.routed}
    routed.add(found)


def _take(block: RoutedBlock, found: Routed, file: BufferedWriter, name: str) -> None:
    """Take what is said of a block, or of a bucket's history."""
    if block.kind == KIND_OUTCOMES:
        parts = {DATA: block.data, ANSWERS: block.answers, PAYLOAD: block.payload}
        found.blocks.setdefault(block.split, []).append(_store(file, name, parts))
        found.figures.append(block.figures)
    elif block.kind == KIND_REJECTS:
        found.duplicates.setdefault(block.split, []).append(from_ipc(block.payload))
    elif block.kind == KIND_HISTORY:
        found.history.append(from_ipc(block.data))


@dataclass(frozen=True, slots=True)
class WriteTask:
    """A file of outcomes to write.

    Attributes:
        splits: whose outcomes it gets, with their blocks, in order.
        folder: of table `outcomes`.
        name: of the file.
    """

    splits: tuple[tuple[str, tuple[Stored, ...]], ...]
    folder: str
    name: str


def write(task: WriteTask) -> DataFile:
    """Write outcomes in the order of their splits, into a file that is not yet of the table."""
    parts: Iterable[tuple[Split, Sequence[Stored]]] = (
        (Split.named(name), blocks) for name, blocks in task.splits
    )
    found = ((split, answered(split, [x.read() for x in blocks])) for split, blocks in parts)
    return write_file(found, task.folder, task.name)
