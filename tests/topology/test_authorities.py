"""Authorities in a lake: ingested, changed, exported, explained, and judged by lint."""

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
from clwl_spark.studies.explain.plan_cache import PlanCache, explain_by
from clwl_spark.studies.explain.request import ExplainRequest, explain

NOON = datetime(2024, 5, 6, 12, tzinfo=UTC)
PUTTER = HEADER.format(qmgr="QM1") + (
    "DEFINE CHANNEL(TO.QM1) CHLTYPE(CLUSRCVR) CLUSTER(K) CONNAME('one')\n"
    "DEFINE QALIAS(ALIAS.Q) TARGET(APP.Q)\n"
    "DEFINE QREMOTE(QM2.ALIAS) RNAME(' ') RQMNAME(QM2)\n"
    "DEFINE QLOCAL(OWN.Q)\n"
    "DEFINE QLOCAL(QM9) USAGE(XMITQ)\n"
)
HOST = HEADER.format(qmgr="QM2") + (
    "DEFINE CHANNEL(TO.QM2) CHLTYPE(CLUSRCVR) CLUSTER(K) CONNAME('two')\n"
    "DEFINE QLOCAL(APP.Q) CLUSTER(K)\n"
)


def record(profile, group, words):
    return f"SET AUTHREC PROFILE('{profile}') GROUP('{group}') OBJTYPE(QUEUE) AUTHADD({words})\n"


RECORDS = (
    record("SYSTEM.CLUSTER.**", "ops", "PUT")
    + record("**", "app", "BROWSE")
    + record("ALIAS.*", "app", "PUT")
    + record("APP.Q", "app", "PUT")
    + record("OWN.Q", "app", "PUT")
    + record("QM9", "far", "PUT")
)
SCTQ = "SYSTEM.CLUSTER.TRANSMIT.QUEUE"
ON_SCTQ = "profile ** does not let group app put; profile SYSTEM.CLUSTER.** lets group ops put"

ON_XMITQ = "profile ** does not let group app put; profile QM9 lets group far put"
LETS_PUT = "profile SYSTEM.CLUSTER.** lets it put"
ANYWHERE = f"{LETS_PUT} to 1 cluster queues, and to 1 other queue managers by name"


def written(tmp_path, name, *texts):
    folder = tmp_path / name
    folder.mkdir()
    for number, text in enumerate(texts):
        (folder / f"{number}.mqsc").write_text(text)
    return [folder]


@pytest.fixture(scope="module")
def lake(spark, tmp_path_factory):
    top = tmp_path_factory.mktemp("authorities")
    lake = Lake(spark, str(top / "lake"))
    ingest(lake, written(top, "with", PUTTER + RECORDS, HOST), "S1", IngestOptions(NOON))
    return lake


def authority(lake, object_name, object_qmgr="", **more):
    request = ExplainRequest("QM1", object_name, object_qmgr, snapshot_id="S1", **more)
    notes = [x for x in explain(lake, request).notes if x.startswith("authority")]
    assert [x for x in explain_by(PlanCache(), lake, request).notes if x in notes] == notes
    return notes


@pytest.mark.parametrize(
    ("object_name", "object_qmgr", "said"),
    [
        ("APP.Q", "", f"{SCTQ}, as for all that QM1 does not define: {ON_SCTQ}"),
        ("APP.Q", "QM2", f"{SCTQ}, as for every put to QM2: it has no name of its own: {ON_SCTQ}"),
        ("ANY.Q", "QM2.ALIAS",
         f"{SCTQ}, as for every put to QM2.ALIAS: it has no name of its own: {ON_SCTQ}"),
        ("ALIAS.Q", "", "ALIAS.Q, which QM1 defines: profile ALIAS.* lets group app put"),
        ("OWN.Q", "QM1", "OWN.Q, which QM1 defines: profile OWN.Q lets group app put"),
        ("ANY.Q", "QM9", f"QM9, its way to QM9: {ON_XMITQ}"),
    ],
)  # fmt: skip
def test_explain_says_which_profile_decides(lake, object_name, object_qmgr, said):
    assert authority(lake, object_name, object_qmgr) == [f"authority to put is checked on {said}"]


def test_what_no_application_puts_has_no_such_note(lake):
    assert authority(lake, "APP.Q", via="CLUSTER") == []
    assert authority(lake, "NO.SUCH.Q") == []
    request = ExplainRequest("QM2", "APP.Q", snapshot_id="S1")
    assert [x for x in explain(lake, request).notes if x.startswith("authority")] == []


def test_lint_says_who_may_put_anywhere_and_which_record_has_no_effect(lake):
    gates = load_gates(Scope.TOPOLOGY).only_lint()
    found = {x.gate: x.found.rows for x in advice(lake, "S1", gates).results}
    (everywhere,) = found["put-to-every-cluster-object"]
    assert (everywhere["entity"], everywhere["detail"]) == (
        "ops",
        ANYWHERE,
    )
    (useless,) = found["profile-without-effect"]
    assert (useless["profile"], useless["detail"]) == (
        "APP.Q",
        f"a put to APP.Q is checked on {SCTQ}, by profile **",
    )


def test_a_change_adds_to_the_records_of_its_base_and_deletes_them(lake, tmp_path):
    script = HEADER.format(qmgr="QM1") + (
        record("APP.Q", "app", "GET")
        + "SET AUTHREC PROFILE('OWN.Q') GROUP('app') OBJTYPE(QUEUE) AUTHRMV(PUT)\n"
        + "DELETE AUTHREC PROFILE('QM9') GROUP('far') OBJTYPE(QUEUE)\n"
    )
    options = IngestOptions(NOON.replace(hour=13), base="S1")
    summary = ingest(lake, written(tmp_path, "change", script), "S2", options)
    assert summary.changes == {"authorities": {"added": 0, "removed": 1, "changed": 2}}
    told = [
        (x["key"]["profile"], x["change"], x["old"], x["new"])
        for x in compare(lake, "S1", "S2").changes
    ]
    assert told == [
        ("APP.Q", "CHANGED", "PUT", "GET,PUT"),
        ("OWN.Q", "CHANGED", "PUT", ""),
        ("QM9", "REMOVED", "PUT", None),
    ]
    before = lake.version("authorities")
    again = ingest(lake, written(tmp_path, "again", script), "S2", options)
    assert (again.changes, lake.version("authorities")) == (summary.changes, before)


def test_export_says_them_and_ingest_reads_them_back(lake, tmp_path, capsys):
    words = ["export", "--snapshot", "S1", "--lake", lake.root, "--out", str(tmp_path / "out")]
    assert main(words) == 0
    capsys.readouterr()
    ingest(lake, [tmp_path / "out"], "S3", IngestOptions(NOON.replace(hour=14)))
    assert compare(lake, "S1", "S3").changes == ()


def test_a_lake_without_authorities_has_no_such_table(spark, tmp_path):
    lake = Lake(spark, str(tmp_path / "lake"))
    ingest(lake, written(tmp_path, "without", PUTTER, HOST), "S1", IngestOptions(NOON))
    assert not lake.exists("authorities")
    assert authority(lake, "APP.Q") == []
