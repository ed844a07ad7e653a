"""The report: as a page that needs no network, on a terminal, and for a command."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from quality.gate_worlds import changed, judged
from quality.mutants import MUTANTS
from rich.console import Console

from clwl_spark.checks.quality.hook import run_hook
from clwl_spark.checks.quality.page import page, sentence
from clwl_spark.checks.quality.rendering import explained, report_table
from clwl_spark.checks.quality.results import Found, Report, Scope
from clwl_spark.checks.quality.suites import load_gates
from clwl_spark.errors import UsageError


@pytest.fixture(scope="module")
def report():
    changes = [*MUTANTS["queues.clwlrank"][0], *MUTANTS["bind-on-open"][0]]
    results = judged(changed(*changes), load_gates(Scope.TOPOLOGY))
    return Report(
        "v1", Scope.TOPOLOGY, "<monday>", datetime(2026, 1, 2, tzinfo=UTC), tuple(results),
        status="QUARANTINED", used="sunday",
    )  # fmt: skip


def test_a_page_stands_alone(report):
    html = page(report)
    assert "http" not in html
    assert "<script" not in html
    assert "src=" not in html
    assert "&lt;monday&gt;" in html
    assert "<monday>" not in html
    assert "CLWLRANK of a queue is 0 to 9." in html
    assert "clwlrank 10" in html
    assert "prefers-color-scheme: dark" in html


def test_the_sentence_says_what_routing_does(report):
    assert sentence(report).startswith("QUARANTINED: ")
    assert "1 failed, 1 with warnings; routing goes on with 'sunday'" in sentence(report)
    assert "no valid snapshot" in sentence(replace(report, used=None))


def test_many_rows_are_cut_and_counted(report):
    failing = next(x for x in report.results if x.found.failing)
    rows = tuple({"queue": f"Q{n}", "detail": "bad"} for n in range(1000))
    many = replace(failing, found=Found(4000, rows))
    html = page(replace(report, results=(many,)))
    assert "4,000 failing" in html
    assert "and 3,900 more" in html
    assert "Q99<" in html
    assert "Q100<" not in html


def test_names_in_data_are_text_and_rows_are_told_on_narrow_screens(report):
    failing = next(x for x in report.results if x.found.failing)
    row = {"queue": "<script>alert(1)</script>", "cluster": None, "detail": '"><b>bold</b>'}
    html = page(replace(report, results=(replace(failing, found=Found(1, (row,))),)))
    assert "<script" not in html
    assert "<b>bold" not in html
    assert '<td data-name="queue">&lt;script&gt;alert(1)&lt;/script&gt;</td>' in html
    assert '<td data-name="cluster"></td>' in html


def test_the_terminal_shows_what_failed_and_why(report):
    console = Console(width=200, record=True, file=open("/dev/null", "w"))  # noqa: PTH123, SIM115
    console.print(report_table(report), *explained(report))
    text = console.export_text()
    assert "FAILED" in text
    assert "WARNING" in text
    assert "remedy ALTER QLOCAL(Q) DEFBIND(NOTFIXED)" in text
    assert "queue NEWS.Q, cluster K: 2 instances with DEFBIND(OPEN)" in text


def test_a_command_gets_the_report(report, tmp_path, capsys):
    out = tmp_path / "told.json"
    wrong = run_hook(f"sh -c 'cat > {out}; echo $CLWL_SUBJECT in $CLWL_LAKE'", report, "build/lake")
    assert wrong == ""
    assert json.loads(out.read_text())["errors"] == 1
    assert capsys.readouterr().err == "<monday> in build/lake\n"


def test_a_command_that_fails_is_told_of(report):
    assert run_hook("sh -c 'exit 3'", report, "l") == "sh ended with 3"
    assert "could not be run" in run_hook("/nonexistent/command", report, "l")
    with pytest.raises(UsageError, match="on-failure"):
        run_hook("sh 'open", report, "l")
    with pytest.raises(UsageError, match="give a command"):
        run_hook(" ", report, "l")
