"""What every command starts with: settings, a screen, logs, a session and the lake."""

import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Protocol

import structlog
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession
from rich.text import Text

from clwl_spark.cli.failures import refusals_named
from clwl_spark.cli.lineage import lineage_of
from clwl_spark.cli.moments import moment_of
from clwl_spark.cli.options import Common
from clwl_spark.cli.screen import Screen
from clwl_spark.delta.catalogs import require_schema
from clwl_spark.delta.lake import Lake
from clwl_spark.delta.sessions import (
    Engine,
    EngineChoice,
    choose_engine,
    is_given,
    session_for,
)
from clwl_spark.errors import MissingLakeError, UsageError
from clwl_spark.logs import LogFormat, Loudness, configure_logs
from clwl_spark.routing.engines.fitness import Waiting, waiting_messages
from clwl_spark.routing.engines.workers import start_soon
from clwl_spark.settings import SERVERLESS, Settings, read_settings
from clwl_spark.snapshots.catalog import chosen_snapshot
from clwl_spark.spark.embedded import without_panic_texts
from clwl_spark.spark.limits import limit
from clwl_spark.spark.local_settings import SMALL_WORK
from clwl_spark.spark.materialize import releasing
from clwl_spark.storage import access, places
from clwl_spark.tables import MESSAGES, OUTCOMES, TOPOLOGY

_SPARKS_LOGGERS: Final = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")
"""They print an error that is raised as well, so it would be told twice."""

_FEW_ROWS: Final = 100_000
_ROWS: Final = "rows"
"""Beside checkpoints: where a session of serverless compute keeps rows."""

TOPOLOGY_TABLES: Final = tuple(table.name for table in TOPOLOGY)
ROUTED: Final = (*TOPOLOGY_TABLES, MESSAGES.name, OUTCOMES.name)
"""Tables whose size says how much work there is."""


@dataclass(frozen=True, slots=True)
class Work:
    """What a command works with."""

    settings: Settings
    screen: Screen
    lake: Lake

    def command(self, name: str, *words: str) -> str:
        """A command about the same lake, as a shell takes it."""
        place = self.settings.lake or self.settings.catalog or self.lake.root
        option = "--catalog" if self.lake.in_catalog else "--lake"
        return shlex.join(["clwl", name, option, place, *words])


class AsksForSnapshot(Protocol):
    """Options that name a snapshot, or a moment."""

    @property
    def snapshot(self) -> str | None:
        """Its name."""

    @property
    def at(self) -> str | None:
        """A moment in which it is in force."""


def asked_snapshot(lake: Lake, options: AsksForSnapshot) -> str:
    """The snapshot that --snapshot or --at names; without both the last valid one.

    Raises:
        UsageError: both are given, or the moment cannot be read.
        MissingSnapshotError: there is none.
        MissingLakeError: the lake has no snapshots.
    """
    if options.at is None:
        return chosen_snapshot(lake, options.snapshot)
    if options.snapshot is not None:
        raise UsageError("--snapshot and --at both name a snapshot: give one of them")
    return chosen_snapshot(lake, None, moment_of("--at", options.at))


@contextmanager
def at_work(
    command: str,
    common: Common,
    options: Mapping[str, str | None] | None = None,
    *,
    needs: str | None = None,
    reads: Iterable[str] | None = TOPOLOGY_TABLES,
    routes: Mapping[str, str] | None = None,
) -> Iterator[Work]:
    """Give a command its settings, screen and lake, and end the session if it was started here.

    Args:
        command: name of the command, for logs and Spark.
        common: the options that every command has.
        options: settings that the command's own options give; None = not given.
        needs: a table without which the command has nothing to do; None = it makes what it
            needs, a catalog's schema among it.
        reads: names of the tables whose rows it reads; None = nobody knows how many come.
        routes: Spark's settings for routing the lake's messages, which Spark alone may have to
            do, where a session is started for it; the settings win. None = it routes none.

    Raises:
        SettingsError: a setting is unknown or unusable.
        UsageError: nobody says where the lake is.
        EngineError: the engine that is asked for cannot do it.
        MissingLakeError: the lake's folder, which has to have a table, is not there.
        MissingSchemaError: the catalog's schema is not there, and was not made.
        PlanRefusedError: the engine embedded failed.
    """
    settings = settings_of(common, options)
    check_place(settings, needs)
    waiting = waiting_messages(settings) if routes is not None else Waiting()
    choice = choose_engine(settings, reads, waiting.only_spark)
    is_embedded = choice.engine is Engine.EMBEDDED
    if is_embedded and waiting.is_for_workers:
        start_soon()
    with without_panic_texts() if is_embedded and not common.verbose else nullcontext():
        screen = replace(screen_of(common, settings, command), engine=str(choice.engine))
        _tell(choice)
        suited = SMALL_WORK if reads_little(choice) else routes or {}
        with (
            screen.others_to_stderr(),
            session_for(choice, settings, f"clwl {command}", suited) as session,
        ):
            with (
                releasing(),
                refusals_named(command) if is_embedded else nullcontext(),
                _ready_lake(session, settings, command, needs, reads) as lake,
            ):
                yield Work(settings, screen, lake)
            screen.show(Text(f"engine: {choice.engine}", "dim"))


@contextmanager
def _ready_lake(
    session: SparkSession,
    settings: Settings,
    command: str,
    needs: str | None,
    reads: Iterable[str] | None,
) -> Iterator[Lake]:
    """The lake, whose schema is there; what becomes of its tables within is told as lineage."""
    if settings.catalog:
        require_schema(session, settings.catalog, makes=needs is None)
    lake = lake_of(session, settings)
    if not settings.lineage:
        yield lake
        return
    with lineage_of(command, lake, (*(reads or ()), *([needs] if needs else ()))):
        yield lake


def _tell(choice: EngineChoice) -> None:
    """Say why the engine embedded does not answer: aloud where it is not installed as it should."""
    logger = structlog.get_logger()
    if choice.is_lacking:
        logger.warning("engine", engine=str(choice.engine), why=choice.why)
    else:
        logger.debug("engine", engine=str(choice.engine), why=choice.why, rows=choice.rows)


def reads_little(choice: EngineChoice) -> bool:
    """Whether few rows are read; not where nobody knows."""
    return choice.rows is not None and choice.rows <= _FEW_ROWS


def settings_of(common: Common, options: Mapping[str, str | None] | None = None) -> Settings:
    """The settings: defaults, `--config`, `--set`, then the options.

    From now on, this process reaches object stores as they say.
    """
    given = {
        "lake": common.lake,
        "catalog": common.catalog,
        "log": common.log,
        "engine": common.engine,
        "profile": common.profile,
    }
    if common.lake is not None and common.catalog is not None:
        raise UsageError("--lake and --catalog name two lakes: leave one out")
    settings = read_settings(common.config, common.assignments, {**given, **(options or {})})
    access.use(settings.storage)
    return settings


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
        lake = Lake(spark, settings.catalog, in_catalog=True, checkpoints=settings.checkpoints)
    else:
        lake = Lake(spark, absolute(settings.lake), checkpoints=absolute(settings.checkpoints))
    is_limited = settings.profile == SERVERLESS and not lake.is_embedded
    limit(spark, f"{lake.checkpoint_root}/{_ROWS}" if is_limited else "")
    return lake


def absolute(place: str) -> str:
    """A relative folder in full, since Delta's SQL knows no others; anything else as it is."""
    return places.absolute(place) if place else place


def check_place(settings: Settings, needs: str | None = None) -> None:
    """Refuse before Spark starts, where that is possible.

    Raises:
        UsageError: nobody says where the lake is.
        MissingLakeError: the lake's folder, which has to have the table, is not there.
    """
    if not settings.lake and not settings.catalog:
        raise UsageError(
            "where is the lake? give --lake DIR or --catalog CATALOG.SCHEMA, "
            "or set one of them in a file for --config"
        )
    if needs and is_on_this_machine(settings.lake) and not Path(settings.lake).is_dir():
        raise MissingLakeError(needs, f"lake {settings.lake}")


def is_on_this_machine(lake: str) -> bool:
    """True where the lake can only be a folder here: no URI, and the session is started here."""
    return bool(lake) and not places.is_uri(lake) and not is_given()
