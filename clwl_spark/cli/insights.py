"""`clwl insights`: what a whole topology shows."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from rich.console import RenderableType

from clwl_spark.algorithm.ladder import BY_NUMBER
from clwl_spark.cli.commands.insights import InsightsWords
from clwl_spark.cli.options import Common
from clwl_spark.cli.tables import listing
from clwl_spark.cli.work import ROUTED, Work, asked_snapshot, at_work
from clwl_spark.mq.vocabulary import Algorithm, ObjectType, Via, reason_text
from clwl_spark.planning.plans import Ladder
from clwl_spark.rules.exit import load_exit
from clwl_spark.snapshots.contradictions import consistent_topology
from clwl_spark.snapshots.semantics import semantics_of
from clwl_spark.spark.materialize import checkpoint
from clwl_spark.studies.explain.request import UNKNOWN_NAMES
from clwl_spark.studies.insights import Insights, insights
from clwl_spark.studies.own_views import own_views
from clwl_spark.studies.shares.traffic import MESSAGES_OF, traffic_of_lake
from clwl_spark.tables import SNAPSHOTS
from clwl_spark.tables import columns as c

_QUEUE: Final = ObjectType.QUEUE.value
_LOCAL: Final = Via.LOCAL.value


def run(common: Common, options: InsightsWords) -> int:
    """Look, tell, and return the exit code."""
    own = {"exit": options.exit}
    with at_work("insights", common, own, needs=SNAPSHOTS.name, reads=ROUTED) as work:
        snapshot_id = asked_snapshot(work.lake, options)
        ladder = Ladder(semantics_of(work.lake), load_exit(work.settings.exit))
        topology = consistent_topology(work.lake, [snapshot_id], checkpoint)
        with work.screen.progress("insights") as tell:
            tell("requests", 0, 1)
            views = own_views(work.lake, snapshot_id)
            found = insights(traffic_of_lake(work.lake, snapshot_id), topology, ladder, views)
            tell("requests", 1, 1)
        work.screen.document({"snapshot_id": snapshot_id, **found.to_json()})
        work.screen.show(*parts(found, snapshot_id, ladder.algorithm, options.limit))
        if found.views:
            told = work.command("repository", "--qmgr", found.views[0][c.OBSERVER])
            work.screen.show(f"which differ of the first view, and why: {told}")
        work.screen.show(*_failing(found, snapshot_id, work, options.limit))
    return 0


def _failing(found: Insights, snapshot_id: str, work: Work, limit: int) -> Iterator[RenderableType]:
    """Requests that fail, and what tells why; nothing where none does."""
    if not found.failing:
        return
    rows = [{**x, c.REASON: reason_text(x[c.REASON])} for x in found.failing]
    names = (c.QMGR, c.OBJECT_NAME, c.OBJECT_QMGR, c.REASON, MESSAGES_OF)
    yield from _part("Messages that fail", rows, names, "", limit)
    first = found.failing[0]
    words = ["--from", first[c.QMGR], "--object", first[c.OBJECT_NAME]]
    words += ["--object-qmgr", first[c.OBJECT_QMGR]] if first[c.OBJECT_QMGR] else []
    words += ["--object-type", first[c.OBJECT_TYPE]] if first[c.OBJECT_TYPE] != _QUEUE else []
    words += ["--via", first[c.VIA]] if first[c.VIA] != _LOCAL else []
    yield f"why the first does: {work.command('explain', *words, '--snapshot', snapshot_id)}"
    if first[c.REASON] in UNKNOWN_NAMES:
        name = first[c.OBJECT_QMGR] or first[c.OBJECT_NAME]
        told = work.command("repository", "--qmgr", first[c.QMGR], "--object", name)
        yield f"what {first[c.QMGR]} knows: {told}"


def parts(
    found: Insights, snapshot_id: str, algorithm: Algorithm, limit: int
) -> list[RenderableType]:
    """A part for each question, with an answer also where there is nothing to tell."""
    asked = (c.QMGR, c.OBJECT_NAME)
    rules = [{**row, "rule": _rule(row["rule"])} for row in found.deciding]
    idle = [row for row in found.idle if not row["messages_decided"]]
    other = "MQ 9" if algorithm is Algorithm.V7 else "MQ 7"
    told = (
        ("Which rule decides how much traffic", rules, ("rule", MESSAGES_OF, "requests"), ""),
        (
            "Attributes that are set and decide nothing",
            idle,
            ("attribute", "set_on"),
            _no_idle(found.idle),
        ),
        (
            "Queues with several hosts whose messages hang on one",
            found.illusions,
            (*asked, "hosts", "why", MESSAGES_OF),
            "none",
        ),
        (
            "Own views that differ from what owners define",
            found.views,
            (c.OBSERVER, "table", "differs", "unknown", "absent"),
            "none; nothing is absent from them either",
        ),
        (
            f"What {other} would send otherwise",
            found.releases,
            (*asked, MESSAGES_OF, "moved"),
            "nothing, by its rules",
        ),
        (
            f"What the balancing of {other} would send otherwise over the same routes",
            found.balancing,
            (*asked, MESSAGES_OF, "moved"),
            "nothing",
        ),
    )
    shown: list[RenderableType] = [f"Snapshot {snapshot_id}, with the lake's messages"]
    for title, rows, names, nothing in told:
        shown += _part(title, rows, names, nothing, limit)
    return shown


def _no_idle(attributes: Sequence[dict[str, Any]]) -> str:
    """What to say where no attribute is idle."""
    if not attributes:
        return "none is set: all have MQ's defaults"
    return "every attribute that is set decides something"


def _rule(number: int) -> str:
    if not number:
        return "none: balancing, or one destination"
    return f"{number}: {BY_NUMBER[number].title}"


def _part(
    title: str, rows: Sequence[dict[str, Any]], names: Sequence[str], nothing: str, limit: int
) -> list[RenderableType]:
    if not rows:
        return [f"\n{title}: {nothing}"]
    more = f" (the first {limit} of {len(rows)})" if len(rows) > limit else ""
    cells = [tuple(_cell(row[name]) for name in names) for row in rows[:limit]]
    numbers = {x.replace("_", " ") for x in names if isinstance(rows[0][x], int | float)}
    headings = [x.replace("_", " ") for x in names]
    return [f"\n{title}{more}", listing(headings, cells, numbers)]


def _cell(value: object) -> str:
    return f"{value:,.0f}" if isinstance(value, int | float) else str(value)
