"""Outcomes of a synthetic cluster, written as records, load back and conform to the last message.

A lake is generated and routed; what happened in it is written as queue managers and collectors
would; another lake has the same topology, loads the records, and routes them.
"""

import shutil
from collections import Counter
from datetime import UTC, timedelta

import activity_traces
import pytest
from recorded_files import as_spans, as_statistics

from clwl_spark.cli import main
from clwl_spark.delta.lake import Lake
from clwl_spark.studies.conform.find import conform
from clwl_spark.studies.conform.match import ALL
from clwl_spark.tables import SNAPSHOT_CONTENT, SNAPSHOTS

CLUSTER = (
    "--qmgrs", "10", "--queues", "6", "--instances", "4", "--snapshots", "2", "--changed", "0.3",
    "--non-default", "0.4", "--bad-status", "0.1", "--put-disabled", "0.05", "--suspended", "0.1",
    "--aliases", "0.3", "--messages", "3000", "--messages-per-open", "7", "--unknown", "0.05",
    "--seed", "28",
)  # fmt: skip
BOUND = ("--on-open", "0.4", "--on-group", "0.1", "--named-qmgr", "0.1")
"""What spans do not tell of."""
INTERVAL = timedelta(minutes=15)
FORMS = {
    "json": activity_traces.as_json,
    "json_compact": activity_traces.as_compact,
    "amqsact": activity_traces.as_amqsact,
}
WENT = ("reason", "dest_qmgr", "dest_object", "channel", "xmitq", "is_local")


def run(*words, code=0):
    assert main([*map(str, words)]) == code


def truth_of(spark, folder, *more):
    """A lake that was generated and routed, and its puts with where they went."""
    lake = Lake(spark, str(folder / "truth"))
    run("generate", "--lake", lake.root, *CLUSTER, *more, "--quiet")
    run("route", "--lake", lake.root, "--quiet")
    keys = ("qmgr", "put_seq")
    went = {tuple(x[y] for y in keys): x.asDict() for x in lake.read("outcomes").collect()}
    puts = []
    for number, row in enumerate(lake.read("messages").orderBy("put_time", "qmgr").collect()):
        message = row.asDict()
        outcome = went[tuple(message[y] for y in keys)]
        message |= {x: outcome[x] for x in WENT}
        message["message_id"] = b"AMQ " + number.to_bytes(20)
        message["group_id"] = message["group_id"] and bytes(message["group_id"])
        puts.append(message)
    return lake, puts


@pytest.fixture(scope="module")
def truth(spark, tmp_path_factory):
    return truth_of(spark, tmp_path_factory.mktemp("bound"), *BOUND)


@pytest.fixture(scope="module")
def plain_truth(spark, tmp_path_factory):
    return truth_of(spark, tmp_path_factory.mktemp("plain"), "--bind", "NOT_FIXED")


def loaded(truth, folder, *texts, more=()):
    """A lake with the same topology that has loaded texts and routed what they put."""
    lake = Lake(truth.spark, str(folder / "loaded"))
    for table in (SNAPSHOTS, *SNAPSHOT_CONTENT):
        if truth.exists(table.name):
            shutil.copytree(truth.path(table.name), lake.path(table.name))
    for number, text in enumerate(texts):
        (folder / f"records{number}").write_text(text)
        run("load", folder / f"records{number}", "--lake", lake.root, *more, "--quiet")
    run("route", "--lake", lake.root, "--quiet")
    return lake


def told(puts):
    """Those of which a record says where they went, or why they did not."""
    return [x for x in puts if x["reason"] or x["object_type"] != "TOPIC"]


def check(lake, puts):
    """All that succeeded was compared, and agrees; those that failed are told with their reason."""
    found = conform(lake, ALL)
    good = [x for x in puts if not x["reason"]]
    assert (found.compared, found.agree, found.first_disagreements) == (len(good), len(good), [])
    assert found.seen == len(told(puts))
    failed = Counter(x.reason for x in lake.read("observed_routes").where("reason > 0").collect())
    assert failed == Counter(x["reason"] for x in puts if x["reason"])
    assert {x["reason"] for x in puts} > {0}
    return found


@pytest.mark.parametrize("form", FORMS)
def test_an_activity_trace_conforms_to_the_last_message(truth, tmp_path, form):
    lake, puts = truth
    assert {x["bind"] for x in puts} > {"ON_OPEN", "ON_GROUP"}
    text = FORMS[form](activity_traces.events_of(puts))
    check(loaded(lake, tmp_path, text), puts)


def test_spans_conform_to_the_last_message(plain_truth, tmp_path):
    lake, puts = plain_truth
    check(loaded(lake, tmp_path, as_spans(puts)), puts)


def by_interval(puts, *key):
    """Messages by some columns and the interval that they were put in."""
    found = Counter()
    for put in puts:
        if not put["reason"] and all(put[x] for x in key):
            begin = put["put_time"].astimezone(UTC)
            begin -= timedelta(minutes=begin.minute % 15, seconds=begin.second)
            found[*(put[x] for x in key), begin.replace(microsecond=0)] += 1
    return found


def test_statistics_are_the_counts_of_the_outcomes(plain_truth, tmp_path):
    lake, puts = plain_truth
    texts = (as_spans(puts), as_statistics(puts, INTERVAL))
    other = loaded(lake, tmp_path, *texts, more=("--time-zone", "UTC"))
    rows = other.read("observed_counts").collect()
    for kind, key in (
        ("CHANNEL", ("qmgr", "channel")),
        ("QUEUE", ("dest_qmgr", "dest_object")),
    ):
        own = [x for x in rows if x.object_type == kind]
        counts = {(x.qmgr, x.object_name, x.from_time.astimezone(UTC)): x.messages for x in own}
        assert counts == by_interval(puts, *key)
        assert {x.to_time - x.from_time for x in own} == {INTERVAL}
    counts = check(other, puts).counts
    assert len(counts) == len([x for x in rows if x.object_type == "CHANNEL"]) > 50
    assert [x for x in counts if x["counted"] != x["predicted"]] == []
    run("validate", "--observed", "--lake", other.root, "--quiet")


def test_a_count_that_is_changed_is_told(plain_truth, tmp_path):
    lake, puts = plain_truth
    text = as_statistics(puts, INTERVAL)
    at = text.index('"msgs": ') + len('"msgs": ')
    changed = f"{text[:at]}9{text[at:]}"
    other = loaded(lake, tmp_path, as_spans(puts), changed, more=("--time-zone", "UTC"))
    first, *others = conform(other, ALL).counts
    assert first["counted"] > first["predicted"]
    assert [x for x in others if x["counted"] != x["predicted"]] == []
