"""Programs measured from outside: wall-clock seconds, what they print, and their memory (Linux)."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LOOKED_AT_EVERY = 0.5
"""Seconds; a process loses at most what it grew in its last ones."""
JAVA = "java"
TREE = "all together"


@dataclass(frozen=True, slots=True)
class Run:
    """One process.

    Attributes:
        seconds: wall-clock seconds, Java's start included.
        output: the JSON document that it printed.
        began: when it was started, seconds since the epoch.
        memory: MiB; the largest process of each program name (VmHWM), and `TREE`: the most that
            all of them held at one moment (resident; shared pages count in each).
    """

    seconds: float
    output: dict[str, Any]
    began: float = 0.0
    memory: dict[str, float] = field(default_factory=dict)

    @property
    def work_seconds(self) -> float:
        """Seconds that the process itself counts, without starting Python and Java."""
        return float(str(self.output["seconds"]))

    @property
    def java_mib(self) -> float | None:
        """Most memory of Java."""
        return self.memory.get(JAVA)

    @property
    def python_mib(self) -> float | None:
        """Most memory of the largest process that is not Java."""
        return max((x for name, x in self.memory.items() if name not in (JAVA, TREE)), default=None)


def timed_process(command: Sequence[str], *, reads_json: bool = True) -> Run:
    """Run Python on these arguments and read the JSON document that it prints, if it prints one.

    Raises:
        SystemExit: the process failed; its last words are shown.
    """
    command = [sys.executable, *command]
    began, start = time.time(), time.perf_counter()
    with watched() as memory:
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
        seconds = time.perf_counter() - start
    if done.returncode != 0:
        last = "\n".join(done.stderr.splitlines()[-20:])
        sys.exit(f"{' '.join(command[1:])} ended with {done.returncode}:\n{last}")
    return Run(
        seconds, json.loads(done.stdout) if reads_json and done.stdout else {}, began, memory
    )


@contextmanager
def watched() -> Iterator[dict[str, float]]:
    """The memory of the programs below this process meanwhile, MiB, as `Run.memory`."""
    memory: dict[str, float] = {}
    done = threading.Event()

    def watch() -> None:
        while not done.wait(LOOKED_AT_EVERY):
            together = 0.0
            for name, most, now in below(os.getpid()):
                memory[name] = max(most, memory.get(name, 0.0))
                together += now
            memory[TREE] = max(together, memory.get(TREE, 0.0))

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield memory
    finally:
        done.set()
        watching.join()


def below(pid: int) -> Iterator[tuple[str, float, float]]:
    """Program, most memory ever and memory now, MiB, of each process that descends from this one.

    The program is the file that runs: what Java has just forked bears a thread's name, and Java's
    memory.
    """
    found: dict[int, tuple[int, str, float, float]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            lines = (folder / "status").read_text().splitlines()
            program = (folder / "exe").readlink().name
        except OSError:
            continue
        status = dict(line.partition(":")[::2] for line in lines)
        if "VmHWM" in status:
            most, now = (int(status[x].split()[0]) / 1024 for x in ("VmHWM", "VmRSS"))
            found[int(folder.name)] = (int(status["PPid"]), program, most, now)
    family = {pid}
    while more := {x for x, (parent, *_) in found.items() if parent in family} - family:
        family |= more
    yield from (found[x][1:] for x in family - {pid} if x in found)
