"""The memory of a lake's queue managers in a Parquet file, on its way to another lake."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from clwl_spark.algorithm.semantics import ANY, NEWEST, Semantics, Wanted
from clwl_spark.delta.lake import Lake
from clwl_spark.errors import InputError, LakeStateError, UsageError
from clwl_spark.routing.ledger.imported import imported_semantics, mark_imported
from clwl_spark.routing.ledger.losses import NO_BATCH, refuse_losses, remembered_batch
from clwl_spark.routing.ledger.one_runner import one_runner
from clwl_spark.routing.ledger.runs import RUNNING, after, newest_run, without_checkpoint
from clwl_spark.routing.run import WRITTEN
from clwl_spark.routing.state.history import chosen_channels, from_bytes, history_table
from clwl_spark.routing.state.memory_table import current_rows, memories_in, memory_rows
from clwl_spark.snapshots.semantics import semantics_in
from clwl_spark.tables import BALANCE_HISTORY, ROUTER_MEMORY, RUNS
from clwl_spark.tables import columns as c

_META: Final = b"clwl_state"
_FORMAT: Final = 1


@dataclass(frozen=True, slots=True)
class Moved:
    """What was exported or imported.

    Attributes:
        file: path.
        algorithm: that the memory is of.
        edition: of SEMANTICS, the same.
        queue_managers: in the file.
        replaced: queue managers whose memory was given up; they may be in the file, too.
        null_open_id: of the memory, too; None = own.
    """

    file: str
    algorithm: str
    edition: int
    queue_managers: int
    replaced: int = 0
    null_open_id: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The document of `clwl state export|import --json`, but for the lake."""
        return {name: x for name, x in asdict(self).items() if x is not None}


def export_memory(lake: Lake, file: Path) -> Moved:
    """Write the memory after the last routed batch to a file.

    Args:
        lake: that was routed.
        file: is replaced if it is there.

    Raises:
        LakeStateError: nothing is remembered, tables have lost a batch, or a run is in hand.
        UsageError: the file cannot be written.
    """
    rows = current_rows(lake)
    last = newest_run(lake) if lake.exists(RUNS.name) else None
    if rows.num_rows == 0 or last is None:
        raise LakeStateError(f"lake {lake.root} remembers nothing: run clwl route first")
    _refuse_run_in_hand(lake, last)
    refuse_losses(lake)
    run = after(last)
    said = {"format": _FORMAT, **run.semantics.to_json(), "buckets": run.buckets}
    try:
        pq.write_table(rows.replace_schema_metadata({_META: json.dumps(said)}), file)
    except OSError as error:
        raise UsageError(f"{file} cannot be written ({error.strerror}): name another") from error
    return Moved(str(file), **run.semantics.to_json(), queue_managers=rows.num_rows)


def import_memory(lake: Lake, file: Path, *, replace: bool, wanted: Wanted = ANY) -> Moved:
    """Let the lake's next batch begin with the memory of a file.

    Args:
        lake: that was never routed, unless it is to be replaced.
        file: that `export_memory` wrote.
        replace: give up what the lake remembers.
        wanted: what a lake that was never routed is going to be routed with.

    Raises:
        InputError: the file is none of `export_memory`, or of another version of the package.
        LakeStateError: the lake remembers already, is of other semantics, or a run is in hand.
    """
    table, said = _read(file)
    memories = memories_in(table)
    lake.create(WRITTEN)
    with one_runner(lake):
        given = semantics_in(said)
        replaced = _import(lake, memories, given, wanted, replace=replace)
    return Moved(str(file), **given.to_json(), queue_managers=len(memories), replaced=replaced)


def _import(
    lake: Lake,
    memories: dict[str, bytes],
    given: Semantics,
    wanted: Wanted,
    *,
    replace: bool,
) -> int:
    """Write what queue managers remember, and return how many remembered something before."""
    last, before = newest_run(lake), memories_in(current_rows(lake))
    _refuse_other_semantics(lake, last, given, wanted)
    if not replace:
        _refuse_known(lake, last, before)
    batch_id = NO_BATCH
    if last is not None:
        _refuse_run_in_hand(lake, last)
        refuse_losses(lake)
        batch_id = remembered_batch(lake)
        without_checkpoint(lake, last)
    _replace(lake, ROUTER_MEMORY.name, memory_rows(lake, batch_id, memories), before)
    _replace(lake, BALANCE_HISTORY.name, history_of(lake, memories), before)
    mark_imported(lake, given, batch_id + 1)
    return len(before)


def history_of(lake: Lake, memories: dict[str, bytes]) -> pa.Table:
    """Rows of `balance_history` that memories say."""
    columns = lake.arrow_schema(BALANCE_HISTORY.name)
    chosen = [history_table(x, chosen_channels(from_bytes(y, x))) for x, y in memories.items()]
    return pa.concat_tables([columns.empty_table(), *(x.cast(columns) for x in chosen)])


def _replace(lake: Lake, table: str, rows: pa.Table, before: dict[str, bytes]) -> None:
    """Give up what queue managers remembered, and write what they remember instead."""
    qmgrs = {*before, *rows[c.QMGR].to_pylist()}
    if before:
        lake.replace(table, rows, c.QMGR, qmgrs)
    elif rows.num_rows:
        lake.merge(table, rows)


def _read(file: Path) -> tuple[pa.Table, dict[str, Any]]:
    """The rows of a file, and what it says of them.

    Raises:
        InputError: it is none of `export_memory`, or of another version of the package.
    """
    try:
        table = pq.read_table(file)
        said = json.loads((table.schema.metadata or {})[_META])
    except (OSError, pa.ArrowException, KeyError, ValueError) as error:
        raise _no_memory(file) from error
    if said.get("format") != _FORMAT:
        raise InputError(
            f"{file} has format {said.get('format')}, this package reads {_FORMAT}: use the "
            "package that wrote it"
        )
    if table.num_rows == 0:
        raise _no_memory(file)
    return table, said


def _no_memory(file: Path) -> InputError:
    return InputError(f"{file} is no memory of a lake: make one with `clwl state export`")


def _refuse_other_semantics(
    lake: Lake, last: dict[str, Any] | None, given: Semantics, wanted: Wanted
) -> None:
    known = semantics_in(last) if last is not None else imported_semantics(lake)
    if known is None:
        # What is imported is written down in folders alone: elsewhere the first run's words hold.
        known = wanted.or_those(given if lake.is_here else NEWEST)
    if known != given:
        raise LakeStateError(
            f"lake {lake.root} is of {known}, the memory is of {given}: import it into another lake"
        )


def _refuse_known(lake: Lake, last: dict[str, Any] | None, before: dict[str, bytes]) -> None:
    if last is not None or before:
        raise LakeStateError(
            f"lake {lake.root} remembers {len(before)} queue managers already: give --replace to "
            "give that up, or import into a lake that was never routed"
        )


def _refuse_run_in_hand(lake: Lake, last: dict[str, Any]) -> None:
    if last[c.STATUS] == RUNNING:
        raise LakeStateError(
            f"a run on lake {lake.root} is in hand or was killed: run clwl route, then this again"
        )
