"""Horizontal bars with a name to the left and a figure to the right."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import altair as alt

from clwl_spark.present.report.drawing import ACCENT, CARD, INK, of, svg_of

_STEP: Final = 26
_NAMES: Final = 250
_ROOM: Final = 1.22
"""The axis goes beyond the longest bar, so that its figure has room."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar.

    Attributes:
        name: to the left of it; told apart from the others'.
        size: its length.
        text: to the right of it.
        colour: as CSS has it.
        beside: the length of a hollow bar below it; None = there is none.
    """

    name: str
    size: float
    text: str
    colour: str = ACCENT
    beside: float | None = None


def bars(rows: Sequence[Bar], longest: float | None = None, width: int = 440) -> str:
    """The bars as SVG, in the order given.

    Args:
        rows: at least one.
        longest: length of the whole axis; None = that of the longest bar.
        width: of the longest bar with its figure, in units of the SVG.
    """
    most = longest or max(max(x.size, x.beside or 0) for x in rows) or 1
    paired = any(x.beside is not None for x in rows)
    scale = alt.Scale(domain=[0, most * _ROOM], nice=False)
    names = alt.Axis(
        title=None, labelLimit=_NAMES, minExtent=40, domain=False, ticks=False, labelPadding=8
    )
    data = [
        {"name": x.name, "size": x.size, "text": x.text, "beside": x.beside, "colour": x.colour}
        for x in rows
    ]
    base = of(data).encode(y=alt.Y("name:N", sort=[x.name for x in rows], axis=names))
    # Offsets are of the bars' middles; a pair leaves a gap to the next one.
    up, down = (-6, 6) if paired else (0, 0)
    solid = base.mark_bar(size=11 if paired else 16, yOffset=up).encode(
        x=alt.X("size:Q", scale=scale, axis=None),
        color=alt.Color("colour:N", scale=None, legend=None),
    )
    figures = base.mark_text(align="left", dx=6, dy=up, color=INK).encode(
        x=alt.X("size:Q", scale=scale, axis=None), text="text:N"
    )
    layers: list[Any] = [solid, figures]
    if paired:
        hollow = base.transform_filter("isValid(datum.beside)").mark_bar(
            size=7, yOffset=down, fill=CARD, stroke=INK, strokeWidth=1.2, strokeDash=[3, 2]
        )
        layers.insert(0, hollow.encode(x=alt.X("beside:Q", scale=scale, axis=None)))
    step = _STEP + 8 if paired else _STEP
    return svg_of(alt.layer(*layers).properties(width=width, height=alt.Step(step)))
