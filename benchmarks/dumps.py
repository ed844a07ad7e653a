"""Dumps of 5,000 objects: one parsed on one core, and folders of ever more of them ingested.

Goals: a dump parses in a second; a folder takes its dumps' seconds over the cores, and the memory
of the largest process does not grow with their number.
"""

import argparse
import json
import shutil
import sys
import time
from pathlib import Path

from processes import timed_process

from clwl_spark.mq.read import read_states
from clwl_spark.snapshots.settling import settle

OBJECTS = 5_000
QUEUE = """\
DEFINE {kind}('{name}') +
*  ALTDATE(2026-{month:02d}-11) +
*  ALTTIME(14.50.{second:02d}) +
   {aim}DESCR('Made to measure how fast a dump is read') +
   CLUSTER('CLUS{cluster}') +
   CLWLPRTY({priority}) +
   CLWLRANK({rank}) +
   DEFBIND({bind}) +
   REPLACE
"""
HEADER = """\
*******************************************************************************
* Script generated on 2026-09-14   at 06.00.02
* Queue manager name: {qmgr}
* Queue manager platform: UNIX
* Command issued: dmpmqcfg -m {qmgr}
*******************************************************************************
ALTER QMGR +
   CLWLUSEQ(LOCAL) +
   DESCR('Queue manager {qmgr}') +
   FORCE
DEFINE CHANNEL('CLUS1.{qmgr}') +
   CHLTYPE(CLUSRCVR) +
   CLUSTER('CLUS1') +
   CONNAME('{qmgr}.example(1414)') +
   REPLACE
"""


def main() -> int:
    """Measure, and print one JSON document."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dumps", type=int, nargs="+", default=[100, 400])
    parser.add_argument("--work", type=Path, default=Path("build/bench-dumps"))
    options = parser.parse_args()
    document: dict[str, object] = {"one dump parsed, seconds": parsed()}
    for dumps in options.dumps:
        document[f"{dumps} dumps ingested"] = ingested(options.work / str(dumps), dumps)
    shutil.rmtree(options.work)
    sys.stdout.write(json.dumps(document, indent=2) + "\n")
    return 0


def parsed() -> float:
    """Seconds to parse one dump in this process, the best of three."""
    text = dump("QM0001", 1)
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        settled = settle("QM0001", read_states(text, "QM0001.mqsc").states, {}, {}, merging=True)
        seconds.append(time.perf_counter() - start)
        if settled.rejects or settled.given["queues"] != OBJECTS - 2:
            sys.exit(f"the dump was not read whole: {settled.rejects[:3]}")
    return round(min(seconds), 3)


def ingested(folder: Path, dumps: int) -> dict[str, float]:
    """Seconds of `clwl ingest` on that many dumps, a process of its own, and its memory."""
    shutil.rmtree(folder, ignore_errors=True)
    texts = folder / "texts"
    texts.mkdir(parents=True)
    for number in range(1, dumps + 1):
        (texts / f"QM{number:04d}.mqsc").write_text(dump(f"QM{number:04d}", number))
    start = ["-m", "clwl_spark.cli", "ingest", str(texts), "--lake", str(folder / "lake")]
    run = timed_process([*start, "--snapshot", "S1", "--json"])
    if run.output["rejects"]:
        sys.exit(f"there were rejects: {run.output}")
    memory = {f"largest {name}, MiB": round(mib) for name, mib in sorted(run.memory.items())}
    return {"seconds": round(run.seconds, 1), **memory}


def dump(qmgr: str, number: int) -> str:
    """A dump of OBJECTS objects, a tenth of them aliases."""
    parts = [HEADER.format(qmgr=qmgr)]
    for at in range(OBJECTS - 2):
        is_alias = at > 0 and at % 10 == 0
        parts.append(
            QUEUE.format(
                kind="QALIAS" if is_alias else "QLOCAL",
                name=f"APP{at % 40}.QUEUE.{at:05d}",
                aim=f"TARGET('APP{(at - 1) % 40}.QUEUE.{at - 1:05d}') +\n   " if is_alias else "",
                month=1 + at % 9,
                second=at % 60,
                cluster=1 + (at + number) % 4,
                priority=at % 10,
                rank=at % 3,
                bind=("OPEN", "NOTFIXED")[at % 2],
            )
        )
    return "".join(parts)


if __name__ == "__main__":
    sys.exit(main())
