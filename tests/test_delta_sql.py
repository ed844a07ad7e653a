"""Questions in SQL that delta-rs answers are those that it can answer as Spark does."""

from datetime import UTC, datetime

import pytest
from lakes import lake_with
from worlds import frame

from clwl_spark import delta_sql
from clwl_spark.delta_sql import ROWS, answer
from clwl_spark.schemas import SNAPSHOTS
from clwl_spark.spark.frames import frame_from_arrow

NAME = SNAPSHOTS.name
COUNTED = f"SELECT status, count(*) AS rows, max(valid_from) AS last FROM {ROWS} GROUP BY 1"  # noqa: S608
NOON = datetime(2024, 5, 6, 12, tzinfo=UTC)
STATUSES = ("VALID", "VALID", "QUARANTINED", None)


@pytest.fixture
def lake(spark, tmp_path):
    """A lake with four snapshots, in two files."""
    found = lake_with(spark, tmp_path / "lake", [NAME])
    rows = [
        {"snapshot_id": f"S{at}", "valid_from": NOON.replace(minute=at), "status": status}
        for at, status in enumerate(STATUSES)
    ]
    found.append(NAME, frame(spark, NAME, rows).repartition(2))
    return found


def asked(lake, question=COUNTED):
    return answer(lake.path(NAME), SNAPSHOTS, question)


def test_an_answer_is_spark_s(spark, lake):
    found = spark.createDataFrame(asked(lake)).collect()
    expected = spark.sql(COUNTED.replace(ROWS, "{rows}"), rows=lake.read(NAME)).collect()
    assert sorted(found, key=repr) == sorted(expected, key=repr)
    assert {row.status: row.rows for row in found} == {"VALID": 2, "QUARANTINED": 1, None: 1}


def test_an_answer_without_rows_is_a_frame_too(spark, lake):
    found = asked(lake, f"SELECT status FROM {ROWS} WHERE status = 'LOST'")  # noqa: S608
    assert frame_from_arrow(spark, found).collect() == []


def test_rows_marked_as_deleted_are_left_to_spark(spark, lake):
    spark.sql(
        f"ALTER TABLE {lake.sql_name(NAME)} SET TBLPROPERTIES (delta.enableDeletionVectors = true)"
    )
    spark.sql(f"DELETE FROM {lake.sql_name(NAME)} WHERE snapshot_id = 'S0'")  # noqa: S608
    assert asked(lake) is None


def test_a_long_answer_is_left_to_spark(lake, monkeypatch):
    monkeypatch.setattr(delta_sql, "_MOST", 2)
    assert asked(lake) is None
    assert asked(lake, f"SELECT status FROM {ROWS} LIMIT 2").num_rows == 2  # noqa: S608


def test_no_table_and_another_one_are_left_to_spark(spark, lake):
    assert answer(lake.path("outcomes"), SNAPSHOTS, COUNTED) is None
    spark.range(3).write.format("delta").save(lake.path("numbers"))
    assert answer(lake.path("numbers"), SNAPSHOTS, COUNTED) is None
