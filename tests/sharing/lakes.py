"""A lake of hand-made rows."""

from small_worlds import tables
from worlds import frame

from clwl_spark.schemas import SNAPSHOTS, TOPOLOGY
from clwl_spark.storage import Lake


def lake_of(spark, folder, *definitions):
    """The topology tables with these definitions of `small_worlds`."""
    lake = Lake(spark, str(folder))
    lake.create((SNAPSHOTS, *TOPOLOGY))
    for name, rows in tables(*definitions).items():
        if rows:
            lake.append(name, frame(spark, name, rows))
    return lake
