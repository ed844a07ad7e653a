"""An object's messages before and after a moment: what moved them, what waits, what to do.

Expected shares come of the two snapshots' plans, counts of what was routed. Both are told, since
what was bound goes on by its old way.

Source: SEMANTICS 1 (S1), 4, 5, 6 and 8.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from clwl_spark.algorithm.ladder import RECENTLY_USED
from clwl_spark.algorithm.request import Request
from clwl_spark.delta.lake import Lake
from clwl_spark.errors import InputError, UsageError
from clwl_spark.mq.vocabulary import ObjectType, PlanKind, Via
from clwl_spark.planning.plans import Ladder
from clwl_spark.snapshots.catalog import MissingSnapshotError, SnapshotCatalog, snapshot_catalog
from clwl_spark.snapshots.contradictions import consistent_topology
from clwl_spark.snapshots.diff import compare
from clwl_spark.snapshots.views import Topology
from clwl_spark.studies.explain.planned import EXPECTED_SHARE, Planned, planned
from clwl_spark.studies.explain.wording import reasons_why, verdict_text
from clwl_spark.studies.incident.disabled import disabled_types, in_mqsc
from clwl_spark.studies.incident.model import Bound, Incident, Put, Way
from clwl_spark.studies.incident.on_the_way import on_the_way
from clwl_spark.studies.incident.seen import (
    Asked,
    Count,
    Span,
    WhichPuts,
    counts,
    down_channels,
    last_put,
    waiting,
)
from clwl_spark.studies.incident.wording import advice, not_a_candidate, remedy
from clwl_spark.tables import columns as c
from clwl_spark.tables.moments import micros, moment_at, moment_text

MOST_PUTS: Final = 40
_Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Question:
    """What an incident is about.

    Attributes:
        puts: to which object.
        since: from when on, in microseconds.
        until: up to when; None = now, or the object's last message.
    """

    puts: WhichPuts
    since: int
    until: int | None = None


def incident(lake: Lake, question: Question, ladder: Ladder) -> Incident:
    """Study it.

    Args:
        lake: with topology; with outcomes, messages are counted as well.
        question: which object, since when.
        ladder: the lake's rules.

    Raises:
        UsageError: the time is empty.
        MissingSnapshotError: no valid snapshot is in force before the moment.
        InputError: nothing was put to the object, and no queue manager is named.
    """
    catalog = snapshot_catalog(lake)
    span = Span(question.since, _until(lake, question))
    if span.until <= span.since:
        raise UsageError("--until is not after --since: give a later moment")
    before, between = _snapshots(catalog, span)
    after = between[-1] if between else before
    object_name = question.puts.object_name
    found = counts(lake, question.puts, span)
    asked = _asked(found, question.puts)
    topology = consistent_topology(lake, sorted({before, after}))
    sides = _sides(topology, asked, (before, after), ladder)
    types = disabled_types(topology, after, [x for _, x in sides.values()])
    puts = [_put(x, sides[x], [y for y in found if y.asked == x], types, ladder) for x in asked]
    lost = {
        (x.qmgr, x.object_name, y.dest_qmgr, y.channel) for x in puts for y in x.ways if y.is_lost
    }
    senders = {(x.qmgr, y.channel) for x in puts for y in x.ways if y.channel}
    down = down_channels(lake, after, senders)
    stuck = waiting(lake, down, question.puts, span.until, ladder.semantics.edition)
    changes = compare(lake, before, after).changes if between else ()
    plans = [plan for pair in sides.values() for plan in pair]
    ways = on_the_way(topology, object_name, puts, plans, changes)
    near = [x for x in changes if ways.concerns(x)]
    bound = _bound(found, lost)
    return Incident(
        object_name=object_name,
        since=_text(span.since),
        until=_text(span.until),
        before=before,
        after=after,
        between=between,
        puts=puts,
        changes=near,
        other_changes=len(changes) - len(near),
        bound=bound,
        waiting=stuck,
        advice=advice(lake.root, puts, bound, stuck, span.until),
    )


def _text(at: int) -> str:
    return moment_text(moment_at(at))


def _until(lake: Lake, question: Question) -> int:
    """The end of the time: of lakes with yesterday's messages the last of them."""
    if question.until is not None:
        return question.until
    now = micros(datetime.now(UTC))
    last = last_put(lake, question.puts)
    return now if last is None or last <= question.since else last


def _snapshots(catalog: SnapshotCatalog, span: Span) -> tuple[str, list[str]]:
    """The snapshot in force before the moment, and those that came since."""
    name, valid_from = next(iter(catalog.history().items()))
    if span.since <= micros(valid_from):
        raise MissingSnapshotError(
            f"nothing is known of the time before {_text(span.since)}: the first valid snapshot of "
            f"{catalog.root}, {name}, is in force from {moment_text(valid_from)} on; give a moment "
            "after that"
        )
    before = list(catalog.history(moment_at(span.since - 1)))[-1]
    between = [x.snapshot_id for x in catalog.pins if span.since <= x.valid_from <= span.until]
    return before, between


def _asked(found: Sequence[Count], puts: WhichPuts) -> list[Asked]:
    """The puts, the most frequent first."""
    totals: dict[Asked, int] = {}
    for x in found:
        totals[x.asked] = totals.get(x.asked, 0) + x.messages
    if totals:
        return sorted(totals, key=lambda x: (-totals[x], x))[:MOST_PUTS]
    if puts.qmgr is None:
        raise InputError(
            f"no message to {puts.object_name} was routed around that time: name a queue "
            "manager with --from to compare what its puts would do, or route the messages first"
        )
    return [(puts.qmgr, puts.object_type or ObjectType.QUEUE.value, puts.object_name, "")]


def _sides(
    topology: Topology, asked: Sequence[Asked], snapshots: tuple[str, str], ladder: Ladder
) -> dict[Asked, tuple[Planned, Planned]]:
    """Each put in both snapshots, planned in one pass."""
    requests = {
        (x, name): Request(name, *x, Via.LOCAL.value, None) for x in asked for name in snapshots
    }
    plans = planned(sorted(set(requests.values())), topology, ladder)
    before, after = snapshots
    return {x: (plans[requests[x, before]], plans[requests[x, after]]) for x in asked}


def _put(
    asked: Asked,
    sides: tuple[Planned, Planned],
    found: Sequence[Count],
    types: Mapping[tuple[str, str], str],
    ladder: Ladder,
) -> Put:
    before, after = (_shares(x, asked[0]) for x in sides)
    plans = [x.plan for x in sides]
    new = not_a_candidate(plans[0], plans[1], asked[0], is_now=False)
    gone = not_a_candidate(plans[1], plans[0], asked[0], is_now=True)
    verdicts = [_verdicts(x, asked[0], ladder) for x in sides]
    rules = _rules(sides[1])
    seen: Counter[tuple[_Key, bool]] = Counter()
    for x in found:
        seen[(x.dest_qmgr, x.channel), x.is_after] += x.messages
    ways = []
    for key in {*before, *after, *(key for key, _ in seen)}:
        # By no channel: the rules alone tell of it. Who is no destination is told of by nobody.
        was, now = (new, gone) if key[1] else ("", "")
        row = rules.get(key)
        ways.append(
            Way(
                *key,
                expected_before=before.get(key, 0.0),
                expected_after=after.get(key, 0.0),
                messages_before=seen[key, False],
                messages_after=seen[key, True],
                verdict_before=verdicts[0].get(key, was) if key[0] and key not in before else "",
                verdict_after=verdicts[1].get(key, now) if key[0] and key not in after else "",
                remedy=""
                if key in after
                else remedy(row, key, asked[0], in_mqsc(sides[1], row, types)),
            )
        )
    ways.sort(key=_order)
    return Put(*asked, sides[0].plan[c.REASON], sides[1].plan[c.REASON], ways)


def _order(way: Way) -> tuple[bool, float, float, str, str]:
    """What is lost first, then by share."""
    return not way.is_lost, -way.expected_before, -way.expected_after, way.dest_qmgr, way.channel


def _shares(side: Planned, qmgr: str) -> dict[_Key, float]:
    """The share of each way; where nothing is chosen, all go one way by no channel."""
    plan = side.plan
    if plan[c.REASON] == 0 and plan[c.KIND] in (PlanKind.LOCAL, PlanKind.XMITQ):
        to = qmgr if plan[c.KIND] == PlanKind.LOCAL else plan[c.RESOLVED_QMGR]
        return {(to, ""): 1.0} if to else {}
    found: dict[_Key, float] = {}
    for x in side.routes:
        key = _key(x)
        found[key] = found.get(key, 0.0) + x[EXPECTED_SHARE]
    return found


def _key(row: Mapping[str, Any]) -> _Key:
    return row[c.DEST_QMGR] or "", "" if row[c.IS_LOCAL] else row[c.CHANNEL] or ""


def _verdicts(side: Planned, qmgr: str, ladder: Ladder) -> dict[_Key, str]:
    """Why candidates are no routes; of several with one destination and channel the last to go."""
    whys = reasons_why(side.candidates, qmgr, Via.LOCAL.value, ladder.algorithm)
    return {
        _key(x): verdict_text(x, why)
        for x, why in zip(side.candidates, whys, strict=True)
        if x[c.ELIMINATED_BY] not in (None, RECENTLY_USED)
    }


def _rules(side: Planned) -> dict[_Key, Mapping[str, Any]]:
    return {_key(x): x for x in side.candidates if x[c.ELIMINATED_BY] is not None}


def _bound(found: Sequence[Count], lost: Collection[tuple[str, str, str, str]]) -> list[Bound]:
    totals: dict[tuple[str, str, str, str], int] = {}
    for x in found:
        key = (x.asked[0], x.asked[2], x.dest_qmgr, x.channel)
        if x.bound and x.is_after and key in lost:
            totals[key] = totals.get(key, 0) + x.messages
    return [Bound(*key, totals[key]) for key in sorted(totals, key=lambda x: (-totals[x], x))]
