"""What every command starts with: settings, a screen, logs, a session and the lake."""

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import structlog
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from clwl_spark.commands.screen import Screen
from clwl_spark.commands.words.options import Common
from clwl_spark.errors import MissingLakeError, UsageError
from clwl_spark.logs import LogFormat, Loudness, configure_logs
from clwl_spark.schemas import MESSAGES, OUTCOMES, TOPOLOGY
from clwl_spark.session import INTERPRETED, spark_session
from clwl_spark.settings import Settings, read_settings
from clwl_spark.storage import Lake

_SPARKS_LOGGERS: Final = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")
"""They print an error that is raised as well, so it would be told twice."""

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

_SMALL_BYTES: Final = 4 << 20
"""Files up to here are few rows: about 100,000 messages, or 100,000 rows of topology."""

TOPOLOGY_TABLES: Final = tuple(table.name for table in TOPOLOGY)
ROUTED: Final = (*TOPOLOGY_TABLES, MESSAGES.name, OUTCOMES.name)
"""Tables whose size says how much work there is."""

_URI: Final = re.compile(r"\w[\w+.-]*:")


@dataclass(frozen=True, slots=True)
class Work:
    """What a command works with."""

    settings: Settings
    screen: Screen
    lake: Lake


@contextmanager
def at_work(
    command: str,
    common: Common,
    options: Mapping[str, str | None] | None = None,
    needs: str | None = None,
    spark: Mapping[str, str] | None = None,
) -> Iterator[Work]:
    """Give a command its settings, screen and lake, and end the session if it was started here.

    Args:
        command: name of the command, for logs and Spark.
        common: the options that every command has.
        options: settings that the command's own options give; None = not given.
        needs: a table without which the command has nothing to do.
        spark: what suits a Spark session that is started for the command; the settings win.

    Raises:
        SettingsError: a setting is unknown or unusable.
        UsageError: nobody says where the lake is.
        MissingLakeError: the lake's folder, which has to have a table, is not there.
    """
    settings = settings_of(common, options)
    _check_place(settings, needs)
    screen = screen_of(common, settings, command)
    wanted = {**(spark or {}), **settings.spark}
    with screen.kept_pure(), spark_session(wanted, f"clwl {command}") as session:
        yield Work(settings, screen, lake_of(session, settings))


def fitting(
    common: Common, tables: Iterable[str], sources: Iterable[Path] = ()
) -> Mapping[str, str] | None:
    """`SMALL_WORK` where there is little to do; None where there is not, or nobody knows.

    It halves the time of `clwl route` on 10,000 messages.

    Args:
        common: the options that every command has, which name the lake.
        tables: of the lake; they have to be small.
        sources: files and folders that are read, which have to be small too.
    """
    lake = settings_of(common).lake
    if not is_on_this_machine(lake):
        return None
    files = [x for table in tables for x in (Path(lake) / table).rglob("*.parquet")]
    for source in sources:
        files += source.rglob("*") if source.is_dir() else [source]
    return SMALL_WORK if _bytes_of(files) <= _SMALL_BYTES else None


def bytes_of(folder: Path) -> int:
    """Bytes of a table's data files, of all its versions."""
    return _bytes_of(folder.rglob("*.parquet"))


def _bytes_of(files: Iterable[Path]) -> int:
    return sum(x.stat().st_size for x in files if x.is_file())


def settings_of(common: Common, options: Mapping[str, str | None] | None = None) -> Settings:
    """The settings: defaults, `--config`, `--set`, then the options."""
    places = {"lake": common.lake, "catalog": common.catalog, "log": common.log}
    if common.lake is not None and common.catalog is not None:
        raise UsageError("--lake and --catalog name two lakes: leave one out")
    return read_settings(common.config, common.assignments, {**places, **(options or {})})


def screen_of(common: Common, settings: Settings, command: str) -> Screen:
    """The screen of a run, with log lines set up."""
    loudness = Loudness.NORMAL
    if common.quiet or common.verbose:
        loudness = Loudness.QUIET if common.quiet else Loudness.VERBOSE
    configure_logs(LogFormat(settings.log), loudness)
    for logger in _SPARKS_LOGGERS:
        PySparkLogger.getLogger(logger).setLevel("ERROR" if common.verbose else "CRITICAL")
    structlog.contextvars.clear_contextvars()
    structlog.contextvars.bind_contextvars(command=command)
    return Screen(sys.stdout, as_json=common.as_json, quiet=common.quiet)


def lake_of(spark: SparkSession, settings: Settings) -> Lake:
    """The lake that the settings name."""
    if settings.catalog:
        return Lake(spark, settings.catalog, in_catalog=True, checkpoints=settings.checkpoints)
    return Lake(spark, _absolute(settings.lake), checkpoints=_absolute(settings.checkpoints))


def _absolute(place: str) -> str:
    """A relative folder in full, since Delta's SQL knows no others; anything else as it is."""
    return str(Path(place).absolute()) if place and not _URI.match(place) else place


def _check_place(settings: Settings, needs: str | None) -> None:
    """Refuse before Spark starts, where that is possible."""
    if not settings.lake and not settings.catalog:
        raise UsageError(
            "where is the lake? give --lake DIR or --catalog CATALOG.SCHEMA, "
            "or set one of them in a file for --config"
        )
    if needs and is_on_this_machine(settings.lake) and not Path(settings.lake).is_dir():
        raise MissingLakeError(needs, f"lake {settings.lake}")


def is_on_this_machine(lake: str) -> bool:
    """True where the lake can only be a folder here: no URI, and Spark is started here."""
    launched = {"PYSPARK_GATEWAY_PORT", "SPARK_REMOTE"} & os.environ.keys()
    running = SparkSession.getActiveSession()
    return bool(lake) and not _URI.match(lake) and not launched and running is None
