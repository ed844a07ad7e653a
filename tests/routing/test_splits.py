"""Splits as Spark makes them, read by Arrow."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from clwl_spark.errors import SplitError
from clwl_spark.routing.intake.splits import (
    Split,
    found_splits,
    read_split,
    spark_hash,
    split_columns,
    split_rows,
)

ROWS = 40_000
SCHEMA = pa.schema([("number", pa.int64()), ("word", pa.string()), ("absent", pa.string())])
SMALL = {"spark.sql.files.maxPartitionBytes": "60000", "spark.sql.files.openCostInBytes": "0"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two files of 20 row groups each, in a folder whose name no URI spells as it is."""
    folder = tmp_path_factory.mktemp("with space, % and ü")
    rng = np.random.default_rng(1)
    for at in range(2):
        numbers = np.arange(at * ROWS, (at + 1) * ROWS)
        words = [f"{x:x}" for x in rng.integers(0, 2**60, ROWS)]
        table = pa.table({"number": numbers, "word": words})
        pq.write_table(table, folder / f"part-{at}.parquet", row_group_size=2_000)
    return folder


@pytest.fixture
def small_splits(spark: SparkSession) -> Iterator[SparkSession]:
    before = {name: spark.conf.get(name) for name in SMALL}
    for name, value in SMALL.items():
        spark.conf.set(name, value)
    yield spark
    for name, value in before.items():
        spark.conf.set(name, str(value))


@pytest.mark.spark
def test_the_splits_of_all_tasks_have_each_row_once(
    small_splits: SparkSession, folder: Path
) -> None:
    rows = small_splits.read.parquet(str(folder)).select(*split_columns())
    splits = found_splits(rows.toArrow().to_batches(), str(folder))
    assert len(splits) > 10
    numbers = [
        number
        for split in splits
        for batch in read_split(split, SCHEMA, 500)
        for number in batch["number"].to_pylist()
    ]
    assert sorted(numbers) == list(range(2 * ROWS))
    assert sum(split.rows for split in splits) == 2 * ROWS


def test_a_split_is_known_again_by_its_name(folder: Path) -> None:
    split = Split(f"{folder}/a@b+c.parquet", 4711, 12)
    assert Split.named(split.name) == split


def test_a_column_that_the_file_lacks_is_null(folder: Path) -> None:
    split = Split(str(folder / "part-0.parquet"), 0, ROWS)
    batches = list(read_split(split, SCHEMA, ROWS, ["word"]))
    table = pa.Table.from_batches(batches)
    assert table["absent"].null_count == ROWS
    assert pa.types.is_dictionary(table.schema.field("word").type)


def test_rows_come_in_the_order_in_which_they_are_asked_for(folder: Path) -> None:
    split = Split(str(folder / "part-1.parquet"), 0, ROWS)
    wanted = np.array([39_999, 0, 7, 7, 20_000], dtype=np.int32)
    assert split_rows(split, SCHEMA, wanted)["number"].to_pylist() == (wanted + ROWS).tolist()


def test_other_rows_than_spark_counted_are_refused(folder: Path) -> None:
    split = Split(str(folder / "part-0.parquet"), 0, ROWS - 1)
    with pytest.raises(SplitError, match=r"has 40000 rows, Spark counted 39999"):
        list(read_split(split, SCHEMA, ROWS))


@pytest.mark.spark
def test_a_file_of_another_folder_is_refused(
    spark: SparkSession, folder: Path, tmp_path: Path
) -> None:
    rows = spark.read.parquet(str(folder)).select(*split_columns()).toArrow()
    with pytest.raises(SplitError, match="2 files of the batch are not in"):
        found_splits(rows.to_batches(), str(tmp_path))


@given(st.lists(st.one_of(st.none(), st.text(max_size=80)), min_size=1, max_size=6))
def test_the_hash_of_words_is_a_number_of_64_bits(words: list[str | None]) -> None:
    assert -(2**63) <= spark_hash(words) < 2**63


@pytest.mark.spark
def test_the_hash_of_words_is_sparks(spark: SparkSession) -> None:
    words = ["", "a", "QM1", "Ä€𝄞", "x" * 31, "y" * 32, "z" * 100, None]
    rows = [(first, second) for first in words for second in words]
    frame = spark.createDataFrame(rows, "first string, second string")
    found = frame.select("first", "second", F.xxhash64("first", "second").alias("hash")).collect()
    assert [spark_hash([x.first, x.second]) for x in found] == [x.hash for x in found]
