"""What a local session's Python workers are forked from: it has their libraries already.

Spark's own imports none of them, so that each worker does, for a second; and it looks through all
of them for garbage after each task. Source: `pyspark.daemon`, whose work this leaves to it.
"""

import gc
import importlib

from pyspark.daemon import manager

_OF_WORKERS = ("pandas", "pyarrow", "pyspark.worker", "clwl_spark.routing.engines.arrow")

if __name__ == "__main__":
    for name in _OF_WORKERS:
        importlib.import_module(name)
    gc.freeze()
    manager()
