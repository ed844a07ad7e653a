"""The map: queue managers, and the channels between them by status and traffic."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import atan2, degrees, sqrt
from typing import Any, Final

import altair as alt

from clwl_spark.present.report.data import ClusterMap, Edge, Node
from clwl_spark.present.report.drawing import CARD, INK, WIDTH, of, svg_of
from clwl_spark.present.report.figure import Figure, headings
from clwl_spark.present.report.figures.placing import ON_A_RING, Point, curve, places_of
from clwl_spark.present.report.words import count, counted, named, percent, told_apart

NO_CHANNEL: Final = "no cluster channel"
NOT_SEEN: Final = "not seen"
_ARROW: Final = 8
_BEND: Final = 0.11
_THINNEST: Final = 1.2
_THICKEST: Final = 9.0
_NAME: Final = 16
_HEIGHTS: Final = (380, 560)

_LOOKS: Final[dict[str, tuple[str, list[int]]]] = {
    "RUNNING": ("var(--s-good)", [1, 0]),
    "INACTIVE": ("var(--s-idle)", [1, 0]),
    "BINDING": ("var(--s-soon)", [9, 3]),
    "INITIALIZING": ("var(--s-soon)", [9, 3, 2, 3]),
    "STARTING": ("var(--s-soon)", [6, 3]),
    "STOPPING": ("var(--s-soon)", [3, 3]),
    "RETRYING": ("var(--s-warn)", [8, 4]),
    "REQUESTING": ("var(--s-bad)", [8, 3, 2, 3]),
    "PAUSED": ("var(--s-bad)", [5, 4]),
    "STOPPED": ("var(--s-bad)", [2, 3]),
    "SWITCHING": ("var(--s-bad)", [10, 3, 2, 3, 2, 3]),
    NO_CHANNEL: ("var(--s-other)", [12, 4, 3, 4]),
    NOT_SEEN: ("var(--dim)", [4, 4]),
}
"""Colour and dashes of a status, in the order of the legend."""


@dataclass(frozen=True, slots=True)
class _Line:
    """An edge as a curve: its points from end to end, its width and look."""

    edge: Edge
    points: Sequence[Point]
    width: float
    look: str

    @property
    def opacity(self) -> float:
        """Channels that could carry messages and do not are pale, so that others stand out."""
        return 0.9 if self.edge.messages or self.look not in _FINE else 0.3


def cluster_figure(found: ClusterMap) -> Figure:
    """The map of the busiest queue managers."""
    nodes = found.nodes
    edges = [x for x in found.edges if x.qmgr != x.dest_qmgr]
    return Figure(
        "map",
        "Queue managers, and the channels between them",
        _label(found, edges),
        svg_of(_chart(nodes, edges)) if nodes else "",
        headings("From", "To", "Channel", "Status", "Messages", numbers=1),
        tuple(
            (named(x.qmgr), named(x.dest_qmgr), named(x.channel) if x.channel else "",
             _look(x), count(x.messages))
            for x in edges
        ),
        _notes(found),
    )  # fmt: skip


def _look(edge: Edge) -> str:
    """What the legend calls an edge's status."""
    if edge.channel is None:
        return NO_CHANNEL
    return edge.status if edge.status in _LOOKS else NOT_SEEN


def _chart(nodes: Sequence[Node], edges: Sequence[Edge]) -> Any:  # noqa: ANN401
    """Curves, arrows, rings and names, one above the other."""
    height = _HEIGHTS[len(nodes) > ON_A_RING]
    places = places_of(nodes, edges, height)
    lines = _lines(edges, places)
    sizes = _sizes(nodes)
    shown = [x for x in _LOOKS if any(line.look == x for line in lines)]
    layers = [
        *([_curves(lines, shown, height), _arrows(lines, height)] if lines else []),
        _rings(nodes, places, sizes, height),
        *_names(nodes, places, sizes, height),
    ]
    return alt.layer(*layers).properties(width=WIDTH, height=height)


def _lines(edges: Sequence[Edge], places: dict[str, Point]) -> list[_Line]:
    """Edges as curves: those between the same two bend more and more, there and back apart."""
    most = max((x.messages for x in edges), default=0)
    met: Counter[tuple[str, str]] = Counter()
    lines = []
    for edge in edges:
        pair = edge.qmgr, edge.dest_qmgr
        met[pair] += 1
        width = _THINNEST
        if edge.messages:
            width += (_THICKEST - _THINNEST) * sqrt(edge.messages / most)
        points = curve(places[edge.qmgr], places[edge.dest_qmgr], _BEND * met[pair])
        lines.append(_Line(edge, points, width, _look(edge)))
    return lines


def _spot(height: float) -> dict[str, Any]:
    """Encodings of x and y in units of the SVG."""
    across = alt.Scale(domain=[0, WIDTH], range=[0, WIDTH], nice=False, zero=False)
    down = alt.Scale(domain=[0, height], range=[0, height], nice=False, zero=False)
    return {
        "x": alt.X("x:Q", scale=across, axis=None),
        "y": alt.Y("y:Q", scale=down, axis=None),
    }


def _curves(lines: Sequence[_Line], shown: Sequence[str], height: float) -> Any:  # noqa: ANN401
    rows = [
        {
            "x": x, "y": y, "step": step, "line": at, "width": line.width, "status": line.look,
            "opacity": line.opacity,
        }
        for at, line in enumerate(lines)
        for step, (x, y) in enumerate(line.points)
    ]  # fmt: skip
    legend = alt.Legend(
        title="channel status", orient="top", symbolType="stroke", symbolSize=400,
        symbolStrokeWidth=3, columns=6,
    )  # fmt: skip
    colours = alt.Scale(domain=list(shown), range=[_LOOKS[x][0] for x in shown])
    dashes = alt.Scale(domain=list(shown), range=[_LOOKS[x][1] for x in shown])
    return of(rows).mark_line(strokeCap="butt").encode(
        **_spot(height),
        order="step:Q",
        detail="line:N",
        opacity=alt.Opacity("opacity:Q", scale=None, legend=None),
        strokeWidth=alt.StrokeWidth("width:Q", scale=None, legend=None),
        stroke=alt.Stroke("status:N", scale=colours, legend=legend, sort=None),
        strokeDash=alt.StrokeDash("status:N", scale=dashes, legend=legend, sort=None),
    )  # fmt: skip


def _arrows(lines: Sequence[_Line], height: float) -> Any:  # noqa: ANN401
    """A triangle on each curve, past its middle, where neither names nor rings hide it."""
    rows = []
    for line in lines:
        (x, y), (onward, down) = line.points[_ARROW], line.points[_ARROW + 1]
        rows.append(
            {
                "x": x,
                "y": y,
                "angle": degrees(atan2(down - y, onward - x)) + 90,
                "size": 70 + 32 * line.width,
                "colour": _LOOKS[line.look][0],
                "opacity": line.opacity,
            }
        )
    return of(rows).mark_point(shape="triangle-up", filled=True, strokeWidth=0).encode(
        **_spot(height),
        angle=alt.Angle("angle:Q", scale=None),
        opacity=alt.Opacity("opacity:Q", scale=None, legend=None),
        size=alt.Size("size:Q", scale=None, legend=None),
        fill=alt.Fill("colour:N", scale=None, legend=None),
    )  # fmt: skip


def _sizes(nodes: Sequence[Node]) -> dict[str, float]:
    """Areas of the rings: the busiest is nine times the least."""
    most = max((x.messages for x in nodes), default=0) or 1
    return {x.qmgr: 110 + 880 * x.messages / most for x in nodes}


def _rings(
    nodes: Sequence[Node], places: dict[str, Point], sizes: dict[str, float], height: float
) -> Any:  # noqa: ANN401
    rows = [{"x": places[x.qmgr][0], "y": places[x.qmgr][1], "size": sizes[x.qmgr]} for x in nodes]
    return of(rows).mark_point(
        shape="circle", filled=False, fill=CARD, stroke=INK, strokeWidth=2, opacity=1
    ).encode(**_spot(height), size=alt.Size("size:Q", scale=None, legend=None))  # fmt: skip


def _names(
    nodes: Sequence[Node], places: dict[str, Point], sizes: dict[str, float], height: float
) -> list[Any]:
    """Names below the rings, on a background that keeps them readable over channels."""
    words = told_apart([x.qmgr for x in nodes], _NAME)
    rows = [
        {
            "x": places[node.qmgr][0],
            "y": places[node.qmgr][1] + sqrt(sizes[node.qmgr]) / 2 + 4,
            "name": word,
        }
        for node, word in zip(nodes, words, strict=True)
    ]
    text = of(rows).encode(**_spot(height), text="name:N")
    halo = text.mark_text(
        baseline="top", fill=CARD, stroke=CARD, strokeWidth=4, strokeJoin="round", fontWeight=600
    )
    return [halo, text.mark_text(baseline="top", fill=INK, fontWeight=600)]


def _label(found: ClusterMap, edges: Sequence[Edge]) -> str:
    """What the map shows, with its busiest channel."""
    nodes = counted(len(found.nodes), "queue manager")
    carrying = [x for x in edges if x.messages]
    if not carrying:
        return f"Map of {nodes}; no message left the one it was put on."
    first = carrying[0]
    statuses = Counter(_look(x) for x in edges)
    worse = [f"{n} {status}" for status, n in statuses.items() if status not in _FINE]
    told = f"; {', '.join(worse)}" if worse else ""
    over = named(first.channel) if first.channel else NO_CHANNEL
    part = percent(first.messages / sum(x.messages for x in carrying))
    return (
        f"Map of {nodes} and {counted(len(edges), 'channel')}{told}. The busiest, {over} from "
        f"{named(first.qmgr)} to {named(first.dest_qmgr)}, carried "
        f"{counted(first.messages, 'message')}, {part} of all shown."
    )


_READING: Final = (
    "A line is as wide as its traffic, a ring as large as its queue manager is busy; thin "
    "pale lines carried nothing. The status is what routing saw in the last snapshot."
)
_FINE: Final = ("RUNNING", "INACTIVE", NO_CHANNEL, NOT_SEEN)


def _notes(found: ClusterMap) -> tuple[str, ...]:
    """What is left out, and how to read the map."""
    notes = [_READING]
    if (more := found.nodes_in_all - len(found.nodes)) > 0:
        notes.append(
            f"The {len(found.nodes)} busiest queue managers of {count(found.nodes_in_all)} are "
            f"shown; {count(more)} are left out."
        )
    if (more := found.edges_in_all - len(found.edges)) > 0:
        notes.append(f"{counted(more, 'more channel')} not shown.")
    return tuple(notes)
