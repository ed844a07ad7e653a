"""Worker processes of this machine, for work on files that are there for all of them.

They are forked from a clean process that has loaded what they need, never from this one, whose
session has threads; and they know nothing of the program that runs here, so that a script without
`if __name__ == "__main__"` is not run again in each of them.
"""

import os
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import connection, get_context, parent_process
from multiprocessing.forkserver import ensure_running, set_forkserver_preload
from pathlib import Path
from types import ModuleType
from typing import Final, TypeVar

from clwl_spark.errors import WorkerLostError
from clwl_spark.spark.temporary import TemporaryFolder
from clwl_spark.storage import access
from clwl_spark.storage.access import Storage

Task = TypeVar("Task")
Done = TypeVar("Done")
_PRELOADED: Final = ("clwl_spark.routing.engines.preloaded",)
_MAIN: Final = "__main__"


class Workers:
    """Processes that do tasks side by side, and a folder of temporary files for all of them.

    Processes are started when they are first wanted, and kept until `close`.
    """

    def __init__(self, processes: int) -> None:
        """Start nothing yet.

        Args:
            processes: how many, at the most.
        """
        self.processes = processes
        self._temporary = TemporaryFolder("clwl-route-")
        self._pool: ProcessPoolExecutor | None = None

    @property
    def folder(self) -> Path:
        """Of temporary files."""
        return self._temporary.path

    def do(
        self, function: Callable[[Task], Done], tasks: Iterable[Task], *, here: bool
    ) -> Iterator[Done]:
        """What a function makes of tasks, in their order.

        Args:
            function: of a module, so that workers find it.
            tasks: given to it.
            here: within this process, one after the other.

        Raises:
            WorkerLostError: the system ended a worker.
        """
        if here:
            yield from map(function, tasks)
            return
        try:
            yield from self._started().map(function, tasks)
        except BrokenProcessPool:
            self._pool = None
            raise WorkerLostError(
                "a worker process was ended from outside, as the system does where memory is "
                "short: lower worker_memory_mib, or give --engine spark; nothing is lost, the "
                "next run goes on"
            ) from None

    def close(self) -> None:
        """End the processes, whatever they do, and take their files away."""
        if self._pool is not None:
            for process in (self._pool._processes or {}).values():  # noqa: SLF001
                process.terminate()
            self._pool.shutdown(cancel_futures=True)
        self._pool = None
        self._temporary.close()

    def _started(self) -> ProcessPoolExecutor:
        if self._pool is None:
            start_soon()
            context = get_context("forkserver")
            # Of the environment they have what it was when their parent process began.
            given = (str(self.folder), access.in_use(), access.variables())
            self._pool = ProcessPoolExecutor(self.processes, context, _begin, given)
            with _without_program():
                for _ in range(self.processes):
                    self._pool.submit(_nothing)
        return self._pool


def start_soon() -> None:
    """Start the process that workers are forked from, which loads what they need meanwhile."""
    set_forkserver_preload([*_PRELOADED])
    ensure_running()


@contextmanager
def workers(processes: int = 0) -> Iterator[Workers]:
    """Lend workers for the block.

    Args:
        processes: how many, at the most; 0 = as many as this process has cores.
    """
    pool = Workers(processes or len(os.sched_getaffinity(0)))
    try:
        yield pool
    finally:
        pool.close()


@contextmanager
def _without_program() -> Iterator[None]:
    """For the block, processes that start get no program to load."""
    program = sys.modules[_MAIN]
    sys.modules[_MAIN] = ModuleType(_MAIN)
    try:
        yield
    finally:
        sys.modules[_MAIN] = program


def _begin(folder: str, storage: Storage, variables: dict[str, str]) -> None:
    """In a worker: reach object stores as this process does, and end with it."""
    access.take_variables(variables)
    access.use(storage)
    _end_with_parent(folder)


def _end_with_parent(folder: str) -> None:
    """In a worker: end when the process that has the workers ends, however it does.

    Ctrl-C reaches the whole group of processes; it is for that one to say what happens.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    if parent is None:
        return
    sentinel = parent.sentinel

    def watch() -> None:
        connection.wait([sentinel])
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _nothing() -> None:
    """A task that makes a process start."""
