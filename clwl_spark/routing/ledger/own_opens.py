"""What a reader may not expect of ON_OPEN, in a sentence."""

from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.tables import RUNS


def own_opens(lake: Lake) -> int:
    """Messages put ON_OPEN without an open_id that runs took as opens of their own."""
    ((count,),) = lake.read_or_empty(RUNS.name).agg(F.sum("own_opens")).collect()
    return count or 0


def own_opens_told(count: int) -> list[str]:
    """What they come to, and what to do where applications keep handles; [] = there are none."""
    if not count:
        return []
    told = (
        f"put ON_OPEN without an open_id: {count:,}, each taken as an open of its own; "
        "where applications keep a handle open, give its messages one open_id, or route into a new "
        "lake with --null-open-id shared"
    )
    return [told]
