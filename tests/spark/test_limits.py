"""A session that is limited as serverless compute is keeps rows in files, and its settings."""

import pytest

from clwl_spark.spark.conf import with_settings
from clwl_spark.spark.limits import limit, limited_to, setting
from clwl_spark.spark.materialize import checkpoint, persisted, releasing

pytestmark = pytest.mark.spark

TAKEN, REFUSED = "spark.sql.shuffle.partitions", "spark.sql.codegen.wholeStage"


@pytest.fixture
def rows(spark, tmp_path):
    """The folder that a limited session keeps rows in."""
    folder = tmp_path / "rows"
    limit(spark, f"{folder}/")
    yield folder
    limit(spark, "")
    assert limited_to(spark) == ""


def in_memory(spark):
    return set(spark.sparkContext._jsc.getPersistentRDDs())


def test_rows_that_steps_share_are_files_until_the_block_ends(spark, rows):
    before = in_memory(spark)
    frame = spark.range(5).selectExpr("id", "id * rand() AS drawn")
    with releasing():
        kept = checkpoint(frame)
        again = checkpoint(kept.where("id < 3"))
        assert kept.collect() == kept.collect()
        assert again.count() == 3
        (folder,) = rows.iterdir()
        assert len([*folder.iterdir()]) == 2
    assert not [*rows.iterdir()]
    assert in_memory(spark) <= before


def test_what_is_persisted_is_files_of_its_own(spark, rows):
    with releasing(), persisted(spark.range(5)) as kept:
        assert kept.count() == 5
        assert len([*rows.iterdir()]) == 1
    with pytest.raises(ZeroDivisionError), persisted(spark.range(5)):
        raise ZeroDivisionError
    assert not [*rows.iterdir()]


def test_frames_without_rows_or_with_nothing_but_nulls_are_kept_too(spark, rows):
    with releasing():
        assert checkpoint(spark.range(0)).columns == ["id"]
        named = checkpoint(
            spark.sql("SELECT struct(1 AS `a b`, null AS c) AS `x y`, map('k', 1) m")
        )
        assert [x.asDict(recursive=True) for x in named.collect()] == [
            {"x y": {"a b": 1, "c": None}, "m": {"k": 1}}
        ]
    assert not [*rows.iterdir()]


@pytest.mark.usefixtures("rows")
def test_settings_that_it_may_not_have_are_left_as_they_are(spark):
    before = {x: spark.conf.get(x, None) for x in (TAKEN, REFUSED)}
    with with_settings(spark, {TAKEN: "7", REFUSED: "other"}):
        assert spark.conf.get(TAKEN) == "7"
        assert spark.conf.get(REFUSED, None) == before[REFUSED]
        assert (setting(spark, TAKEN, "1"), setting(spark, REFUSED, "unknown")) == ("7", "unknown")
    assert {x: spark.conf.get(x, None) for x in (TAKEN, REFUSED)} == before
