"""A Spark standalone cluster on this machine: a master, and workers of one core each."""

import os
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyspark

from clwl_spark.spark.runtime import cache_folder
from clwl_spark.spark.runtime.java import java_home

HOST = "127.0.0.1"
WORKER_MEMORY = "1g"
_MASTER = "org.apache.spark.deploy.master.Master"
_WORKER = "org.apache.spark.deploy.worker.Worker"
_URL = re.compile(r"Starting Spark master at (spark://\S+)")
_REGISTERED = re.compile(r"Successfully registered with master")
_PATIENCE = 90.0


@contextmanager
def standalone_cluster(folder: Path, workers: int) -> Iterator[str]:
    """Give the URL of a master with that many workers; all end with the block.

    Args:
        folder: for logs, and for what the workers keep.
        workers: each a process that offers one core and `WORKER_MEMORY`.

    Raises:
        TimeoutError: one of them did not start.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as running:
        master = folder / "master.log"
        running.enter_context(_daemon(master, _MASTER, "--port", "0"))
        url = _said(master, _URL).group(1)
        logs = [folder / f"worker{number}.log" for number in range(workers)]
        offered = ("--cores", "1", "--memory", WORKER_MEMORY)
        for log in logs:
            kept = ("--work-dir", str(log.with_suffix("")))
            running.enter_context(_daemon(log, _WORKER, *offered, *kept, url))
        for log in logs:
            _said(log, _REGISTERED)
        yield url


@contextmanager
def _daemon(log: Path, name: str, *words: str) -> Iterator[None]:
    """Run one of Spark's daemons for the block; its executors end with it."""
    spark = Path(pyspark.__file__).parent
    command = [str(spark / "bin/spark-class"), name, "--host", HOST, "--webui-port", "0", *words]
    environment = os.environ | {
        "JAVA_HOME": str(java_home(cache_folder(os.environ), os.environ).path),
        "SPARK_HOME": str(spark),
        "SPARK_LOCAL_IP": HOST,
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }
    with log.open("w") as said:
        process = subprocess.Popen(command, stdout=said, stderr=said, env=environment)  # noqa: S603
    try:
        yield
    finally:
        process.terminate()
        process.wait(_PATIENCE)


def _said(log: Path, pattern: re.Pattern[str]) -> re.Match[str]:
    """Wait until the log says it."""
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        if found := pattern.search(log.read_text()):
            return found
        time.sleep(0.1)
    raise TimeoutError(f"{log} does not say {pattern.pattern!r}:\n{log.read_text()[-2000:]}")
