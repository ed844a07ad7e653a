"""Specs that cannot be generated are refused with the remedy."""

from datetime import datetime, timedelta

import pytest

from clwl_spark.errors import SettingsError
from clwl_spark.studies.synthetic import GenerateSpec


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"messages": 0}, "messages is 0: give 1 or more"),
        ({"overlap": 1.5}, "overlap is 1.5: give a share from 0 to 1"),
        ({"hot_sender": -0.1}, "hot_sender is -0.1"),
        ({"bind": "OPEN"}, "give one of AS_Q_DEF, ON_OPEN, NOT_FIXED, ON_GROUP"),
        ({"defbind": "FIXED"}, "give one of OPEN, NOTFIXED, GROUP"),
        ({"clwluseq": "QMGR"}, "give one of LOCAL, ANY"),
        ({"instances": 30}, "the smallest cluster has 25 queue managers"),
        ({"queues": 1}, "at least one for each of 2 clusters"),
        ({"topics": 1}, "at least one for each of 2 clusters"),
        ({"qmgrs": 10**10}, "exceeds 20 characters"),
        ({"snapshot_interval": timedelta(0)}, "snapshot_interval"),
        ({"senders": 51}, "give 1 to 50"),
        ({"senders": 0}, "give 1 to 50"),
        ({"on_open": 0.7, "on_group": 0.5}, "add up to 1.2"),
        ({"publications": 0.1}, "there are no topics"),
        ({"rate": 0.0}, "more than 0 messages a second"),
        ({"start": datetime(2026, 1, 1)}, "give a time zone"),  # noqa: DTZ001
    ],
)
def test_an_unusable_spec_says_what_to_give(settings, says):
    with pytest.raises(SettingsError, match=says.replace(".", r"\.")):
        GenerateSpec(**settings)


def test_without_a_rate_messages_spread_over_all_snapshots():
    spec = GenerateSpec(messages=100, snapshots=3)
    assert spec.put_interval_micros * 100 == 3 * 3_600_000_000


def test_a_rate_sets_the_time_between_messages():
    assert GenerateSpec(rate=1000.0).put_interval_micros == 1000
