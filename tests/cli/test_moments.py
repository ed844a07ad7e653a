"""Moments that options give."""

from datetime import UTC, datetime

import pytest

from clwl_spark.cli.moments import micros_before, micros_of
from clwl_spark.errors import UsageError
from clwl_spark.tables.moments import micros

LAST = micros(datetime(2026, 9, 14, 15, tzinfo=UTC))


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("14:00", "2026-09-14T14:00:00Z"),
        ("15:00", "2026-09-14T15:00:00Z"),
        ("15:00:01", "2026-09-13T15:00:01Z"),
        ("16:30+02:00", "2026-09-14T14:30:00Z"),
        ("23:00-0500", "2026-09-14T04:00:00Z"),
        ("00:30+14:00", "2026-09-14T10:30:00Z"),
        ("12:00Z", "2026-09-14T12:00:00Z"),
        ("2026-01-01T00:00Z", "2026-01-01T00:00:00Z"),
    ],
)
def test_a_time_of_day_is_the_last_one_up_to_a_moment(text, moment):
    assert micros_before("--since", text, LAST) == micros_of("--since", moment)


@pytest.mark.parametrize("text", ["24:00", "14:60", "14", "14:00 CET", "2026-09-14T14:00"])
def test_what_is_none_is_refused_with_the_option(text):
    with pytest.raises(UsageError, match="--since "):
        micros_before("--since", text, LAST)
