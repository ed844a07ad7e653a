"""Results as JUnit XML, as Jenkins, GitLab, GitHub's actions and Azure Pipelines read it."""

import re
from collections.abc import Sequence
from itertools import groupby
from pathlib import PurePath
from typing import Final
from xml.etree import ElementTree as ET

from clwl_spark.checks.assertions.results import Report, Result, Verdict
from clwl_spark.checks.assertions.wording import statement_words

_SHOWN_CASES: Final = 20
_NOT_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot have, not even escaped."""


def junit_xml(report: Report) -> str:
    """The report as one XML document: a suite per file, a testcase per assertion.

    Times are seconds; all questions are answered at once, so each testcase has an equal part.
    """
    each = report.seconds / len(report.results) if report.results else 0.0
    root = ET.Element("testsuites", {"name": "clwl assert", **_counts(report.results, each)})
    for file, results in groupby(report.results, key=lambda x: x.assertion.file):
        listed = list(results)
        when = report.judged_at.replace(tzinfo=None).isoformat(timespec="seconds")
        counts = {**_counts(listed, each), "skipped": "0", "timestamp": when}
        suite = ET.SubElement(root, "testsuite", {"name": _clean(file), **counts})
        for result in listed:
            _add_case(suite, result, each)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=False).join(
        ('<?xml version="1.0" encoding="UTF-8"?>\n', "\n")
    )


def _counts(results: Sequence[Result], each: float) -> dict[str, str]:
    verdicts = [x.verdict for x in results]
    return {
        "tests": str(len(verdicts)),
        "failures": str(verdicts.count(Verdict.FAILED)),
        "errors": str(verdicts.count(Verdict.ERROR)),
        "time": f"{each * len(verdicts):.3f}",
    }


def _add_case(suite: ET.Element, result: Result, seconds: float) -> None:
    assertion = result.assertion
    attributes = {
        "classname": _clean(PurePath(assertion.file).stem or "assertions"),
        "name": _clean(assertion.name),
        "file": _clean(assertion.file),
        "line": str(assertion.line),
        "time": f"{seconds:.3f}",
    }
    case = ET.SubElement(suite, "testcase", attributes)
    if result.verdict == Verdict.PASSED:
        return
    is_error = result.verdict == Verdict.ERROR
    told = {"message": _clean(result.said), "type": "error" if is_error else "assertion"}
    ET.SubElement(case, "error" if is_error else "failure", told).text = _clean(_details(result))


def _details(result: Result) -> str:
    """What must hold, why, and what was found in which case."""
    assertion = result.assertion
    lines = [
        f"{assertion.file}:{assertion.line}",
        f"must hold: {statement_words(assertion.statement)}",
    ]
    lines += [f"why:       {assertion.why}"] if assertion.why else []
    lines += [f"found:     {result.said}"]
    shown = result.failing[:_SHOWN_CASES] if result.cases > 1 else ()
    lines += [f"- {x.case}: {x.found}" for x in shown]
    more = len(result.failing) - len(shown)
    lines += [f"and {more:,} more cases"] if shown and more else []
    return "\n".join(lines)


def _clean(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
