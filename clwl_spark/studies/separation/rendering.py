"""Who is behind whom, for a terminal."""

from collections.abc import Sequence
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from clwl_spark.studies.separation.separation import Separation
from clwl_spark.studies.separation.sharing import (
    BESIDE,
    CHANNELS,
    NAMES,
    ON_CHANNEL,
    ON_XMITQ,
    QUEUES,
    XMITQS,
)
from clwl_spark.studies.separation.ways import NEXT_XMITQ
from clwl_spark.tables import columns as c

_NO_CHANNEL: Final = "(named by a definition)"


def headline(found: Separation) -> str:
    """What was looked at, and how much of it there is."""
    whose = f"{found.qmgr}, snapshot" if found.qmgr else "snapshot"
    count = f"{found.lines_total:,} channel{'s'[: found.lines_total != 1]} on transmission queues"
    more = (
        f", the first {len(found.lines):,} of them" if found.lines_total > len(found.lines) else ""
    )
    return f"{whose} {found.snapshot_id}: {count}{more}"


def render(found: Separation) -> RenderableType:
    """The whole answer."""
    parts: list[RenderableType] = [Text(headline(found), style="bold")]
    if found.lines:
        parts.append(_lines_table(found.lines, with_qmgr=not found.qmgr))
    if found.queues:
        parts += [Text("\nWho is beside whom", style="bold"), _queues_table(found.queues)]
    elif not found.qmgr and found.lines:
        parts.append(Padding("--qmgr QM tells it of each queue of one queue manager", (1, 0, 0, 0)))
    return Group(*parts)


def _lines_table(lines: Sequence[dict[str, Any]], *, with_qmgr: bool) -> Table:
    head = [*(["queue manager"] if with_qmgr else []), "transmission queue", "channel", "to"]
    table = _table([*head, "queues", "others", "whose"], {"queues", "others"})
    for line in lines:
        cells = [line[c.QMGR]] if with_qmgr else []
        cells += [_xmitq(line), line[c.CHANNEL] or _NO_CHANNEL, line[c.DEST_QMGR]]
        cells += [f"{line[QUEUES]:,}", f"{line[BESIDE]:,}", _names(line[NAMES], line[QUEUES])]
        table.add_row(*map(escape, cells))
    return table


def _xmitq(line: dict[str, Any]) -> str:
    """The transmission queue, and the one that the channel goes to at its next start."""
    if line[NEXT_XMITQ] == line[c.XMITQ]:
        return str(line[c.XMITQ])
    return f"{line[c.XMITQ]} ({line[NEXT_XMITQ]} after the next start)"


def _queues_table(queues: Sequence[dict[str, Any]]) -> Table:
    head = ("queue", "over", "on", "with it on a channel", "beside it on a transmission queue")
    table = _table(head, set())
    for row in queues:
        cells = [row[c.QUEUE], ", ".join(row[CHANNELS]) or _NO_CHANNEL, ", ".join(row[XMITQS])]
        cells += [_names(row[f"{where}_{NAMES}"], row[where]) for where in (ON_CHANNEL, ON_XMITQ)]
        table.add_row(*map(escape, cells))
    return table


def _names(names: Sequence[str], count: int) -> str:
    """The names, and how many there are beyond them."""
    more = f" and {count - len(names):,} more" if count > len(names) else ""
    return f"{', '.join(names)}{more}" if names else "none"


def _table(headings: Sequence[str], numbers: set[str]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for heading in headings:
        side = "right" if heading in numbers else "left"
        table.add_column(heading, justify=side, overflow="fold")  # type: ignore[arg-type]
    return table
