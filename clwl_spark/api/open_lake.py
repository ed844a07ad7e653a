"""A lake, and what can be asked of it; the modules beside answer."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self, Unpack

import pandas as pd
from pyspark.sql import DataFrame

from clwl_spark.api.answers import Explained, Moved, Traced
from clwl_spark.api.asked import (
    ConformOptions,
    ExplainOptions,
    LoadOptions,
    TraceOptions,
    WhereOptions,
)
from clwl_spark.api.changes import change_of, moved_by
from clwl_spark.api.happened import (
    Happened,
    conformed,
    happened,
    loaded,
    separated,
    whereabouts,
)
from clwl_spark.api.judged import Paths, judged
from clwl_spark.api.load import TrafficShares, shares_of, sweep_of, traffic_shares_of
from clwl_spark.api.routed import answer_of, report_of, routed, snapshots_of, table_of
from clwl_spark.api.rules import Rules
from clwl_spark.api.sessions import ended
from clwl_spark.cli.moments import Moment
from clwl_spark.delta.lake import Lake
from clwl_spark.mq.vocabulary import ObjectType
from clwl_spark.routing.run import RunSummary
from clwl_spark.settings import Settings
from clwl_spark.snapshots.catalog import chosen_snapshot
from clwl_spark.spark.materialize import releasing
from clwl_spark.studies.conform.model import Conformity
from clwl_spark.studies.explain.plan_cache import PlanCache, explain_by
from clwl_spark.studies.explain.request import ExplainRequest
from clwl_spark.studies.load.summary import LoadSummary
from clwl_spark.studies.topics.strings import check_topic_string
from clwl_spark.studies.trace.places import MOST_HOPS, Place
from clwl_spark.studies.trace.trace import TraceRequest, trace


@dataclass(slots=True, repr=False)
class OpenLake:
    """A lake, and what can be asked of it; `lake` opens one.

    Attributes:
        tables: the lake as the rest of the package knows it.
        settings: its settings.

    Questions take, where it says so, `snapshot`: any one by its name, whatever its status; by
    default the last valid one. `algorithm` is v9 or v7, by default that which the lake was first
    routed with. `exit_function` is a cluster workload exit, `module:function` or
    `module:function:data`, instead of that of the settings.

    Every question may raise `UsageError` for an unknown word, `MissingSnapshotError` for a snapshot
    that is not there, and `MissingLakeError` for a table that is not; a docstring names the others.
    """

    tables: Lake
    settings: Settings
    _ending: ExitStack
    _rules: Rules
    _plan_cache: PlanCache = field(default_factory=PlanCache)

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
    def explain(
        self, qmgr: str, object_name: str, object_qmgr: str = "", **options: Unpack[ExplainOptions]
    ) -> Explained:
        """Explain where a put goes.

        The first question about a snapshot takes seconds and plans what its queue managers
        choose from, so that any other is answered at once, until the topology changes.

        >>> lake.explain("SHOP1", "PARCEL.IN").routes[["dest_qmgr", "expected_share"]]
        >>> lake.explain("SHOP1", "fleet/positions/van12", object_type="TOPIC")

        Args:
            qmgr: queue manager where the message is put.
            object_name: queue name, or topic string.
            object_qmgr: object queue manager; blank = none named.
            options: `object_type`, QUEUE (the default) or TOPIC; `via`, LOCAL (the default) or
                CLUSTER = received over a cluster channel; `bind`, an option of the open; `scope`,
                ALL (the default) or QMGR, of a publication; `empty_history`, for rule 15;
                `snapshot`, `algorithm`, `exit_function`.
        """
        ladder = self._rules.ladder(
            options.pop("exit_function", None), options.pop("algorithm", None)
        )
        snapshot = options.pop("snapshot", None)
        is_empty = options.pop("empty_history", False)
        words = {name: str(word) for name, word in options.items()}
        request = ExplainRequest(
            qmgr, object_name, object_qmgr, snapshot_id=snapshot, semantics=ladder.semantics,
            exit_function=ladder.exit_function, empty_history=is_empty, **words,
        )  # fmt: skip
        return Explained(explain_by(self._plan_cache, self.tables, request))

    @releasing()
    def trace(
        self, qmgr: str, object_name: str, object_qmgr: str = "", **options: Unpack[TraceOptions]
    ) -> Traced:
        """Follow a put over gateways, aliases and clusters to its final queues.

        >>> lake.trace("SHOP1", "PARCEL.IN").ends

        Args:
            qmgr: queue manager where the message is put.
            object_name: queue name, or topic string.
            object_qmgr: object queue manager; blank = none named.
            options: `object_type` and `via` as for `explain`; `links`, the other ends of
                transmission queues, (queue manager, transmission queue) -> queue manager; `hops`,
                how many are followed at most; `snapshot`, `algorithm`, `exit_function`.

        Raises:
            UnknownQueueManagerError: the snapshot does not define a queue manager.
        """
        ladder = self._rules.ladder(
            options.pop("exit_function", None), options.pop("algorithm", None)
        )
        snapshot, links = options.pop("snapshot", None), options.pop("links", None) or {}
        hops = options.pop("hops", MOST_HOPS)
        words = {name: str(word) for name, word in options.items()}
        place = Place(qmgr, object_name, object_qmgr, **words)
        if place.object_type == ObjectType.TOPIC:
            check_topic_string(object_name)
        return Traced(trace(self.tables, TraceRequest(place, snapshot, ladder, links, hops)))

    @releasing()
    def shares(
        self,
        qmgr: str,
        puts: str | Mapping[str, int],
        *,
        snapshot: str | None = None,
        exit_function: str | None = None,
    ) -> pd.DataFrame:
        """Exact long-run shares of puts of one queue manager, which share its history.

        >>> lake.shares("QM1", {"ORDERS": 3, "INVOICES": 1})

        Args:
            qmgr: where is put.
            puts: a queue name, or names with how many messages are put at a time.
            snapshot: any one.
            exit_function: the cluster workload exit.

        Returns:
            One row per object and route: `share` of the object's messages within the mix, 0 to 1,
            and `expected_share`, that of the object alone. An object that goes nowhere has one row
            with its reason and no destination.

        Raises:
            UnknownQueueManagerError: the snapshot does not define the queue manager.
        """
        ladder = self._rules.ladder(exit_function)
        return shares_of(self.tables, self._chosen(snapshot), qmgr, puts, ladder)

    @releasing()
    def traffic_shares(
        self, *, snapshot: str | None = None, exit_function: str | None = None
    ) -> TrafficShares:
        """Expected load of the lake's messages, as if all were put while a snapshot is in force.

        >>> lake.traffic_shares().by_channel
        """
        ladder = self._rules.ladder(exit_function)
        return traffic_shares_of(self.tables, self._chosen(snapshot), ladder)

    @releasing()
    def what_if(
        self,
        *changes: str,
        scripts: Sequence[str | Path] = (),
        to: str | None = None,
        snapshot: str | None = None,
        exit_function: str | None = None,
    ) -> Moved:
        """Route the lake's messages as they are and with a change; nothing of the lake changes.

        `changes` are in the words of runmqsc, `scripts` are files of MQSC, applied first; or the
        change is to a whole other snapshot, `to`.

        >>> lake.what_if("STOP CHANNEL(TO.QM2) ON QM1", "ALTER QLOCAL(Q) CLWLPRTY(5) ON QM3")
        >>> lake.what_if(to="tuesday").summary

        Raises:
            UnknownChangeError: a change is not understood.
            NothingHitError: something that is not there, or nothing would change.
        """
        change = change_of(changes, scripts, to)
        return moved_by(self._rules, change, snapshot, exit_function)

    @releasing()
    def sweep(
        self,
        *swept: str,
        puts: Mapping[tuple[str, str], int] | None = None,
        snapshot: str | None = None,
        exit_function: str | None = None,
    ) -> pd.DataFrame:
        """Take each channel, queue manager or cluster away alone: what fails, who takes over.

        Of `swept`, channels (the default), queue-managers, clusters, or all. `puts` counts messages
        by (queue manager, object), instead of the messages of the lake.

        >>> lake.sweep("channels").query("requests_stranded > 0")["case"]

        Returns:
            One row per case, the worst first; messages are expected numbers, of
            `attrs["messages"]`.
        """
        ladder, words = self._rules.ladder(exit_function), swept or ("channels",)
        return sweep_of(self.tables, self._chosen(snapshot), words, puts or {}, ladder)

    @releasing()
    def assertions(
        self, paths: Paths, *, snapshot: str | None = None, exit_function: str | None = None
    ) -> pd.DataFrame:
        """Check facts that must hold, from files or folders, as `clwl assert` does.

        >>> assert (lake.assertions("facts.yml").verdict == "PASSED").all()

        Returns:
            One row per assertion: name, assertion, verdict (PASSED, FAILED, ERROR), said, cases,
            failing, why, file, line; `attrs["summary"]` counts them.

        Raises:
            AssertionFilesError: a file cannot be used.
        """
        ladder = self._rules.ladder(exit_function)
        return judged(self.tables, self._chosen(snapshot), paths, ladder)

    @releasing()
    def incident(
        self,
        object_name: str,
        since: Moment,
        *,
        until: Moment | None = None,
        qmgr: str | None = None,
    ) -> Happened:
        """Study what moved an object's messages since a moment, what waits, and what to do.

        >>> lake.incident("ORDERS", "2026-03-02T14:00Z").advice

        Args:
            object_name: as it is put to, or as an alias leads to it.
            since: from when on; a time of day, "14:00", is the last one, in UTC.
            until: up to when; None = now, or the object's last message.
            qmgr: only what is put there; None = anywhere.
        """
        return happened(self._rules, object_name, since, until, qmgr)

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
        objects: Sequence[str] = (),
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
