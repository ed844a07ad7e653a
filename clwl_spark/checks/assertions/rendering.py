"""Results for a terminal."""

from typing import Final

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from clwl_spark.checks.assertions.results import Report, Result, Verdict
from clwl_spark.checks.assertions.wording import statement_words

_SHOWN_CASES: Final = 10
_STYLES: Final = {Verdict.PASSED: "green", Verdict.FAILED: "bold red", Verdict.ERROR: "magenta"}


def headline(report: Report) -> str:
    """One sentence: how many hold."""
    told = [f"{len(report.having(Verdict.PASSED))} of {len(report.results)} assertions hold"]
    counts = ((Verdict.FAILED, "do not"), (Verdict.ERROR, "cannot be judged"))
    told += [f"{len(found)} {what}" for x, what in counts if (found := report.having(x))]
    return ", ".join(told)


def report_table(report: Report) -> Table:
    """A line per assertion: whether it holds, what it says, what was found."""
    table = Table(title=headline(report), title_justify="left")
    table.add_column("Verdict", no_wrap=True)
    table.add_column("Assertion", overflow="fold")
    table.add_column("Found", overflow="fold")
    for x in report.results:
        table.add_row(
            Text(x.verdict.value, _STYLES[x.verdict]), Text(_result_text(x)), Text(x.said)
        )
    return table


def explained(report: Report) -> list[RenderableType]:
    """Each assertion that does not hold: where it is written, why it must, and the cases."""
    bad = [x for x in report.results if x.verdict != Verdict.PASSED]
    return [part for result in bad for part in _explained(result)]


def _result_text(result: Result) -> str:
    """The assertion, with its name if it was given one."""
    words = statement_words(result.assertion.statement)
    name = result.assertion.name
    return words if name == words else f"{name}\n{words}"


def _explained(result: Result) -> list[RenderableType]:
    assertion = result.assertion
    place = f" {assertion.file}:{assertion.line}: "
    style = _STYLES[result.verdict]
    head = Text.assemble("\n", (result.verdict.value, style), place, (assertion.name, "bold"))
    parts: list[RenderableType] = [head]
    parts += [Text(f"  why   {assertion.why}")] if assertion.why else []
    parts += [Text(f"  found {result.said}")]
    shown = result.failing[:_SHOWN_CASES] if result.cases > 1 else ()
    parts += [Text(f"  - {x.case}: {x.found}") for x in shown]
    more = len(result.failing) - len(shown)
    parts += (
        [Text(f"  and {more:,} more cases (--json has them all)", "dim")] if shown and more else []
    )
    return parts
