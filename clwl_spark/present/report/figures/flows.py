"""Messages per destination over time, with the moments at which snapshots came into force."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import altair as alt

from clwl_spark.present.report.data import Head, SnapshotUse, Timeline
from clwl_spark.present.report.drawing import CARD, FAINT, INK, SERIES, of, svg_of
from clwl_spark.present.report.figure import Figure, headings
from clwl_spark.present.report.words import (
    count,
    counted,
    joined,
    lasting,
    moment,
    named,
    told_apart,
)
from clwl_spark.tables.moments import DAY, HOUR, LAST, MINUTE, SECOND, moment_at

MOST_MARKS: Final = 10
OTHERS: Final = "others"
_NAME: Final = 24
_MARK_NAME: Final = 18
_HEIGHT: Final = 240


@dataclass(frozen=True, slots=True)
class _Series:
    """One destination: its name on the chart, its colour, messages per start of a bucket."""

    word: str
    colour: str
    counts: dict[int, int]


def flows(head: Head, timeline: Timeline) -> Figure:
    """Stacked bars, one per bucket; the busiest destination lies at the bottom, others on top."""
    series = _series(timeline)
    starts = sorted({at for at, _ in timeline.counts})
    marks = _marks(head.snapshots, starts, timeline.width)
    rows = tuple(
        (_moment_label(at, timeline.width), *(count(x.counts.get(at, 0)) for x in series))
        for at in starts
    )
    return Figure(
        "flows",
        f"Messages per destination, in steps of {lasting(timeline.width)}",
        _label(series, starts, marks, timeline.width),
        svg_of(_chart(series, starts, marks, timeline.width)) if starts else "",
        headings("From, UTC", *(x.word for x in series), numbers=len(series)),
        rows,
        _notes(marks),
    )


def _series(timeline: Timeline) -> list[_Series]:
    """The destinations in order, the others last if there are any."""
    words = told_apart(timeline.destinations, _NAME)
    keys: list[str | None] = [*timeline.destinations]
    if any(dest is None for _, dest in timeline.counts):
        keys, words = [*keys, None], [*words, OTHERS]
    of_key = {
        key: {at: n for (at, dest), n in timeline.counts.items() if dest == key} for key in keys
    }
    colours = [FAINT if key is None else SERIES[at] for at, key in enumerate(keys)]
    return [
        _Series(word, colour, of_key[key])
        for word, colour, key in zip(words, colours, keys, strict=True)
    ]


def _marks(used: Sequence[SnapshotUse], starts: Sequence[int], width: int) -> list[SnapshotUse]:
    """Snapshots that came into force while messages were put."""
    if not starts:
        return []
    first, last = moment_at(starts[0]), moment_at(min(starts[-1] + width, LAST))
    return [x for x in used if x.valid_from is not None and first < x.valid_from < last]


def _chart(
    series: Sequence[_Series], starts: Sequence[int], marks: Sequence[SnapshotUse], width: int
) -> Any:  # noqa: ANN401  (altair's charts have no common type)
    """The bars, and a labelled rule per snapshot."""
    rows = []
    for at in starts:
        below = 0
        for one in series:
            height = one.counts.get(at, 0)
            place = {"from": at / 1000, "to": (at + width) / 1000, "below": below}
            below += height
            rows.append({**place, "above": below, "destination": one.word})
    axis = alt.Axis(format=_format(width), title="UTC", grid=False, labelOverlap=True, tickCount=8)
    utc = alt.Scale(type="utc", nice=False)
    colours = alt.Scale(domain=[x.word for x in series], range=[x.colour for x in series])
    legend = alt.Legend(title=None, orient="top", columns=4, symbolType="square")
    bars = of(rows).mark_rect(stroke=CARD, strokeWidth=0.5).encode(
        x=alt.X("from:T", scale=utc, axis=axis),
        x2="to:T",
        y=alt.Y("below:Q", title="messages", axis=alt.Axis(tickCount=5, format=",d")),
        y2="above:Q",
        color=alt.Color("destination:N", scale=colours, legend=legend, sort=None),
    )  # fmt: skip
    layers = [bars, *(_rule(mark, at) for at, mark in enumerate(marks[:MOST_MARKS]))]
    return alt.layer(*layers).properties(width=620, height=_HEIGHT)


def _rule(mark: SnapshotUse, at: int) -> Any:  # noqa: ANN401
    """A vertical line where a snapshot came into force, its name above; names go up in steps."""
    since = mark.valid_from or moment_at(0)
    rows = [{"at": since.timestamp() * 1000, "name": named(mark.snapshot_id, _MARK_NAME)}]
    place = of(rows).encode(x=alt.X("at:T", scale=alt.Scale(type="utc")))
    line = place.mark_rule(color=INK, strokeDash=[5, 3], strokeWidth=1.5)
    name = place.mark_text(
        align="left", baseline="top", dx=4, dy=2 + 15 * (at % 3), color=INK, fontWeight="bold"
    ).encode(y=alt.value(0), text="name:N")
    return line + name


def _label(
    series: Sequence[_Series], starts: Sequence[int], marks: Sequence[SnapshotUse], width: int
) -> str:
    """What the flows come to."""
    if not starts:
        return "No message went anywhere."
    totals = {at: sum(x.counts.get(at, 0) for x in series) for at in starts}
    peak = max(starts, key=lambda at: (totals[at], -at))
    first = series[0]
    changes = f" {counted(len(marks), 'change')} of the snapshot in that time." if marks else ""
    return (
        f"Messages per destination over time: most, {count(totals[peak])}, in the "
        f"{lasting(width).removeprefix('1 ')} from {_moment_label(peak, width)} UTC; in all, "
        f"{first.word} got the most, {count(sum(first.counts.values()))} of "
        f"{count(sum(totals.values()))}.{changes}"
    )


def _notes(marks: Sequence[SnapshotUse]) -> tuple[str, ...]:
    """The snapshots at the vertical lines, in words."""
    told = [f"{named(x.snapshot_id)} at {moment(x.valid_from)}" for x in marks[:MOST_MARKS]]
    notes = [f"In force from the vertical lines on: {joined(told)}."] if told else []
    if marks[MOST_MARKS:]:
        notes.append(f"{counted(len(marks) - MOST_MARKS, 'later snapshot')} not marked.")
    return tuple(notes)


def _moment_label(microseconds: int, width: int) -> str:
    """The start of a bucket, as exact as its width needs."""
    at = moment_at(microseconds)
    if width % DAY == 0:
        return f"{at:%Y-%m-%d}"
    if width % MINUTE == 0:
        return f"{at:%Y-%m-%d %H:%M}"
    if width % SECOND == 0:
        return f"{at:%Y-%m-%d %H:%M:%S}"
    return f"{at:%Y-%m-%d %H:%M:%S}.{at.microsecond // 1000:03d}"


def _format(width: int) -> str:
    """The same for the axis, in D3's words."""
    if width % DAY == 0:
        return "%Y-%m-%d"
    if width >= HOUR:
        return "%d %b %H:%M"
    return "%H:%M" if width % MINUTE == 0 else "%H:%M:%S.%L"[: 8 if width % SECOND == 0 else 11]
