"""A table whose CHECK knows fewer words than this version writes gets the contract's."""

from pathlib import Path

import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from clwl_spark.delta.creation import create_in_folder, create_statement, properties
from clwl_spark.delta.lake import Lake
from clwl_spark.tables import REJECTED_MESSAGES

NAME = REJECTED_MESSAGES.name
CHECK = "delta.constraints.error_in_range"
NEW = properties(REJECTED_MESSAGES)[CHECK]
OLD = "error IS NULL OR error IN ('NO_QMGR', 'NO_SNAPSHOT')"


def set_aside(lake: Lake, error: str) -> None:
    row = [error if x == "error" else None for x in REJECTED_MESSAGES.names]
    lake.append(NAME, lake.arrow_rows(NAME, [row]))


def checked_by(lake: Lake) -> str:
    return DeltaTable(lake.path(NAME)).metadata().configuration[CHECK]


def test_new_words_are_known_after_a_table_was_asked_for(
    spark: SparkSession, tmp_path: Path
) -> None:
    lake = Lake(spark, str(tmp_path))
    create_in_folder(lake.path(NAME), REJECTED_MESSAGES)
    first = Path(lake.path(NAME), "_delta_log", f"{0:020}.json")
    first.write_text(first.read_text().replace(NEW, OLD))
    assert checked_by(lake) == OLD
    lake.create([REJECTED_MESSAGES])
    assert checked_by(lake) == NEW
    version = lake.version(NAME)
    lake.create([REJECTED_MESSAGES])
    assert lake.version(NAME) == version
    set_aside(lake, "BAD_PUT_TIME")
    assert lake.read(NAME).count() == 1


@pytest.mark.spark
def test_spark_does_it_where_delta_rs_cannot(spark: SparkSession, tmp_path: Path) -> None:
    lake = Lake(spark, str(tmp_path / "[x]"))
    name = lake.sql_name(NAME)
    spark.sql(create_statement(name, REJECTED_MESSAGES))
    spark.sql(f"ALTER TABLE {name} DROP CONSTRAINT error_in_range")
    spark.sql(f"ALTER TABLE {name} ADD CONSTRAINT error_in_range CHECK ({OLD})")
    lake.create([REJECTED_MESSAGES])
    assert checked_by(lake).replace(" ", "") == NEW.replace(" ", "")
    version = lake.version(NAME)
    lake.create([REJECTED_MESSAGES])
    assert lake.version(NAME) == version
    set_aside(lake, "BAD_PUT_TIME")
    assert lake.read(NAME).count() == 1
