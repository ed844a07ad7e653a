"""A what-if: the same messages routed on both sides of a change, in two lakes of their own."""

import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from clwl_spark.algorithm.semantics import NEWEST
from clwl_spark.delta.lake import Lake
from clwl_spark.errors import UsageError
from clwl_spark.logs import OnProgress
from clwl_spark.planning.plans import Ladder
from clwl_spark.routing.engines.batch import RouteOptions
from clwl_spark.routing.run import route
from clwl_spark.rules.exit import load_exit
from clwl_spark.snapshots.write import Snapshot, write_snapshot
from clwl_spark.spark.files import refuse_lasting
from clwl_spark.spark.parallel import run_whole
from clwl_spark.storage.places import is_uri
from clwl_spark.studies.new_host.run import NewHost
from clwl_spark.studies.what_if.changed import Sides, Tables
from clwl_spark.studies.what_if.lakes import SideLake
from clwl_spark.studies.what_if.moves import AFTER, BEFORE, Moves, moves
from clwl_spark.studies.what_if.new_hosts import hosts_added
from clwl_spark.tables import MESSAGES
from clwl_spark.tables.moments import EPOCH


@dataclass(frozen=True, slots=True)
class WhatIf:
    """What a change would do.

    Attributes:
        snapshot_id: the snapshot before.
        said: the change, as it was said.
        moves: what moves.
        new_hosts: what each instance that the change adds to a queue of others needs beside it.
        seconds: for all of it.
    """

    snapshot_id: str
    said: tuple[str, ...]
    moves: Moves
    new_hosts: Sequence[NewHost]
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """The document of `clwl what-if --json`."""
        return {
            "snapshot_id": self.snapshot_id,
            "changes": list(self.said),
            **self.moves.to_json(),
            "new_hosts": [x.to_json() for x in self.new_hosts],
            "seconds": self.seconds,
        }


def what_if(
    lake: Lake,
    snapshot_id: str,
    said: tuple[str, ...],
    sides: Sides,
    options: RouteOptions,
    tell: OnProgress | None = None,
) -> WhatIf:
    """Route all messages of the lake on both sides, from an empty history, and compare.

    The snapshot counts for every message, whenever it was put. Nothing of the lake changes: the
    sides are beside its checkpoints, and are taken away again.

    Args:
        lake: where the messages are.
        snapshot_id: the snapshot before, for the answer.
        said: the change, for the answer.
        sides: the topology before and after.
        options: how to route, by the lake's semantics (`routing.engines.batch.of_lake`).
        tell: told (stage, done, total).

    Raises:
        MissingLakeError: there are no messages.
        EngineError: what is written for it could not be deleted.
        UsageError: the folder of checkpoints, where it works, cannot be written.
    """
    started = time.monotonic()
    lake.expect(MESSAGES.name)
    heard = tell or (lambda _stage, _done, _total: None)
    place = f"{lake.checkpoint_root}/what-if-{uuid.uuid4().hex}"
    refuse_lasting(lake.spark, place)
    if lake.is_here and not is_uri(place):
        _make(place)
    try:
        both = ((BEFORE, sides.before, frozenset[str]()), (AFTER, sides.after, sides.down))
        done = count(1)
        heard("sides", 0, len(both))

        def routed(given: tuple[str, Tables, frozenset[str]]) -> SideLake:
            side, tables, down = given
            own = SideLake(lake.spark, f"{place}/{side}", traffic=lake, down=down)
            _route(own, tables, options)
            heard("sides", next(done), len(both))
            return own

        own = run_whole(lake.spark, routed, both)
        found = moves(*own)
    finally:
        lake.remove_folder(place)
    ladder = Ladder(options.wanted.or_those(NEWEST), load_exit(options.exit_function))
    hosts = hosts_added(lake, snapshot_id, sides, found.by_object, ladder)
    return WhatIf(snapshot_id, said, found, hosts, round(time.monotonic() - started, 3))


def _make(place: str) -> None:
    """Make the folder of both sides; they are in no way of the lake's own tables."""
    try:
        Path(place).mkdir(parents=True)
    except OSError as error:
        raise UsageError(
            f"what-if works in {Path(place).parent}, which cannot be written ({error.strerror}): "
            "name a folder that can be, with --set checkpoints=DIR"
        ) from error


def _route(side: Lake, tables: Tables, options: RouteOptions) -> None:
    """Write the side's one snapshot, and route."""
    write_snapshot(side, Snapshot("side", EPOCH, "what-if"), tables)
    route(side, options)
