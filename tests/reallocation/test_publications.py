"""Publications that wait for a topic host, whose topic is another one at the event: P31."""

from datetime import timedelta

import pytest
from small_worlds import NOON, at, message, qmgr, rcvr, snapshot, tables, topic
from waiting_worlds import SECOND, routed_lake

from clwl_spark.planning.plans import Ladder
from clwl_spark.studies.reallocate.events import ChannelEvent
from clwl_spark.studies.reallocate.run import reallocate
from clwl_spark.tables.moments import micros


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ({"clroute": "TOPICHOST"}, ("STILL_FAVOURED", None, "TO.HOST", None)),
        ({"clroute": "DIRECT"}, ("NOT_ELIGIBLE", "NAMED_QMGR", "TO.HOST", None)),
        ({"clroute": "TOPICHOST", "pub_scope": "QMGR"}, ("MOVED", None, None, "PUB")),
        ({"clroute": "DIRECT", "pub_scope": "QMGR"}, ("MOVED", None, None, "PUB")),
    ],
    ids=["topic host", "direct", "local", "direct and local"],
)
def test_scope_comes_before_the_way_of_the_topic(spark, tmp_path, now, expected):
    there = [qmgr("PUB"), rcvr("PUB"), rcvr("HOST")]
    rows = tables(
        snapshot("S1"),
        snapshot("S2", hours=1),
        *at("S1", *there, topic("HOST", "NEWS", "/news", clroute="TOPICHOST")),
        *at("S2", *there, topic("HOST", "NEWS", "/news", **now)),
    )
    put = message("PUB", "/news", object_type="TOPIC")
    lake = routed_lake(spark, tmp_path, rows, [put], SECOND)
    stop = ChannelEvent("PUB", "TO.HOST", "STOPPED", micros(NOON + timedelta(hours=2)), backlog=1)
    reallocate(lake, [stop], Ladder(SECOND))
    (row,) = lake.read("reallocations").collect()
    assert (row.outcome, row.ineligible_reason, row.to_channel, row.to_qmgr) == expected
