"""A run of the lake's routing, how far it has taken the messages, and what it did."""

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from clwl_spark.algorithm.semantics import Semantics
from clwl_spark.delta.protocol import Transaction
from clwl_spark.snapshots.catalog import Pin

_FROM: Final = "-from-"
APPLY: Final = "applyInPandasWithState"
TRANSFORM: Final = "transformWithState"
_TRANSFORMS: Final = "transform-"
"""How the folder of a checkpoint begins whose state `TRANSFORM` keeps; no other one knows it."""
NOTHING: Final = -1
"""The version of `messages` up to which nothing was taken."""
UNKNOWN: Final = -2
"""Stands for the version where the table is not what was routed: keys tell what is new."""


@dataclass(frozen=True, slots=True)
class RunSummary:
    """What a run did.

    `messages` = outcomes (a DIRECT publication counted once) + `rejected`; `own_opens` = messages
    put ON_OPEN without an open_id, each an open of its own (none where these share one); `batch_id`
    is None where there was nothing to route.
    """

    run_id: str
    messages: int = 0
    outcomes: int = 0
    rejected: int = 0
    out_of_order: int = 0
    by_reason: dict[str, int] = field(default_factory=dict)
    snapshots: list[str] = field(default_factory=list)
    seconds: float = 0.0
    worker_peak_mib: float = 0.0
    batch_id: int | None = None
    engine: str = "spark"
    own_opens: int = 0

    def to_json(self) -> dict[str, Any]:
        """The document of `clwl route --json` (CONTRACT)."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Taken:
    """How far batches have taken the messages.

    Attributes:
        table_id: Delta's id of the table `messages`; '' = nothing was taken.
        version: of it, up to which all was taken; NOTHING = none, UNKNOWN = only keys tell.
    """

    table_id: str = ""
    version: int = NOTHING


@dataclass(frozen=True, slots=True)
class Run:
    """A run that has begun.

    Attributes:
        run_id: the run.
        batch_id: the micro-batch that it routes.
        pins: the valid snapshots that it uses, in order.
        semantics: the lake's.
        router_id: names what the lake's routing writes; first in it is the number of buckets.
        started_at: when it began.
        memory_version: the version of `router_memory` that the batch begins with.
        taken: what the batches before took; None = only Spark's checkpoint knows.
        upto: what is taken after it; None = not known yet.
        checkpoint: folder of Spark's stateful query; '' = there is none that knows the batches
            before.
        outcomes_version: the version of `outcomes` that the batch begins with, whose messages are
            not routed again; None = duplicates are kept.
        runs_version: the version of `runs` that it was begun with.
        is_first_here: the lake was routed by a version of this package that knew no
            `router_memory`, and not yet by one that does.
        resumed: a killed run of the same batch is gone on with.
        written: messages of the batch where all its tables were written, else None.
    """

    run_id: str
    batch_id: int
    pins: tuple[Pin, ...]
    semantics: Semantics
    router_id: str
    started_at: datetime
    memory_version: int = 0
    taken: Taken | None = Taken()
    upto: Taken | None = None
    checkpoint: str = ""
    outcomes_version: int | None = None
    runs_version: int = 0
    is_first_here: bool = False
    resumed: bool = False
    written: int | None = None

    @property
    def buckets(self) -> int:
        """In how many buckets queue managers are; 0 = each is one of its own, as it once was."""
        number, dash, _ = self.router_id.partition("-")
        return int(number) if dash else 0

    @property
    def first_batch(self) -> int:
        """The batch that the checkpoint begins with: it counts from there."""
        _, _, first = self.checkpoint.partition(_FROM)
        return int(first) if first else 0

    @property
    def planning_checkpoint(self) -> str:
        """What the checkpoint of the stream that plans is called; it begins with the other one."""
        return self.router_id + "".join(self.checkpoint.partition(_FROM)[1:])

    @property
    def operator(self) -> str:
        """Spark's operator that keeps the state of the checkpoint."""
        return TRANSFORM if self.checkpoint.startswith(_TRANSFORMS) else APPLY

    @property
    def begins_checkpoint(self) -> bool:
        """Whether the checkpoint begins with the run's batch, and that is not the first of all."""
        return bool(self.batch_id) and self.first_batch == self.batch_id

    @property
    def rejects_duplicates(self) -> bool:
        """Whether messages that batches before have routed are set aside."""
        return self.outcomes_version is not None

    def once(self, table: str) -> Transaction:
        """What makes the batch's append to a table be done once."""
        return Transaction(f"clwl-{self.router_id}-{table}", self.batch_id)

    def with_new_checkpoint(self, operator: str = APPLY) -> "Run":
        """The run with a checkpoint of an operator's that begins with its batch."""
        first = first_checkpoint(self.router_id)
        if operator == TRANSFORM:
            first = f"{_TRANSFORMS}{self.router_id}"
        behind = f"{_FROM}{self.batch_id}" if self.batch_id else ""
        return replace(self, checkpoint=f"{first}{behind}")


def first_checkpoint(router_id: str) -> str:
    """Folder of the first checkpoint, such that a package which knows no buckets has none."""
    return f"{'buckets' if '-' in router_id else 'route'}-{router_id}"
