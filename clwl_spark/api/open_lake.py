"""A lake, and what can be asked of it; the modules beside answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Unpack

import pandas as pd

from clwl_spark.api.answers import Explained, Moved, Traced
from clwl_spark.api.asked import (
    ExplainOptions,
    TraceOptions,
    check_names,
)
from clwl_spark.api.changes import change_of, moved_by
from clwl_spark.api.judged import Paths, judged
from clwl_spark.api.load import TrafficShares, shares_of, sweep_of, traffic_shares_of
from clwl_spark.api.routed_lake import RoutedLake
from clwl_spark.mq.vocabulary import ObjectType
from clwl_spark.spark.materialize import releasing
from clwl_spark.studies.explain.plan_cache import PlanCache, explain_by
from clwl_spark.studies.explain.request import ExplainRequest, check_words
from clwl_spark.studies.topics.strings import check_topic_string
from clwl_spark.studies.trace.places import MOST_HOPS, Place
from clwl_spark.studies.trace.trace import TraceRequest, trace


@dataclass(slots=True, repr=False)
class OpenLake(RoutedLake):
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

    _plan_cache: PlanCache = field(default_factory=PlanCache)

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

        Raises:
            UsageError: an unknown option or word.
        """
        check_names(options, ExplainOptions)
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
            UsageError: an unknown option or word.
        """
        check_names(options, TraceOptions)
        ladder = self._rules.ladder(
            options.pop("exit_function", None), options.pop("algorithm", None)
        )
        snapshot, links = options.pop("snapshot", None), options.pop("links", None) or {}
        hops = options.pop("hops", MOST_HOPS)
        words = {name: str(word) for name, word in options.items()}
        place = Place(qmgr, object_name, object_qmgr, **words)
        check_words(words)
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
        scripts: str | Path | Sequence[str | Path] = (),
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
