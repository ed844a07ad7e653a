"""Charts as SVG for a page: its colours and fonts, no script, nothing fetched.

Colours are CSS variables, so one SVG serves light, dark and paper. The texts of a chart are for
the eye alone; what it says is in the figure's label and table.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final

import altair as alt
import vl_convert as vlc
from altair.utils import schemapi

Row = Mapping[str, Any]

INK: Final = "var(--ink)"
DIM: Final = "var(--dim)"
LINE: Final = "var(--line)"
CARD: Final = "var(--card)"
ACCENT: Final = "var(--c1)"
FAINT: Final = "var(--faint)"
BAD: Final = "var(--no)"
SERIES: Final = tuple(f"var(--c{at})" for at in range(1, 8))
WIDTH: Final = 720
"""Units of an SVG, with its axes; the page scales it."""
FONT_SIZE: Final = 12

_FONT: Final = "system-ui, sans-serif"
_CONFIG: Final[dict[str, Any]] = {
    "aria": False,
    "background": "transparent",
    "font": _FONT,
    "padding": 4,
    "view": {"stroke": None},
    "axis": {
        "domainColor": LINE,
        "gridColor": LINE,
        "tickColor": LINE,
        "labelColor": INK,
        "labelFontSize": FONT_SIZE,
        "titleColor": DIM,
        "titleFontSize": FONT_SIZE,
        "titleFontWeight": "normal",
    },
    "legend": {
        "labelColor": INK,
        "labelFontSize": FONT_SIZE,
        "titleColor": DIM,
        "titleFontSize": FONT_SIZE,
        "titleFontWeight": "normal",
        "labelLimit": 260,
    },
    "text": {"color": INK, "fontSize": FONT_SIZE},
}
_NAMESPACES: Final = re.compile(r' xmlns(:\w+)?="[^"]*"')
_SIZE: Final = re.compile(r' width="([\d.]+)" height="[\d.]+"')


def unchecked() -> AbstractContextManager[None]:
    """For the block, altair takes charts as they are: a check takes as long as the drawing."""
    checking: AbstractContextManager[None] = schemapi.debug_mode(arg=False)
    return checking


def of(rows: Sequence[Row]) -> Any:  # noqa: ANN401  (altair's charts have no common type)
    """A chart of these rows; every value stays within the SVG."""
    return alt.Chart(alt.InlineData(values=[dict(row) for row in rows]))


def svg_of(chart: Any) -> str:  # noqa: ANN401
    """The chart as an SVG element for within a page: as wide as there is room, up to its width."""
    specification = chart.to_dict(validate=False)
    specification["config"] = _CONFIG
    svg = vlc.vegalite_to_svg(specification)
    head, rest = svg.split(">", 1)
    # Within HTML an SVG needs no namespaces; its size comes from the viewBox.
    head = _SIZE.sub(r' style="max-width:\1px"', _NAMESPACES.sub("", head))
    return f'{head} aria-hidden="true" focusable="false">{rest}'
