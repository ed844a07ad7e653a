"""Generated messages: dense put_seq, even or hot senders, the same rows however cut."""

from itertools import pairwise

import pyspark.sql.functions as F
import pytest

from clwl_spark.studies.synthetic import GenerateSpec, messages, topology
from clwl_spark.studies.synthetic import draw as d
from clwl_spark.tables import MESSAGES
from clwl_spark.tables import columns as c

RICH = GenerateSpec(
    messages=20_000,
    snapshots=2,
    topics=4,
    publications=0.2,
    aliases=0.5,
    named_qmgr=0.1,
    unknown=0.05,
    on_open=0.2,
    on_group=0.1,
    hot_sender=0.25,
    seed=7,
)


@pytest.fixture(scope="module")
def rich(spark):
    return messages(spark, RICH).cache()


def per_sender(frame):
    return {
        row[c.QMGR]: (row["n"], row["distinct"], row["first"], row["last"])
        for row in frame.groupBy(c.QMGR)
        .agg(
            F.count("*").alias("n"),
            F.count_distinct(c.PUT_SEQ).alias("distinct"),
            F.min(c.PUT_SEQ).alias("first"),
            F.max(c.PUT_SEQ).alias("last"),
        )
        .collect()
    }


def share(frame, condition):
    return frame.where(condition).count() / frame.count()


def test_messages_have_exactly_the_contract_s_schema(rich):
    assert rich.dtypes == [(x.name, x.type) for x in MESSAGES.columns]
    assert rich.count() == 20_000


@pytest.mark.parametrize(
    ("settings", "senders", "hottest"),
    [
        ({}, 50, 200),
        ({"senders": 7}, 7, 1429),
        ({"senders": 1}, 1, 10_000),
        ({"hot_sender": 1.0}, 1, 10_000),
        ({"hot_sender": 0.5}, 50, 5000),
        ({"hot_sender": 0.999, "senders": 3}, 3, 9990),
    ],
)
def test_put_seq_is_dense_from_1_on_every_sender(spark, settings, senders, hottest):
    found = per_sender(messages(spark, GenerateSpec(messages=10_000, **settings)))
    assert len(found) == senders
    assert found["QM01"][0] == hottest
    assert all(n == distinct == last and first == 1 for n, distinct, first, last in found.values())


def test_put_seq_follows_put_time(rich):
    rows = rich.select(c.QMGR, c.PUT_TIME, c.PUT_SEQ).collect()
    in_time = sorted(rows, key=lambda row: (row[c.QMGR], row[c.PUT_TIME]))
    assert in_time == sorted(rows, key=lambda row: (row[c.QMGR], row[c.PUT_SEQ]))


def test_message_ids_are_24_bytes_and_differ(rich):
    ids = [bytes(row[0]) for row in rich.select(c.MESSAGE_ID).collect()]
    assert {len(x) for x in ids} == {24}
    assert all(x.startswith(b"AMQ QM") for x in ids)
    assert len(set(ids)) == len(ids)


def test_the_partition_count_changes_nothing(spark, rich, monkeypatch):
    monkeypatch.setattr(d, "rows", lambda session, count: session.range(0, count, 1, 7))
    again = messages(spark, RICH)
    assert again.select(F.spark_partition_id()).distinct().count() == 7
    assert again.exceptAll(rich).count() == 0 == rich.exceptAll(again).count()


def test_another_seed_puts_to_other_queues(spark):
    first, other = (messages(spark, GenerateSpec(messages=1000, seed=x)) for x in (1, 2))
    keys = [c.QMGR, c.PUT_SEQ]
    same = first.join(other, [*keys, c.OBJECT_NAME]).count()
    assert same < 500


def test_partitions_follow_one_another_in_time(spark):
    frame = messages(spark, GenerateSpec(messages=300_000))
    placed = frame.select(F.spark_partition_id().alias("part"), c.PUT_TIME)
    spans = placed.groupBy("part").agg(
        F.min(c.PUT_TIME).alias("first"), F.max(c.PUT_TIME).alias("last")
    )
    rows = sorted(spans.collect())
    assert len(rows) > 1
    assert all(row["last"] <= later["first"] for row, later in pairwise(rows))


def test_shares_of_opens_are_met(rich):
    assert share(rich, F.col(c.BIND) == "ON_OPEN") == pytest.approx(0.2, abs=0.03)
    assert share(rich, F.col(c.BIND) == "ON_GROUP") == pytest.approx(0.1, abs=0.03)
    assert share(rich, F.col(c.OBJECT_TYPE) == "TOPIC") == pytest.approx(0.2, abs=0.03)
    assert share(rich, F.col(c.OBJECT_QMGR) != "") == pytest.approx(0.08, abs=0.03)
    assert share(rich, F.col(c.OBJECT_NAME) == "NO.SUCH.QUEUE") == pytest.approx(0.04, abs=0.03)


def test_an_open_puts_its_messages_to_one_object(rich):
    whole = rich.where(F.col(c.PUT_SEQ) <= 80).groupBy(c.QMGR, c.OPEN_ID)
    opens = whole.agg(
        F.count("*").alias("n"),
        F.count_distinct(c.OBJECT_NAME, c.OBJECT_QMGR, c.BIND).alias("objects"),
    )
    assert {(row["n"], row["objects"]) for row in opens.collect()} == {(10, 1)}


def test_groups_have_an_id_and_nothing_else_has(rich):
    grouped = F.col(c.BIND) == "ON_GROUP"
    assert rich.where(grouped != F.col(c.GROUP_ID).isNotNull()).count() == 0
    assert rich.where(grouped != F.col(c.LOGICAL_ORDER)).count() == 0


def test_queues_are_put_to_from_their_cluster(spark, rich):
    tables = topology(spark, RICH)
    members = tables["cluster_channels"].select(c.QMGR, c.CLUSTER).distinct()
    queues = tables["queues"].where("cluster <> ''").select(c.QUEUE, c.CLUSTER).distinct()
    plain = rich.where((F.col(c.OBJECT_TYPE) == "QUEUE") & F.col(c.OBJECT_NAME).startswith("Q"))
    named = plain.withColumnRenamed(c.OBJECT_NAME, c.QUEUE)
    reached = named.join(queues, c.QUEUE).join(members, [c.QMGR, c.CLUSTER])
    assert reached.count() == plain.count() > 0


def test_objects_exist_in_the_topology(spark, rich):
    tables = topology(spark, RICH)
    known = {row[0] for row in tables["queues"].select(c.QUEUE).distinct().collect()}
    put = rich.where(F.col(c.OBJECT_TYPE) == "QUEUE").select(c.OBJECT_NAME).distinct()
    assert {row[0] for row in put.collect()} - {"NO.SUCH.QUEUE"} <= known
    topics = {row[0] for row in tables["topics"].select(c.TOPICSTR).distinct().collect()}
    published = rich.where(F.col(c.OBJECT_TYPE) == "TOPIC").select(c.OBJECT_NAME).distinct()
    assert {row[0].removesuffix("/price") for row in published.collect()} <= topics


def test_lengths_are_positive(rich):
    low, high = rich.agg(F.min(c.MSG_LENGTH), F.max(c.MSG_LENGTH)).first()
    assert 1 <= low < high <= 10_000


def test_messages_reach_into_the_last_snapshot(rich):
    first, last = rich.agg(F.min(c.PUT_TIME), F.max(c.PUT_TIME)).first()
    assert RICH.snapshot_interval < last - first < 2 * RICH.snapshot_interval
