"""Cluster topics for a terminal: what each costs by either CLROUTE, and the conflicts."""

from collections.abc import Sequence
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from clwl_spark.mq.vocabulary import ClusterRoute
from clwl_spark.studies.topics.costs import STAYS, TopicCost
from clwl_spark.studies.topics.design import TopicDesign
from clwl_spark.tables import columns as c
from clwl_spark.tables.publishing import (
    ATTRIBUTE,
    CODE,
    DIRECT_CHANNELS,
    DIRECT_PROXIES,
    HOST_CHANNELS,
    HOST_PROXIES,
    IS_HOST,
    SUBSCRIBED,
    VALUE,
)

SHOWN: Final = 20
_ROUTES: Final = (ClusterRoute.DIRECT.value, ClusterRoute.TOPICHOST.value)


def headline(design: TopicDesign) -> str:
    """One sentence: how many topics, and how many of them are defined in different ways."""
    at_odds = {(row[c.CLUSTER], row[c.TOPIC]) for row in design.conflicts}
    count = len(design.topics)
    words = f"snapshot {design.snapshot_id}: {count or 'no'} cluster topic{'s'[: count != 1]}"
    if at_odds:
        words += f", {len(at_odds)} with definitions that contradict one another"
    return words


def render(design: TopicDesign) -> RenderableType:
    """The whole answer, for a terminal of 100 columns or more."""
    parts: list[RenderableType] = [Text(headline(design), style="bold")]
    if design.conflicts:
        parts.append(Padding(_conflicts_table(design.conflicts), (1, 0, 0, 0)))
    if design.topics:
        parts.append(Padding(_topics_table(design.topics), (1, 0, 0, 0)))
        parts.append(Padding(_costs_table(design.costs), (1, 0, 0, 0)))
    if design.scopes:
        parts.append(Padding(_scopes_table(design.scopes), (1, 0, 0, 0)))
    if len(design.costs) > SHOWN:
        parts.append(Text(f"and {len(design.costs) - SHOWN:,} more rows: --json has all"))
    if design.sizes:
        parts.append(Text("\nthe same designs in clusters of other sizes", style="dim"))
        parts.append(_topics_table(design.sizes))
    return Group(*parts)


def _table(headings: Sequence[str], numbers: int) -> Table:
    """A table whose last columns are numbers."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for at, heading in enumerate(headings):
        right = at >= len(headings) - numbers
        table.add_column(heading, justify="right" if right else "left", overflow="fold")
    return table


def _conflicts_table(rows: Sequence[dict[str, Any]]) -> Table:
    table = _table(("message", "cluster", "topic", "queue manager", "attribute"), 0)
    for row in rows:
        said = f"{row[ATTRIBUTE]}({row[VALUE]})"
        cells = (_with_zos_code(row[CODE]), row[c.CLUSTER], row[c.TOPIC], row[c.QMGR], said)
        table.add_row(*(escape(cell) for cell in cells))
    return table


def _with_zos_code(code: str) -> str:
    """A message's number, with that on z/OS: AMQ9465 is CSQX465I there."""
    return f"{code} (CSQX{code.removeprefix('AMQ9')}I)"


def _topics_table(topics: Sequence[TopicCost]) -> Table:
    headings = ["cluster", "topic", "CLROUTE", "members", "hosts", "strings"]
    headings += [f"{what}, {route}" for route in _ROUTES for what in ("proxies", "channels")]
    table = _table(headings, 7)
    for topic in topics:
        counts = [topic.members, topic.hosts, topic.strings]
        counts += [x[route][0] for route in _ROUTES for x in (topic.proxies, topic.channels)]
        name = f"{topic.topic} {topic.topicstr}"
        cells = (topic.cluster, name, topic.clroute, *(f"{count:,}" for count in counts))
        table.add_row(*(escape(cell) for cell in cells))
    return table


def _scopes_table(rows: Sequence[dict[str, Any]]) -> Table:
    """How far publications and subscriptions go, and the proxies that staying at home saves."""
    headings = ["cluster", "topic", "PUBSCOPE", "SUBSCOPE", "asked for", "at home"]
    headings += [*(f"saves, {route}" for route in _ROUTES), "proxies there"]
    table = _table(headings, 5)
    for row in rows[:SHOWN]:
        counts = (row[x] for x in ("asked", STAYS, "saved_direct", "saved_topichost", "held"))
        names = (row[c.CLUSTER], row[c.TOPIC], row[c.PUB_SCOPE], row[c.SUB_SCOPE])
        table.add_row(*(escape(cell) for cell in (*names, *(f"{count:,}" for count in counts))))
    return table


def _costs_table(rows: Sequence[dict[str, Any]]) -> Table:
    counts = (SUBSCRIBED, DIRECT_PROXIES, DIRECT_CHANNELS, HOST_PROXIES, HOST_CHANNELS)
    headings = ["cluster", "topic", "queue manager", "asks for"]
    headings += [f"{what}, {route}" for route in _ROUTES for what in ("proxies", "channels")]
    table = _table(headings, 5)
    for row in rows[:SHOWN]:
        qmgr = f"{row[c.QMGR]} (host)" if row[IS_HOST] else row[c.QMGR]
        cells = (row[c.CLUSTER], row[c.TOPIC], qmgr, *(f"{row[count]:,}" for count in counts))
        table.add_row(*(escape(cell) for cell in cells))
    return table
