"""Which of some messages earlier batches have routed: looked up in the lake's outcomes.

They are read as of the version that the batch began with: what a killed batch has written of
itself was not routed before it.
"""

from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from deltalake.exceptions import DeltaError
from pyarrow.dataset import Dataset
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.errors import EngineError, LakeStateError
from clwl_spark.routing.intake.duplicates import IS_TWICE, KEY
from clwl_spark.routing.ledger.run_record import Run
from clwl_spark.spark.frames import frame_from_arrow
from clwl_spark.tables import OUTCOMES
from clwl_spark.tables import columns as c

_KEYS: Final = pa.schema(
    [(c.QMGR, pa.string()), (c.PUT_SEQ, pa.int64()), (c.MESSAGE_ID, pa.binary())]
)


def routed_before(lake: Lake, run: Run, asked: pa.Table) -> pa.Table:
    """(KEY) The keys among those asked for that batches before the run's have routed, each once.

    Args:
        lake: whose outcomes they are in.
        run: that sets duplicates aside.
        asked: rows of `duplicates.ASKED`; those that are twice in the batch are not looked for.

    Raises:
        LakeStateError: the outcomes before the batch cannot be read any more.
    """
    keys = asked.filter(pc.invert(asked[IS_TWICE])).select(KEY).group_by([*KEY]).aggregate([])
    keys = keys.cast(_KEYS)
    if not keys.num_rows:
        return keys
    here = lake.dataset(OUTCOMES.name, version=run.outcomes_version)
    try:
        found = _by_spark(lake, run, keys) if here is None else _among(here, keys)
    except (EngineError, DeltaError, PySparkException, OSError, pa.ArrowException) as error:
        raise LakeStateError(
            f"which messages of lake {lake.root} were routed before batch {run.batch_id} says "
            f"version {run.outcomes_version} of table outcomes, which cannot be read any more: "
            "restore its files, or give --duplicates keep for a new batch"
        ) from error
    return keys.join(found, [*KEY], join_type="left semi").select(KEY)


def _among(outcomes: Dataset, keys: pa.Table) -> pa.Table:
    """Keys of outcomes, as far as they may be among some; files are passed over by put_seq."""
    span = pc.min_max(keys[c.PUT_SEQ])
    low, high = span["min"].as_py(), span["max"].as_py()
    seq = pc.field(c.PUT_SEQ)
    wanted = (seq >= low) & (seq <= high) & seq.isin(pc.unique(keys[c.PUT_SEQ]))
    return _plain(outcomes.to_table([*KEY], filter=wanted))


def _by_spark(lake: Lake, run: Run, keys: pa.Table) -> pa.Table:
    """As `_among`, of outcomes that only Spark can read."""
    rows = lake.rows_as_of(OUTCOMES.name, run.outcomes_version or 0)
    if not isinstance(rows, DataFrame):
        return _plain(rows.select(KEY))
    span = pc.min_max(keys[c.PUT_SEQ])
    between = F.col(c.PUT_SEQ).between(span["min"].as_py(), span["max"].as_py())
    wanted = F.broadcast(frame_from_arrow(lake.spark, keys.select([c.QMGR, c.PUT_SEQ])))
    found = rows.where(between).select(*KEY).join(wanted, [c.QMGR, c.PUT_SEQ], "left_semi")
    return _plain(found.toArrow())


def _plain(keys: pa.Table) -> pa.Table:
    """Keys whose message ids can be compared: none is an empty one."""
    columns = {x: keys[x].cast(_KEYS.field(x).type) for x in KEY}
    return pa.table(columns | {c.MESSAGE_ID: pc.fill_null(columns[c.MESSAGE_ID], b"")})
