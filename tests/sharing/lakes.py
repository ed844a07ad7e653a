"""A lake of hand-made rows."""

from lakes import lake_with
from small_worlds import tables
from worlds import put_rows

from clwl_spark.tables import SNAPSHOTS, TOPOLOGY


def lake_of(spark, folder, *definitions):
    """The topology tables with these definitions of `small_worlds`."""
    lake = lake_with(spark, folder, [x.name for x in (SNAPSHOTS, *TOPOLOGY)])
    for name, rows in tables(*definitions).items():
        if rows:
            put_rows(lake, name, rows)
    return lake
