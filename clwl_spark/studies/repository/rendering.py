"""Views, simulated knowledge and costs for a reader."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from clwl_spark.snapshots.spelling import named
from clwl_spark.studies.repository.knowledge import Knowledge
from clwl_spark.studies.repository.state import Cluster
from clwl_spark.studies.repository.view import GONE, RepositoryView
from clwl_spark.tables.moments import moment_text

Row = Mapping[str, Any]

MOST: Final = 40
"""Rows of a table; `--json` has all of them."""


_USUAL: Final = {
    "suspended": "false",
    "put_enabled": "true",
    "pub_enabled": "true",
    "sub_enabled": "true",
    "clwlrank": "0",
    "clwlprty": "0",
    "netprty": "0",
    "clwlwght": "50",
    "clwluseq": "QMGR",
    "proxysub": "FIRSTUSE",
}
"""Values that are left out of a line."""


def render_view(view: RepositoryView) -> RenderableType:
    """A view of a lake, for a terminal of 100 columns or more."""
    roles = ", ".join(f"{role.lower()} in {name}" for name, role in view.repositories.items())
    others = {row["observer"] for row in view.known if row["qmgr"] != view.qmgr}
    eyes = {True: "its own view", False: "the full repositories' view"}
    source = " and ".join(eyes[x] for x in sorted({y == view.qmgr for y in others}, reverse=True))
    headline = (
        f"{view.qmgr} ({roles or 'in no cluster'}) sees {len(view.known)} objects at "
        f"{moment_text(view.at, 'seconds')}"
    )
    parts: list[RenderableType] = [
        Text(headline, style="bold"),
        Text(f"snapshot {view.snapshot_id}" + (f", by {source}" if source else ""), style="dim"),
    ]
    for headings, rows in (
        ("kind, name, queue manager, cluster, seen as", map(_seen, view.known)),
        ("not seen, name, queue manager, cluster, why", map(_not_seen, view.missing)),
        ("out of date, name, queue manager, cluster, differs, since", map(_differs, view.stale)),
    ):
        parts += _titled(headings, list(rows))
    parts += [
        Text(
            f"REFRESH CLUSTER({named(row['cluster'])}) would send at most {row['at_once']:,} "
            f"messages at once, {row['total']:,} until all is known again",
            style="dim",
        )
        for row in view.refresh
    ]
    return Group(*parts)


def render_story(cluster: Cluster, found: Sequence[Knowledge]) -> RenderableType:
    """What queue managers know at the end of a simulation."""
    parts: list[RenderableType] = [
        Text(f"cluster {cluster.name} at {moment_text(cluster.now, 'seconds')}", style="bold")
    ]
    for knowledge in found:
        role = "full" if knowledge.full else "partial"
        parts.append(Text(f"{knowledge.qmgr}, {role} repository", style="bold"))
        for headings, rows in (
            (
                "kind, name, queue manager, how, published, expires",
                map(_simulated, knowledge.known),
            ),
            ("not known, name, queue manager, why, look", map(_unknown, knowledge.missing)),
            ("out of date, name, queue manager, the owner, for", map(_outdated, knowledge.stale)),
        ):
            parts += _titled(headings, list(rows))
        parts += [Text(row["text"], style="yellow") for row in knowledge.overdue[:MOST]]
    counts = ", ".join(f"{count:,} {kind}" for kind, count in sorted(cluster.sent.items()))
    parts.append(Text(f"messages so far: {counts}", style="dim"))
    return Group(*parts)


def render_costs(rows: Sequence[Row], full: int, queues: int) -> RenderableType:
    """Messages of REFRESH CLUSTER by size of the cluster."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    headings = {
        "qmgrs": "queue managers",
        "client": "nobody uses it",
        "client_on_all": "on all",
        "server": "everybody does",
        "server_on_all": "on all",
        "pubsub": "with a topic",
        "pubsub_on_all": "on all",
    }
    for name, heading in headings.items():
        widest = max((len(f"{row[name]:,}") for row in rows), default=0)
        table.add_column(heading, justify="right", min_width=widest)
    for row in rows:
        table.add_row(*(f"{row[name]:,}" for name in headings))
    told = f"{full} full repositories; every other one hosts {queues} queues and uses {queues}"
    return Group(
        Text("Messages of REFRESH CLUSTER on one partial repository, and on all", style="bold"),
        Text(told, style="dim"),
        Padding(table, (1, 0, 0, 0)),
    )


def _titled(headings: str, rows: Sequence[Sequence[str]]) -> list[RenderableType]:
    """A table of these rows with a line above, and below it how many are not shown."""
    if not rows:
        return []
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for heading in headings.split(", "):
        table.add_column(heading, overflow="fold")
    for cells in rows[:MOST]:
        table.add_row(*(escape(cell) for cell in cells))
    if len(rows) > MOST:
        table.caption = f"and {len(rows) - MOST:,} more: see --json"
        table.caption_justify = "left"
    return [Padding(table, (1, 0, 0, 0))]


def _seen(row: Row) -> tuple[str, ...]:
    told = ((name, value) for name, value in row["attributes"].items() if value)
    shown_as = " ".join(f"{name}({x})" for name, x in told if _USUAL.get(name) != x)
    return row["kind"], row["name"], row["qmgr"], row["cluster"], shown_as


def _not_seen(row: Row) -> tuple[str, ...]:
    last = f" (last seen {row['last_seen']})" if row["last_seen"] else ""
    where = row.get("stopped") or ""
    stopped = f"; look {where}" if where.startswith("between") else where and f"; {where}"
    return row["kind"], row["name"], row["qmgr"], row["cluster"], row["text"] + last + stopped


def _differs(row: Row) -> tuple[str, ...]:
    what = "no longer defined" if row["differs"] == [GONE] else ", ".join(sorted(row["differs"]))
    age = _age(row["age_seconds"])
    since = f"{row['since']}, {'at least ' if row['at_least'] else ''}{age}"
    return row["kind"], row["name"], row["qmgr"], row["cluster"], what, since


def _simulated(row: Row) -> tuple[str, ...]:
    how = str(row["how"]).lower().replace("_", " ")
    return row["kind"], row["name"], row["qmgr"], how, row["published"], row["expires"] or "-"


def _unknown(row: Row) -> tuple[str, ...]:
    return row["kind"], row["name"], row["qmgr"], row["text"], row["stopped"]


def _outdated(row: Row) -> tuple[str, ...]:
    owner = "has none" if row["defined"] is None else "has changed it"
    return row["kind"], row["name"], row["qmgr"], owner, _age(row["age_seconds"])


def _age(seconds: int) -> str:
    return str(timedelta(seconds=seconds)).removesuffix(", 0:00:00")
