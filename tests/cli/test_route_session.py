"""Which Spark session suits a run of `clwl route` on a lake that is not small."""

import pytest

from clwl_spark.commands import route
from clwl_spark.commands.words.options import Common
from clwl_spark.commands.words.routing import RouteWords
from clwl_spark.spark.local_settings import ROWS_BEYOND_JAVA


@pytest.mark.parametrize(
    ("words", "is_for_arrow", "suits"),
    [
        (RouteWords(), True, ROWS_BEYOND_JAVA),
        (RouteWords(), False, None),
        (RouteWords(hops=3), True, None),
        (RouteWords(follow=True), True, None),
    ],
)
def test_java_s_second_compiler_is_left_out_only_where_arrow_does_all(
    words, is_for_arrow, suits, monkeypatch
):
    monkeypatch.setattr(route, "_is_for_arrow", lambda _: is_for_arrow)
    assert route._suiting(Common(), words) is suits
