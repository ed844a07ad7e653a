"""Runs `clwl` in this process while something happens to it.

Usage: faulty_run.py FAULT WORD..., where the words are those of `clwl`, and FAULT is one of
- `worker:killed`: a worker process is killed as soon as there is one,
- `worker:memory`: a worker process gets no more memory than it has,
- `meanwhile:TABLE:NAME`: just before TABLE is written, somebody else does what `MEANWHILE` has.
"""

import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from deltalake import DeltaTable, write_deltalake
from deltalake.transaction import AddAction

from clwl_spark.cli import main
from clwl_spark.delta.lake import Lake
from clwl_spark.routing.engines import embedded
from clwl_spark.routing.engines.workers import Workers


def with_workers(happens: Callable[[int], None]) -> None:
    """Let workers do everything, and something happen to one of them before it has work."""
    embedded.HERE_ROWS = 0
    started = Workers._started

    def start(self: Workers) -> Any:
        pool = started(self)
        deadline = time.monotonic() + 60
        while not pool._processes and time.monotonic() < deadline:
            time.sleep(0.01)
        if not hasattr(self, "met"):
            self.met = True  # type: ignore[attr-defined]
            for worker in [*pool._processes]:
                happens(worker)
        return pool

    Workers._started = start  # type: ignore[method-assign]


def kill(worker: int) -> None:
    threading.Timer(0.05, os.kill, (worker, signal.SIGKILL)).start()


def starve(worker: int) -> None:
    resource.prlimit(worker, resource.RLIMIT_AS, (2**20, 2**20))


def append_again(folder: str) -> None:
    """Append rows that are there already."""
    write_deltalake(folder, DeltaTable(folder).to_pyarrow_table().slice(0, 3), mode="append")


def compact(folder: str) -> None:
    DeltaTable(folder).optimize.compact()


def add_column(folder: str) -> None:
    """Change the table's columns, which no writer expects."""
    DeltaTable(folder).alter.set_table_properties({"delta.logRetentionDuration": "interval 9 days"})


def commit_nothing(folder: str) -> None:
    table = DeltaTable(folder)
    table.create_write_transaction(list[AddAction](), mode="append", schema=table.schema())


MEANWHILE = {
    "appends": append_again,
    "compacts": compact,
    "alters": add_column,
    "commits": commit_nothing,
}


def meanwhile(table: str, name: str) -> None:
    """Let somebody else write to a table, or to messages, just before it is written."""
    for method in ("append", "merge", "add_files"):
        original = getattr(Lake, method)

        def write(lake: Lake, of: str, *rest: Any, _write: Any = original) -> None:
            if of == table:
                other = "messages" if name == "appends" else table
                MEANWHILE[name](str(Path(lake.path(other))))
            _write(lake, of, *rest)

        setattr(Lake, method, write)


def run(fault: str, *words: str) -> int:
    """Prepare the fault, and run the command."""
    kind, _, more = fault.partition(":")
    if kind == "worker":
        with_workers({"killed": kill, "memory": starve}[more])
    else:
        meanwhile(*more.split(":"))
    return main(words)


if __name__ == "__main__":
    sys.exit(run(*sys.argv[1:]))
