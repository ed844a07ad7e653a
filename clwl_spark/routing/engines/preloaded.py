"""What the process loads that workers are forked from: the tasks, and the compiled kernel.

Importing it is all that is wanted of it.
"""

from clwl_spark.algorithm import choose
from clwl_spark.routing.engines import tasks

__all__ = ["tasks"]

choose.load()
