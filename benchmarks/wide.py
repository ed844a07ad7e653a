"""Two workers of one core each against one, on a standalone cluster on this machine.

Goal: 1.6 times as fast where each worker has a core to itself. The driver, which also sorts out
Delta's log, needs a third one: on a machine of two cores it takes time away from the workers.
"""

import argparse
import json
import os
import shutil
import statistics
import sys
from pathlib import Path

import routing
from standalone import standalone_cluster

WIDTHS = (1, 2)


def main() -> int:
    """Measure, and print one JSON document."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=5_000_000)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--engines", nargs="+", default=routing.engines())
    parser.add_argument("--work", type=Path, default=Path("build/bench-wide"))
    options = parser.parse_args()
    work = options.work.absolute()
    pristine = work / f"pristine-{options.messages}"
    routing.make_lake(pristine, options.messages, 0.0, 0.0)
    document: dict[str, object] = {
        "messages": options.messages,
        "cores of this machine": len(os.sched_getaffinity(0)),
    }
    for engine in options.engines:
        seconds: dict[int, list[float]] = {width: [] for width in WIDTHS}
        for _ in range(options.rounds):
            for width in WIDTHS:
                seconds[width].append(routed(pristine, work, engine, width))
        one, two = (statistics.median(seconds[width]) for width in WIDTHS)
        document[engine] = {"one worker": one, "two workers": two, "ratio": round(one / two, 2)}
    shutil.rmtree(work)
    sys.stdout.write(json.dumps(document, indent=2) + "\n")
    return 0


def routed(pristine: Path, work: Path, engine: str, workers: int) -> float:
    """Seconds that `clwl route` counts on a cluster of that many workers."""
    lake = routing.fresh_lake(pristine, work / "lake")
    with standalone_cluster(work / "cluster", workers) as master:
        run = routing.clwl_route(lake, engine, f"spark.master={master}")
    shutil.rmtree(lake)
    shutil.rmtree(work / "cluster")
    return run.work_seconds


if __name__ == "__main__":
    sys.exit(main())
