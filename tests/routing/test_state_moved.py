"""`clwl state export` and `import`: a memory goes to another lake."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from damaged_lakes import copied, routed_world, rows
from pyspark.sql import SparkSession
from worlds import World, put_rows

from clwl_spark.algorithm.semantics import Wanted
from clwl_spark.cli import main
from clwl_spark.delta.lake import Lake
from clwl_spark.errors import InputError, LakeStateError, UsageError
from clwl_spark.mq.vocabulary import Algorithm
from clwl_spark.routing.ledger.losses import losses
from clwl_spark.routing.ledger.runs import begin, claim
from clwl_spark.routing.run import RouteOptions, route
from clwl_spark.routing.state.history import Memory, to_bytes
from clwl_spark.routing.state.memory_file import export_memory, import_memory
from clwl_spark.routing.state.remembered import list_memories


class Moving:
    """A world after one batch, after both, and its memory between them."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.world = routed_world(spark, folder / "lake", 1)
        self.lake = self.world.lake
        self.file = folder / "memory.parquet"
        self.between = copied(self.lake, folder / "between")
        self.moved = export_memory(self.lake, self.file)
        self.world.append("messages", self.world.batch(1))
        self.world.route()


@pytest.fixture(scope="module")
def moving(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Moving:
    return Moving(spark, tmp_path_factory.mktemp("moving"))


@pytest.fixture
def fresh(spark: SparkSession, moving: Moving, tmp_path: Path) -> World:
    """The same clusters in a lake that was never routed."""
    return World.made(spark, tmp_path / "fresh", moving.world.cases, "v9")


def later(lake: Lake, batch: list[dict[str, Any]]) -> set[str]:
    """The outcomes of a batch's messages."""
    put = {(x["qmgr"], x["put_seq"], x["message_id"]) for x in batch}
    found = lake.read("outcomes").toArrow().to_pylist()
    return {str(x) for x in found if (x["qmgr"], x["put_seq"], x["message_id"]) in put}


def test_the_next_batch_is_routed_as_in_the_lake_that_it_comes_from(
    moving: Moving, fresh: World
) -> None:
    assert import_memory(fresh.lake, moving.file, replace=False).replaced == 0
    imported = list_memories(fresh.lake)
    assert len(imported) == moving.moved.queue_managers
    assert {x.batch_id for x in imported} == {-1}
    assert rows(fresh.lake, "balance_history") == rows(moving.between, "balance_history")
    batch = moving.world.batch(1)
    fresh.append("messages", batch)
    assert fresh.route().batch_id == 0
    assert later(fresh.lake, batch) == later(moving.lake, batch)
    assert rows(fresh.lake, "balance_history") == rows(moving.lake, "balance_history")
    assert losses(fresh.lake).batches == []


@pytest.mark.spark
def test_so_it_is_where_spark_routes(moving: Moving, fresh: World) -> None:
    """Whose state is empty when the first batch begins."""
    test_the_next_batch_is_routed_as_in_the_lake_that_it_comes_from(moving, fresh)


@pytest.mark.spark
def test_spark_gives_up_its_own_memory_when_told_so(moving: Moving, tmp_path: Path) -> None:
    lake = copied(moving.between, tmp_path / "lake")
    known = pq.read_table(moving.file)
    nothing = pa.array([to_bytes(Memory())] * known.num_rows, pa.binary())
    at = known.schema.get_field_index("payload")
    pq.write_table(known.set_column(at, "payload", nothing), tmp_path / "file")
    import_memory(lake, tmp_path / "file", replace=True)
    late = [x | {"put_seq": 1} for x in moving.world.batch(1)[:1]]
    put_rows(lake, "messages", late)
    assert route(lake, RouteOptions(state_partitions=3)).batch_id == 1
    outcomes = lake.read("outcomes").where("put_seq = 1").toArrow().to_pylist()
    mine = [x for x in outcomes if x["message_id"] == late[0]["message_id"]]
    assert mine
    assert not any(x["out_of_order"] for x in mine)


def test_a_lake_that_remembers_is_refused_and_replaced_when_told_so(
    moving: Moving, tmp_path: Path
) -> None:
    lake = copied(moving.lake, tmp_path / "lake")
    with pytest.raises(LakeStateError, match=r"remembers \d+ queue managers already: .*--replace"):
        import_memory(lake, moving.file, replace=False)
    there = len(list_memories(lake))
    assert import_memory(lake, moving.file, replace=True).replaced == there
    assert rows(lake, "balance_history") == rows(moving.between, "balance_history")
    assert {x.batch_id for x in list_memories(lake)} == {1}
    assert losses(lake).batches == []
    assert route(lake, RouteOptions()).messages == 0


def test_another_algorithm_is_refused_before_and_after(
    moving: Moving, fresh: World, tmp_path: Path
) -> None:
    with pytest.raises(LakeStateError, match=r"of algorithm v7.*, the memory is of algorithm v9"):
        import_memory(fresh.lake, moving.file, replace=False, wanted=Wanted(Algorithm.V7))
    file = with_words(moving.file, tmp_path, algorithm="v7")
    import_memory(fresh.lake, file, replace=False)
    with pytest.raises(LakeStateError, match=r"of algorithm v7.*, the memory is of algorithm v9"):
        import_memory(fresh.lake, moving.file, replace=True)
    fresh.append("messages", moving.world.batch(1))
    with pytest.raises(LakeStateError, match="algorithm v7"):
        route(fresh.lake, RouteOptions(wanted=Wanted(Algorithm.V9)))
    route(fresh.lake, RouteOptions())
    assert begin(fresh.lake).semantics.algorithm == Algorithm.V7


def test_a_run_in_hand_is_left_alone(moving: Moving, tmp_path: Path) -> None:
    lake = copied(moving.lake, tmp_path / "lake")
    claim(lake, begin(lake))
    with pytest.raises(LakeStateError, match="is in hand or was killed: run clwl route"):
        export_memory(lake, tmp_path / "x")
    with pytest.raises(LakeStateError, match="is in hand or was killed: run clwl route"):
        import_memory(lake, moving.file, replace=True)


def with_words(file: Path, folder: Path, **words: Any) -> Path:
    """The file with other words about it."""
    table = pq.read_table(file)
    said = json.loads(table.schema.metadata[b"clwl_state"]) | words
    pq.write_table(
        table.replace_schema_metadata({"clwl_state": json.dumps(said)}), folder / "other.parquet"
    )
    return folder / "other.parquet"


def test_files_of_others_are_refused(moving: Moving, fresh: World, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has format 2, this package reads 1"):
        import_memory(fresh.lake, with_words(moving.file, tmp_path, format=2), replace=False)
    (tmp_path / "text").write_text("text")
    pq.write_table(pa.table({"x": [1]}), tmp_path / "table")
    pq.write_table(pq.read_table(moving.file).slice(0, 0), tmp_path / "empty")
    for name in ("text", "table", "none", "empty"):
        with pytest.raises(InputError, match="is no memory of a lake: make one with"):
            import_memory(fresh.lake, tmp_path / name, replace=False)
    assert list_memories(fresh.lake) == []


def test_what_cannot_be_exported_is_said(moving: Moving, fresh: World, tmp_path: Path) -> None:
    with pytest.raises(LakeStateError, match="remembers nothing: run clwl route first"):
        export_memory(fresh.lake, tmp_path / "x")
    with pytest.raises(UsageError, match="cannot be written"):
        export_memory(moving.lake, tmp_path / "no" / "x")


def test_the_commands_say_what_they_moved(
    capsys: Any, moving: Moving, fresh: World, tmp_path: Path
) -> None:
    file = str(tmp_path / "memory.parquet")
    assert main(["state", "export", file, "--lake", moving.lake.root]) == 0
    assert "written to" in capsys.readouterr().out
    words = ["state", "import", file, "--lake", fresh.lake.root]
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["algorithm"] == "v9"
    assert main(words) == 2
    assert "--replace" in capsys.readouterr().err
    assert main([*words, "--replace"]) == 0
    assert "remembered before is given up" in " ".join(capsys.readouterr().out.split())
