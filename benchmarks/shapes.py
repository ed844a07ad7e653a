"""Routing as the cluster's shape differs: the same number of messages on several lakes.

Each lake plans all its requests, or with `--planned` none, as every batch but a lake's first ones.
Polars, which is given the plans, needs `--planned`; the floor has none.
Goals, against 50 queue managers and 20 queues of eight instances: one queue manager that puts all
1.15, weighted 1.1, 1,000 queues 1.2, 5,000 queue managers 1.5.
"""

import argparse
import json
import shutil
import statistics
import sys
from pathlib import Path

import routing

from clwl_spark.tables import ROUTE_CANDIDATES, ROUTE_PLANS

SHAPES: dict[str, tuple[float, float, tuple[str, ...]]] = {
    "plain": (0.0, 0.0, ()),
    "one queue manager puts all": (1.0, 0.0, ()),
    "weighted, ranks and priorities": (0.0, 1.0, ()),
    "1,000 queues": (0.0, 0.0, ("--queues", "1000")),
    "5,000 queue managers": (0.0, 0.0, ("--qmgrs", "5000")),
}
"""Share of the hot sender, share of CLWL attributes, and more options of `make_lake.py`."""
PLANS = (ROUTE_PLANS, ROUTE_CANDIDATES)


def plan(pristine: Path, routed: Path) -> None:
    """Give a lake the plans that its messages ask for."""
    routing.clwl_route(routing.fresh_lake(pristine, routed), "arrow")
    for table in PLANS:
        shutil.rmtree(pristine / table.name, ignore_errors=True)
        shutil.copytree(routed / table.name, pristine / table.name)


def main() -> int:
    """Measure, and print one JSON document."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=list(SHAPES))
    ways = (*routing.engines(), routing.FLOOR, routing.EXPERT)
    parser.add_argument("--way", choices=ways, default="arrow", help="an engine, or what else")
    parser.add_argument("--planned", action="store_true", help="the lake has the plans already")
    parser.add_argument("--work", type=Path, default=Path("build/bench-shapes"))
    options = parser.parse_args()
    work = options.work.absolute()
    names = list(dict.fromkeys(["plain", *options.shapes]))
    lakes = {name: work / f"{options.messages}-{at}" for at, name in enumerate(SHAPES)}
    for name in names:
        hot_sender, non_default, more = SHAPES[name]
        routing.make_lake(lakes[name], options.messages, hot_sender, non_default, *more)
        if options.planned:
            plan(lakes[name], work / "routed")
    kept = PLANS if options.planned else ()
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(options.rounds):
        for name in names:
            routed = work / "routed"
            if options.way in routing.engines():
                lake = routing.fresh_lake(lakes[name], routed, kept)
                run = routing.clwl_route(lake, options.way)
            else:
                run = routing.way(options.way, lakes[name], routed, lakes[name])
            seconds[name].append(run.seconds)
    shutil.rmtree(work)
    plain = statistics.median(seconds["plain"])
    ratios = {name: round(statistics.median(x) / plain, 2) for name, x in seconds.items()}
    json.dump({"seconds": seconds, "x plain": ratios}, sys.stdout, indent=2)
    return 0


if __name__ == "__main__":
    sys.exit(main())
