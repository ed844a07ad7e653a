"""Explanations at once: what is chosen from is planned beforehand, and kept.

Planning takes seconds of Spark, for thousands of puts little more than for one. So the first
question about a snapshot plans, for all of its queue managers, every end that their puts can have
(`ends`); any later put is resolved here, and takes the plan of its end, with the same explanation
that `explain` gives. Where the queue managers or names are very many, the first question about
each queue manager plans what belongs to it.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

from clwl_spark.algorithm.request import Request
from clwl_spark.algorithm.resolve import Knowledge
from clwl_spark.algorithm.semantics import Semantics
from clwl_spark.delta.lake import Lake
from clwl_spark.delta.versions import Versions, versions_of
from clwl_spark.mq.vocabulary import PlanKind
from clwl_spark.planning.plans import Ladder
from clwl_spark.routing.intake.splits import spark_hash
from clwl_spark.snapshots.catalog import SnapshotCatalog, snapshot_catalog
from clwl_spark.snapshots.contradictions import consistent_topology
from clwl_spark.snapshots.first_opens import partly_shown
from clwl_spark.snapshots.views import EVERYBODY, Topology, observers_of
from clwl_spark.studies.explain.authority import authority_note
from clwl_spark.studies.explain.ends import (
    End,
    Names,
    Viewpoint,
    as_asked,
    end_of,
    puts_of,
    without_choice,
)
from clwl_spark.studies.explain.planned import Planned, planned
from clwl_spark.studies.explain.request import (
    ExplainRequest,
    Explanation,
    Sender,
    as_history_stands,
    asked_by,
    asked_of,
    check_words,
    explain,
    explained,
    reset_epoch,
    words_of,
)
from clwl_spark.studies.explain.stays import stays_note
from clwl_spark.studies.explain.viewpoints import names_of, viewpoints
from clwl_spark.tables import SNAPSHOT_CHANGES, SNAPSHOT_RESETS, SNAPSHOTS, TOPOLOGY
from clwl_spark.tables import columns as c

MOST_KNOWN: Final = 200_000
"""Up to so many pairs of a queue manager and a row that it may see, all are known at once."""

MOST_ENDS: Final = 20_000
"""So many ends are planned at once."""

MOST_PLANS: Final = 100_000
"""A book with more is begun anew."""

_READ: Final = tuple(
    table.name for table in (SNAPSHOTS, SNAPSHOT_CHANGES, SNAPSHOT_RESETS, *TOPOLOGY)
)


@dataclass(slots=True)
class Page:
    """What is known of one snapshot, by one order of the rules.

    Attributes:
        snapshot_id: its name.
        ladder: the rules.
        topology: its rows.
        names: its names.
        owners: queue managers with rows of their own definitions.
        viewers: queue managers with rows of their own, or with views.
        viewpoints: what queue managers know.
        epochs: resets of their history.
        views: whose view of others' objects counts for them, by table.
        partly: tables of which their own view counts though it is not whole.
        plans: by queue manager and end, a put that has the end, and what it comes to.
        stays: why publications stay where they are put.
        is_begun: something was planned, or nothing there could be.
    """

    snapshot_id: str
    ladder: Ladder
    topology: Topology
    names: Names
    owners: frozenset[str]
    viewers: frozenset[str]
    viewpoints: dict[str, Viewpoint] = field(default_factory=dict)
    epochs: dict[str, int] = field(default_factory=dict)
    views: dict[str, dict[str, str]] = field(default_factory=dict)
    partly: dict[str, tuple[str, ...]] = field(default_factory=dict)
    plans: dict[tuple[str, End], tuple[Request, Planned]] = field(default_factory=dict)
    stays: dict[Request, str] = field(default_factory=dict)
    is_begun: bool = False


@dataclass(slots=True)
class PlanCache:
    """What was planned of a lake.

    Attributes:
        versions: of the tables that all the rest was read from.
        heads: the lake's snapshots.
        pages: by order of the rules and snapshot_id.
    """

    versions: Versions | None = None
    heads: SnapshotCatalog | None = None
    pages: dict[tuple[Semantics, str], Page] = field(default_factory=dict)

    def begin(self, versions: Versions) -> None:
        """Forget all, as the lake's tables have these versions now."""
        self.versions, self.heads = versions, None
        self.pages.clear()

    @property
    def plans(self) -> int:
        """How many it has."""
        return sum(len(page.plans) for page in self.pages.values())


def explain_by(plan_cache: PlanCache, lake: Lake, request: ExplainRequest) -> Explanation:
    """Explain a request as `explain` does, from the book where it has it.

    A request with an exit is never in the book: an exit may answer otherwise each time.

    Args:
        plan_cache: of this lake; it is changed.
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
    check_words(words_of(request))
    if versions != plan_cache.versions or plan_cache.plans > MOST_PLANS:
        plan_cache.begin(versions)
    heads = plan_cache.heads = plan_cache.heads or snapshot_catalog(lake)
    asked = asked_of(request, heads.chosen(request.snapshot_id))
    qmgr, key = request.qmgr, (request.semantics, asked[0])
    if key not in plan_cache.pages:
        plan_cache.pages[key] = opened(lake, *key)
    page = plan_cache.pages[key]
    if qmgr not in page.epochs:
        page.epochs[qmgr] = reset_epoch(lake, qmgr, heads.valid_up_to(page.snapshot_id))
        view = page.views[qmgr] = observers_of(qmgr, page.snapshot_id, page.topology)
        page.partly[qmgr] = partly_shown(qmgr, page.snapshot_id, page.topology, view)
    found = as_history_stands(lake, request, found_on(page, asked, spark_hash(asked)))
    asks = asked_by(found, page.topology)
    authority = authority_note(lake, asked, found)
    if asked not in page.stays:
        page.stays[asked] = stays_note(asked, found, page.topology, request.semantics.edition)
    told = (asks, page.views[qmgr], authority, page.partly[qmgr], page.stays[asked])
    sender = Sender(page.epochs[qmgr], qmgr in page.owners, *told)
    return explained(request, found, sender)


def opened(lake: Lake, semantics: Semantics, snapshot_id: str) -> Page:
    """A page on which nothing is planned yet; what its queue managers know, if they are few."""
    topology = consistent_topology(lake, [snapshot_id])
    tables = (topology.queue_managers, topology.cluster_channels, topology.queues)
    first, *others = (table.select(c.QMGR, c.OBSERVER) for table in tables)
    for other in others:
        first = first.union(other)
    counts = first.groupBy(c.QMGR, c.OBSERVER).count().collect()
    owners = frozenset(str(row[0]) for row in counts)
    observers = {str(row[1]) for row in counts} - {EVERYBODY}
    rows = sum(row[2] for row in counts)
    page = Page(
        snapshot_id,
        Ladder(semantics),
        topology,
        names_of(topology, semantics.edition),
        owners,
        owners | observers,
    )
    if len(page.viewers) * rows <= MOST_KNOWN:
        _gather(page, page.viewers)
    return page


def _gather(page: Page, qmgrs: Collection[str]) -> None:
    """Gather what queue managers know."""
    edition = page.ladder.semantics.edition
    page.viewpoints |= viewpoints(
        sorted(qmgrs), page.snapshot_id, page.topology, page.names, edition
    )


def _viewpoint(page: Page, qmgr: str) -> Viewpoint:
    """What the queue manager knows."""
    if qmgr not in page.viewers:
        return Viewpoint(Knowledge(qmgr), edition=page.ladder.semantics.edition)
    if qmgr not in page.viewpoints:
        _gather(page, [qmgr])
    return page.viewpoints[qmgr]


def found_on(page: Page, asked: Request, number: int) -> Planned:
    """What a put comes to.

    Args:
        page: of the put's snapshot; it is changed where the put's end has no plan yet.
        asked: the put.
        number: its plan_id.
    """
    qmgr, viewpoint = asked.qmgr, _viewpoint(page, asked.qmgr)
    end = end_of(asked, viewpoint)
    # The first question plans even where it needs no plan itself: the next one will.
    if not page.is_begun or (end is not None and (qmgr, end) not in page.plans):
        _plan(page, asked, viewpoint)
    if end is None:
        return Planned({**without_choice(asked, viewpoint), c.PLAN_ID: number}, [], [])
    standing, plan = page.plans[qmgr, end]
    row = {**as_asked(plan.plan, standing, asked, viewpoint), c.PLAN_ID: number}
    # A put to another queue manager takes its queue's name there with it.
    named = {c.DEST_OBJECT: row[c.RESOLVED_OBJECT]} if end[0] == PlanKind.QMGR else {}
    return Planned(
        row,
        [{**x, **named, c.PLAN_ID: number} for x in plan.candidates],
        [{**x, **named} for x in plan.routes],
        plan.clwlmruc,
    )


def _plan(page: Page, asked: Request, viewpoint: Viewpoint) -> None:
    """Plan the end of a put; the first time, as many other ends as there are, own ones first."""
    senders = [viewpoint] if page.is_begun else [viewpoint, *page.viewpoints.values()]
    others = chain.from_iterable(puts_of(page.snapshot_id, x) for x in senders)
    missing: dict[tuple[str, End], Request] = {}
    for put in chain([asked], others):
        qmgr = put.qmgr
        end = end_of(put, page.viewpoints.get(qmgr, viewpoint))
        if end is not None and (qmgr, end) not in page.plans:
            missing.setdefault((qmgr, end), put)
        if len(missing) == MOST_ENDS:
            break
    page.is_begun = True
    if missing:
        found = planned(list(missing.values()), page.topology, page.ladder)
        page.plans |= {key: (standing, found[standing]) for key, standing in missing.items()}
