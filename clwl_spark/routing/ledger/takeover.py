"""Lakes of earlier versions of this package, whose memory was in Spark's checkpoint alone."""

from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.errors import LakeStateError
from clwl_spark.routing.ledger.run_record import Run
from clwl_spark.routing.state.history import from_state
from clwl_spark.routing.state.memory_table import PAYLOAD, VERSION, memory_rows
from clwl_spark.spark.files import without_patterns
from clwl_spark.tables import ROUTER_MEMORY


def take_over(lake: Lake, run: Run) -> None:
    """Write what the states of the run's checkpoint have into `router_memory`.

    Args:
        lake: the lake; its session is one of Apache Spark.
        run: the first one of this version.

    Raises:
        LakeStateError: the states cannot be read.
    """
    place = f"{lake.checkpoint_root}/{run.checkpoint}"
    # Asking for streams starts what gives states out.
    _ = lake.spark.streams.active
    try:
        states = lake.spark.read.format("statestore").load(without_patterns(place))
        key = F.col("key").getField(states.select("key.*").columns[0])
        state = F.col("value.groupState")
        rows = states.select(key, state.getField(VERSION), state.getField(PAYLOAD)).collect()
    except (AnalysisException, PySparkException) as error:
        raise LakeStateError(
            f"what the queue managers of lake {lake.root} remember is in checkpoint {place}, which "
            f"cannot be read: restore it, or route into another lake ({error.getCondition()})"
        ) from error
    memories = {x: y for row in rows for x, y in from_state(*row).items()}
    lake.merge(ROUTER_MEMORY.name, memory_rows(lake, run.batch_id - 1, memories))
