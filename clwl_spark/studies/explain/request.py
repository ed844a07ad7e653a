"""One request explained: every candidate with its verdict, the routes and their shares.

Source: SEMANTICS 1 to 5 and 7, P33, R4; CONTRACT, "JSON of a few commands".
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final

from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StringType, StructField, StructType

from clwl_spark.algorithm.ladder import RECENTLY_USED
from clwl_spark.algorithm.request import Request
from clwl_spark.algorithm.semantics import NEWEST, Semantics
from clwl_spark.delta.lake import Lake
from clwl_spark.errors import UsageError
from clwl_spark.mq.vocabulary import Bind, ObjectType, PlanKind, Reach, Via
from clwl_spark.planning.plans import Ladder
from clwl_spark.rules.marking import Rule
from clwl_spark.rules.recently_used import keep_most_recently_used
from clwl_spark.snapshots.catalog import snapshot_catalog
from clwl_spark.snapshots.changes import neighbours
from clwl_spark.snapshots.contradictions import consistent_topology
from clwl_spark.snapshots.defined import is_defined
from clwl_spark.snapshots.first_opens import clusters_held, partly_shown, repositories_asked
from clwl_spark.snapshots.views import Topology, observers_of
from clwl_spark.spark.frames import frame_from_rows
from clwl_spark.studies.explain.authority import authority_note
from clwl_spark.studies.explain.planned import Planned, candidate_order, planned
from clwl_spark.studies.explain.stays import stays_note
from clwl_spark.studies.explain.wording import reasons_why
from clwl_spark.tables import BALANCE_HISTORY, ROUTE_CANDIDATES, ROUTE_PLANS, SNAPSHOT_RESETS
from clwl_spark.tables import columns as c

Row = dict[str, Any]
UNKNOWN_NAMES: Final = frozenset({2082, 2085, 2087})
"""Reasons of puts to a name that the queue manager does not know."""
_LAST_HISTORY: Final = "the history after the last routed batch"
_SENT_BY: Final = (StructField(c.QMGR, StringType()), StructField(c.CLWLMRUC, LongType()))


@dataclass(frozen=True, slots=True)
class ExplainRequest:
    """Who puts to what.

    Attributes:
        qmgr: queue manager where the message is put.
        object_name: queue name, or topic string.
        object_qmgr: object queue manager; blank = none named.
        object_type: QUEUE or TOPIC.
        snapshot_id: which snapshot, whatever its status; default the last valid one.
        via: LOCAL = put by an application, CLUSTER = received over a cluster channel.
        scope: of a publication: ALL, or QMGR = it stays on the queue manager.
        bind: option of the open; it says when the choice is made, not what it chooses from.
        semantics: which order of the rules, and how names are looked up.
        exit_function: the cluster workload exit.
        empty_history: show rule 15 as of a history without choices, not as of that after the last
            routed batch.
    """

    qmgr: str
    object_name: str
    object_qmgr: str = ""
    object_type: str = ObjectType.QUEUE.value
    snapshot_id: str | None = None
    via: str = Via.LOCAL.value
    scope: str = Reach.ALL.value
    bind: str = Bind.AS_Q_DEF.value
    semantics: Semantics = NEWEST
    exit_function: Rule | None = None
    empty_history: bool = False


@dataclass(frozen=True, slots=True)
class Explanation:
    """The answer to a request.

    Attributes:
        request: what was asked.
        plan: the columns of `schemas.ROUTE_PLANS`.
        candidates: the columns of `schemas.ROUTE_CANDIDATES` and `why`, in route order.
        routes: in route order, copies of a publication one after the other; a local route has
            the channel and cluster of its CLUSRCVR and no transmission queue.
        warnings: what makes the answer less useful than it looks.
        notes: what it rests on: a view, a first open, a history, a scope.
        view: by table, whose view of others' objects counts: that of the queue manager that puts,
            or everybody's, `*`.
    """

    request: ExplainRequest
    plan: Row
    candidates: Sequence[Row]
    routes: Sequence[Row]
    warnings: Sequence[str] = ()
    notes: Sequence[str] = ()
    view: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The document of `clwl explain --json`."""
        return {
            "plan": self.plan,
            "candidates": list(self.candidates),
            "routes": list(self.routes),
            "view": dict(self.view),
            "notes": list(self.notes),
            "warnings": list(self.warnings),
        }


@dataclass(frozen=True, slots=True)
class Sender:
    """What an explanation tells of the queue manager that puts, beyond the plan.

    Attributes:
        reset_epoch: resets of its history that routing knows of, up to the snapshot.
        is_defined: the snapshot has rows of its own definitions.
        asks: the full repositories that it asks for what its own view lacks; itself if it is one.
        view: as in `Explanation`.
        authority: which profiles decide whether the put may be made; '' = not known.
        partly: tables of which its view counts though it is not whole.
        stays: why the publication stays on it; '' = it does not, or a queue is put to.
    """

    reset_epoch: int
    is_defined: bool
    asks: Sequence[str] = ()
    view: Mapping[str, str] = field(default_factory=dict)
    authority: str = ""
    partly: Sequence[str] = ()
    stays: str = ""


def explain(lake: Lake, request: ExplainRequest) -> Explanation:
    """Explain where a request's messages go.

    Args:
        lake: with topology; routing need not have run.
        request: the request.

    Raises:
        MissingSnapshotError: no such snapshot, or no valid one.
        MissingLakeError: the lake has no snapshots at all.
        UsageError: an unknown word in the request.
    """
    check_words(words_of(request))
    heads = snapshot_catalog(lake)
    snapshot_id = heads.chosen(request.snapshot_id)
    asked = asked_of(request, snapshot_id)
    topology = consistent_topology(lake, [snapshot_id])
    found = planned([asked], topology, Ladder(request.semantics, request.exit_function))[asked]
    found = as_history_stands(lake, request, found)
    epoch = reset_epoch(lake, request.qmgr, heads.valid_up_to(snapshot_id))
    # Whether the sender is defined is told only of puts that fail.
    defined = found.plan[c.REASON] == 0 or is_defined(request.qmgr, snapshot_id, topology)
    view = observers_of(request.qmgr, snapshot_id, topology)
    authority = authority_note(lake, asked, found)
    partly = partly_shown(request.qmgr, snapshot_id, topology, view)
    stays = stays_note(asked, found, topology, request.semantics.edition)
    sender = Sender(epoch, defined, asked_by(found, topology), view, authority, partly, stays)
    return explained(request, found, sender)


def as_history_stands(lake: Lake, request: ExplainRequest, found: Planned) -> Planned:
    """What the request comes to, with rule 15 as its queue manager's history has it.

    Routes and their shares in the long run stay as they are.

    Source: SEMANTICS R4.
    """
    remote = Counter(
        x[c.CHOICE] for x in found.candidates if x[c.ELIMINATED_BY] is None and not x[c.IS_LOCAL]
    )
    limit = found.clwlmruc
    if limit is None or max(remote.values(), default=0) <= limit:
        return found
    history = lake.read_or_empty(BALANCE_HISTORY.name, c.QMGR, [request.qmgr])
    if request.empty_history:
        history = frame_from_rows(lake.spark, [], BALANCE_HISTORY.schema)
    rows = [{**x, c.QMGR: request.qmgr, c.CLWLMRUC: limit} for x in found.candidates]
    types = StructType([*ROUTE_CANDIDATES.schema, *_SENT_BY])
    shown = keep_most_recently_used(frame_from_rows(lake.spark, rows, types), history)
    candidates = [row.asDict() for row in shown.select(*ROUTE_CANDIDATES.names).collect()]
    return replace(found, candidates=sorted(candidates, key=candidate_order))


def asked_by(found: Planned, topology: Topology) -> list[str]:
    """The full repositories that tell of what a plan found by a first open; [] = it had none.

    A full repository of the clusters that it is found in asks nobody: it is its own.
    """
    plan, found_in = found.plan, {x[c.INSTANCE_CLUSTER] for x in found.candidates}
    if not plan[c.FIRST_OPEN]:
        return []
    if found_in and found_in <= clusters_held(plan[c.QMGR], plan[c.SNAPSHOT_ID], topology):
        return [plan[c.QMGR]]
    return repositories_asked(plan[c.QMGR], plan[c.SNAPSHOT_ID], topology)


def explained(request: ExplainRequest, found: Planned, sender: Sender) -> Explanation:
    """The explanation of a request that is planned.

    Args:
        request: the request.
        found: what it comes to.
        sender: of the request; `is_defined` counts only where the plan's reason is not 0, `asks`
            only where the plan has a first open.
    """
    plan = {**found.plan, c.RESET_EPOCH: sender.reset_epoch}
    whys = reasons_why(found.candidates, request.qmgr, request.via, request.semantics.algorithm)
    return Explanation(
        request=request,
        plan={name: plan[name] for name in ROUTE_PLANS.names},
        candidates=[
            {**{name: row[name] for name in ROUTE_CANDIDATES.names}, "why": why}
            for row, why in zip(found.candidates, whys, strict=True)
        ],
        routes=found.routes,
        warnings=_warnings(request.qmgr, plan, sender),
        notes=_notes(request, found, sender),
        view=sender.view,
    )


_WORDS: Final[Mapping[str, type[StrEnum]]] = {
    "object_type": ObjectType,
    "via": Via,
    "bind": Bind,
    "scope": Reach,
}
"""What each word of a put may be."""


def words_of(request: ExplainRequest) -> dict[str, str]:
    """The words of a request, by their names."""
    return {name: getattr(request, name) for name in _WORDS}


def check_words(given: Mapping[str, str]) -> None:
    """Refuse unknown words of a put.

    Args:
        given: by their names: object_type, via, bind, scope.

    Raises:
        UsageError: one is unknown.
    """
    for name, word in given.items():
        known = [x.value for x in _WORDS[name]]
        if word not in known:
            raise UsageError(f"{name} '{word}' is not one of {known}")


def asked_of(request: ExplainRequest, snapshot_id: str) -> Request:
    """What stands for a request in a snapshot."""
    is_kept = request.object_type == ObjectType.TOPIC and request.scope == Reach.QMGR
    return Request(
        snapshot_id,
        request.qmgr,
        str(request.object_type),
        request.object_name,
        request.object_qmgr,
        str(request.via),
        Reach.QMGR.value if is_kept else None,
    )


def reset_epoch(lake: Lake, qmgr: str, snapshot_ids: Sequence[str]) -> int:
    """Resets of the queue manager's history that routing knows of, within valid snapshots."""
    pairs = neighbours(snapshot_ids)
    found = lake.read_or_empty(SNAPSHOT_RESETS.name).where(
        (F.col(c.QMGR) == qmgr) & F.col(c.IS_RESET)
    )
    known = {(row[0], row[1]) for row in found.select(c.SNAPSHOT_ID, c.PREVIOUS_ID).collect()}
    return len(known.intersection(pairs))


def _warnings(qmgr: str, plan: Row, sender: Sender) -> list[str]:
    """What makes the answer less useful than it looks."""
    if plan[c.REASON] == 0 or sender.is_defined:
        return []
    words = (
        f"snapshot {plan[c.SNAPSHOT_ID]} has no definitions of queue manager {qmgr}, so it sees "
        "nothing: check the name (case counts), or ingest its definitions"
    )
    return [words]


def _told(request: ExplainRequest, plan: Row, sender: Sender) -> str:
    """What comes of a first open; what is in other clusters makes no name known (P35)."""
    if plan[c.REASON] in UNKNOWN_NAMES:
        return f"asking does not help: it is in clusters that {request.qmgr} is not in"
    if sender.asks:
        return f"{' and '.join(sender.asks)} would tell it"
    return "nobody tells it, so this is what others show"


def _first_open(request: ExplainRequest, name: str, plan: Row, sender: Sender) -> str:
    """Why a name counts that the sender's own view lacks."""
    if [*sender.asks] == [request.qmgr]:
        return (
            f"{request.qmgr} is a full repository, but its view here is not whole, for a DISPLAY "
            f"was filtered or names one object: of {name} what is defined counts"
        )
    return (
        f"{request.qmgr} has not asked for {name}, or for a queue manager that has it, yet; "
        f"{_told(request, plan, sender)}"
    )


def _notes(request: ExplainRequest, found: Planned, sender: Sender) -> list[str]:
    """What the answer rests on."""
    plan, said = found.plan, []
    if plan[c.FIRST_OPEN]:
        name = plan[c.RESOLVED_QMGR if plan[c.KIND] == PlanKind.QMGR else c.RESOLVED_OBJECT]
        said.append(f"first open: {_first_open(request, name, plan, sender)}")
    if sender.stays:
        said.append(sender.stays)
    if any(row[c.ELIMINATED_BY] == RECENTLY_USED for row in found.candidates):
        history = "an empty history" if request.empty_history else _LAST_HISTORY
        said.append(f"rule {RECENTLY_USED} as of {history}; shares are those in the long run")
    own = [table for table, observer in sender.view.items() if observer == request.qmgr]
    shown = f"{' and '.join(own)} of others as {request.qmgr} itself shows them"
    if sender.partly:
        shown += f"; of {' and '.join(sender.partly)} not all that it knows"
    said.append(f"view: {shown}" if own else "view: others as they are defined")
    if sender.authority:
        said.append(sender.authority)
    return said
