"""Which engine routes which lake, and that both say the same of every column."""

import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from lakes import share_plans, template
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from random_clusters import random_case
from worlds import World, put_rows

from clwl_spark.delta.lake import Lake
from clwl_spark.errors import UsageError
from clwl_spark.routing.engines.choose import engine_for
from clwl_spark.routing.intake import pending_requests as asked
from clwl_spark.routing.run import WRITTEN, RouteOptions, RunSummary, route
from clwl_spark.tables import CLUSTER_CHANNELS, MESSAGES, OUTCOMES, QUEUES, SNAPSHOTS

pytestmark = pytest.mark.spark


AT = datetime(2026, 1, 1, 12, tzinfo=UTC)
MINE = {"snapshot_id": "S", "observer": "*"}
TABLES = {
    "snapshots": [{"snapshot_id": "S", "valid_from": AT, "status": "VALID"}],
    "cluster_channels": [
        MINE | {"qmgr": name, "channel": f"TO.{name}", "cluster": "K"} for name in ("A", "B", "C")
    ],
    "queues": [
        MINE | {"qmgr": name, "queue": "Q", "cluster": "K", "qtype": "QLOCAL"}
        for name in ("B", "C")
    ],
}


def _messages(count: int, first: int = 1) -> list[dict[str, Any]]:
    return [
        {
            "qmgr": "A",
            "put_seq": at,
            "message_id": at.to_bytes(24, "big"),
            "put_time": AT + timedelta(microseconds=1_001 * at),
            "object_name": "Q",
            "bind": "NOT_FIXED",
        }
        for at in range(first, first + count)
    ]


def _filled(spark: SparkSession, root: Path) -> Lake:
    """A lake with ten messages, whose requests are planned."""
    lake = _unplanned(spark, root)
    share_plans(_planned(spark), lake)
    return lake


def _unplanned(spark: SparkSession, root: Path) -> Lake:
    lake = Lake(spark, str(root))
    lake.create([SNAPSHOTS, CLUSTER_CHANNELS, QUEUES, MESSAGES])
    for name, rows in TABLES.items():
        put_rows(lake, name, rows)
    put_rows(lake, "messages", _messages(10))
    return lake


def _planned(spark: SparkSession) -> Lake:
    return Lake(spark, str(template(spark, TABLES, lambda x: _routed(_unplanned(spark, x)))))


def _routed(lake: Lake, engine: str = "auto") -> RunSummary:
    return route(lake, RouteOptions(state_partitions=1, engine=engine))


def _rows(lake: Lake, table: str) -> Counter[tuple[Any, ...]]:
    """A table's rows without the moment at which a message was set aside."""
    rows = lake.read(table).drop("rejected_at").collect()
    return Counter(tuple(bytes(x) if isinstance(x, bytearray) else x for x in row) for row in rows)


@pytest.fixture(scope="module")
def routed_by(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Lake]:
    """The same messages, good and bad, in several files, routed by each engine.

    By "stream" they ask for so much that a stream of the engine looks for it.
    """
    lakes = {}
    for way in ("spark", "arrow", "spark stream", "arrow stream"):
        engine, _, stream = way.partition(" ")
        few = 0 if stream else asked.FEW_REQUESTS
        cases = [random_case(random.Random(at), f"C{at:03d}.") for at in range(12)]
        world = World.made(spark, tmp_path_factory.mktemp(way), cases, "v9")
        if lakes:
            share_plans(lakes["spark"], world.lake)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(asked, "FEW_REQUESTS", few)
            for at in world.batches()[:2]:
                world.append("messages", world.batch(at), files=3)
                assert world.route(engine=engine).engine == engine
        lakes[way] = world.lake
    return lakes


@pytest.mark.parametrize("way", ["arrow", "spark stream", "arrow stream"])
@pytest.mark.parametrize("table", ["outcomes", "rejected_messages", "balance_history"])
def test_both_engines_say_the_same_in_every_column(
    routed_by: dict[str, Lake], table: str, way: str
) -> None:
    by_spark = _rows(routed_by["spark"], table)
    assert by_spark
    assert _rows(routed_by[way], table) == by_spark


def test_only_many_requests_start_a_stream_that_plans(routed_by: dict[str, Lake]) -> None:
    checkpoints = {
        way: Path(lake.checkpoint_root).glob("plan-*") for way, lake in routed_by.items()
    }
    assert {way: len([*x]) for way, x in checkpoints.items()} == {
        "spark": 0,
        "arrow": 0,
        "spark stream": 1,
        "arrow stream": 1,
    }


@pytest.mark.parametrize("column", OUTCOMES.skipped_by)
def test_statistics_let_readers_skip_files_but_no_row(
    routed_by: dict[str, Lake], column: str
) -> None:
    outcomes = routed_by["arrow"].read("outcomes")
    counted = outcomes.groupBy(column).count().collect()
    for value, rows in random.Random(1).sample(counted, min(3, len(counted))):
        assert outcomes.where(outcomes[column] == F.lit(value)).count() == rows


def test_statistics_are_of_the_answers_that_a_file_has(spark: SparkSession, tmp_path: Path) -> None:
    """Readers answer `min` and `max` by them alone; blocks of a queue manager share answers."""
    lake = _filled(spark, tmp_path)
    known, unknown, nowhere = ({}, {"object_name": "NO"}, {"object_qmgr": "NO"})
    for first, ways in ((11, (known, unknown)), (21, (unknown, nowhere))):
        put = [message | way for message in _messages(4) for way in ways]
        put_rows(lake, "messages", [x | {"put_seq": first + at} for at, x in enumerate(put)])
    _routed(lake, "arrow")
    table = DeltaTable(lake.path("outcomes"))
    files = pa.table(table.get_add_actions(flatten=True)).to_pylist()
    assert len(files) == 3
    for said in files:
        rows = pq.read_table(Path(table.table_uri) / said["path"])
        for name in set(OUTCOMES.skipped_by) - {"put_time"}:
            least_most = pc.min_max(rows[name]).as_py()
            assert [said[f"min.{name}"], said[f"max.{name}"]] == [*least_most.values()], name


def test_a_name_that_no_uri_spells_is_routed_by_arrow(spark: SparkSession, tmp_path: Path) -> None:
    lake = _filled(spark, tmp_path / "lake of ü, 100 %")
    assert _routed(lake).engine == "arrow"
    assert lake.read("outcomes").where("dest_qmgr = 'B'").count() == 5


def test_what_was_deleted_within_a_file_is_not_routed(spark: SparkSession, tmp_path: Path) -> None:
    lake = _filled(spark, tmp_path)
    name = lake.sql_name("messages")
    spark.sql(f"ALTER TABLE {name} SET TBLPROPERTIES (delta.enableDeletionVectors = true)")
    spark.sql(f"DELETE FROM {name} WHERE put_seq > 6")  # noqa: S608 (our own names)
    summary = _routed(lake)
    assert (summary.engine, summary.messages) == ("spark", 6)
    put_rows(lake, "messages", _messages(1, 50))
    with pytest.raises(UsageError, match="needs a reader with deletionVectors"):
        _routed(lake, "arrow")


def test_files_of_another_folder_are_left_to_spark(spark: SparkSession, tmp_path: Path) -> None:
    lake = _filled(spark, tmp_path / "one")
    clone = Lake(spark, str(tmp_path / "other"))
    for name in ("messages", *TABLES):
        spark.sql(f"CREATE TABLE {clone.sql_name(name)} SHALLOW CLONE {lake.sql_name(name)}")
    share_plans(lake, clone)
    summary = _routed(clone)
    assert (summary.engine, summary.outcomes) == ("spark", 10)
    put_rows(clone, "messages", _messages(4, 11))
    summary = _routed(clone)
    assert (summary.engine, summary.outcomes) == ("arrow", 4)
    assert clone.read("outcomes").where("dest_qmgr = 'B'").count() == 7


MAPPED = (
    "ALTER TABLE {} SET TBLPROPERTIES (delta.columnMapping.mode = 'name', "
    "delta.minReaderVersion = '2', delta.minWriterVersion = '5')"
)


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("ALTER TABLE {} ADD CONSTRAINT late CHECK (put_seq > 0)", "has the constraint"),
        (MAPPED, "needs a writer with"),
    ],
)
def test_outcomes_that_only_delta_can_write_are_left_to_spark(
    spark: SparkSession, tmp_path: Path, statement: str, why: str
) -> None:
    lake = _filled(spark, tmp_path)
    lake.create(WRITTEN)
    spark.sql(statement.format(lake.sql_name("outcomes")))
    assert engine_for(lake, "auto", 1).name == "spark"
    with pytest.raises(UsageError, match=why):
        engine_for(lake, "arrow", 1)


def test_partitioned_messages_are_left_to_spark(spark: SparkSession, tmp_path: Path) -> None:
    lake = _filled(spark, tmp_path / "lake")
    messages = lake.read("messages")
    messages.write.format("delta").partitionBy("qmgr").save(str(tmp_path / "other" / "messages"))
    other = Lake(spark, str(tmp_path / "other"))
    for name, rows in TABLES.items():
        put_rows(other, name, rows)
    share_plans(lake, other)
    assert _routed(other).engine == "spark"
    assert _rows(other, OUTCOMES.name).total() == 10


def test_the_callers_session_is_the_active_one_again_when_all_is_routed(
    spark: SparkSession, tmp_path: Path
) -> None:
    _routed(_filled(spark, tmp_path))
    assert SparkSession.getActiveSession() is spark
