"""Results for CI and for a terminal."""

from dataclasses import replace
from datetime import UTC, datetime
from io import StringIO
from xml.etree import ElementTree as ET

import pytest
from assertions.hand_made import HandMade, assertions
from rich.console import Console

from clwl_spark.checks.assertions.judge import judge
from clwl_spark.checks.assertions.junit import junit_xml
from clwl_spark.checks.assertions.rendering import explained, headline, report_table
from clwl_spark.checks.assertions.results import CaseFound, Report

FACTS = (
    "reachable(ORDERS from APP1)",
    "share(ORDERS from APP1 to QM1) < 1/3",
    "destinations(ORDERS from APP1) >= 3 when any channel down",
    "reachable(TYPO from APP1)",
)
NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)


@pytest.fixture
def report():
    found = judge(assertions(*FACTS), HandMade())
    return replace(found, judged_at=NOON, seconds=2.0)


def changed(report, at=0, **fields):
    """The report with another assertion."""
    results = list(report.results)
    results[at] = replace(results[at], assertion=results[at].assertion.model_copy(update=fields))
    return replace(report, results=tuple(results))


def read(xml):
    return ET.fromstring(xml.encode())  # noqa: S314


def test_a_suite_per_file_and_a_case_per_assertion(report):
    root = read(junit_xml(changed(report, 3, file="other/b.yml")))
    assert root.tag == "testsuites"
    assert root.attrib == {
        "name": "clwl assert", "tests": "4", "failures": "2", "errors": "1", "time": "2.000",
    }  # fmt: skip
    first, second = root
    assert first.attrib == {
        "name": "ci/facts.yml", "tests": "3", "failures": "2", "errors": "0", "skipped": "0",
        "time": "1.500", "timestamp": "2026-01-02T12:00:00",
    }  # fmt: skip
    assert (second.get("name"), second.get("errors")) == ("other/b.yml", "1")
    assert [x.get("name") for x in first] == [x.assertion.name for x in report.results[:3]]
    assert first[1].attrib == {
        "classname": "facts", "name": FACTS[1], "file": "ci/facts.yml", "line": "3",
        "time": "0.500",
    }  # fmt: skip


def test_what_does_not_hold_has_the_figure_that_was_found(report):
    passed, failed, swept, broken = read(junit_xml(report))[0]
    assert len(passed) == 0
    (failure,) = failed
    assert failure.tag == "failure"
    assert failure.get("message").startswith("the share is 33.3333%")
    assert f"must hold: {FACTS[1]}" in failure.text
    assert "- channel TO.QM3 to QM3 stopped: 2 destinations: QM1, QM2" in swept[0].text
    (error,) = broken
    assert (error.tag, error.get("type")) == ("error", "error")
    assert error.get("message").startswith("no queue TYPO: ")


def test_whatever_is_in_names_stays_text(report):
    name = "<b>\"&'\n\x00\x07\ud800 ]]> \U0001f600"
    xml = junit_xml(changed(report, 1, name=name, why="</failure><x>"))
    case = read(xml)[0][1]
    assert case.get("name") == "<b>\"&'\n\ufffd\ufffd\ufffd ]]> \U0001f600"
    assert "why:       </failure><x>" in case[0].text
    assert xml.startswith('<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ')
    assert xml.endswith("</testsuites>\n")


def test_many_cases_are_cut_and_counted(report):
    many = tuple(CaseFound(f"case {x}", "no") for x in range(30))
    swept = replace(report.results[2], failing=many, cases=40)
    several = replace(report, results=(swept,))
    text = read(junit_xml(several))[0][0][0].text
    assert "- case 19: no\nand 10 more cases" in text
    assert "case 20" not in text
    shown = rendered(*explained(several))
    assert "- case 9: no" in shown
    assert "and 20 more cases" in shown
    assert "case 10:" not in shown


def test_no_assertions_are_a_document_too():
    root = read(junit_xml(Report((), NOON)))
    assert (root.get("tests"), len(root)) == ("0", 0)


def rendered(*parts):
    out = StringIO()
    console = Console(width=200, file=out)
    for part in parts:
        console.print(part)
    return out.getvalue()


def test_the_terminal_shows_what_was_found_and_why(report):
    named = changed(report, 1, name="[red]fair[/red]", why="the contract")
    assert headline(named) == "1 of 4 assertions hold, 2 do not, 1 cannot be judged"
    shown = rendered(report_table(named), *explained(named))
    assert "[red]fair[/red]" in shown
    assert "FAILED ci/facts.yml:3: [red]fair[/red]" in shown
    assert "why   the contract" in shown
    assert "found the share is 33.3333%" in shown
    assert "- channel TO.QM1 to QM1 stopped: 2 destinations: QM2, QM3" in shown
    assert "ERROR ci/facts.yml:5: reachable(TYPO from APP1)" in shown
    assert "PASSED ci/facts.yml" not in shown
