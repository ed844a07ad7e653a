"""The flow: judged, published or quarantined, told, and routing goes on with what is valid."""

import json

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from lakes import lake_with
from pyspark.sql import functions as F
from quality.gate_worlds import changed, rows_of
from quality.mutants import MUTANTS
from small_worlds import snapshot
from worlds import put_rows

from clwl_spark.checks.quality.results import Verdict
from clwl_spark.checks.quality.validate import ValidateOptions, validate_snapshot
from clwl_spark.checks.quality.views import read_rows
from clwl_spark.cli import main
from clwl_spark.errors import InputError, SettingsError
from clwl_spark.snapshots.catalog import snapshot_catalog
from clwl_spark.tables import SNAPSHOTS, TABLES, TOPOLOGY

BAD = ("queues.clwlrank", "duplicate-qmid", "bind-on-open")


@pytest.fixture(scope="module")
def worlds():
    """A good one, and one with two errors and a warning."""
    bad = [change for gate in BAD for change in MUTANTS[gate][0]]
    return {"GOOD": rows_of(changed()), "BAD": rows_of(changed(*bad))}


@pytest.fixture
def lake(spark, worlds, tmp_path):
    """GOOD from noon on, BAD an hour later, both said to be valid; topology without constraints."""
    lake = lake_with(spark, tmp_path / "lake", [SNAPSHOTS.name])
    for hours, (name, world) in enumerate(worlds.items()):
        put_rows(lake, SNAPSHOTS.name, [snapshot(name, hours)[1] | {"being_written": False}])
        for table, found in world.arrow.items():
            if table not in TABLES:
                continue
            named = pa.array([name] * found.num_rows, pa.string())
            rows = found.drop(["snapshot_id"]).append_column("snapshot_id", named)
            write_deltalake(lake.path(table), rows.select(found.column_names), mode="append")
    return lake


def statuses(lake):
    return {row.snapshot_id: row.status for row in lake.read("snapshots").collect()}


@pytest.mark.fault(9)
def test_a_failed_snapshot_is_quarantined_and_routing_goes_on(lake, tmp_path, capsys):
    words = ["validate", "--lake", lake.root, "--json"]
    hook = ["--on-failure", f"sh -c 'cat > {tmp_path}/hook.json'"]
    pages = ["--html", str(tmp_path / "p" / "bad.html"), "--data-docs", str(tmp_path / "docs")]
    assert main([*words, *pages, *hook]) == 1
    shown = capsys.readouterr()
    report = json.loads(shown.out)
    assert (report["subject"], report["status"], report["used"]) == ("BAD", "QUARANTINED", "GOOD")
    failed = {x["gate"] for x in report["results"] if x["verdict"] == "FAILED"}
    assert failed == set(BAD)
    assert (report["errors"], report["warnings"], report["not_evaluated"]) == (2, 1, 0)
    assert "routing goes on with 'GOOD'" in shown.err
    engine = {"engine": report["engine"]}
    assert json.loads((tmp_path / "hook.json").read_text()) | engine == report
    assert "QUARANTINED" in (tmp_path / "p" / "bad.html").read_text()
    assert "cluster_channels" in (tmp_path / "docs" / "index.html").read_text()
    assert statuses(lake) == {"GOOD": "VALID", "BAD": "QUARANTINED"}
    assert [pin.snapshot_id for pin in snapshot_catalog(lake).pins] == ["GOOD"]
    assert snapshot_catalog(lake).passed_over() == [("BAD", "GOOD")]

    results = lake.read("gate_results").collect()
    assert {x.gate for x in results if x.verdict == "FAILED"} == set(BAD)
    assert len(results) == report["gates"] == len({x.gate for x in results})
    failures = lake.read("gate_failures").collect()
    assert {x.gate for x in failures} == set(BAD)
    ranked = next(x for x in failures if x.gate == "queues.clwlrank")
    assert json.loads(ranked.failing_row) == {
        "observer": "*", "qmgr": "FR1", "queue": "A", "cluster": "", "detail": "clwlrank 10",
    }  # fmt: skip
    assert {x.validation_id for x in failures} == {report["validation_id"]}

    # A failed gate that users weigh less lets the snapshot through again.
    (tmp_path / "ours.yml").write_text(
        "suite: ours\nseverities: {queues.clwlrank: warn, duplicate-qmid: off}\n"
    )
    assert main([*words, "--snapshot", "BAD", "--gates", str(tmp_path / "ours.yml")]) == 0
    assert statuses(lake)["BAD"] == "VALID"
    assert snapshot_catalog(lake).passed_over() == []


def test_a_good_snapshot_stays_valid(lake, capsys):
    before = lake.version("snapshots")
    assert main(["validate", "--lake", lake.root, "--snapshot", "GOOD"]) == 0
    assert "GOOD: VALID: 122 gates, 0 failed, 0 with warnings" in capsys.readouterr().out
    assert lake.version("snapshots") == before


def test_a_gate_that_raises_is_no_failure_of_the_data(lake, tmp_path, capsys):
    (tmp_path / "ours.yml").write_text(
        "suite: ours\ntable: queues\n"
        "expectations:\n"
        "  - id: ours.raises\n    title: No such pattern.\n"
        "    expect: expect_column_values_to_match_regex\n    with: {column: queue, regex: '('}\n"
        "rules:\n  - {id: ours.odd, title: Odd., sql: SELECT nothing FROM queues}\n"
    )
    words = ["validate", "--lake", lake.root, "--gates", str(tmp_path / "ours.yml"), "--explain"]
    assert main([*words, "--snapshot", "GOOD"]) == 2
    shown = capsys.readouterr()
    assert "NOT EVALUATED" in shown.out
    assert "gate 'ours.raises' and 1 more could not be evaluated" in shown.err
    assert statuses(lake)["GOOD"] == "VALID"
    results = lake.read("gate_results").collect()
    errors = {x.gate: x.error for x in results if x.verdict == "ERROR"}
    assert set(errors) == {"ours.raises", "ours.odd"}
    assert "nothing" in errors["ours.odd"]
    assert "unterminated" in errors["ours.raises"]
    assert not [x for x in results if x.verdict == "FAILED"]

    text = (tmp_path / "ours.yml").read_text()
    (tmp_path / "ours.yml").write_text(text.replace("column: queue,", "column: queu,"))
    assert main([*words, "--snapshot", "GOOD"]) == 2
    assert "table 'queues' has no column 'queu'" in capsys.readouterr().err


def test_users_rules_find_rows_with_no_code(lake, tmp_path):
    (tmp_path / "ours.yml").write_text(
        "suite: ours\ntable: queues\n"
        "expectations:\n"
        "  - id: ours.enabled\n    title: All are enabled.\n"
        "    expect: expect_column_values_to_not_be_null\n    with: {column: put_enabled}\n"
        "    severity: warn\n"
        "rules:\n"
        "  - id: ours.named\n    title: Queues begin with APP or NEWS.\n"
        "    sql: SELECT qmgr, queue FROM queues WHERE queue NOT RLIKE '^(APP|NEWS)'\n"
    )
    report = validate_snapshot(lake, "GOOD", ValidateOptions((tmp_path / "ours.yml",)))
    found = {x.gate: x for x in report.having(Verdict.FAILED)}
    assert set(found) == {"ours.enabled", "ours.named"}
    assert {x["queue"] for x in found["ours.named"].found.rows} >= {"FAR.Q", "QM1.XMIT"}
    assert (found["ours.named"].engine, report.status) == ("spark", "QUARANTINED")
    (tmp_path / "ours.yml").write_text("suites: ours\n")
    with pytest.raises(SettingsError, match=r"ours.yml:1: unknown key 'suites'"):
        validate_snapshot(lake, "GOOD", ValidateOptions((tmp_path / "ours.yml",)))


def test_a_snapshot_beyond_memory_is_judged_by_spark(lake):
    report = validate_snapshot(lake, "BAD", ValidateOptions(in_memory_rows=3))
    assert {x.gate for x in report.having(Verdict.FAILED)} == set(BAD)
    assert {x.engine for x in report.results} == {"spark"}


def test_rows_are_judged_in_one_order_however_they_lie(lake):
    """Rules keep the first rows that fail, and show them in the order in which they meet them."""
    before = read_rows(lake, "BAD", 1000).arrow["queues"]
    lying = DeltaTable(lake.path("queues")).to_pyarrow_table()
    backwards = lying.take(list(reversed(range(lying.num_rows))))
    write_deltalake(lake.path("queues"), backwards, mode="overwrite")
    assert read_rows(lake, "BAD", 1000).arrow["queues"].equals(before)


@pytest.mark.fault(9)
def test_an_empty_snapshot_fails(lake):
    put_rows(lake, SNAPSHOTS.name, [snapshot("EMPTY")[1] | {"being_written": False}])
    report = validate_snapshot(lake, "EMPTY")
    assert report.status == "QUARANTINED"
    assert {x.gate for x in report.having(Verdict.FAILED)} == {
        "queue_managers.some",
        "cluster_channels.some",
    }


@pytest.mark.fault(9)
def test_a_half_written_snapshot_is_invisible(lake):
    bad = lake.read("snapshots").where("snapshot_id = 'BAD'")
    half = {"status": F.lit("QUARANTINED"), "being_written": F.lit(True)}
    lake.merge("snapshots", bad.withColumns(half))
    with pytest.raises(InputError, match="half written"):
        validate_snapshot(lake, "BAD")
    with pytest.raises(InputError, match="no snapshot 'NONE'"):
        validate_snapshot(lake, "NONE")
    assert validate_snapshot(lake).subject == "GOOD"
    assert snapshot_catalog(lake).passed_over() == []


def test_lint_advises_and_writes_nothing(lake, capsys):
    words = ["lint", "--lake", lake.root, "--snapshot"]
    assert main([*words, "GOOD", "--strict"]) == 0
    capsys.readouterr()
    assert main([*words, "BAD", "--json"]) == 1
    shown = json.loads(capsys.readouterr().out)
    assert {x["gate"] for x in shown["results"] if x["verdict"] == "FAILED"} == {
        "duplicate-qmid",
        "bind-on-open",
    }
    assert not lake.exists("gate_results")
    assert statuses(lake)["BAD"] == "VALID"
    assert main(["lint", "--rules", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) >= 30


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--outcomes", "--observed"], "two validations"),
        (["--outcomes", "--snapshot", "S"], "--snapshot is for the gates of a snapshot"),
        (["--on-failure", "sh 'x"], "write it as a shell would"),
    ],
)
def test_words_that_do_not_go_together_are_refused(words, said, capsys, tmp_path):
    assert main(["validate", "--lake", str(tmp_path), *words]) == 2
    assert said in capsys.readouterr().err


def test_the_topology_tables_have_suites():
    suites = {x.name for x in TOPOLOGY}
    from clwl_spark.checks.quality.results import Scope  # noqa: PLC0415
    from clwl_spark.checks.quality.suites import load_gates  # noqa: PLC0415

    gates = load_gates(Scope.TOPOLOGY)
    assert {x.table for x in gates.expectations} >= suites
