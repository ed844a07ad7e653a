"""The table `router_memory`: what the queue managers remember after the last routed batch.

Every engine begins a batch with it and writes it after the batch's other tables, so a lake may
change its engine from batch to batch, and a lost checkpoint of Spark's is no loss. A batch that is
routed again begins with the version of the table that it began with before.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame

from clwl_spark.delta.lake import Lake
from clwl_spark.errors import LakeStateError
from clwl_spark.routing.ledger.run_record import Run
from clwl_spark.routing.state.history import VERSION as STATE_VERSION
from clwl_spark.routing.state.history import from_state, is_damaged, table_of
from clwl_spark.spark.frames import frame_from_arrow
from clwl_spark.tables import ROUTER_MEMORY
from clwl_spark.tables import columns as c

VERSION: Final = "version"
PAYLOAD: Final = "payload"
_BATCH: Final = "batch_id"
FORM: Final = 1
"""The version of a payload: one queue manager's memory as `history.to_bytes` gives it."""


def memory_frame(lake: Lake, run: Run) -> DataFrame:
    """The table before the run's batch."""
    rows = lake.rows_as_of(ROUTER_MEMORY.name, run.memory_version)
    return rows if isinstance(rows, DataFrame) else frame_from_arrow(lake.spark, rows)


def remembers_before(lake: Lake, run: Run) -> bool:
    """Whether any queue manager remembers something before the run's batch."""
    rows = lake.rows_as_of(ROUTER_MEMORY.name, run.memory_version)
    return not rows.isEmpty() if isinstance(rows, DataFrame) else rows.num_rows > 0


def memories_before(lake: Lake, run: Run) -> dict[str, bytes]:
    """What each queue manager remembers before the run's batch (`history.to_bytes`).

    Raises:
        LakeStateError: a row was written by a version of this package that is not known.
    """
    rows = lake.rows_as_of(ROUTER_MEMORY.name, run.memory_version)
    table = rows.toArrow() if isinstance(rows, DataFrame) else rows
    return memories_in(table)


def current_rows(lake: Lake) -> pa.Table:
    """The rows of the table as it is; none where it is not there.

    Raises:
        LakeStateError: a row was written by a version of this package that is not known.
    """
    table = lake.in_memory(ROUTER_MEMORY.name)
    _refuse_other_forms(table)
    return table


def damaged_memories(lake: Lake) -> dict[int, set[str]]:
    """Queue managers whose memory is not as it was written, by the batch that wrote it, in order.

    Raises:
        LakeStateError: a row was written by a version of this package that is not known.
    """
    found: dict[int, set[str]] = defaultdict(set)
    for row in current_rows(lake).to_pylist():
        if is_damaged(row[PAYLOAD]):
            found[row[_BATCH]].add(row[c.QMGR])
    return dict(sorted(found.items()))


def memories_in(table: pa.Table) -> dict[str, bytes]:
    """What rows of the table say that queue managers remember (`history.to_bytes`).

    Raises:
        LakeStateError: a row was written by a version of this package that is not known.
    """
    _refuse_other_forms(table)
    return dict(zip(table[c.QMGR].to_pylist(), table[PAYLOAD].to_pylist(), strict=True))


def _refuse_other_forms(table: pa.Table) -> None:
    other = {x for x in table[VERSION].to_pylist() if x != FORM}
    if other:
        raise LakeStateError(
            f"table {ROUTER_MEMORY.name} has rows of version {min(other)}, this package writes "
            f"{FORM}: use the package that wrote them"
        )


def memory_rows(lake: Lake, batch_id: int, memories: Mapping[str, bytes]) -> pa.Table:
    """Rows of the table, by queue manager in order."""
    return _rows(batch_id, memories).cast(lake.arrow_schema(ROUTER_MEMORY.name))


def _rows(batch_id: int, memories: Mapping[str, bytes]) -> pa.Table:
    """Rows of the table, by queue manager in order."""
    rows = [(qmgr, batch_id, FORM, memories[qmgr]) for qmgr in sorted(memories)]
    return table_of(rows, ROUTER_MEMORY.arrow(ROUTER_MEMORY.names))


def write_memories(lake: Lake, run: Run, memories: Mapping[str, bytes]) -> None:
    """Write what queue managers remember after the run's batch; done twice it changes nothing."""
    rows = memory_rows(lake, run.batch_id, memories)
    lake.merge(ROUTER_MEMORY.name, rows, run.once(ROUTER_MEMORY.name))


def unpack_memories(data: bytes) -> dict[str, bytes]:
    """The memories of a routed block of them, by queue manager."""
    return from_state("", STATE_VERSION, data)


def memory_batches(batch_id: int, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """One row per routed block of memories in, one row of the table per queue manager out."""
    for batch in batches:
        for data in batch.column(0):
            yield from _rows(batch_id, unpack_memories(data.as_py())).to_batches()
