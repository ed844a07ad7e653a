"""An open lake of the Python API: its session, its tables, and what is asked of routed messages."""

import re
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import pandas as pd
import structlog
from pyspark.sql import DataFrame, SparkSession

from clwl_spark.api_shown import frame_of
from clwl_spark.commands.explain import algorithm_of
from clwl_spark.commands.report import FILE_NAME
from clwl_spark.commands.route import route_options
from clwl_spark.commands.words.options import Common
from clwl_spark.commands.work import ROUTED, fitting, lake_of, screen_of, settings_of
from clwl_spark.delta_versions import Versions, versions_of
from clwl_spark.errors import MissingLakeError, UsageError
from clwl_spark.plan.planning import Ladder
from clwl_spark.questions.running import ask, prepared
from clwl_spark.questions.texts import question_named
from clwl_spark.report.page import page
from clwl_spark.report.reading import read_report
from clwl_spark.routing.run import RouteOptions, RunSummary, route
from clwl_spark.rules.exit import load_exit
from clwl_spark.schemas import OUTCOMES, RUNS, SNAPSHOTS, TABLES
from clwl_spark.session import spark_session
from clwl_spark.settings import Settings
from clwl_spark.storage import Lake
from clwl_spark.topology.inspection import WRITABLE
from clwl_spark.topology.snapshots import list_snapshots
from clwl_spark.tracing.journeys import check_hops, follow_messages
from clwl_spark.tracing.snapshots import chosen_snapshot
from clwl_spark.vocabulary import Algorithm

_URI: Final = re.compile(r"\w[\w+.-]+:")
_STARTED: Final[list[ExitStack]] = []
"""Sessions started here. They live on when a lake is forgotten, since another may use them."""
_SNAPSHOT: Final = (
    "snapshot_id", "valid_from", "status", "being_written", "source", "base", "loaded_at",
)  # fmt: skip


def opened(common: Common, spark: SparkSession | None = None) -> tuple[Lake, Settings, ExitStack]:
    """The lake that the options name, with the session given, or running, or started for it.

    Returns:
        The lake, its settings, and what ends the session if it was started here.

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
        if settings.lake and not _URI.match(settings.lake) and not Path(settings.lake).is_dir():
            raise MissingLakeError(SNAPSHOTS.name, f"lake {settings.lake}")
        wanted = {**(fitting(common, ROUTED) or {}), **settings.spark}
        session = ending.enter_context(spark_session(wanted, "clwl"))
        _STARTED.append(ending)
    return lake_of(session, settings), settings, ending


@dataclass(slots=True, repr=False)
class Opened:
    """A lake with its session.

    Attributes:
        tables: the lake as the rest of the package knows it.
        settings: its settings.
    """

    tables: Lake
    settings: Settings
    _ending: ExitStack
    _algorithms: dict[Versions, Algorithm] = field(default_factory=dict)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<lake {self.tables.root}>"

    def close(self) -> None:
        """End the session if it was started for this lake; any other one goes on."""
        self._ending.close()
        if self._ending in _STARTED:
            _STARTED.remove(self._ending)

    def table(self, name: str) -> DataFrame:
        """A table of the lake as a Spark DataFrame.

        >>> lake.table("outcomes").where("reason = 0").groupBy("channel").count()

        Raises:
            UsageError: no lake has such a table.
            MissingLakeError: this lake does not have it yet.
        """
        if name not in TABLES:
            raise UsageError(f"no table {name!r} in any lake: there are {', '.join(TABLES)}")
        return self.tables.read(name)

    def snapshots(self) -> pd.DataFrame:
        """One row per snapshot in the order in which they come into force, with rows per table.

        Raises:
            MissingLakeError: the lake has no snapshots.
        """
        self.tables.read(SNAPSHOTS.name)
        found = list_snapshots(self.tables)
        rows = [{**{x: getattr(entry, x) for x in _SNAPSHOT}, **entry.rows} for entry in found]
        return frame_of(rows, (*_SNAPSHOT, *WRITABLE))

    def route(
        self, *, hops: int = 0, algorithm: str | None = None, exit_function: str | None = None
    ) -> RunSummary:
        """Route every message that is not routed yet, exactly once.

        >>> lake.route().outcomes

        Args:
            hops: follow messages on to other queue managers, so many hops at most: table `hops`.
            algorithm: v9 or v7; a lake keeps the one that it was first routed with.
            exit_function: the cluster workload exit.

        Raises:
            MissingLakeError: there are no messages or no snapshots.
            LakeStateError: another algorithm than the lake's.
        """
        if hops:
            check_hops(hops)
        options = self._options(exit_function)
        if algorithm is not None:
            options = replace(options, algorithm=_algorithm(algorithm))
        summary = route(self.tables, options)
        if hops:
            follow_messages(self.tables, options, hops, lambda _stage, _done, _total: None)
        return summary

    def ask(self, name: str, limit: int = 1000) -> pd.DataFrame:
        """Answer one of the ready questions about what was routed (`clwl ask` lists them).

        >>> lake.ask("unbalanced")

        Args:
            name: of the question.
            limit: most rows.

        Returns:
            The question's rows; `attrs` has the `question`, what the rows mean (`answers`), and
            whether there are `more`.

        Raises:
            UnknownQuestionError: there is none of that name.
            MissingLakeError: nothing was routed yet.
        """
        question = question_named(name)
        if limit < 1:
            raise UsageError(f"limit {limit}: ask for at least one row")
        self.tables.read(OUTCOMES.name)
        answer = ask(prepared(self.tables, [question]), question, limit)
        rows = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
        frame = frame_of(rows, answer.columns)
        told = {"question": question.question, "answers": question.answers, "more": answer.more}
        frame.attrs.update(told)
        return frame

    def report(self, out: str | Path) -> Path:
        """Write the report of what was routed, one HTML page, and return where it is.

        >>> lake.report("build/report")

        Args:
            out: a folder, which is made if need be.

        Raises:
            UsageError: the folder cannot be made.
            MissingLakeError: there are neither outcomes nor messages.
            NothingRoutedError: there are no outcomes yet.
        """
        folder = Path(out)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"{folder}: {error.strerror}; give a folder to write to") from error
        file = folder / FILE_NAME
        file.write_text(page(read_report(self.tables)), encoding="utf-8")
        return file

    def _options(self, exit_function: str | None) -> RouteOptions:
        """How the lake is routed."""
        options = route_options(self.settings)
        return options if exit_function is None else replace(options, exit_function=exit_function)

    def _ladder(self, exit_function: str | None, algorithm: str | None = None) -> Ladder:
        """The rules: what is asked for, else those of the settings, else the lake's."""
        asked = algorithm or self.settings.algorithm
        reference = self.settings.exit if exit_function is None else exit_function
        return Ladder(_algorithm(asked) if asked else self._own_algorithm(), load_exit(reference))

    def _chosen(self, snapshot: str | None) -> str:
        """The snapshot that is asked for, or the last valid one."""
        return chosen_snapshot(self.tables, snapshot)

    def _own_algorithm(self) -> Algorithm:
        """The lake's, looked up once for each version of the runs."""
        versions = versions_of(self.tables, [RUNS.name])
        if versions is None:
            return algorithm_of(self.tables)
        if versions not in self._algorithms:
            self._algorithms[versions] = algorithm_of(self.tables)
        return self._algorithms[versions]


def _algorithm(word: str) -> Algorithm:
    if word not in tuple(Algorithm):
        raise UsageError(f"algorithm {word!r}: there are {', '.join(Algorithm)}")
    return Algorithm(word)
