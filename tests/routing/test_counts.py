"""What a run costs, in counts instead of seconds: jobs, exchanges, commits, rows, bytes.

Counts are the same on every machine and under any load, so they can be limits. A limit is what was
measured and a little headroom; whoever goes beyond it on purpose measures `make bench` first.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from stages import EXCHANGE, Log, read_log

from clwl_spark.delta.lake import Lake
from clwl_spark.routing.run import WRITTEN, RouteOptions, route
from clwl_spark.studies.synthetic import GenerateSpec, messages, topology
from clwl_spark.tables import MESSAGES, SNAPSHOTS, TOPOLOGY
from clwl_spark.tables import columns as c

pytestmark = pytest.mark.spark


SENDERS = 5
FIRST, SECOND = 20_000, 2_000
SPEC = GenerateSpec(messages=FIRST + SECOND, qmgrs=SENDERS, queues=10, instances=2)
STATEFUL = "FlatMapGroupsInPandasWithState"


@dataclass(frozen=True)
class Limits:
    """The most that a run of one engine may need.

    Attributes:
        jobs_first: Spark jobs of a lake's first run.
        jobs_later: of a run that plans nothing new.
        python_rows: rows that go to Python or come back, for each message of the first run.
        shuffled: bytes written for shuffles, for each message of the first run.
    """

    jobs_first: int
    jobs_later: int
    python_rows: float
    shuffled: float


LIMITS = {
    # Measured: 81 and 38 jobs, 2.09 rows (in as a message, out as an outcome), 46.7 bytes.
    "spark": Limits(jobs_first=86, jobs_later=40, python_rows=2.2, shuffled=50),
    # Measured: 65 and 7 jobs, 1.04 rows (in as a place in a file), 25.6 bytes.
    "arrow": Limits(jobs_first=68, jobs_later=8, python_rows=1.1, shuffled=28),
}


@dataclass(frozen=True)
class Routed:
    """One run: its messages, its event log, and the commits that it made, by table."""

    messages: int
    log: Log
    commits: Mapping[str, int]


@pytest.fixture(scope="module", params=list(LIMITS))
def engine(request: pytest.FixtureRequest) -> str:
    """Each engine in turn."""
    return str(request.param)


@pytest.fixture(scope="module")
def limits(engine: str) -> Limits:
    """What holds for the engine."""
    return LIMITS[engine]


@pytest.fixture(scope="module")
def runs(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, engine: str
) -> list[Routed]:
    """A lake's first run, and one with few new messages that ask for nothing new."""
    folder = tmp_path_factory.mktemp("counts")
    lake = Lake(spark, str(folder / "lake"))
    lake.create([SNAPSHOTS, *TOPOLOGY, MESSAGES])
    for name, frame in topology(spark, SPEC).items():
        lake.append(name, frame)
    put = messages(spark, SPEC)
    is_first = F.col(c.PUT_SEQ) <= FIRST // SENDERS
    found = []
    for number, part in enumerate((put.where(is_first), put.where(~is_first))):
        lake.append(MESSAGES.name, part)
        found.append(_routed(lake, engine, folder / f"log{number}"))
    return found


def _routed(lake: Lake, engine: str, log: Path) -> Routed:
    before = _versions(lake)
    with _recorded(lake.spark, log):
        summary = route(lake, RouteOptions(engine=engine))
    after = _versions(lake)
    commits = {name: version - before.get(name, -1) for name, version in after.items()}
    return Routed(summary.messages, read_log(log), commits)


def _versions(lake: Lake) -> dict[str, int]:
    folders = {x.name: Path(lake.path(x.name)) for x in WRITTEN}
    there = {name: x for name, x in folders.items() if x.exists()}
    return {name: DeltaTable(str(x)).version() for name, x in there.items()}


@contextmanager
def _recorded(spark: SparkSession, folder: Path) -> Iterator[None]:
    """Write the event log of the block, though the session was started without one."""
    folder.mkdir()
    context = spark.sparkContext._jsc.sc()
    java = spark._jvm
    conf = context.getConf().set("spark.eventLog.compress", "false")
    listener = java.org.apache.spark.scheduler.EventLoggingListener(
        "counts", java.scala.Option.empty(), java.java.net.URI(folder.as_uri()), conf
    )
    listener.start()
    context.addSparkListener(listener)
    try:
        yield
    finally:
        context.listenerBus().waitUntilEmpty()
        context.removeSparkListener(listener)
        listener.stop()


def test_one_exchange_brings_messages_to_their_queue_manager(runs: list[Routed]) -> None:
    for run in runs:
        assert [x.count(EXCHANGE) for x in run.log.having(STATEFUL)] == [1]


def test_a_run_starts_no_more_jobs_than_it_did(runs: list[Routed], limits: Limits) -> None:
    first, second = runs
    assert first.log.jobs <= limits.jobs_first
    assert second.log.jobs <= limits.jobs_later


def test_a_first_run_commits_to_each_table_once_and_to_those_it_begins_with_twice(
    runs: list[Routed],
) -> None:
    """Creating a table is a commit; `runs` says RUNNING, DONE, and what the stream said."""
    assert runs[0].commits == {
        "outcomes": 2,
        "rejected_messages": 1,
        "route_plans": 2,
        "route_candidates": 2,
        "balance_history": 2,
        "router_memory": 2,
        "snapshot_resets": 1,
        "runs": 4,
    }


def test_a_later_run_commits_to_no_table_that_nothing_is_new_in(runs: list[Routed]) -> None:
    commits = {name: number for name, number in runs[1].commits.items() if number}
    assert commits == {"outcomes": 1, "balance_history": 1, "router_memory": 1, "runs": 3}


def test_messages_go_through_python_no_more_often_than_they_did(
    runs: list[Routed], limits: Limits
) -> None:
    assert runs[0].log.python_rows / FIRST <= limits.python_rows


def test_no_more_bytes_are_shuffled_for_a_message_than_were(
    runs: list[Routed], limits: Limits
) -> None:
    assert runs[0].log.shuffled / FIRST <= limits.shuffled
