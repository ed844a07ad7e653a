"""Reports for a terminal."""

from collections.abc import Iterable
from typing import Final

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from clwl_spark.checks.quality.page import sentence, tone_of
from clwl_spark.checks.quality.results import GateResult, Report, Row, Verdict, ordered
from clwl_spark.checks.quality.suites import Rule

SHOWN_ROWS: Final = 10
_STYLES: Final = {"no": "bold red", "warn": "yellow", "odd": "magenta", "yes": "green"}


def report_table(report: Report) -> RenderableType:
    """What needs attention, a line per gate; and what it comes to."""
    bad = [x for x in ordered(report.results) if x.verdict != Verdict.PASSED]
    if not bad:
        return Text(f"{report.subject}: {sentence(report)}")
    table = Table(title=f"{report.subject}: {sentence(report)}", title_justify="left")
    table.add_column("Verdict", no_wrap=True)
    table.add_column("Gate", no_wrap=True)
    table.add_column("Failing", justify="right")
    table.add_column("What has to hold")
    for result in bad:
        tone, label = tone_of(result)
        table.add_row(
            Text(label, _STYLES[tone]), result.gate, f"{result.found.failing:,}", result.title
        )
    return table


def explained(report: Report) -> list[RenderableType]:
    """Each gate that did not pass: why it matters, what to do, and the failing rows."""
    bad = [x for x in ordered(report.results) if x.verdict != Verdict.PASSED]
    return [part for result in bad for part in _explained(result)]


def rule_list(rules: Iterable[Rule]) -> Table:
    """The rules, with why and remedy."""
    table = Table(show_lines=True)
    for name in ("Rule", "What has to hold", "Why", "Remedy"):
        table.add_column(name, no_wrap=name == "Rule")
    for rule in rules:
        words = rule.words
        table.add_row(words.id, words.title, words.why, words.remedy)
    return table


def _explained(result: GateResult) -> list[RenderableType]:
    tone, label = tone_of(result)
    head = Text.assemble("\n", (label, _STYLES[tone]), f" {result.gate}: ", (result.title, "bold"))
    lines = [("why    ", result.why), ("remedy ", result.remedy), ("error  ", result.found.error)]
    parts: list[RenderableType] = [head]
    parts += [Text.assemble("  ", (name, "dim"), said) for name, said in lines if said]
    parts += [Text(f"  - {_line(row)}") for row in result.found.rows[:SHOWN_ROWS]]
    more = result.found.failing - min(SHOWN_ROWS, len(result.found.rows))
    if more > 0:
        parts.append(Text(f"  and {more:,} more (table gate_failures)", "dim"))
    return parts


def _line(row: Row) -> str:
    """A failing row: where, then what."""
    place = ", ".join(
        f"{name} {value}" for name, value in row.items() if name != "detail" and value is not None
    )
    detail = row.get("detail")
    return f"{place}: {detail}" if place and detail else place or str(detail)
