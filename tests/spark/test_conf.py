"""A session's settings are changed for a block, and are as before after it."""

from clwl_spark.spark.conf import with_settings

SET = "spark.sql.session.timeZone"
UNSET = "spark.sql.maxMetadataStringLength"


def test_settings_are_again_what_they_were_and_unset_ones_unset(spark):
    with with_settings(spark, {SET: "Asia/Tokyo", UNSET: "77"}):
        assert (spark.conf.get(SET), spark.conf.get(UNSET)) == ("Asia/Tokyo", "77")
    assert (spark.conf.get(SET), spark.conf.get(UNSET, None)) == ("UTC", None)
