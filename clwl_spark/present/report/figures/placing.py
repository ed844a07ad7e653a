"""Where the map's queue managers stand, and how its channels bend; units of the SVG."""

from collections.abc import Sequence
from math import sqrt
from typing import Any, Final

import networkx as nx  # type: ignore[import-untyped]

from clwl_spark.present.report.data import Edge, Node
from clwl_spark.present.report.drawing import WIDTH

Point = tuple[float, float]

ON_A_RING: Final = 12
"""So few queue managers stand on a ring, in which no channel hides another one."""
STEPS: Final = 14
"""Parts that a curve is drawn in."""
_SEED: Final = 7
_MARGIN: Final = 0.1


def places_of(nodes: Sequence[Node], edges: Sequence[Edge], height: float) -> dict[str, Point]:
    """Where each queue manager stands: the same for the same map."""
    graph = nx.Graph()
    graph.add_nodes_from(x.qmgr for x in nodes)
    for edge in edges:
        graph.add_edge(edge.qmgr, edge.dest_qmgr, weight=1 + sqrt(edge.messages))
    if len(nodes) <= ON_A_RING:
        found = nx.circular_layout(sorted(graph.nodes))
    else:
        heaviest = max((x["weight"] for *_, x in graph.edges(data=True)), default=1.0)
        for *_, x in graph.edges(data=True):
            x["weight"] = 0.2 + x["weight"] / heaviest
        found = nx.spring_layout(graph, seed=_SEED, k=2.4 / sqrt(len(nodes)), iterations=200)
    return _stretched(found, height)


def _stretched(found: dict[str, Any], height: float) -> dict[str, Point]:
    """Positions spread over the whole picture, less a margin."""
    spots = {name: (float(x), float(y)) for name, (x, y) in found.items()}
    lows = [min(spot[axis] for spot in spots.values()) for axis in (0, 1)]
    spans = [max(spot[axis] for spot in spots.values()) - lows[axis] for axis in (0, 1)]
    size = (WIDTH, height)

    def stretched(spot: Point, axis: int) -> float:
        part = (spot[axis] - lows[axis]) / spans[axis] if spans[axis] else 0.5
        return (_MARGIN + (1 - 2 * _MARGIN) * part) * size[axis]

    return {name: (stretched(spot, 0), stretched(spot, 1)) for name, spot in spots.items()}


def curve(start: Point, end: Point, bend: float) -> list[Point]:
    """A quadratic curve that swings out to the left of its direction."""
    across = (start[1] - end[1]) * 2 * bend, (end[0] - start[0]) * 2 * bend
    middle = (start[0] + end[0]) / 2 + across[0], (start[1] + end[1]) / 2 + across[1]
    points = []
    for step in range(STEPS + 1):
        t = step / STEPS
        parts = (1 - t) ** 2, 2 * t * (1 - t), t**2
        points.append(
            (
                sum(p * spot[0] for p, spot in zip(parts, (start, middle, end), strict=True)),
                sum(p * spot[1] for p, spot in zip(parts, (start, middle, end), strict=True)),
            )
        )
    return points
