"""Where a lake of the Python API is, and the session that it is asked with."""

from contextlib import ExitStack
from pathlib import Path
from typing import Final

import structlog
from pyspark.sql import SparkSession

from clwl_spark.cli.options import Common
from clwl_spark.cli.work import ROUTED, lake_of, reads_little, screen_of, settings_of
from clwl_spark.delta.lake import Lake
from clwl_spark.delta.sessions import choose_engine, session_for
from clwl_spark.errors import MissingLakeError, UsageError
from clwl_spark.routing.engines.fitness import waiting_messages
from clwl_spark.settings import Settings
from clwl_spark.spark.local_settings import SMALL_WORK
from clwl_spark.storage.places import is_uri
from clwl_spark.tables import SNAPSHOTS

_STARTED: Final[list[ExitStack]] = []
"""Sessions started here. They live on when a lake is forgotten, since another may use them."""


def opened(common: Common, spark: SparkSession | None = None) -> tuple[Lake, Settings, ExitStack]:
    """The lake that the options name, with the session given, or running, or started for it.

    Returns:
        The lake, its settings, and what `ended` ends: the session if it was started here.

    Raises:
        UsageError: nobody says where the lake is, or two places are named.
        SettingsError: a setting cannot be used.
        MissingLakeError: the folder is not there; told before Spark starts.
        SetupError: Java or the Delta JARs are missing.
    """
    if common.lake and common.catalog:
        raise UsageError(f"{common.lake} and {common.catalog} are two lakes: leave one out")
    settings = settings_of(common)
    if not settings.lake and not settings.catalog:
        raise UsageError('where is the lake? say lake("DIR"), or lake(catalog="CATALOG.SCHEMA")')
    if not structlog.is_configured():
        screen_of(common, settings, "api")
    ending = ExitStack()
    session = spark or SparkSession.getActiveSession()
    if session is None:
        session = _started(settings, ending)
    return lake_of(session, settings), settings, ending


def ended(ending: ExitStack) -> None:
    """End the session if it was started for this lake; any other one goes on."""
    ending.close()
    if ending in _STARTED:
        _STARTED.remove(ending)


def _started(settings: Settings, ending: ExitStack) -> SparkSession:
    """A session started for a lake whose folder is there."""
    if settings.lake and not is_uri(settings.lake) and not Path(settings.lake).is_dir():
        raise MissingLakeError(SNAPSHOTS.name, f"lake {settings.lake}")
    choice = choose_engine(settings, ROUTED, waiting_messages(settings).only_spark)
    suited = SMALL_WORK if reads_little(choice) else {}
    session = ending.enter_context(session_for(choice, settings, "clwl", suited))
    _STARTED.append(ending)
    return session
