"""Gates on snapshots of 20,000 and of a million objects, and on outcomes against routing them.

Goals: 3 s and 60 s, without what Python and Java need to start and to import; gates on outcomes
cost at most half of what routing cost. Each is a process of its own; seconds are those that the
command counts itself.
"""

import argparse
import json
import shutil
import sys
from pathlib import Path

from processes import timed_process
from routing import fresh_lake, make_lake

from clwl_spark.delta.lake import Lake
from clwl_spark.spark.local import local_session
from clwl_spark.studies.synthetic import GenerateSpec, topology

SNAPSHOTS = {
    20_000: GenerateSpec(qmgrs=50, queues=2_400, instances=8, non_default=0.05),
    1_000_000: GenerateSpec(qmgrs=100, queues=62_000, instances=16, non_default=0.05),
}


def main() -> int:
    """Measure, and print one JSON document."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=10_000_000, help="0 = none are routed")
    parser.add_argument("--objects", type=int, nargs="*", default=[*SNAPSHOTS], choices=SNAPSHOTS)
    parser.add_argument("--work", type=Path, default=Path("build/bench-gates"))
    options = parser.parse_args()
    options.work = options.work.absolute()
    document: dict[str, object] = {
        f"snapshot of {objects:,}": judged_snapshot(options.work / str(objects), objects)
        for objects in options.objects
    }
    if options.messages:
        document["outcomes"] = judged_outcomes(options.work / "messages", options.messages)
    shutil.rmtree(options.work)
    sys.stdout.write(json.dumps(document, indent=2) + "\n")
    return 0


def judged_snapshot(folder: Path, objects: int) -> dict[str, float]:
    """Seconds of the gates on a snapshot of that many rows, about."""
    shutil.rmtree(folder, ignore_errors=True)
    spark = local_session(app_name="make lake")
    lake = Lake(spark, str(folder.absolute()))
    rows = 0
    for name, frame in topology(spark, SNAPSHOTS[objects]).items():
        lake.append(name, frame)
        rows += lake.read(name).count()
    spark.stop()
    return {"rows": rows} | validated(folder)


def judged_outcomes(folder: Path, messages: int) -> dict[str, float]:
    """Seconds of routing, and of the gates on what was routed."""
    make_lake(folder, messages, 0.0, 0.0)
    lake = fresh_lake(folder, folder.with_name("routed"))
    routed = timed_process(["-m", "clwl_spark.cli", "route", "--lake", str(lake), "--json"])
    found = validated(lake, "--outcomes")
    ratio = found["seconds"] / routed.work_seconds
    return {"messages": messages, "route_seconds": routed.work_seconds, "ratio": ratio} | found


def validated(lake: Path, *words: str) -> dict[str, float]:
    """Seconds that the gates took, and the process as a whole."""
    command = ["-m", "clwl_spark.cli", "validate", "--lake", str(lake), "--json", *words]
    run = timed_process(command)
    gates = float(str(run.output["gates"]))
    return {"gates": gates, "seconds": run.work_seconds, "process_seconds": round(run.seconds, 1)}


if __name__ == "__main__":
    sys.exit(main())
