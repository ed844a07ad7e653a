"""Sender and server channels in a lake: ingested, changed, compared, exported, judged by lint."""

from datetime import UTC, datetime

import pytest
from mq.mqsc_texts import HEADER

from clwl_spark.checks.quality.results import Scope
from clwl_spark.checks.quality.suites import load_gates
from clwl_spark.cli import main
from clwl_spark.cli.lint import advice
from clwl_spark.delta.lake import Lake
from clwl_spark.snapshots.diff import compare
from clwl_spark.snapshots.ingest import IngestOptions, ingest
from clwl_spark.studies.what_if.changed import changed_by_words

NOON = datetime(2024, 5, 6, 12, tzinfo=UTC)
CLUSTER = "DEFINE CHANNEL(TO.{0}) CHLTYPE(CLUSRCVR) CLUSTER(K) CONNAME('{0}')\n"
SENDERS = (
    "DEFINE CHANNEL(OUT) CHLTYPE(SDR) XMITQ(FAR) CONNAME('far(1414)')\n"
    "DEFINE CHANNEL(BESIDE) CHLTYPE(SDR) XMITQ(SYSTEM.CLUSTER.TRANSMIT.QUEUE) CONNAME(near)\n"
    "DEFINE CHANNEL(OUT.2) CHLTYPE(SVR) XMITQ(FAR)\n"
    "DEFINE CHANNEL(BACK) CHLTYPE(SVR)\n"
)
TABLE = "message_channels"


def written(tmp_path, name, **texts):
    folder = tmp_path / name
    folder.mkdir()
    for qmgr, text in texts.items():
        (folder / f"{qmgr}.mqsc").write_text(HEADER.format(qmgr=qmgr) + text)
    return [folder]


@pytest.fixture(scope="module")
def lake(spark, tmp_path_factory):
    top = tmp_path_factory.mktemp("senders")
    lake = Lake(spark, str(top / "lake"))
    texts = written(
        top,
        "first",
        QM1=CLUSTER.format("QM1") + "DEFINE QLOCAL(FAR) USAGE(XMITQ)\n" + SENDERS,
        QM2=CLUSTER.format("QM2"),
    )
    ingest(lake, texts, "S1", IngestOptions(NOON))
    return lake


def rows(lake, snapshot_id):
    found = lake.read(TABLE, "snapshot_id", [snapshot_id]).collect()
    names = ("qmgr", "channel", "chltype", "xmitq", "conname")
    return sorted(tuple(x[name] for name in names) for x in found)


def test_ingest_gives_a_row_for_each(lake):
    assert rows(lake, "S1") == [
        ("QM1", "BACK", "SVR", None, None),
        ("QM1", "BESIDE", "SDR", "SYSTEM.CLUSTER.TRANSMIT.QUEUE", "NEAR"),
        ("QM1", "OUT", "SDR", "FAR", "far(1414)"),
        ("QM1", "OUT.2", "SVR", "FAR", None),
    ]


def test_a_change_alters_the_channels_of_its_base_and_deletes_them(lake, tmp_path):
    script = (
        "ALTER CHANNEL(OUT) CHLTYPE(SDR) XMITQ(OTHER)\nDELETE CHANNEL(BACK)\n"
        "DEFINE CHANNEL(NEW) CHLTYPE(SDR) LIKE(OUT)\nALTER CHANNEL(OUT.2) CHLTYPE(SDR)\n"
    )
    options = IngestOptions(NOON.replace(hour=13), base="S1")
    summary = ingest(lake, written(tmp_path, "change", QM1=script), "S2", options)
    assert summary.changes == {TABLE: {"added": 1, "removed": 1, "changed": 1}}
    (refused,) = lake.read("ingest_rejects").where("snapshot_id = 'S2'").collect()
    assert "OUT.2 is a SVR" in refused["reason"]
    told = [
        (x["key"]["channel"], x["change"], x["attribute"], x["old"], x["new"])
        for x in compare(lake, "S1", "S2").changes
    ]
    assert ("OUT", "CHANGED", "xmitq", "FAR", "OTHER") in told
    assert {x[:2] for x in told} == {("OUT", "CHANGED"), ("BACK", "REMOVED"), ("NEW", "ADDED")}
    assert ("QM1", "NEW", "SDR", "OTHER", "far(1414)") in rows(lake, "S2")
    before = lake.version(TABLE)
    again = ingest(lake, written(tmp_path, "again", QM1=script), "S2", options)
    assert (again.changes, lake.version(TABLE)) == (summary.changes, before)


def test_a_display_of_some_attributes_leaves_the_others(lake, tmp_path):
    shown = "AMQ8414I: Display Channel details.\n   CHANNEL(OUT)     CHLTYPE(SDR)   XMITQ(SEEN)\n"
    options = IngestOptions(NOON.replace(hour=14), base="S1")
    ingest(lake, written(tmp_path, "shown", QM1=shown), "S3", options)
    assert ("QM1", "OUT", "SDR", "SEEN", "far(1414)") in rows(lake, "S3")


def test_what_if_alters_them(lake, tmp_path):
    (folder,) = written(tmp_path, "script", QM1="ALTER CHANNEL(OUT) CHLTYPE(SDR) XMITQ(OTHER)\n")
    sides = changed_by_words(lake, "S1", (), [folder / "QM1.mqsc"])
    before, after = (
        {x["channel"]: x["xmitq"] for x in side[TABLE].collect()}
        for side in (sides.before, sides.after)
    )
    assert after == {**before, "OUT": "OTHER"}


def test_export_says_them_and_ingest_reads_them_back(lake, tmp_path, capsys):
    words = ["export", "--snapshot", "S1", "--lake", lake.root, "--out", str(tmp_path / "out")]
    assert main(words) == 0
    capsys.readouterr()
    ingest(lake, [tmp_path / "out"], "S4", IngestOptions(NOON.replace(hour=15)))
    assert compare(lake, "S1", "S4").changes == ()
    assert rows(lake, "S4") == rows(lake, "S1")


def test_lint_says_who_is_on_whose_queue(lake):
    gates = load_gates(Scope.TOPOLOGY).only_lint()
    found = {x.gate: x.found.rows for x in advice(lake, "S1", gates).results}
    (beside,) = found["sender-beside-cluster-senders"]
    (shared,) = found["senders-share-xmitq"]
    assert (beside["qmgr"], beside["channel"]) == ("QM1", "BESIDE")
    assert (shared["xmitq"], shared["detail"]) == ("FAR", "2 channels, as OUT and OUT.2")


def test_a_lake_without_them_has_no_such_table(spark, tmp_path):
    lake = Lake(spark, str(tmp_path / "lake"))
    ingest(lake, written(tmp_path, "without", QM1=CLUSTER.format("QM1")), "S1", IngestOptions(NOON))
    assert not lake.exists(TABLE)
