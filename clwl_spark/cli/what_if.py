"""`clwl what-if`: what a change moves, and what each single failure costs."""

from collections.abc import Sequence
from typing import Any, Final

from rich.console import RenderableType

from clwl_spark.cli.advise import needed
from clwl_spark.cli.commands.what_if import Swept, WhatIfWords
from clwl_spark.cli.options import Common
from clwl_spark.cli.route import route_options
from clwl_spark.cli.tables import listing
from clwl_spark.cli.work import ROUTED, Work, asked_snapshot, at_work
from clwl_spark.errors import UsageError
from clwl_spark.planning.plans import Ladder
from clwl_spark.routing.engines.batch import of_lake
from clwl_spark.routing.ledger.own_opens import own_opens, own_opens_told
from clwl_spark.rules.exit import load_exit
from clwl_spark.snapshots.catalog import chosen_snapshot
from clwl_spark.snapshots.contradictions import consistent_topology
from clwl_spark.snapshots.defined import check_qmgr, names_defined
from clwl_spark.snapshots.semantics import semantics_of
from clwl_spark.studies.shares.traffic import MESSAGES_OF, Puts, traffic_from, traffic_of_lake
from clwl_spark.studies.sweep.outages import Outage, Part
from clwl_spark.studies.sweep.survival import (
    Survival,
    copies_of,
    failing_already,
    survivals,
    waiting_already,
)
from clwl_spark.studies.sweep.sweep import base_of
from clwl_spark.studies.what_if.changed import Sides, changed_by_words, changed_to
from clwl_spark.studies.what_if.moves import AFTER, BEFORE
from clwl_spark.studies.what_if.run import WhatIf, what_if
from clwl_spark.studies.what_if.words import understood
from clwl_spark.tables import SNAPSHOTS
from clwl_spark.tables import columns as c

_PARTS: Final = {
    Swept.CHANNELS: (Part.CHANNEL,),
    Swept.QUEUE_MANAGERS: (Part.QMGR,),
    Swept.CLUSTERS: (Part.CLUSTER,),
    Swept.ALL: tuple(Part),
}


def run(common: Common, options: WhatIfWords) -> int:
    """Answer, and return the exit code."""
    _check(options)
    changes = [understood(words) for words in options.change]
    own = {"exit": options.exit}
    with at_work("what-if", common, own, needs=SNAPSHOTS.name, reads=ROUTED) as work:
        snapshot_id = asked_snapshot(work.lake, options)
        if options.sweep:
            _sweep(work, options, snapshot_id)
            return 0
        with work.screen.progress("what-if") as tell:
            if options.to is not None:
                sides = changed_to(work.lake, snapshot_id, chosen_snapshot(work.lake, options.to))
            else:
                sides = changed_by_words(work.lake, snapshot_id, changes, options.script)
            answer = what_if(
                work.lake, snapshot_id, _change_texts(options), sides, _how(work), tell
            )
        work.screen.document(answer.to_json())
        told = own_opens_told(own_opens(work.lake))
        work.screen.show(*_answer(answer, sides, options.limit), *told)
        for x in answer.new_hosts:
            work.screen.show("", f"{x.new} as another host of {x.place.object_name}:", *needed(x))
    return 0


def _check(options: WhatIfWords) -> None:
    """Refuse words that do not go together."""
    changed = bool(options.change or options.script)
    ways = [changed, options.to is not None, bool(options.sweep)]
    if sum(ways) != 1:
        raise UsageError(
            "say what changes: --change WORDS or --script FILE, --to SNAPSHOT, or --sweep, "
            "one of the three"
        )
    if options.puts and not options.sweep:
        raise UsageError("--put is traffic for --sweep; a change is tried on the lake's messages")


def _change_texts(options: WhatIfWords) -> tuple[str, ...]:
    """The change in the user's words."""
    if options.to is not None:
        return (f"snapshot {options.to}",)
    return (*(str(x) for x in options.script), *options.change)


def _how(work: Work) -> Any:  # noqa: ANN401
    return of_lake(route_options(work.settings), work.lake)


def _answer(answer: WhatIf, sides: Sides, limit: int) -> list[RenderableType]:
    """A sentence, and what moves."""
    found = answer.moves
    lines = [f"What if: {'; '.join(answer.said)}", *_sentences(answer, sides)]
    tables = [
        _compared("queue manager", found.by_qmgr, (c.DEST_QMGR,), limit),
        _compared("channel", found.by_channel, (c.CHANNEL, c.DEST_QMGR), limit),
        _compared(
            "object", found.by_object, (c.QMGR, c.OBJECT_NAME, c.DEST_QMGR, c.CHANNEL), limit
        ),
        _compared("failing", found.by_reason, (c.QMGR, c.OBJECT_NAME, c.REASON), limit),
        _compared("stranded", found.stranded, (c.QMGR, c.OBJECT_NAME), limit),
    ]
    return ["\n".join(lines), *(part for table in tables for part in table)]


def _sentences(answer: WhatIf, sides: Sides) -> list[str]:
    found = answer.moves
    share = found.moved / found.before if found.before else 0.0
    stranded = f"requests that lose their last route {len(found.stranded):,}"
    waiting = f"waiting for a channel that is down {_pair(found.waiting)}"
    elsewhere = f"{found.moved:,} ({share:.1%}) go elsewhere"
    told = [
        f"the lake's messages in snapshot {answer.snapshot_id}: {found.before:,} outcomes, "
        + elsewhere,
        f"failed {_pair(found.failed)}, {waiting}, {stranded}",
    ]
    if sides.down:
        lost = found.before - found.after
        told.append(f"not put any more on {', '.join(sorted(sides.down))}: {lost:,} outcomes")
    told += _busiest(found.busiest)
    return told


def _busiest(sides: tuple[dict[str, Any] | None, dict[str, Any] | None]) -> list[str]:
    """The channel with the highest load before, and the one after, each with both its loads."""
    then, now = sides
    if then is None and now is None:
        return []
    if then is not None and now is not None and _channel(then) == _channel(now):
        return [f"busiest channel before and after: {_loads(now)}"]
    told = ["none" if row is None else _loads(row) for row in sides]
    return [f"busiest channel before: {told[0]}; after: {told[1]}"]


def _channel(row: dict[str, Any]) -> tuple[str, str]:
    return row[c.CHANNEL], row[c.DEST_QMGR]


def _loads(row: dict[str, Any]) -> str:
    loads = _pair((row[BEFORE], row[AFTER]))
    return f"{row[c.CHANNEL]} to {row[c.DEST_QMGR]}, {loads} messages"


def _pair(counts: tuple[int, int]) -> str:
    return f"{counts[0]:,} -> {counts[1]:,}"


_HEADINGS: Final = {
    c.QMGR: "from",
    c.OBJECT_NAME: "object",
    c.DEST_QMGR: "to",
    c.CHANNEL: "channel",
    c.REASON: "reason",
}


def _compared(
    what: str, rows: Sequence[dict[str, Any]], keys: Sequence[str], limit: int
) -> list[RenderableType]:
    """Counts before and after, where they differ, below a line that says of what."""
    changed = [row for row in rows if row[BEFORE] != row[AFTER] or what == "stranded"]
    if not changed:
        return []
    headings = (*(_HEADINGS[key] for key in keys), BEFORE, AFTER, "change")
    cells = [
        (
            *("(local)" if row[key] is None else str(row[key]) for key in keys),
            f"{row[BEFORE]:,}",
            f"{row[AFTER]:,}",
            f"{row[AFTER] - row[BEFORE]:+,}",
        )
        for row in changed[:limit]
    ]
    more = f" (the first {limit} of {len(changed)})" if len(changed) > limit else ""
    return [f"\nby {what}{more}", listing(headings, cells, (BEFORE, AFTER, "change"))]


def _sweep(work: Work, options: WhatIfWords, snapshot_id: str) -> None:
    """Take everything away, one after the other."""
    lake = work.lake
    topology = consistent_topology(lake, [snapshot_id])
    ladder = Ladder(semantics_of(lake), load_exit(work.settings.exit))
    puts = [_puts(words) for words in options.puts]
    known = names_defined(topology) if puts else frozenset()
    for put in puts:
        check_qmgr(put.qmgr, known, snapshot_id)
    traffic = (
        traffic_from(lake.spark, snapshot_id, puts) if puts else traffic_of_lake(lake, snapshot_id)
    )
    with work.screen.progress("sweep") as tell:
        tell("planning", 0, 1)
        base = base_of(traffic, topology, ladder)
        parts = [part for swept in options.sweep for part in _PARTS[swept]]
        cases = [(outage,) for outage in base.channels.outages(dict.fromkeys(parts))]
        tell("planning", 1, 1)
        tell("cases", 0, len(cases))
        found = survivals(base, cases)
        tell("cases", len(cases), len(cases))
        already, failing = waiting_already(base), failing_already(base)
        total = float(base.plans.groupBy().sum(MESSAGES_OF).collect()[0][0] or 0.0)
        copies = copies_of(base)
    found = sorted(found, key=lambda x: x.cost)
    work.screen.document(
        {
            "snapshot_id": snapshot_id,
            "messages": total,
            "copies": copies,
            "waiting_already": {"messages": already[0], "requests_stranded": already[1]},
            "failing_already": failing,
            "cases": [x.to_json() for x in found],
        }
    )
    told = [_summary(found, total, snapshot_id)]
    if already[0]:
        told.append(
            f"{already[0]:,.0f} messages wait for channels that are down as it is; requests that "
            f"are stranded already: {already[1]:,}"
        )
    if failing:
        told.append(f"{failing:,.0f} messages end with an MQRC as it is")
    work.screen.show("\n".join(told), *_survivals(found, (total, copies), options))


def _puts(words: str) -> Puts:
    """`QM:OBJECT=N`."""
    qmgr, colon, rest = words.partition(":")
    name, equals, number = rest.rpartition("=")
    name, count = (name, number) if equals else (rest, "1")
    if not qmgr or not colon or not name or not count.isdecimal() or not int(count):
        raise UsageError(f"--put {words}: say QM:OBJECT or QM:OBJECT=MESSAGES, as in QM1:ORDERS=3")
    return Puts(qmgr, name, messages=float(count))


def _summary(found: Sequence[Survival], total: float, snapshot_id: str) -> str:
    single = [x for x in found if x.requests_stranded]
    words = f"snapshot {snapshot_id}, {len(found)} cases, {total:,.0f} messages: "
    if not single:
        return words + "no single failure takes a request's last route"
    named = ", ".join(_name(x.case[0]) for x in single[:5])
    more = f" and {len(single) - 5} more" if len(single) > 5 else ""  # noqa: PLR2004
    return f"{words}{len(single)} single points of failure: {named}{more}"


def _name(outage: Outage) -> str:
    return f"{outage.part} {outage.name}{f' to {outage.to}' if outage.to else ''}"


def _survivals(
    found: Sequence[Survival], of: tuple[float, float], options: WhatIfWords
) -> list[RenderableType]:
    """A line for each case, below a line that says what they are; `of` = all puts, all copies."""
    headings = (
        "without", "waits", "not put", "moves", "stranded requests", "busiest channel then",
        "load", "was",
    )  # fmt: skip
    puts, copies = (x or 1.0 for x in of)
    rows = [
        (
            _name(x.case[0]),
            f"{x.messages_waiting / copies:.1%}",
            f"{x.messages_not_put / puts:.1%}",
            f"{x.messages_moved / copies:.1%}",
            f"{x.requests_stranded:,}",
            x.busiest_channel or "-",
            f"{x.busiest_after:,.0f}",
            f"{x.busiest_before:,.0f}",
        )
        for x in found[: options.limit]
    ]
    more = f"; the first {options.limit} of {len(found)}" if len(found) > options.limit else ""
    title = f"Each alone taken away: what its messages do{more}"
    numbers = {x for x in headings if x not in headings[0::5]}
    return [f"\n{title}", listing(headings, rows, numbers)]
