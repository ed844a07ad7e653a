"""New messages are found whatever commit brought them; what was routed is not routed again."""

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable, write_deltalake
from pyspark.sql import SparkSession
from worlds import World

SAME = "t.qmgr = s.qmgr AND t.put_seq = s.put_seq"


def _routed(spark: SparkSession, folder: Path) -> tuple[World, str, pa.Table]:
    """A routed lake, the folder of its messages, and five more of them."""
    world = World.random(spark, folder, 11, 4, "v9")
    world.append("messages", world.batch(0))
    world.route()
    place = world.lake.path("messages")
    rows = DeltaTable(place).to_pyarrow_table()
    known = rows.filter(pc.and_(pc.is_valid(rows["qmgr"]), pc.is_valid(rows["put_seq"])))
    more = known.take(list(range(5)))
    at = more.schema.get_field_index("put_seq")
    seqs = pa.array(range(10**6, 10**6 + 5), pa.int64())
    return world, place, more.set_column(at, more.schema.field(at), seqs)


def test_rows_that_a_merge_inserts_are_routed_and_those_it_updates_are_not(
    spark: SparkSession, tmp_path: Path
) -> None:
    world, place, more = _routed(spark, tmp_path)
    table = DeltaTable(place)
    rows = pa.concat_tables([more, table.to_pyarrow_table().slice(0, 1)])
    merging = table.merge(rows, SAME, source_alias="s", target_alias="t")
    merging.when_matched_update_all().when_not_matched_insert_all().execute()
    assert world.route().messages == len(more)
    assert world.route().messages == 0


def test_rows_that_an_overwrite_brings_are_routed(spark: SparkSession, tmp_path: Path) -> None:
    world, place, more = _routed(spark, tmp_path)
    old = DeltaTable(place).to_pyarrow_table()
    write_deltalake(place, pa.concat_tables([old, more]), mode="overwrite")
    assert world.route().messages == len(more)
    assert world.route().messages == 0
