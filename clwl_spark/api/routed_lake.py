"""What happened and what was routed: questions to a lake that need no plans of its own."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self, Unpack

import pandas as pd
from pyspark.sql import DataFrame

from clwl_spark.api.asked import (
    ConformOptions,
    LoadOptions,
    WhereOptions,
)
from clwl_spark.api.happened import (
    Happened,
    conformed,
    happened,
    loaded,
    separated,
    whereabouts,
)
from clwl_spark.api.routed import answer_of, report_of, routed, snapshots_of, table_of
from clwl_spark.api.rules import Rules
from clwl_spark.api.sessions import ended
from clwl_spark.cli.moments import Moment
from clwl_spark.delta.lake import Lake
from clwl_spark.routing.run import RunSummary
from clwl_spark.settings import Settings
from clwl_spark.snapshots.catalog import chosen_snapshot
from clwl_spark.spark.materialize import releasing
from clwl_spark.studies.conform.model import Conformity
from clwl_spark.studies.incident.seen import WhichPuts
from clwl_spark.studies.load.summary import LoadSummary


@dataclass(slots=True, repr=False)
class RoutedLake:
    """A lake with what was loaded and routed in it; `OpenLake` asks its topology as well."""

    tables: Lake
    settings: Settings
    _ending: ExitStack
    _rules: Rules

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
        ended(self._ending)

    @releasing()
    def incident(
        self,
        object_name: str,
        since: Moment,
        *,
        until: Moment | None = None,
        qmgr: str | None = None,
        object_type: str | None = None,
    ) -> Happened:
        """Study what moved an object's messages since a moment, what waits, and what to do.

        >>> lake.incident("ORDERS", "2026-03-02T14:00Z").advice

        Args:
            object_name: as it is put to, or as an alias leads to it.
            since: from when on; a time of day, "14:00", is the last one, in UTC.
            until: up to when; None = now, or the object's last message.
            qmgr: only what is put there; None = anywhere.
            object_type: QUEUE or TOPIC, only what is put to such objects; None = to any.
        """
        return happened(self._rules, WhichPuts(object_name, qmgr, object_type), since, until)

    @releasing()
    def where(self, message: str, **options: Unpack[WhereOptions]) -> pd.DataFrame:
        """Where a message is: hop by hop which choice, which transmission queue, and what of it.

        >>> lake.where("SHOP1:17")[["hop", "way", "state"]]

        Args:
            message: `QM:PUT_SEQ`, or its identifier in hexadecimal.
            options: `qmgr`, where it was put, if several have the identifier; `at`, the moment that
                is asked about; `since` when its channel is down, or its `backlog`.

        Returns:
            One row per hop of each message that has the identifier; `attrs["summary"]` has a
            sentence for each of these.
        """
        return whereabouts(self.tables, message, options)

    @releasing()
    def separation(
        self,
        qmgr: str = "",
        objects: str | Sequence[str] = (),
        *,
        limit: int = 15,
        snapshot: str | None = None,
    ) -> pd.DataFrame:
        """Which queues share channels and transmission queues.

        >>> lake.separation("SHOP1").attrs["queues"]

        Args:
            qmgr: only this queue manager, and its queues one by one; blank = all, without that.
            objects: of its queues these alone; none = those with the most others beside them.
            limit: rows of each list.
            snapshot: any one.

        Returns:
            One row per channel with its transmission queue, those that carry the most queues'
            messages first, of `attrs["lines"]`; `attrs["queues"]` has who is behind whom.
        """
        return separated(self.tables, self._chosen(snapshot), qmgr, objects, limit)

    @releasing()
    def load(self, *paths: str | Path, **options: Unpack[LoadOptions]) -> LoadSummary:
        """Load puts and what MQ records of traffic, each content once.

        >>> lake.load("puts.csv", fields={"object_name": "Ziel"}).rows

        Args:
            paths: files, and folders that are read with their subfolders, less hidden files.
            options: `fields`, column -> field; `observer`, queue manager of puts that name none;
                `time_zone` of moments that do not say theirs; `since` and `until`; `redact`;
                `seed`, to make puts of counts; `strict`; `dry_run`; `timeline`, the snapshot that
                statuses of channels become followers of, with `step`, "1m".

        Raises:
            NothingLoadedError: no message in any of the files, or under `strict` a piece that
                cannot be read.
        """
        return loaded(self.tables, paths, options)

    @releasing()
    def conform(self, **options: Unpack[ConformOptions]) -> Conformity:
        """Hold what was foretold against where messages really went, as `clwl conform` does.

        `options`: `object_name`, `qmgr`, `since`, `until`, and `explain`, how many queue managers'
        first disagreements are looked into.

        >>> lake.conform(qmgr="APP1").first_disagreements

        Raises:
            InputError: nothing was seen, or nothing was routed.
        """
        return conformed(self.tables, options)

    def table(self, name: str) -> DataFrame:
        """A table of the lake as a Spark DataFrame.

        >>> lake.table("outcomes").where("reason = 0").groupBy("channel").count()
        """
        return table_of(self.tables, name)

    @releasing()
    def snapshots(self) -> pd.DataFrame:
        """One row per snapshot in the order in which they come into force, with rows per table."""
        return snapshots_of(self.tables)

    @releasing()
    def route(
        self, *, hops: int = 0, algorithm: str | None = None, exit_function: str | None = None
    ) -> RunSummary:
        """Route every message that is not routed yet, exactly once.

        With `hops`, follow them on to other queue managers, so many hops at most: table `hops`.

        >>> lake.route().outcomes

        Raises:
            LakeStateError: another algorithm than the lake's.
        """
        return routed(self._rules, hops, algorithm, exit_function)

    @releasing()
    def ask(self, name: str, limit: int = 1000) -> pd.DataFrame:
        """Answer one of the ready questions about what was routed (`clwl ask` lists them).

        >>> lake.ask("unbalanced")

        Returns:
            The question's rows, `limit` at most; `attrs` has the `question`, what the rows mean
            (`answers`), and whether there are `more`.

        Raises:
            UnknownQuestionError: there is none of that name.
        """
        return answer_of(self.tables, name, limit)

    @releasing()
    def report(self, out: str | Path) -> Path:
        """Write the report of what was routed, one HTML page in a folder, and return where it is.

        >>> lake.report("build/report")

        Raises:
            NothingRoutedError: there are no outcomes yet.
        """
        return report_of(self.tables, out)

    def _chosen(self, snapshot: str | None) -> str:
        """The snapshot that is asked for, or the last valid one."""
        return chosen_snapshot(self.tables, snapshot)
