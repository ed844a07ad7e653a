"""The Python API: a lake in a notebook or a script, with the commands as methods.

import clwl_spark as cw

lake = cw.lake("build/demo-lake")
lake.explain("SHOP1", "PARCEL.IN").candidates
lake.what_if("STOP CHANNEL(FREIGHT.DEPOT1) ON SHOP1").by_channel
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd
from pyspark.sql import SparkSession

from clwl_spark.analysis.book import Book, explain_by
from clwl_spark.analysis.explain import ExplainRequest
from clwl_spark.api_answers import Explained, Traced
from clwl_spark.api_opened import opened
from clwl_spark.api_shown import frame_of
from clwl_spark.api_weighed import Weighed
from clwl_spark.assertions.files import load_assertions
from clwl_spark.assertions.judge import judge
from clwl_spark.assertions.rendering import headline
from clwl_spark.commands.words.options import Common
from clwl_spark.keeping import settled
from clwl_spark.publishing.strings import check_topic_string
from clwl_spark.tracing.places import Place
from clwl_spark.tracing.trace import MOST_HOPS, TraceRequest, network_of, trace
from clwl_spark.vocabulary import Bind, ObjectType, Via
from clwl_spark.what_if.answering import SnapshotAnswers

Paths = str | Path | Sequence[str | Path]


def lake(
    place: str | Path = "",
    *,
    catalog: str = "",
    spark: SparkSession | None = None,
    config: str | Path | None = None,
    settings: Mapping[str, object] | None = None,
) -> "OpenLake":
    """Open a lake.

    >>> lake = cw.lake("build/demo-lake")
    >>> lake = cw.lake(catalog="messaging.cluster", spark=spark)
    >>> lake = cw.lake("small-lake", settings={"state_partitions": 2})

    Args:
        place: folder, or a URI that Spark can write, with a Delta table per folder.
        catalog: `catalog.schema` that has the tables instead.
        spark: the session; by default the one that is running, else a local one is started, which
            ends with `close`, or with the block of `with`.
        config: a TOML file with settings, as for `clwl --config`.
        settings: some of them by name, as `clwl --set` has them; they win.

    Raises:
        UsageError: nobody says where the lake is, or two places are named.
        SettingsError: the file or a setting cannot be used.
        MissingLakeError: the folder is not there; where a session runs, questions tell that.
        SetupError: Java or the Delta JARs are missing.
    """
    common = Common(
        lake=str(place) or None,
        catalog=catalog or None,
        config=Path(config) if config is not None else None,
        assignments=[f"{name}={value}" for name, value in (settings or {}).items()],
        quiet=True,
    )
    return OpenLake(*opened(common, spark))


@dataclass(slots=True, repr=False)
class OpenLake(Weighed):
    """A lake, and what can be asked of it; `lake` opens one.

    Questions are about the last valid snapshot unless `snapshot` names another, follow the
    algorithm that the lake was first routed with, and ask the exit of the settings. `exit_function`
    is `module:function` or `module:function:data`, instead of that exit.
    """

    _book: Book = field(default_factory=Book)

    def explain(  # noqa: PLR0913  (the options of `clwl explain`)
        self,
        qmgr: str,
        object_name: str,
        object_qmgr: str = "",
        *,
        object_type: str = ObjectType.QUEUE,
        snapshot: str | None = None,
        via: str = Via.LOCAL,
        bind: str = Bind.AS_Q_DEF,
        algorithm: str | None = None,
        exit_function: str | None = None,
    ) -> Explained:
        """Explain where a put goes.

        The first question about a queue manager takes seconds and plans whatever else it could put
        to, so that the next ones are answered at once, until a table of the topology changes.

        >>> lake.explain("SHOP1", "PARCEL.IN").routes[["dest_qmgr", "expected_share"]]
        >>> lake.explain("SHOP1", "fleet/positions/van12", object_type="TOPIC")

        Args:
            qmgr: queue manager where the message is put.
            object_name: queue name, or topic string.
            object_qmgr: object queue manager; blank = none named.
            object_type: QUEUE or TOPIC.
            snapshot: any one, whatever its status.
            via: LOCAL, or CLUSTER = received over a cluster channel.
            bind: option of the open.
            algorithm: v9 or v7.
            exit_function: the cluster workload exit.

        Raises:
            MissingSnapshotError: no such snapshot, or no valid one.
            UsageError: an unknown word.
        """
        ladder = self._ladder(exit_function, algorithm)
        request = ExplainRequest(
            qmgr, object_name, object_qmgr, str(object_type), snapshot, str(via), str(bind),
            ladder.algorithm, ladder.exit_function,
        )  # fmt: skip
        return Explained(explain_by(self._book, self.tables, request))

    def trace(  # noqa: PLR0913  (the options of `clwl trace`)
        self,
        qmgr: str,
        object_name: str,
        object_qmgr: str = "",
        *,
        object_type: str = ObjectType.QUEUE,
        via: str = Via.LOCAL,
        links: Mapping[tuple[str, str], str] | None = None,
        hops: int = MOST_HOPS,
        snapshot: str | None = None,
        algorithm: str | None = None,
        exit_function: str | None = None,
    ) -> Traced:
        """Follow a put over gateways, aliases and clusters to its final queues.

        >>> lake.trace("SHOP1", "PARCEL.IN").ends

        Args:
            qmgr: queue manager where the message is put.
            object_name: queue name, or topic string.
            object_qmgr: object queue manager; blank = none named.
            object_type: QUEUE or TOPIC.
            via: LOCAL, or CLUSTER = received over a cluster channel.
            links: (queue manager, transmission queue) -> queue manager at its other end.
            hops: the way is followed for so many hops.
            snapshot: any one.
            algorithm: v9 or v7.
            exit_function: the cluster workload exit.

        Raises:
            UnknownQueueManagerError: the snapshot does not define a queue manager.
            UsageError: an unknown word, or less than one hop.
        """
        if object_type == ObjectType.TOPIC:
            check_topic_string(object_name)
        place = Place(qmgr, object_name, object_qmgr, str(via), str(object_type))
        ladder = self._ladder(exit_function, algorithm)
        return Traced(trace(self.tables, TraceRequest(place, snapshot, ladder, links or {}, hops)))

    def assertions(
        self, paths: Paths, *, snapshot: str | None = None, exit_function: str | None = None
    ) -> pd.DataFrame:
        """Check facts that must hold, as `clwl assert` does.

        >>> assert (lake.assertions("facts.yml").verdict == "PASSED").all()

        Args:
            paths: a file of assertions, a folder of them, or several.
            snapshot: any one.
            exit_function: the cluster workload exit.

        Returns:
            One row per assertion: name, assertion, verdict (PASSED, FAILED, ERROR), said, cases,
            failing, why, file, line; `attrs["summary"]` counts them.

        Raises:
            AssertionFilesError: a file cannot be used.
        """
        several = [paths] if isinstance(paths, str | Path) else paths
        asserted = load_assertions([Path(x) for x in several])
        ladder, snapshot_id = self._ladder(exit_function), self._chosen(snapshot)
        network = network_of(self.tables, snapshot_id, {}, settled)
        report = judge(asserted, SnapshotAnswers(network, ladder))
        names = (
            "name", "assertion", "verdict", "said", "cases", "failing", "why", "file", "line",
        )  # fmt: skip
        frame = frame_of([x.to_json() for x in report.results], names)
        frame.attrs["summary"] = headline(report)
        return frame
