"""The embedded engine: Sail, which answers PySpark's Connect client within this process.

Sail runs DataFrame code on DataFusion: no Java, and the first answer after half a second. The
server listens on loopback, at a port that the system gives it, and is a thread of this process:
however the process ends, it ends as well.
"""

import atexit
import hashlib
import importlib
import logging
import os
import re
import shutil
import signal
import sys
import threading
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from clwl_spark.spark.runtime.jars import pyspark_fault
from clwl_spark.spark.temporary import TemporaryFolder
from clwl_spark.storage.access import sail_variables

SAIL: Final = "0.7.2"
"""The version of pysail that `tests/engines` compared with Spark; no other one is used."""
_LOOPBACK: Final = "127.0.0.1"
_CLIENT: Final = ("grpc", "grpc_status", "google.rpc", "google.protobuf", "zstandard")
"""What PySpark's Connect client imports, beside pandas and pyarrow."""
CONNECT_MODE: Final = "SPARK_CONNECT_MODE_ENABLED"
"""PySpark's functions make columns for Connect where this variable is set."""
_MEBIBYTE: Final = 2**20
_PARTITIONS: Final = 4
"""The least of a frame: with fewer, DataFusion sends rows that are together by some columns out
anew, and sorts them, for each window that takes these and others."""
_STDERR: Final = 2
_ALIVE_SECONDS: Final = 300.0
"""Sail forgets a session from which nothing came for 900 seconds: a notebook's over lunch."""
_AGAIN: Final = 4
"""So often a call is made again, after 50, 200, 800 and 3,200 milliseconds."""
_SCRATCH: Final = "clwl_scratch"
"""Attribute of an embedded session: its folder of temporary files."""
_OF_BLOCK: Final[ContextVar[list[Path] | None]] = ContextVar("folders of a block", default=None)
_STOPPING: Final = (signal.SIGINT, signal.SIGTERM)
_PLAIN: Final = re.compile(r"[\w./+=-]*", re.ASCII)


def why_not_here() -> str:
    """Why this Python has no embedded engine; '' = it has one."""
    try:
        found = metadata.version("pysail")
    except metadata.PackageNotFoundError:
        return f"pysail is not installed: pip install pysail=={SAIL} (extra embedded)"
    if found != SAIL:
        return f"pysail is {found}, this version works with {SAIL}: pip install pysail=={SAIL}"
    if fault := pyspark_fault():
        return fault
    absent = [x for x in _CLIENT if not _is_there(x)]
    if absent:
        return f"PySpark's Connect client lacks {', '.join(absent)}: pip install 'pyspark[connect]'"
    return ""


def machine_memory_mib() -> int:
    """Memory of this machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // _MEBIBYTE


@contextmanager
def embedded_session(memory_mib: int = 0) -> Iterator[SparkSession]:
    """Start Sail and give a session of it; both end with the block.

    Args:
        memory_mib: most memory that queries may use together; above it they spill to files where
            Sail can, or fail. 0 = half of the machine's.
    """
    folder = TemporaryFolder("clwl-sail-")
    scratch = folder.path
    atexit.register(folder.close)
    most = (memory_mib or machine_memory_mib() // 2) * _MEBIBYTE
    with _variables(_server_settings(scratch, most)):
        server = importlib.import_module("pysail.spark").SparkConnectServer(_LOOPBACK, 0)
        server.start(background=True)
    logging.getLogger("pyspark.sql.connect.client").setLevel(logging.CRITICAL)
    try:
        with _variables({CONNECT_MODE: "1", **sail_variables()}):
            yield from _session(server.listening_address[1], scratch)
    finally:
        server.stop()
        folder.close()


def _session(port: int, scratch: Path) -> Iterator[SparkSession]:
    client = importlib.import_module("pyspark.sql.connect.session")
    retries = importlib.import_module("pyspark.sql.connect.client.retries")
    session: Any = None
    try:
        # Interrupted half-made, a client would look for its server for minutes when Python ends.
        with _uninterrupted():
            session = client.SparkSession.builder.remote(f"sc://{_LOOPBACK}:{port}").create()
        # What a lost connection would need takes longer than most queries of this process.
        session.client.disable_reattachable_execute()
        # PySpark waits ten minutes for a server that is gone; this one is of this process.
        again: Any = retries.RetryPolicy(_AGAIN, initial_backoff=50, backoff_multiplier=4.0)
        again.can_retry = _broke_off
        session.client.set_retry_policies([again])
        session.conf.set("spark.sql.session.timeZone", "UTC")
        # Where a column was made is looked up in Python's stack, 3 % of an answer's time.
        session.conf.set("spark.python.sql.dataFrameDebugging.enabled", "false")
        setattr(session, _SCRATCH, scratch)
        with _kept_alive(session):
            yield session
    finally:
        if session is not None:
            session.stop()


def _broke_off(error: BaseException) -> bool:
    """Whether a call ended with no word of Sail on it; False for a query, which gave rows maybe."""
    grpc = importlib.import_module("grpc")
    rpc_status = importlib.import_module("grpc_status.rpc_status")
    is_query = isinstance(error, Iterator)
    return isinstance(error, grpc.RpcError) and not is_query and not rpc_status.from_call(error)


@contextmanager
def _kept_alive(session: SparkSession) -> Iterator[None]:
    """Ask the session for something now and then, so that Sail does not forget it."""
    ended = threading.Event()

    def ask() -> None:
        while not ended.wait(_ALIVE_SECONDS):
            with suppress(PySparkException):
                session.conf.get("spark.sql.session.timeZone")

    asking = threading.Thread(target=ask, name="clwl-kept-alive", daemon=True)
    asking.start()
    try:
        yield
    finally:
        ended.set()
        asking.join()


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Put Ctrl-C and SIGTERM off until the block's end."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    caught: list[int] = []
    before = {x: signal.signal(x, lambda x, _: caught.append(x)) for x in _STOPPING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if caught:
            signal.raise_signal(caught[0])


def is_embedded(spark: SparkSession) -> bool:
    """Whether the session is one of `embedded_session`."""
    return hasattr(spark, _SCRATCH)


def scratch_folder(spark: SparkSession) -> Path:
    """The folder of temporary files of an embedded session; it goes with the session."""
    folder: Path = getattr(spark, _SCRATCH)
    return folder


def new_scratch_folder(spark: SparkSession) -> Path:
    """The path of a folder that is not there yet, for rows that an embedded session keeps."""
    folder = scratch_folder(spark) / "checkpoints" / uuid.uuid4().hex
    if (block := _OF_BLOCK.get()) is not None:
        block.append(folder)
    return folder


@contextmanager
def scratch_released() -> Iterator[None]:
    """Delete what `new_scratch_folder` named within the block when it ends."""
    folders: list[Path] = []
    outer = _OF_BLOCK.set(folders)
    try:
        yield
    finally:
        _OF_BLOCK.reset(outer)
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)


def plain_path(spark: SparkSession, folder: str) -> str:
    """A path of a folder in which no character has a meaning; Sail takes some for patterns."""
    if _PLAIN.fullmatch(folder):
        return folder
    link = Path(scratch_folder(spark), "links", hashlib.sha256(folder.encode()).hexdigest())
    if not link.is_symlink():
        link.symlink_to(Path(folder).absolute(), target_is_directory=True)
    return str(link)


@contextmanager
def without_panic_texts() -> Iterator[None]:
    """For the block, only Python writes to standard error.

    A panic in Rust prints its own text there before it becomes an error that says the same.
    """
    if sys.stderr is not sys.__stderr__ or sys.stderr is None or sys.stderr.fileno() != _STDERR:
        yield
        return
    before, kept = sys.stderr, os.dup(_STDERR)
    before.flush()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, _STDERR)
    os.close(nowhere)
    sys.stderr = os.fdopen(kept, "w", buffering=1, encoding="utf-8", errors="backslashreplace")
    try:
        yield
    finally:
        sys.stderr.flush()
        os.dup2(kept, _STDERR)
        sys.stderr.close()
        sys.stderr = before


def _server_settings(scratch: Path, most_bytes: int) -> dict[str, str]:
    """Sail's settings, which it takes from the environment when a server is made."""
    checkpoints, spilled = scratch / "checkpoints", scratch / "spilled"
    for folder in (checkpoints, spilled, scratch / "links"):
        folder.mkdir()
    return {
        "RUST_LOG": os.environ.get("RUST_LOG", "off"),
        "SAIL_EXECUTION__CHECKPOINT__PATH": str(checkpoints),
        "SAIL_EXECUTION__DEFAULT_PARALLELISM": str(max(_PARTITIONS, os.cpu_count() or 1)),
        # Who can spill has a share of its own: where the first took all, a later sort failed.
        "SAIL_RUNTIME__MEMORY_POOL__TYPE": "fair",
        "SAIL_RUNTIME__MEMORY_POOL__FAIR__MAX_SIZE": str(most_bytes),
        "SAIL_RUNTIME__TEMPORARY_FILES__PATHS": f'["{spilled}"]',
    }


def _is_there(module: str) -> bool:
    try:
        importlib.import_module(module)
    except ImportError:
        return False
    return True


@contextmanager
def _variables(variables: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables for the block, and put back what was there."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
