"""Where a Spark session comes from: the one that is there, or a local one that needs no set-up.

A session that somebody else made (a notebook, a cluster's job) is used as it is and left running.
"""

import atexit
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pyspark
from py4j.protocol import Py4JJavaError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from clwl_spark.errors import SetupError
from clwl_spark.spark.conf import with_settings
from clwl_spark.spark.embedded import CONNECT_MODE
from clwl_spark.spark.java_names import remember_java_names
from clwl_spark.spark.local_settings import (
    INTERPRETED,
    LAPTOP_SETTINGS,
    QUIET_LOG,
    SHARED_SETTINGS,
)
from clwl_spark.spark.runtime import cache_folder
from clwl_spark.spark.runtime.classes import archive_options
from clwl_spark.spark.runtime.jars import delta_jars
from clwl_spark.spark.runtime.java import java_home
from clwl_spark.spark.temporary import TemporaryFolder


@contextmanager
def interpreting(spark: SparkSession) -> Iterator[None]:
    """For the block, do not compile plans; for many questions about few rows."""
    with with_settings(spark, INTERPRETED):
        yield


MOST_MEMORY_GIGABYTES: Final = 6

_JAVA_OPTIONS: Final = "spark.driver.extraJavaOptions"
_WORKERS_OF: Final = "spark.python.daemon.module"
_WORKERS: Final = "clwl_spark.routing.engines.python_workers"
_CLASS_PATH: Final = "spark.driver.extraClassPath"
_COLLECTOR: Final = "-XX:+UseParallelGC"
"""On two cores it takes 8 s off the minute in which 10 million messages are routed."""


def local_session(
    settings: Mapping[str, str] | None = None, app_name: str = "clwl"
) -> SparkSession:
    """Return the session that is running, or start a local one that reads and writes Delta.

    Args:
        settings: Spark settings by name; they win over the defaults here.
        app_name: what Spark shows for a session started here.

    Raises:
        SetupError: Java or the Delta JARs are missing, or Java did not start.
    """
    return SparkSession.getActiveSession() or _start_local(settings or {}, app_name)


@contextmanager
def spark_session(
    settings: Mapping[str, str] | None = None, app_name: str = "clwl"
) -> Iterator[SparkSession]:
    """Give the session that is running, or one that ends with the block.

    Under `spark-submit`, and with Spark Connect, the session is made from what those were given:
    their master, JARs and memory stay; Delta and UTC are added where they are absent.

    Args:
        settings: Spark settings by name, for a session started here.
        app_name: what Spark shows for a session started here.
    """
    running = SparkSession.getActiveSession()
    if running is not None:
        yield running
        return
    launched = {"PYSPARK_GATEWAY_PORT", "SPARK_REMOTE"} & os.environ.keys()
    start = _start_launched if launched else _start_local
    session = start(settings or {}, app_name)
    try:
        yield session
    finally:
        session.stop()


def _start_launched(settings: Mapping[str, str], app_name: str) -> SparkSession:
    """Make the session of a process that spark-submit, or a Connect client, has prepared."""
    builder = SparkSession.builder
    if "SPARK_REMOTE" in os.environ:
        # The client takes a while to import, which nobody waits for who does without it.
        from clwl_spark.spark.remote import refuse_silent_server  # noqa: PLC0415

        refuse_silent_server(os.environ["SPARK_REMOTE"])
        return builder.getOrCreate()
    SparkContext._ensure_initialized()  # noqa: SLF001
    given = SparkConf()
    if given.get("spark.master", "").startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    wanted = {"spark.app.name": app_name, **SHARED_SETTINGS, **settings}
    for name, value in wanted.items():
        if not given.contains(name):
            builder = builder.config(name, value)
    if lacking := _lend_delta():
        jars = filter(None, [given.get("spark.jars", ""), *map(str, lacking)])
        builder = builder.config("spark.jars", ",".join(jars))
    return builder.getOrCreate()


def _lend_delta() -> tuple[Path, ...]:
    """Give a driver that was started without Delta the cached JARs; return those it lacked."""
    java = SparkContext._jvm.java  # type: ignore[union-attr]  # noqa: SLF001
    loader = java.lang.Thread.currentThread().getContextClassLoader()
    try:
        loader.loadClass(SHARED_SETTINGS["spark.sql.extensions"])
    except Py4JJavaError:
        cache = cache_folder(os.environ)
        jars = delta_jars(cache, java_home(cache, os.environ), os.environ)
        for jar in jars:
            loader.addURL(java.io.File(str(jar)).toURI().toURL())
        return jars
    return ()


def _start_local(settings: Mapping[str, str], app_name: str) -> SparkSession:
    """Start Java and a session with the defaults for one machine."""
    # Inherited from a process that has an embedded session, PySpark would take it for its own.
    os.environ.pop(CONNECT_MODE, None)
    remember_java_names()
    cache = cache_folder(os.environ)
    java = java_home(cache, os.environ)
    jars = delta_jars(cache, java, os.environ)
    folder = TemporaryFolder("clwl-spark-")
    scratch = folder.path
    atexit.register(folder.close)
    builder = SparkSession.builder.appName(app_name)
    kept = archive_options(cache, java)
    for name, value in _local_settings(settings, jars, scratch, kept).items():
        builder = builder.config(name, value)
    with _environment(
        JAVA_HOME=str(java.path),
        SPARK_HOME=str(Path(pyspark.__file__).parent),
        SPARK_LOCAL_IP="127.0.0.1",
        PYSPARK_PYTHON=sys.executable,
        PYSPARK_DRIVER_PYTHON=sys.executable,
        **_locale(os.environ),
    ):
        try:
            return builder.getOrCreate()
        except PySparkException as error:
            message = f"Spark did not start with {java.executable}: {error}; see `clwl doctor`"
            raise SetupError(message) from error


def _locale(environment: Mapping[str, str]) -> dict[str, str]:
    """Variables by which Java names files in UTF-8, as Python does whatever the locale is."""
    given = (environment.get(x) for x in ("LC_ALL", "LC_CTYPE", "LANG"))
    first = next(filter(None, given), "")
    return {} if first.lower().endswith(("utf-8", "utf8")) else {"LC_ALL": "C.UTF-8"}


def _local_settings(
    settings: Mapping[str, str], jars: tuple[Path, ...], scratch: Path, kept: str = ""
) -> dict[str, str]:
    """Defaults, then what this machine gives, then the caller's settings.

    Args:
        settings: the caller's.
        jars: Delta's. On this machine they go before Spark's own on the class path; elsewhere
            Spark sends them to the workers.
        scratch: folder for temporary files.
        kept: `archive_options`; they hold where the workers are threads of the driver.
    """
    master = settings.get("spark.master", LAPTOP_SETTINGS["spark.master"])
    log = scratch / "log4j2.properties"
    log.write_text(QUIET_LOG)
    options = f'-Dlog4j2.configurationFile="{log}" -Dderby.system.home="{scratch / "derby"}"'
    merged = {
        **LAPTOP_SETTINGS,
        **SHARED_SETTINGS,
        "spark.driver.memory": f"{_memory_gigabytes()}g",
        "spark.local.dir": str(scratch / "local"),
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.sql.shuffle.partitions": str(_cores(master)),
        **settings,
    }
    name, between = (_CLASS_PATH, os.pathsep) if _is_local(master) else ("spark.jars", ",")
    merged[name] = between.join((*map(str, jars), *filter(None, [settings.get(name)])))
    own = settings.get(_JAVA_OPTIONS, _COLLECTOR)
    if _is_local(master):
        merged.setdefault(_WORKERS_OF, _WORKERS)
        options = " ".join(filter(None, [options, kept]))
    merged[_JAVA_OPTIONS] = f"{options} {own}".strip()
    return merged


def _is_local(master: str) -> bool:
    """True where the workers are threads of the driver."""
    return master.partition("[")[0] == "local"


def _cores(master: str) -> int:
    """Threads that a master such as `local[2]` runs; this process's cores for `local[*]`."""
    if master == "local":
        return 1
    asked = master.removeprefix("local[").rstrip("]").split(",")[0]
    if asked.isdecimal():
        return int(asked)
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
    return allowed or os.cpu_count() or 1


def _memory_gigabytes() -> int:
    """Half of this machine's memory, but at least one and at most six gigabytes."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(1, min(MOST_MEMORY_GIGABYTES, memory // 2**31))


@contextmanager
def _environment(**variables: str) -> Iterator[None]:
    """Set environment variables for the block and put back what was there."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
