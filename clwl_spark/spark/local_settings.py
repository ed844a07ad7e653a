"""Spark's settings for a session that is started here."""

from collections.abc import Mapping
from typing import Final

from clwl_spark.spark.conf import MOMENTS_AS_NUMBERS

SHARED_SETTINGS: Final[Mapping[str, str]] = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.sql.session.timeZone": "UTC",
    **MOMENTS_AS_NUMBERS,
}
INTERPRETED: Final = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
}
"""For few rows, compiling Spark's plans takes longer than interpreting them."""

LAPTOP_SETTINGS: Final[Mapping[str, str]] = {
    "spark.master": "local[*]",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.buffer.pageSize": "4m",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "50000",
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "4",
    "spark.databricks.delta.snapshotPartitions": "2",
    "spark.sql.codegen.cache.maxEntries": "1000",
}
"""Defaults on one machine, where a small query's time is mostly overhead.

Without unix sockets each job waits some 50 ms for acknowledgements between Java and Python, and
with debugging every column is looked up in Python's stack (measured: `collect` of one row 94 ms,
so 41 ms; a column 2.5 ms, so 0.8 ms). Each sort, aggregation and broadcast takes pages, 64 MB each
by default, which Java has to clear and collect (4 of 89 s for 10 million messages). Spark keeps
100 compiled classes, fewer than one planning of many requests needs: a session that plans 29,500
requests again took 14 s for it, and with more of them kept 10.
"""

SMALL_WORK: Final = {
    "spark.driver.memory": "2g",
    "spark.driver.extraJavaOptions": (
        "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"
    ),
    "spark.buffer.pageSize": "1m",
    **INTERPRETED,
}
"""A session for few rows: neither Java's second compiler nor Spark's code generation pays.

Each broadcast and each sort, of however few rows, takes a page of its own, 64 MB by default; and
the first compiler alone keeps its code in 48 MB, of which Spark's planning needs more.
"""

ROWS_BEYOND_JAVA: Final = {
    "spark.driver.extraJavaOptions": (
        "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseParallelGC"
    )
}
"""A session for rows that Python reads: what Java does is planning, which its second compiler only
delays (10 million messages with engine arrow: 48.7 s, so 42.7 s)."""

QUIET_LOG: Final = """\
status = error
rootLogger.level = error
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n%ex
logger.gateway.name = org.apache.spark.api.python.PythonGatewayServer
logger.gateway.level = error
logger.batch.name = org.apache.spark.sql.execution.streaming.runtime.MicroBatchExecution
logger.batch.level = fatal
logger.executor.name = org.apache.spark.executor.Executor
logger.executor.level = fatal
logger.tasks.name = org.apache.spark.scheduler.TaskSetManager
logger.tasks.level = fatal
logger.listeners.name = org.apache.spark.TaskContextImpl
logger.listeners.level = fatal
"""
"""A task's error, and a stream's, is told where its end is awaited: the exception holds it. A batch
that asks for plans, or for what is known of duplicates, ends with one and is tried again."""
