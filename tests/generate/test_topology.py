"""Generated topologies: the contract's types, MQ's ranges, the counts that the spec asks for."""

from itertools import pairwise

import pyspark.sql.functions as F
import pytest

from clwl_spark.mq import vocabulary as v
from clwl_spark.studies.synthetic import GenerateSpec, topology
from clwl_spark.tables import TABLES
from clwl_spark.tables import columns as c

RICH = GenerateSpec(
    qmgrs=23,
    clusters=3,
    overlap=0.4,
    queues=10,
    instances=4,
    channels=2,
    non_default=0.3,
    bad_status=0.3,
    put_disabled=0.2,
    suspended=0.2,
    snapshots=3,
    topics=7,
    aliases=0.5,
)


@pytest.fixture(scope="module")
def rich(spark):
    return {name: frame.cache() for name, frame in topology(spark, RICH).items()}


@pytest.fixture(scope="module")
def plain(spark):
    return {name: frame.cache() for name, frame in topology(spark, GenerateSpec()).items()}


def values(frame, column):
    return {row[0] for row in frame.select(column).distinct().collect()}


def test_tables_have_exactly_the_contract_s_schemas(rich):
    assert set(rich) <= set(TABLES)
    assert {name: frame.schema for name, frame in rich.items()} == {
        name: TABLES[name].schema for name in rich
    }


def test_no_key_occurs_twice(rich):
    for name, frame in rich.items():
        assert frame.select(*TABLES[name].keys).distinct().count() == frame.count(), name


def test_every_value_is_in_mq_s_range(rich):
    for name, frame in rich.items():
        for column in TABLES[name].columns:
            if column.check:
                assert frame.where(f"NOT ({column.check})").count() == 0, (name, column.name)


def test_names_fit_mq(rich):
    channels = rich["cluster_channels"].agg(F.max(F.length(c.CHANNEL))).first()[0]
    assert channels <= v.CHANNEL_NAME_LENGTH


def test_shares_of_nothing_leave_every_attribute_at_mq_s_default(plain):
    channels = plain["cluster_channels"]
    attributes = (c.CLWLRANK, c.CLWLPRTY, c.CLWLWGHT, c.NETPRTY, c.SUSPENDED)
    assert [values(channels, x) for x in attributes] == [{0}, {0}, {50}, {0}, {False}]
    assert values(plain["queues"], c.CLWLUSEQ) == {"QMGR"}
    assert values(plain["queue_managers"], c.CLWLMRUC) == {v.DEFAULT_MRUC}
    assert values(plain["channel_status"], c.STATUS) == {"RUNNING"}


def test_shares_of_all_leave_no_attribute_at_mq_s_default(spark):
    tables = topology(spark, GenerateSpec(non_default=1.0, bad_status=1.0))
    channels = tables["cluster_channels"]
    for attribute, default in {c.CLWLRANK: 0, c.CLWLPRTY: 0, c.CLWLWGHT: 50, c.NETPRTY: 0}.items():
        assert default not in values(channels, attribute)
    assert values(tables["queues"], c.CLWLUSEQ) == {"LOCAL", "ANY"}
    bad = {word for word, tier in v.STATUS_TIERS.items() if tier > 1}
    assert values(tables["channel_status"], c.STATUS) == bad


def test_every_queue_has_its_instances_in_its_cluster(rich):
    shared = rich["queues"].where(F.col(c.CLUSTER) != "")
    hosts = shared.groupBy(c.SNAPSHOT_ID, c.QUEUE, c.CLUSTER).count()
    assert hosts.count() == 3 * 10
    assert values(hosts, "count") == {4}


def test_every_instance_s_host_has_all_its_channels_in_the_queue_s_cluster(plain):
    routes = plain["queues"].join(plain["cluster_channels"], [c.SNAPSHOT_ID, c.QMGR, c.CLUSTER])
    per_queue = routes.groupBy(c.QUEUE).agg(F.count_distinct(c.CHANNEL).alias("routes"))
    assert values(per_queue, "routes") == {8}


def test_only_queue_managers_in_two_clusters_have_channels_in_two(rich):
    clusters = rich["cluster_channels"].groupBy(c.SNAPSHOT_ID, c.QMGR)
    counts = clusters.agg(F.count_distinct(c.CLUSTER).alias("n"), F.count("*").alias("channels"))
    assert values(counts, "n") == {1, 2}
    assert counts.where("channels <> 2 * n").count() == 0


def test_sender_channels_lead_to_receivers_of_the_same_name(rich):
    status = rich["channel_status"].where(F.col(c.CHLTYPE) == "CLUSSDR")
    owned = rich["cluster_channels"].withColumnRenamed(c.QMGR, c.REMOTE_QMGR)
    assert status.join(owned, [c.SNAPSHOT_ID, c.REMOTE_QMGR, c.CHANNEL], "left_anti").count() == 0
    assert status.where(F.col(c.QMGR) == F.col(c.REMOTE_QMGR)).count() == 0


def test_each_later_snapshot_changes_weights_of_every_cluster(rich):
    channels = rich["cluster_channels"]
    first = channels.where(F.col(c.SNAPSHOT_ID) == "S1").alias("a")
    for later in ("S2", "S3"):
        other = channels.where(F.col(c.SNAPSHOT_ID) == later).alias("b")
        keys = [c.QMGR, c.CHANNEL, c.CLUSTER]
        changed = first.join(other, keys).where("a.clwlwght <> b.clwlwght")
        assert values(changed, c.CLUSTER) == {"CLUS1", "CLUS2", "CLUS3"}


def test_statuses_are_drawn_again_where_a_later_snapshot_changes_them(spark):
    spec = GenerateSpec(bad_status=0.5, snapshots=2, changed=0.2)
    status = topology(spark, spec)["channel_status"].drop(c.XMITQ)
    first, later = (
        status.where(F.col(c.SNAPSHOT_ID) == x).drop(c.SNAPSHOT_ID) for x in ("S1", "S2")
    )
    share = later.exceptAll(first).count() / later.count()
    assert 0.05 < share < 0.25


def test_snapshots_are_valid_from_one_interval_after_another(rich):
    rows = rich["snapshots"].orderBy(c.SNAPSHOT_ID).collect()
    assert [row[c.STATUS] for row in rows] == ["VALID"] * 3
    steps = {later[c.VALID_FROM] - row[c.VALID_FROM] for row, later in pairwise(rows)}
    assert steps == {RICH.snapshot_interval}


def test_aliases_lead_to_cluster_queues(rich):
    aliases = rich["queues"].where(F.col(c.QTYPE) == "QALIAS")
    assert values(aliases, c.CLUSTER) == {""}
    assert values(aliases, c.TARGET) <= values(rich["queues"].where("cluster <> ''"), c.QUEUE)
    assert aliases.count() > 0


def test_topics_are_hosted_and_direct_by_turns(rich):
    counts = rich["topics"].groupBy(c.TOPIC, c.CLROUTE).count()
    assert {(row[c.CLROUTE], row["count"]) for row in counts.collect()} == {
        ("TOPICHOST", 4 * 3),
        ("DIRECT", 3),
    }


def test_direct_topics_have_proxy_subscriptions_for_their_subscribers(rich):
    held = rich["subscriptions"]
    proxies = held.where(F.col(c.SUBTYPE) == "PROXY")
    own = held.where(F.col(c.SUBTYPE) == "USER")
    assert proxies.where(F.col(c.QMGR) == F.col(c.DEST_QMGR)).count() == 0
    assert values(proxies, c.DEST_QMGR) == values(own, c.QMGR)
