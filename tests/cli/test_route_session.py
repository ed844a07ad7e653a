"""Which Spark session suits a run of `clwl route` on a lake that is not small."""

import pytest
from lakes import lake_with

from clwl_spark.cli import route
from clwl_spark.cli.commands.route import RouteWords
from clwl_spark.cli.options import Common
from clwl_spark.spark.local_settings import ROWS_BEYOND_JAVA
from clwl_spark.tables import MESSAGES, OUTCOMES

CASES = [
    (RouteWords(), None, (MESSAGES, OUTCOMES), ROWS_BEYOND_JAVA),
    (RouteWords(), "arrow", (MESSAGES,), ROWS_BEYOND_JAVA),
    (RouteWords(), None, (), {}),
    (RouteWords(), "spark", (MESSAGES,), {}),
    (RouteWords(hops=3), None, (MESSAGES,), {}),
    (RouteWords(follow=True), None, (MESSAGES,), {}),
]


@pytest.mark.parametrize("case", CASES)
def test_java_s_second_compiler_is_left_out_only_where_arrow_does_all(
    spark, tmp_path, monkeypatch, case
):
    words, engine, tables, suits = case
    lake_with(spark, tmp_path, [x.name for x in tables])
    monkeypatch.setattr(route, "is_on_this_machine", bool)
    assert route._suiting(Common(lake=str(tmp_path), engine=engine), words) == suits
