"""`clwl incident`: what moved an object's messages since a moment, what waits, what to do."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from rich.console import RenderableType
from rich.text import Text

from clwl_spark.cli.commands.incident import IncidentWords
from clwl_spark.cli.moments import Moment, micros_before, micros_if
from clwl_spark.cli.options import Common
from clwl_spark.cli.tables import listing
from clwl_spark.cli.work import ROUTED, at_work
from clwl_spark.delta.lake import Lake
from clwl_spark.mq.vocabulary import reason_text
from clwl_spark.planning.plans import Ladder
from clwl_spark.rules.exit import load_exit
from clwl_spark.snapshots.semantics import semantics_of
from clwl_spark.studies.incident.find import Question, incident
from clwl_spark.studies.incident.model import Incident, Put, Way
from clwl_spark.studies.incident.seen import WhichPuts, last_put
from clwl_spark.tables import SNAPSHOTS
from clwl_spark.tables.moments import micros


def run(common: Common, options: IncidentWords) -> int:
    """Study the incident, and return the exit code."""
    own = {"exit": options.exit}
    with at_work("incident", common, own, needs=SNAPSHOTS.name, reads=ROUTED) as work:
        asked = WhichPuts(options.object_name, options.qmgr, options.object_type)
        question = question_of(work.lake, asked, options.since, options.until)
        ladder = Ladder(semantics_of(work.lake), load_exit(work.settings.exit))
        found = incident(work.lake, question, ladder)
        work.screen.document(found.to_json())
        work.screen.show(*_parts(found, options.limit))
    return 0


def question_of(lake: Lake, puts: WhichPuts, since: Moment, until: Moment | None) -> Question:
    """What is asked; a time of day is the last one before `until` or the object's last message.

    Raises:
        UsageError: a moment that is none.
    """
    end = micros_if("--until", until)
    last = last_put(lake, puts) if end is None else end
    begin = micros_before("--since", since, micros(datetime.now(UTC)) if last is None else last)
    return Question(puts, begin, end)


def _parts(found: Incident, limit: int) -> list[RenderableType]:
    """What a reader needs first comes first."""
    lost = [(x, way) for x in found.puts for way in x.ways if way.is_lost]
    parts: list[RenderableType] = [Text(_headline(found, len(lost)), style="bold")]
    parts.append(Text(_snapshots(found), style="dim"))
    for put in found.puts[:limit]:
        parts += [Text(), _ways(put)]
    if len(found.puts) > limit:
        parts.append(Text(f"and of {len(found.puts) - limit:,} puts more: see --json", style="dim"))
    parts += _changes(found, limit)
    return [*parts, *_stuck(found, limit), *_to_do(found)]


def _stuck(found: Incident, limit: int) -> list[RenderableType]:
    """What waits, and what is bound."""
    parts: list[RenderableType] = []
    if found.waiting:
        rows = [
            (x.qmgr, x.channel, x.status, x.xmitq, f"{x.messages:,}", f"{x.of_object:,}")
            for x in found.waiting[:limit]
        ]
        names = ("on", "for", "status", "transmission queue", "messages", "of the object")
        parts += [Text(), listing(names, rows, names[-2:], "What waits")]
    if found.bound:
        lines = [
            (x.qmgr, x.object_name, x.dest_qmgr, x.channel, f"{x.messages:,}")
            for x in found.bound[:limit]
        ]
        heads = ("put on", "to", "bound to", "by", "messages")
        parts += [Text(), listing(heads, lines, ("messages",), "What is bound to the old way")]
    return parts


def _to_do(found: Incident) -> list[RenderableType]:
    """What to do, numbered."""
    if not found.advice:
        return []
    lines = [Text(f"  {at}. {x}") for at, x in enumerate(found.advice, 1)]
    return [Text(), Text("What to do", style="bold"), *lines]


def _headline(found: Incident, lost: int) -> str:
    waits = sum(x.of_object for x in found.waiting if x.is_down)
    start = f"{found.object_name} since {found.since}: "
    if not lost and not waits:
        return f"{start}no way is lost, and nothing waits for a channel that is down"
    ways = "1 way is lost" if lost == 1 else f"{lost:,} ways are lost"
    return f"{start}{ways}, {waits:,} of its messages wait for a channel that is down"


_BEFORE: Final = "; messages before are those of a time as long"


def _snapshots(found: Incident) -> str:
    if not found.between:
        return f"snapshot {found.before} is in force all the time up to {found.until}{_BEFORE}"
    more = f", {len(found.between):,} snapshots later" if len(found.between) > 1 else ""
    return f"snapshot {found.before}, then {found.after}{more}, up to {found.until}{_BEFORE}"


def _ways(put: Put) -> RenderableType:
    """One put's ways before and after."""
    on = f" on {put.object_qmgr}" if put.object_qmgr else ""
    title = f"{put.qmgr} puts to {put.object_name}{on}"
    if put.reason_before != put.reason_after:
        ends = (reason_text(x) if x else "a choice" for x in (put.reason_before, put.reason_after))
        title += f": ends with {' and then '.join(ends)}"
    rows = [
        (
            way.dest_qmgr or "(failed)",
            way.channel or "-",
            f"{way.expected_before:.1%}",
            f"{way.expected_after:.1%}",
            f"{way.messages_before:,}",
            f"{way.messages_after:,}",
            _verdict(way),
        )
        for way in put.ways
    ]
    numbers = ("share before", "after", "messages before", "since")
    return listing(("to", "channel", *numbers, "why"), rows, numbers, title)


def _verdict(way: Way) -> str:
    if way.verdict_after:
        return way.verdict_after if not way.verdict_before else f"as before: {way.verdict_after}"
    return f"new: before, {way.verdict_before}" if way.verdict_before else ""


def _changes(found: Incident, limit: int) -> list[RenderableType]:
    if not found.between:
        return []
    rows = [_change(x) for x in found.changes[:limit]]
    names = ("table", "of", "attribute", "before", "after")
    parts: list[RenderableType] = [Text()]
    if rows:
        parts.append(listing(names, rows, (), "What changed on these ways"))
    else:
        parts.append(Text("Nothing changed on these ways", style="bold"))
    more = len(found.changes) - len(rows) + found.other_changes
    if more:
        told = f"{more:,} more, here or elsewhere: clwl diff {found.before} {found.after}"
        parts.append(Text(told, style="dim"))
    return parts


def _change(change: Mapping[str, Any]) -> Sequence[str]:
    of = " ".join(str(x) for x in change["key"].values() if x != "*")
    cells = (change["attribute"] or "", change["old"], change["new"])
    return (change["table"], of, *("-" if x is None else str(x) for x in cells))
