"""Writing snapshots: all is checked first, the same rows again change nothing, used ones stay."""

from datetime import UTC, datetime, timedelta

import pytest
from pyspark.sql import functions as F
from small_worlds import message_channel, qmgr, queue, rcvr, sender
from topology_frames import frames, rows_of, versions

from clwl_spark.delta.lake import Lake
from clwl_spark.errors import (
    InputError,
    LakeStateError,
    MissingColumnsError,
    TopologyError,
    UsageError,
)
from clwl_spark.snapshots.write import Snapshot, write_snapshot, write_topology
from clwl_spark.tables import ROUTE_PLANS

NOON = datetime(2024, 5, 6, 12, tzinfo=UTC)
ODD_NAME = "it's a \\ 'snapshot' / ünusual"
WORLD = (
    qmgr("QM1", clwlmruc=3),
    rcvr("QM1", clwlwght=10),
    rcvr("QM2"),
    queue("QM2", "APP.Q", "K", clwlrank=9),
    sender("QM1", "QM2", "RUNNING"),
)


@pytest.fixture(scope="module")
def lake(spark, tmp_path_factory):
    return Lake(spark, str(tmp_path_factory.mktemp("write") / "lake"))


@pytest.fixture(scope="module")
def written(lake, spark):
    """Two snapshots of one world, the second with a name that SQL could stumble over."""
    for name in ("S1", ODD_NAME):
        counts = write_snapshot(lake, Snapshot(name, NOON, "test"), frames(spark, *WORLD))
    return counts


def test_a_snapshot_has_the_rows_that_were_written(written, lake):
    assert written == {
        "queue_managers": 1, "cluster_channels": 2, "channel_status": 1, "queues": 1,
        "topics": 0, "subscriptions": 0, "views": 0,
    }  # fmt: skip
    heads = {row.snapshot_id: row for row in lake.read("snapshots").collect()}
    assert set(heads) == {"S1", ODD_NAME}
    assert heads["S1"].status == "VALID"
    assert heads["S1"].loaded_at is not None
    assert len(rows_of(lake, "queues", ODD_NAME)) == 1


@pytest.mark.usefixtures("written")
def test_the_same_rows_again_change_nothing(lake, spark):
    before = versions(lake)
    write_snapshot(lake, Snapshot(ODD_NAME, NOON, "elsewhere"), frames(spark, *WORLD))
    assert versions(lake) == before


@pytest.mark.usefixtures("written")
def test_other_rows_replace_only_the_snapshot_s_own(lake, spark):
    others = rows_of(lake, "cluster_channels", "S1")
    before = versions(lake)
    fewer = frames(spark, *WORLD[:2], *WORLD[3:])
    write_snapshot(lake, Snapshot(ODD_NAME, NOON, "test"), fewer)
    after = versions(lake)
    assert len(rows_of(lake, "cluster_channels", ODD_NAME)) == 1
    assert rows_of(lake, "cluster_channels", "S1") == others
    # Out of force, the rows, in force again.
    assert {name: after[name] - before[name] for name in after if after[name] != before[name]} == {
        "cluster_channels": 1,
        "snapshots": 2,
    }
    write_snapshot(lake, Snapshot(ODD_NAME, NOON, "test"), frames(spark, *WORLD))


REFUSED = {
    "out of range": (rcvr("QM3", clwlwght=100), "cluster_channels", "clwlwght", "100", "1..99"),
    "unknown word": (queue("QM3", "Q", "K", defbind="ON"), "queues", "defbind", "ON", "'OPEN'"),
    "null key": (queue("QM3", None, "K"), "queues", "queue", None, "is null"),
    "duplicate": (qmgr("QM1"), "queue_managers", "qmgr", "QM1", "more than once"),
    "chltype": (
        ("channel_status", {"qmgr": "A", "channel": "C", "chltype": "SDR", "remote_qmgr": "B"}),
        "channel_status", "chltype", "SDR", "'CLUSRCVR'",
    ),
    "type of a channel in no cluster": (
        message_channel("QM3", "C", "", chltype="RCVR"), "message_channels", "chltype", "RCVR",
        "'SVR'",
    ),
    "no type": (
        message_channel("QM3", "C", "", chltype=None), "message_channels", "chltype", None,
        "is not one of",
    ),
}  # fmt: skip


@pytest.mark.usefixtures("written")
@pytest.mark.parametrize("what", REFUSED)
def test_rows_that_mq_could_not_have_are_refused_and_nothing_is_written(what, lake, spark):
    definition, table, column, value, reason = REFUSED[what]
    before = versions(lake)
    with pytest.raises(TopologyError) as refused:
        write_snapshot(lake, Snapshot("BAD", NOON, "test"), frames(spark, *WORLD, definition))
    error = refused.value
    assert (error.table, error.column, error.value) == (table, column, value)
    owner = definition[1]["qmgr"]
    assert f"qmgr={owner}" in error.row
    assert all(part in str(error) for part in (table, column, repr(value), error.row, reason))
    assert versions(lake) == before


@pytest.mark.usefixtures("written")
def test_a_wide_integer_is_refused_as_out_of_range(lake, spark):
    wide = frames(spark, *WORLD)
    wide["queues"] = wide["queues"].withColumn("clwlrank", F.lit(9999999999))
    with pytest.raises(TopologyError, match="'9999999999' is out of range"):
        write_snapshot(lake, Snapshot("BAD", NOON, "test"), wide)


@pytest.mark.usefixtures("written")
def test_frames_that_are_no_topology_are_refused(lake, spark):
    snapshot = Snapshot("BAD", NOON, "test")
    good = frames(spark, *WORLD)
    with pytest.raises(InputError, match="messages"):
        write_snapshot(lake, snapshot, {"messages": good["queues"]})
    with pytest.raises(MissingColumnsError, match="clwlprty"):
        write_snapshot(lake, snapshot, {"queues": good["queues"].drop("clwlprty")})
    with pytest.raises(UsageError):
        write_snapshot(lake, Snapshot("", NOON, "test"), good)
    with pytest.raises(TopologyError, match="status"):
        write_snapshot(lake, Snapshot("BAD", NOON, "test", "GOOD"), good)


@pytest.mark.usefixtures("written")
def test_a_snapshot_that_routing_used_stays_as_it_is(lake, spark):
    snapshot = Snapshot("USED", NOON, "test")
    write_snapshot(lake, snapshot, frames(spark, *WORLD))
    plan = {"plan_id": 1, "snapshot_id": "USED"}
    row = tuple(plan.get(name) for name in ROUTE_PLANS.names)
    lake.create([ROUTE_PLANS])
    lake.append("route_plans", spark.createDataFrame([row], ROUTE_PLANS.schema))
    before = versions(lake)
    write_snapshot(lake, snapshot, frames(spark, *WORLD))
    with pytest.raises(LakeStateError, match=r"'USED'.*has been used"):
        write_snapshot(lake, snapshot, frames(spark, *WORLD[1:]))
    later = Snapshot("USED", NOON + timedelta(hours=1), "test")
    with pytest.raises(LakeStateError, match="has been used"):
        write_snapshot(lake, later, frames(spark, *WORLD))
    assert versions(lake) == before


def test_many_snapshots_are_written_at_once(spark, tmp_path):
    lake = Lake(spark, str(tmp_path / "many"))
    heads = [
        ("snapshots", {"snapshot_id": f"S{n}", "valid_from": NOON, "status": "VALID"})
        for n in range(3)
    ]
    of_all = [(table, {**row, "snapshot_id": f"S{n}"}) for n in range(3) for table, row in WORLD]
    counts = write_topology(lake, frames(spark, *heads, *of_all))
    assert counts["cluster_channels"] == 6
    before = versions(lake)
    write_topology(lake, frames(spark, *heads, *of_all))
    assert versions(lake) == before
    with pytest.raises(TopologyError, match="'S2' is not a row of the table 'snapshots'"):
        write_topology(lake, frames(spark, *heads[:2], *of_all))
    with pytest.raises(InputError, match="snapshots"):
        write_topology(lake, frames(spark, *of_all))
