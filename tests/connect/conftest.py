"""A Spark Connect server of the tests' own."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest

from clwl_spark.spark.local_settings import LAPTOP_SETTINGS, SHARED_SETTINGS, SMALL_WORK
from clwl_spark.spark.runtime import cache_folder
from clwl_spark.spark.runtime.jars import delta_jars
from clwl_spark.spark.runtime.java import JavaHome, java_home

_SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"
_STARTS_IN = 90


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server on this machine, with two cores and Delta."""
    folder = tmp_path_factory.mktemp("server")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = folder / "server.log"
    with log.open("w") as out:
        process = subprocess.Popen(
            _command(folder, port),
            env=_environment(),
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    try:
        _wait_for(process, port, log)
        yield f"sc://127.0.0.1:{port}"
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _command(folder: Path, port: int) -> list[str]:
    jars = delta_jars(cache_folder(os.environ), _java(), os.environ)
    settings = {
        **LAPTOP_SETTINGS,
        **SHARED_SETTINGS,
        **SMALL_WORK,
        "spark.master": "local[2]",
        "spark.driver.extraClassPath": os.pathsep.join(map(str, jars)),
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.local.dir": str(folder / "local"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.shuffle.partitions": "2",
    }
    given = (word for name, value in settings.items() for word in ("--conf", f"{name}={value}"))
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    return [str(submit), "--class", _SERVER, *given, "spark-internal"]


def _environment() -> dict[str, str]:
    return {
        **os.environ,
        "JAVA_HOME": str(_java().path),
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
    }


def _java() -> JavaHome:
    return java_home(cache_folder(os.environ), os.environ)


def _wait_for(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    until = time.monotonic() + _STARTS_IN
    while time.monotonic() < until and process.poll() is None:
        with socket.socket() as asking:
            if asking.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    raise RuntimeError(log.read_text()[-3000:])
