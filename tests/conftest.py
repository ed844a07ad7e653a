"""What every test may ask for."""

import gc
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from killed_lakes import Killed
from pyspark.sql import SparkSession
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from clwl_spark.spark.embedded import embedded_session
from clwl_spark.spark.local import local_session
from clwl_spark.spark.local_settings import SMALL_WORK

# What commands show is as wide as a pipe's reader gets it, whatever the terminal.
os.environ.pop("COLUMNS", None)

JAVA_OPTIONS = (
    "-XX:ReservedCodeCacheSize=400m",
    "-XX:+UseSerialGC",
    "-Xms2g",
    "-Xmn1g",
    "-XX:Tier4InvocationThreshold=20000",
    "-XX:Tier4MinInvocationThreshold=2500",
    "-XX:Tier4CompileThreshold=60000",
    "-XX:Tier4BackEdgeThreshold=160000",
)


@pytest.fixture(scope="session")
def spark(request: pytest.FixtureRequest) -> Iterator[SparkSession]:
    """A session of the engine that the test's file is for (`pytest_generate_tests`)."""
    with ENGINES[request.param]() as session:
        yield session


@contextmanager
def _apache_spark() -> Iterator[SparkSession]:
    """One session for all tests that Spark has to run: two cores, two shuffle partitions.

    It lives long enough for Java's second compiler to pay, which took a third of Java's time for
    methods that few tests call; it now waits for more calls. Its Java can serve Spark Connect as
    well (tests/connect/conftest.py).
    """
    session = local_session(
        {
            **SMALL_WORK,
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": "0",
            "spark.driver.memory": "5g",
            "spark.driver.extraJavaOptions": " ".join(JAVA_OPTIONS),
            "spark.master": "local[2]",
            "spark.sql.shuffle.partitions": "2",
        }
    )
    yield session
    session.stop()


@pytest.fixture(scope="session")
def killed(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Killed:
    """A lake with a batch routed and another waiting, to be copied: the copies are disturbed."""
    return Killed(spark, tmp_path_factory.mktemp("killed"))


ON_SPARK = re.compile(r"[\[-]spark[\]-]")
"""In the name of a test that has a session of Spark."""
ENGINES = {"embedded": embedded_session, "spark": _apache_spark, "stores": embedded_session}
"""The embedded session learns when it starts which object store there is (tests/stores)."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that asks for a session gets the embedded one, unless it is marked `spark`.

    One process holds one session at a time: pytest ends the one before it starts the other.
    """
    if "spark" in metafunc.fixturenames:
        marked = metafunc.definition.get_closest_marker("spark") is not None
        engine = os.environ.get("CLWL_TEST_ENGINE", "spark" if marked else "embedded")
        if metafunc.definition.path.parent.name == "stores":
            engine = "stores"
        metafunc.parametrize("spark", [engine], indirect=True, scope="session")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """First what has a session of Spark, which takes one process longest; last what starts Java."""
    items.sort(key=_order)


def pytest_collection_finish() -> None:
    """What is there once all tests are known stays: Python looks through it for garbage no more.

    Through what comes later it looks as rarely as in a command (`clwl_spark.cli.entry`).
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000)


def _order(item: pytest.Item) -> tuple[bool, bool, bool]:
    return (
        not ON_SPARK.search(item.nodeid),
        item.path.parent.name == "connect",
        item.get_closest_marker("java") is not None,
    )


class ByFile(LoadScopeScheduling):
    """Gives a process a file's tests at a time, so that what they share is made once.

    What has a session of Spark goes to one process: there is one Java that everything warms.
    """

    def _split_scope(self, nodeid: str) -> str:
        return "on Spark" if ON_SPARK.search(nodeid) else nodeid.partition("::")[0]


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByFile:
    """Tests go to processes by file."""
    return ByFile(config, log)
