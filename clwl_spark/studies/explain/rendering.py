"""An explanation for a terminal: what the request resolves to, the candidates, the routes."""

from typing import Any, Final

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from clwl_spark.mq.vocabulary import Bind, DefBind, ObjectType, PlanKind, Via, reason_text
from clwl_spark.studies.explain.request import Explanation
from clwl_spark.studies.explain.wording import verdict_text
from clwl_spark.tables import columns as c

Row = dict[str, Any]

_MEANINGS: Final[dict[int, str]] = {
    2001: "the target of the alias is itself an alias, and no other queue manager has it",
    2051: "puts are disabled on the way",
    2082: "the target of the alias is not there, neither here nor in the clusters",
    2085: "no queue of this name here, and none seen in the clusters",
    2087: "neither a queue manager of the clusters, nor an alias, nor a DEFXMITQ",
    2184: "a remote queue definition that cannot be put to",
    2189: "the definitions lead in a circle, or too far",
    2268: "puts are disabled on every instance",
    2270: "no instance is left that a channel of its cluster leads to",
}
_NAME_WIDTHS: Final = {"destination": 20, "channel": 20, "cluster": 16}
_BINDS: Final = {
    Bind.ON_OPEN.value: "bound on open: one choice per open",
    Bind.ON_GROUP.value: "bound per group: one choice per message group",
    Bind.NOT_FIXED.value: "not fixed: one choice per message",
}
_DEFBINDS: Final = {
    DefBind.OPEN.value: Bind.ON_OPEN.value,
    DefBind.NOTFIXED.value: Bind.NOT_FIXED.value,
    DefBind.GROUP.value: Bind.ON_GROUP.value,
}


def headline(explanation: Explanation) -> str:
    """One sentence: what the request resolves to, or the reason that it ends with."""
    plan = explanation.plan
    asked = _name(plan[c.OBJECT_NAME], plan[c.OBJECT_QMGR])
    verb = "publishes to" if plan[c.OBJECT_TYPE] == ObjectType.TOPIC else "puts to"
    via = " (over a cluster channel)" if plan[c.VIA] == Via.CLUSTER else ""
    start = f"{plan[c.QMGR]} {verb} {asked}{via}: "
    if plan[c.REASON] != 0:
        meaning = _MEANINGS.get(plan[c.REASON], "")
        ends = reason_text(plan[c.REASON])
        return f"{start}ends with {ends}" + (f" - {meaning}" if meaning else "")
    return start + _destination(explanation)


def render(explanation: Explanation) -> RenderableType:
    """The whole explanation, for a terminal of 100 columns or more."""
    plan = explanation.plan
    parts: list[RenderableType] = [Text(headline(explanation), style="bold")]
    parts.append(Text(_way(plan), style="dim"))
    parts += [Text(words, style="dim") for words in explanation.notes]
    parts += [Text(f"warning: {words}", style="yellow") for words in explanation.warnings]
    if explanation.candidates:
        parts += [Text(), _candidates_table(explanation)]
    if explanation.routes:
        parts += [Text(), _routes_table(explanation), Text(_bound(explanation), style="dim")]
    return Group(*parts)


def _name(name: str, qmgr: str) -> str:
    return f"{name} on {qmgr}" if qmgr else name


def _destination(explanation: Explanation) -> str:
    plan = explanation.plan
    name, qmgr = plan[c.RESOLVED_OBJECT], plan[c.RESOLVED_QMGR]
    is_topic = plan[c.OBJECT_TYPE] == ObjectType.TOPIC
    if plan[c.KIND] == PlanKind.LOCAL:
        return "stays on this queue manager" if is_topic else f"the local queue {name}"
    if plan[c.KIND] == PlanKind.XMITQ:
        end = f" for {name} on {qmgr}" if qmgr else f" for {name}"
        return f"transmission queue {plan[c.XMITQ]}{end}; no choice is made"
    count = len(explanation.routes)
    routes = "1 route" if count == 1 else f"{count} routes"
    if plan[c.KIND] == PlanKind.TOPIC and plan["choices"] > 1:
        return f"topic {name}, a copy to each of {plan['choices']} queue managers"
    kind = {PlanKind.QUEUE: "cluster queue", PlanKind.TOPIC: "topic"}.get(plan[c.KIND])
    what = f"{kind} {name}" if kind else f"{name} on queue manager {qmgr}"
    return f"{what}, {routes} from {len(explanation.candidates)} candidates"


def _way(plan: Row) -> str:
    """Snapshot, and the names passed where there is more than the one asked for."""
    path = plan[c.RESOLUTION_PATH] or []
    passed = f", by way of {' > '.join(path)}" if len(path) > 1 else ""
    return f"snapshot {plan[c.SNAPSHOT_ID]}{passed}"


def _candidates_table(explanation: Explanation) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), header_style="dim")
    for heading, width in _NAME_WIDTHS.items():
        table.add_column(heading, overflow="fold", max_width=width)
    for heading in ("rank", "prty", "net"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("status", no_wrap=True)
    table.add_column("verdict", overflow="fold")
    for row in explanation.candidates:
        survives = row[c.ELIMINATED_BY] is None
        cells = (
            _destination_of(row),
            row[c.CHANNEL],
            _clusters(row),
            f"{row[c.CHANNEL_RANK]}/{row[c.QUEUE_RANK]}",
            f"{row[c.CHANNEL_PRTY]}/{row[c.QUEUE_PRTY]}",
            str(row[c.NETPRTY]),
            row[c.STATUS],
            verdict_text(row, row["why"]),
        )
        table.add_row(*(escape(cell) for cell in cells), style="green" if survives else "")
    table.caption = "rank, prty: of the channel or queue manager alias / of the queue; net: NETPRTY"
    table.caption_justify = "left"
    return table


def _destination_of(row: Row) -> str:
    if row[c.IS_LOCAL]:
        return f"{row[c.DEST_QMGR]} (local)"
    return f"{row[c.DEST_QMGR]} (alias)" if row[c.IS_ALIAS] else str(row[c.DEST_QMGR])


def _clusters(row: Row) -> str:
    """The cluster, or both where instance and channel differ."""
    if row[c.INSTANCE_CLUSTER] == row[c.CHANNEL_CLUSTER]:
        return str(row[c.CHANNEL_CLUSTER])
    return f"{row[c.INSTANCE_CLUSTER]}/{row[c.CHANNEL_CLUSTER]}"


def _routes_table(explanation: Explanation) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("share", justify="right", no_wrap=True)
    for heading in ("route", "channel", "cluster", "transmission queue"):
        table.add_column(heading, overflow="fold")
    table.add_column("weight", justify="right", no_wrap=True)
    for route in explanation.routes:
        cells = (
            f"{route['expected_share']:.1%}",
            _destination_of({**route, c.IS_ALIAS: False}),
            route[c.CHANNEL],
            route[c.CLUSTER],
            route[c.XMITQ] or "-",
            str(route[c.CLWLWGHT]),
        )
        table.add_row(*(escape(cell) for cell in cells))
    return table


def _bound(explanation: Explanation) -> str:
    """How often the choice is made."""
    if all(route[c.IS_LOCAL] for route in explanation.routes):
        return "only the local queue is left: nothing to balance, nothing to bind"
    if explanation.plan[c.OBJECT_TYPE] == ObjectType.TOPIC:
        return "publications choose each time; shares in the long run, from an empty history"
    bind = explanation.request.bind
    given = f"DEFBIND({explanation.plan[c.BIND_DEFAULT]})" if bind == Bind.AS_Q_DEF else bind
    option = _DEFBINDS[explanation.plan[c.BIND_DEFAULT]] if bind == Bind.AS_Q_DEF else bind
    return f"{given}, {_BINDS[option]}; shares in the long run, from an empty history"
