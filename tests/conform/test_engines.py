"""Spark and the engine embedded tell the same."""

import pytest
from orders_worlds import ways, world
from small_worlds import messages
from waiting_worlds import SECOND, routed_lake
from worlds import put_rows

from clwl_spark.studies.conform.find import conform
from clwl_spark.studies.conform.match import Wanted


@pytest.fixture
def document(spark, tmp_path):
    """Of records half of which are known by message_id alone."""
    puts = messages(60, "APP1", "ORDERS")
    records = ways(world(weight={"SRV2": 20}), puts)
    for record in records[::2]:
        record["put_seq"] = None
    lake = routed_lake(spark, tmp_path, world(), puts, SECOND)
    put_rows(lake, "observed_routes", records)
    return conform(lake, Wanted()).to_json()


def check(document):
    (first,) = document["first_disagreements"]
    assert (document["seen"], document["compared"], document["not_compared"]) == (60, 60, [])
    assert (first["put_seq"], first["put_time"]) == (5, "2024-05-06T12:00:05Z")
    assert (first["cause"], first["fits"], first["of"]) == ("WEIGHT", 60, 60)
    assert first["why"].startswith("CLWLWGHT of TO.SRV2 to SRV2 is 20, not 50")
    assert [x["seen"] for x in document["by_channel"]] == [25, 10, 25]
    assert [x["dest_seq_number"] for x in first["history"]] == [4, 2, 3]


def test_embedded(document):
    check(document)


@pytest.mark.spark
def test_spark(document):
    check(document)
