"""A simulated queue-sharing group for a reader."""

from typing import Final

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from clwl_spark.studies.shared_queue.simulation import HOW, Estimate, MemberResult, SharingResult

_MEANINGS: Final = {
    "direct": "went straight to a waiting getter where they were put, which notifies nobody",
    "local": "were got where they were put, ahead of any notification",
    "notified": "were got by a queue manager that a notification woke",
    "pulled": "were got by a getter that had just finished, as the queue was not drained",
}
_NOTHING: Final = 0.0005


def headline(result: SharingResult) -> str:
    """Who gets most, and how most messages are got."""
    first = max(result.members, key=lambda member: member.share.mean)
    how, part = max(zip(HOW, result.how, strict=True), key=lambda pair: pair[1].mean)
    return (
        f"{result.group.queue} in {result.group.name}: {first.qmgr} gets most, "
        f"{first.share.mean:.1%}; {part.mean:.1%} of all messages {_MEANINGS[how]}"
    )


def render(result: SharingResult) -> RenderableType:
    """Shares per queue manager, how messages were got, notifications, for 100 columns or more."""
    group = result.group
    told = (
        f"{group.runs:,} runs of {group.messages:,} messages, seed {group.seed}; "
        f"intervals of {group.confidence:.0%} confidence; counts per run"
    )
    parts: list[RenderableType] = [
        Text(headline(result), style="bold"),
        Text(told, style="dim"),
        Padding(_members(result), (1, 0, 1, 0)),
    ]
    for name, part in zip(HOW, result.how, strict=True):
        if part.mean >= _NOTHING:
            parts.append(Text(f"{part.mean:6.1%} {_MEANINGS[name]}"))
    parts.append(
        Text(
            f"{result.transitions.mean:,.1f} times empty to non-empty; "
            f"{_counted(result.notifications)} notifications sent; a message waits "
            f"{result.waited_ms.mean:,.3f} ms; at most {result.deepest.mean:,.1f} on the queue",
            style="dim",
        )
    )
    return Group(*parts)


def _members(result: SharingResult) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("queue manager", overflow="fold")
    for heading in ("getters", "share", "", *HOW, "notifications", "found empty"):
        table.add_column(heading, justify="right", no_wrap=True)
    for member in result.members:
        table.add_row(*(escape(cell) for cell in _cells(member)))
    return table


def _cells(member: MemberResult) -> list[str]:
    return [
        member.qmgr,
        str(member.getters),
        f"{member.share.mean:.1%}",
        f"± {(member.share.high - member.share.mean):.2%}",
        *(f"{part.mean:.1%}" for part in member.how),
        _counted(member.notifications),
        f"{member.empty_answers.mean:,.1f}",
    ]


def _counted(estimate: Estimate) -> str:
    return f"{estimate.mean:,.1f} ± {estimate.high - estimate.mean:,.1f}"
