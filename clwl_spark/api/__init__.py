"""The Python API: a lake in a notebook or a script, with the commands as methods.

import clwl_spark as cw

lake = cw.lake("build/demo-lake")
lake.explain("SHOP1", "PARCEL.IN").candidates
lake.what_if("STOP CHANNEL(FREIGHT.DEPOT1) ON SHOP1").by_channel
"""

from clwl_spark.api.open_lake import OpenLake
from clwl_spark.api.opening import lake

__all__ = ["OpenLake", "lake"]
