"""Explanations at once: what a sender may put to is planned together, and kept.

Planning takes seconds of Spark, however many requests there are. So the first question about a
queue manager plans all names that it could put to, and later ones are answered from the book, with
the same explanation that `explain` gives.
"""

from dataclasses import dataclass, field, replace
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark import columns as c
from clwl_spark.analysis.explain import (
    ExplainRequest,
    Explanation,
    Heads,
    Sender,
    asked_of,
    check_words,
    explain,
    explained,
    has_definitions,
    heads_of,
    reset_epoch,
)
from clwl_spark.analysis.planned import Planned, Request, planned
from clwl_spark.delta_versions import Versions, versions_of
from clwl_spark.plan.planning import Ladder
from clwl_spark.schemas import SNAPSHOT_RESETS, SNAPSHOTS, TOPOLOGY
from clwl_spark.storage import Lake
from clwl_spark.topology.meeting import as_met_by
from clwl_spark.topology.views import EVERYBODY, Topology, read_topology
from clwl_spark.vocabulary import Algorithm, ObjectType, Via

MOST_NAMES: Final = 200
"""So many names of a sender are planned at once, its own ones first."""

MOST_PLANS: Final = 5_000
"""A book with more is begun anew."""

_MET_ANYWAY: Final = 30
"""Of so few requests `planned` itself looks only at what they can meet."""

_READ: Final = tuple(table.name for table in (SNAPSHOTS, SNAPSHOT_RESETS, *TOPOLOGY))
_OWN: Final = "is_own"
_WILDCARDS: Final = "#+"


@dataclass(slots=True)
class Book:
    """What was planned of a lake.

    Attributes:
        versions: of the tables that all the rest was read from.
        heads: the lake's snapshots.
        plans: what requests come to.
        senders: by (snapshot_id, qmgr).
        opened: (snapshot_id, qmgr, object_type) whose names are planned, by algorithm.
    """

    versions: Versions | None = None
    heads: Heads | None = None
    plans: dict[tuple[Algorithm, Request], Planned] = field(default_factory=dict)
    senders: dict[tuple[str, str], Sender] = field(default_factory=dict)
    opened: set[tuple[Algorithm, str, str, str]] = field(default_factory=set)

    def begin(self, versions: Versions) -> None:
        """Forget all, as the lake's tables have these versions now."""
        self.versions, self.heads = versions, None
        for kept in (self.plans, self.senders, self.opened):
            kept.clear()


def explain_by(book: Book, lake: Lake, request: ExplainRequest) -> Explanation:
    """Explain a request as `explain` does, from the book where it has it.

    A request with an exit is never in the book: an exit may answer otherwise each time.

    Args:
        book: of this lake; it is changed.
        lake: with topology. Only a folder of this machine tells its versions cheaply, other
            lakes have no book.
        request: the request.

    Raises:
        MissingSnapshotError: no such snapshot, or no valid one.
        MissingLakeError: the lake has no snapshots at all.
        UsageError: an unknown word in the request.
    """
    versions = None if request.exit_function else versions_of(lake, _READ)
    if versions is None:
        return explain(lake, request)
    check_words(request)
    if versions != book.versions or len(book.plans) > MOST_PLANS:
        book.begin(versions)
    heads = book.heads = book.heads or heads_of(lake)
    asked = asked_of(request, heads.chosen(request.snapshot_id))
    if (request.algorithm, asked) not in book.plans:
        _plan(book, lake, heads, request, asked)
    found = book.plans[request.algorithm, asked]
    return explained(request, _copied(found), book.senders[asked[0], request.qmgr])


def _copied(found: Planned) -> Planned:
    """The routes, which an explanation hands on as they are, are the caller's to change."""
    return replace(found, routes=[dict(row) for row in found.routes])


def _plan(book: Book, lake: Lake, heads: Heads, request: ExplainRequest, asked: Request) -> None:
    """Plan what is asked; of a sender's first question, all else that it could put to as well."""
    snapshot_id, object_type = asked[0], str(request.object_type)
    topology = read_topology(lake, [snapshot_id])
    opening = (request.algorithm, snapshot_id, request.qmgr, object_type)
    sender = (snapshot_id, request.qmgr)
    if sender not in book.senders:
        epoch = reset_epoch(lake, request.qmgr, heads.valid_up_to(snapshot_id))
        book.senders[sender] = Sender(epoch, has_definitions(request.qmgr, topology))
    requests, met = [asked], topology
    if opening not in book.opened:
        names = sorted({*_names(request.qmgr, object_type, topology), request.object_name})
        others = (
            (snapshot_id, request.qmgr, object_type, name, "", Via.LOCAL.value) for name in names
        )
        requests = list(dict.fromkeys([asked, *others]))
        if len(requests) > _MET_ANYWAY:
            met = as_met_by([request.qmgr], {*names, request.object_qmgr}, topology)
    found = planned(requests, met, Ladder(request.algorithm))
    book.plans |= {(request.algorithm, known): plan for known, plan in found.items()}
    book.opened.add(opening)


def _names(qmgr: str, object_type: str, topology: Topology) -> list[str]:
    """Names that the queue manager could put to: those it defines, then those of its clusters."""
    if object_type == ObjectType.TOPIC:
        rows = _seen(qmgr, topology.topics, c.TOPICSTR, topology)
    else:
        rows = _seen(qmgr, topology.queues, c.QUEUE, topology)
    return [name for name in rows if name and not set(_WILDCARDS) & set(name)]


def _seen(qmgr: str, table: DataFrame, name: str, topology: Topology) -> list[str]:
    """The names of a table's rows, own ones first, at most `MOST_NAMES`."""
    looks = F.col(c.OBSERVER).isin(EVERYBODY, qmgr)
    is_own = F.col(c.QMGR) == qmgr
    member = topology.cluster_channels.where(looks & is_own).select(c.CLUSTER).distinct()
    clusters = [row[0] for row in member.collect() if row[0]]
    reached = table.where(looks & (is_own | F.col(c.CLUSTER).isin(clusters)))
    names = reached.groupBy(name).agg(F.max(is_own).alias(_OWN))
    chosen = names.orderBy(F.desc(_OWN), name).limit(MOST_NAMES)
    return [str(row[0]) for row in chosen.select(name).collect()]
