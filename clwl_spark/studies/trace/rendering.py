"""A trace for a terminal: the hops, the loops, the final queues."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from clwl_spark.mq.vocabulary import ObjectType, PlanKind, Via, reason_text
from clwl_spark.studies.trace.places import Ending, Hop, Place
from clwl_spark.studies.trace.trace import Trace
from clwl_spark.tables import columns as c
from clwl_spark.tables.journeys import End

_HEADINGS: Final = ("hop", "at", "put to", "comes to", "share", "goes on to", "over")


def headline(trace: Trace) -> str:
    """One sentence: how many final queues or subscribing queue managers, and whether it circles."""
    what = _ends_told(trace)
    dead = sum(share for _, share in trace.dead_ends())
    words = f"{_named(trace.request.place, trace.request.place.qmgr)}: {what} in snapshot "
    words += trace.snapshot_id
    if dead > 0:
        words += f"; {dead:.1%} never come to a queue"
    if trace.chances.loops:
        words += f"; {_counted(len(trace.chances.loops), 'loop')} on the way"
    return words


def _ends_told(trace: Trace) -> str:
    """How many queues a put comes to; of a publication, on how many queue managers it is wanted."""
    queues = {(x.qmgr, x.object_name) for x in trace.ends if x.end == End.QUEUE}
    qmgrs = {x.qmgr for x in trace.ends if x.end == End.TOPIC}
    parts = []
    if queues or trace.request.place.object_type != ObjectType.TOPIC:
        parts.append(_counted(len(queues), "final queue"))
    if not parts or qmgrs:
        parts.append(f"subscriptions on {_counted(len(qmgrs), 'queue manager')}")
    return " and ".join(parts)


def render(trace: Trace) -> RenderableType:
    """The whole trace, for a terminal of 100 columns or more."""
    parts: list[RenderableType] = [Text(headline(trace), style="bold")]
    parts.append(Padding(_hops_table(trace), (1, 0, 1, 0)))
    parts += [Text(words, style="yellow") for words in _loops(trace)]
    parts.append(_ends_table(trace))
    if trace.request.place.object_type == ObjectType.TOPIC:
        parts.append(Padding(_subscriptions(trace), (1, 0, 0, 0)))
    return Group(*parts)


def hops_table(figures: Sequence[Mapping[str, Any]]) -> Table:
    """How many messages took each hop, and how their ways end there (`journeys.hop_figures`)."""
    table = Table(title="Hops", title_justify="left")
    table.add_column("Hop", justify="right")
    table.add_column("Messages", justify="right")
    table.add_column("How they end there")
    for row in figures:
        ends = ", ".join(f"{end} {count:,}" for end, count in row["ends"].items())
        table.add_row(str(row["hop"]), f"{row['messages']:,}", ends)
    return table


def _counted(count: int, what: str) -> str:
    return f"{count or 'no'} {what}{'' if count == 1 else 's'}"


def _named(place: Place, qmgr: str) -> str:
    on = f" on {place.object_qmgr}" if place.object_qmgr else ""
    return f"{qmgr} puts to {place.object_name}{on}"


def _hops_table(trace: Trace) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for heading in _HEADINGS:
        right = heading in ("hop", "share", "comes to")
        table.add_column(heading, justify="right" if right else "left", overflow="fold")
    for hop, level, visits in zip(trace.hops, trace.levels, trace.chances.visits, strict=True):
        lines = list(_lines(hop))
        first = (str(level), hop.place.qmgr, _asked(hop), _shown(visits))
        for at, line in enumerate(lines):
            head = first if at == 0 else ("", "", "", "")
            table.add_row(*(escape(cell) for cell in (*head, *line)))
    return table


def _asked(hop: Hop) -> str:
    word = "from" if hop.place.object_type == ObjectType.TOPIC else "on"
    on = f" {word} {hop.place.object_qmgr}" if hop.place.object_qmgr else ""
    came = " (by cluster)" if hop.place.via == Via.CLUSTER else ""
    return f"{hop.place.object_name}{on}{came}"


def _shown(visits: float) -> str:
    return f"{visits:.1%}" if isfinite(visits) else "for ever"


def _lines(hop: Hop) -> list[tuple[str, str, str]]:
    """(share, where to, over what) of each way on and each ending."""
    over = {
        (row[c.DEST_QMGR], row[c.IS_LOCAL]): row[c.CHANNEL] for row in reversed(list(hop.routes))
    }
    xmitq = f"transmission queue {hop.plan[c.XMITQ]}" if hop.plan[c.KIND] == PlanKind.XMITQ else ""
    lines = [
        (f"{share:.1%}", place.qmgr, xmitq or over.get((place.qmgr, False)) or "")
        for place, share in hop.onward
    ]
    for ending, share in hop.endings:
        is_sent = ending.end is End.TOPIC and ending.qmgr != hop.place.qmgr
        channel = over.get((ending.qmgr, False)) if is_sent else None
        lines.append((f"{share:.1%}", _ending_text(ending), channel or ""))
    return lines


def _ending_text(ending: Ending) -> str:
    on = f" on {ending.object_qmgr}" if ending.object_qmgr else ""
    told = {
        End.QUEUE: f"queue {ending.object_name} on {ending.qmgr}",
        End.TOPIC: f"subscriptions of {ending.qmgr}",
        End.LEAVES: f"{ending.object_name}{on} by {ending.xmitq}, whose other end is not known",
        End.MORE_HOPS: f"{ending.qmgr}, not followed any further",
    }
    reason = reason_text(ending.reason)
    return told.get(ending.end, f"ends with {reason}")


def _loops(trace: Trace) -> list[str]:
    lines = []
    for loop in trace.chances.loops:
        names = [trace.hops[at].place.qmgr for at in loop.places]
        ends = "never ends" if loop.is_closed else "messages may go round"
        lines.append(f"loop: {' > '.join([*names, names[0]])}, {ends} ({loop.share:.1%} come in)")
    return lines


def _subscriptions(trace: Trace) -> RenderableType:
    """The subscriptions that get the publication; one sentence where none does."""
    if not trace.subscriptions:
        return Text("No subscription in the snapshot matches where it comes to.", style="dim")
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for heading in ("subscription", "at", "topic string", "destination"):
        table.add_column(heading, overflow="fold")
    for one in trace.subscriptions:
        on = f" on {one.dest_qmgr}" if one.dest_qmgr not in ("", None, one.qmgr) else ""
        cells = (one.sub_name, one.qmgr, one.topicstr, f"{one.dest or 'not known'}{on}")
        table.add_row(*map(escape, cells))
    return table


def _ends_table(trace: Trace) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("share", justify="right", no_wrap=True)
    table.add_column("end", overflow="fold")
    ends = sorted(trace.ends.items(), key=lambda item: (-item[1], item[0].qmgr))
    for ending, share in ends:
        where = "" if ending.end in (End.QUEUE, End.TOPIC, End.MORE_HOPS) else f"{ending.qmgr}: "
        table.add_row(f"{share:.1%}", escape(where + _ending_text(ending)))
    closed = [loop for loop in trace.chances.loops if loop.is_closed]
    for loop in closed:
        table.add_row(f"{loop.share:.1%}", "for ever in a loop")
    return table
