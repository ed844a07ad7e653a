"""`clwl route` against a plain copy: processes of their own, interleaved, on equal lakes."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from clwl_spark import schemas

HERE = Path(__file__).parent
INPUTS = (schemas.SNAPSHOTS, *schemas.TOPOLOGY, schemas.MESSAGES)


@dataclass(frozen=True, slots=True)
class Run:
    """One process: its wall-clock seconds, Java's start included, and what it printed."""

    seconds: float
    output: dict[str, object]

    @property
    def work_seconds(self) -> float:
        """Seconds that the process itself counts, without starting Python and Java."""
        return float(str(self.output["seconds"]))


def timed_process(command: Sequence[str], *, reads_json: bool = True) -> Run:
    """Run Python on these arguments and read the JSON document that it prints, if it prints one.

    Raises:
        SystemExit: the process failed; its last words are shown.
    """
    start = time.perf_counter()
    command = [sys.executable, *command]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    seconds = time.perf_counter() - start
    if done.returncode != 0:
        last = "\n".join(done.stderr.splitlines()[-20:])
        sys.exit(f"{' '.join(command[1:])} ended with {done.returncode}:\n{last}")
    return Run(seconds, json.loads(done.stdout) if reads_json and done.stdout else {})


def make_lake(lake: Path, messages: int, hot_sender: float, non_default: float) -> None:
    """Make the pristine lake that every round starts from, unless a run before made it."""
    if (lake / schemas.MESSAGES.name / "_delta_log").exists():
        return
    sizes = ["--messages", str(messages), "--non-default", str(non_default)]
    script = str(HERE / "make_lake.py")
    timed_process([script, "--lake", str(lake), *sizes, "--hot-sender", str(hot_sender)])


def route(pristine: Path, work: Path) -> Run:
    """Route a fresh copy of the lake, and look up how large a Python worker grew."""
    lake = fresh_lake(pristine, work / "routed")
    run = timed_process(["-m", "clwl_spark.cli", "route", "--lake", str(lake), "--json"])
    if "worker_peak_mib" not in run.output:
        run.output["worker_peak_mib"] = _worker_peak(lake)
    shutil.rmtree(lake)
    return run


def plain_copy(pristine: Path, work: Path, *words: str) -> Run:
    """Copy the messages of a fresh copy of the lake."""
    lake = fresh_lake(pristine, work / "copied")
    run = timed_process([str(HERE / "plain_copy.py"), "--lake", str(lake), *words])
    shutil.rmtree(lake)
    return run


def fresh_lake(pristine: Path, lake: Path) -> Path:
    """The tables that routing reads, and nothing that it wrote; data files are hard links."""
    shutil.rmtree(lake, ignore_errors=True)
    for table in INPUTS:
        source = pristine / table.name
        if source.exists():
            shutil.copytree(source, lake / table.name, copy_function=_link)
    return lake


def _link(source: str, target: str) -> None:
    """Link a data file, which is never changed; copy what belongs to the log."""
    if "_delta_log" in Path(source).parts:
        shutil.copy2(source, target)
    else:
        os.link(source, target)


def _worker_peak(lake: Path) -> float | None:
    """Largest Python worker of the run, MiB, from the runs table."""
    from deltalake import DeltaTable  # noqa: PLC0415  (slow import, only needed here)

    runs = DeltaTable(str(lake / schemas.RUNS.name)).to_pyarrow_table(columns=["worker_peak_mib"])
    peaks = [peak for peak in runs["worker_peak_mib"].to_pylist() if peak is not None]
    return max(peaks, default=None)
