"""A report as one HTML page: styles within it, no script, nothing fetched from anywhere."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

from clwl_spark.checks.quality.results import GateResult, Report, Row, Severity, Verdict, ordered

SHOWN_ROWS: Final = 100
_STYLE: Final = """
:root { color-scheme: light dark; --ink: #1c2430; --dim: #5b6675; --page: #f5f6f8; --card: #fff;
  --line: #dde1e7; --no: #b3261e; --warn: #8a5a00; --yes: #1b6e3c; --odd: #5b3fa0; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ee; --dim: #9aa5b4; --page: #14181e;
  --card: #1d232b; --line: #343c47; --no: #ff8a80; --warn: #ffc766; --yes: #7bd69b;
  --odd: #c3aeff; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.5rem; margin: 0 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 2rem 0 .75rem; }
h3 { font-size: 1rem; margin: 0; display: inline; }
p { margin: .35rem 0; }
.dim { color: var(--dim); }
.verdict { font-weight: 650; }
.no { color: var(--no); } .warn { color: var(--warn); } .yes { color: var(--yes); }
.odd { color: var(--odd); }
.figures { display: grid; gap: .75rem; margin: 1rem 0;
  grid-template-columns: repeat(auto-fit, minmax(8rem, 1fr)); }
.figures div, article { background: var(--card); border: 1px solid var(--line);
  border-radius: .5rem; padding: .75rem 1rem; }
.figures b { display: block; font-size: 1.5rem; line-height: 1.2; }
article { margin: 0 0 .75rem; border-left-width: .3rem; }
article.no { border-left-color: var(--no); } article.warn { border-left-color: var(--warn); }
article.odd { border-left-color: var(--odd); }
article.no, article.warn, article.odd { color: var(--ink); }
code, td { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
  font-size: .85rem; }
code { overflow-wrap: anywhere; }
td { white-space: nowrap; } td:last-child { white-space: normal; min-width: 12rem; }
dl { margin: .5rem 0 0; display: grid; grid-template-columns: 5.5rem 1fr; gap: .25rem .75rem; }
dt { color: var(--dim); } dd { margin: 0; }
details { margin-top: .6rem; } summary { cursor: pointer; }
summary:focus-visible { outline: 2px solid var(--odd); outline-offset: 2px; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; margin-top: .5rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem .3rem 0;
  border-top: 1px solid var(--line); min-width: 5rem; }
th { font-size: .85rem; font-weight: 600; color: var(--dim); }
@media (max-width: 34rem) { dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: .4rem; } thead { display: none; } tbody, tr, td { display: block; }
  tr { border-top: 1px solid var(--line); padding: .35rem 0; } td:empty { display: none; }
  td, td:last-child { border: 0; padding: .1rem 0; white-space: normal; overflow-wrap: anywhere; }
  td[data-name] { display: grid; grid-template-columns: 5.5rem 1fr; gap: .5rem; }
  td[data-name]:empty { display: none; }
  td[data-name]::before { content: attr(data-name); color: var(--dim); } }
@media print { details > * { display: block; } }
"""


def page(report: Report) -> str:
    """The whole report: what failed first, with why, remedy and failing rows; then what passed."""
    bad = [x for x in ordered(report.results) if x.verdict != Verdict.PASSED]
    good = report.having(Verdict.PASSED)
    body = [
        f"<h1>{escape(_subject(report))}</h1>",
        f'<p class="verdict {_tone(report)}">{escape(sentence(report))}</p>',
        *(f"<p>{escape(x)}</p>" for x in report.notes),
        _when(report),
        _figures(report),
        *(["<h2>What needs attention</h2>", *map(_article, bad)] if bad else []),
        "<h2>What held</h2>",
        _passed(good),
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(_subject(report))}: gates</title><style>{_STYLE}</style></head>"
        f"<body><main>{''.join(body)}</main></body></html>\n"
    )


def sentence(report: Report) -> str:
    """What a report comes to, in one sentence."""
    errors = len(report.having(Verdict.FAILED, Severity.ERROR))
    warnings = len(report.having(Verdict.FAILED, Severity.WARN))
    parts = [f"{len(report.results)} gates", f"{errors} failed", f"{warnings} with warnings"]
    if report.broken:
        parts.append(f"{len(report.broken)} not evaluated")
    counted = ", ".join(parts)
    if report.status is None:
        return counted
    used = ""
    if report.failed:
        used = (
            f"; routing goes on with '{report.used}'"
            if report.used
            else "; no valid snapshot is in force before it"
        )
    return f"{report.status}: {counted}{used}"


def _subject(report: Report) -> str:
    return f"Snapshot {report.subject}" if report.status else report.subject


def _tone(report: Report) -> str:
    if report.failed:
        return "no"
    return "odd" if report.broken else "yes"


def _when(report: Report) -> str:
    return (
        f'<p class="dim">Judged {report.judged_at:%Y-%m-%d %H:%M:%S} UTC in '
        f"{report.seconds:.1f} s; validation <code>{report.validation_id}</code></p>"
    )


def _figures(report: Report) -> str:
    counts = (
        ("failed", len(report.having(Verdict.FAILED, Severity.ERROR)), "no"),
        ("warnings", len(report.having(Verdict.FAILED, Severity.WARN)), "warn"),
        ("not evaluated", len(report.broken), "odd"),
        ("held", len(report.having(Verdict.PASSED)), "yes"),
    )
    cells = (
        f'<div><b class="{tone if count else "dim"}">{count:,}</b>{name}</div>'
        for name, count, tone in counts
    )
    return f'<div class="figures">{"".join(cells)}</div>'


def _article(result: GateResult) -> str:
    """A gate that failed."""
    words = {
        "Gate": f"<code>{escape(result.gate)}</code> of {escape(result.suite)}",
        "Why": escape(result.why),
        "Remedy": escape(result.remedy),
        "Error": escape(result.found.error),
    }
    told = "".join(f"<dt>{name}</dt><dd>{x}</dd>" for name, x in words.items() if x)
    tone, label = tone_of(result)
    return (
        f'<article class="{tone}"><span class="verdict {tone}">{label}</span> '
        f"<h3>{escape(result.title)}</h3><dl>{told}</dl>{_rows(result)}</article>"
    )


def tone_of(result: GateResult) -> tuple[str, str]:
    """How a verdict looks, and its word."""
    if result.verdict == Verdict.ERROR:
        return "odd", "NOT EVALUATED"
    if result.verdict == Verdict.PASSED:
        return "yes", "PASSED"
    return ("no", "FAILED") if result.severity == Severity.ERROR else ("warn", "WARNING")


def _rows(result: GateResult) -> str:
    """The failing rows, open where they are few."""
    rows = result.found.rows[:SHOWN_ROWS]
    if not rows:
        return ""
    names = list(dict.fromkeys(name for row in rows for name in row if name != "detail"))
    names += ["detail"] if any("detail" in row for row in rows) else []
    more = result.found.failing - len(rows)
    beyond = f'<p class="dim">and {more:,} more</p>' if more > 0 else ""
    opened = " open" if len(rows) <= 5 else ""  # noqa: PLR2004
    return (
        f"<details{opened}><summary>{result.found.failing:,} failing</summary>"
        f'<div class="wide"><table><thead><tr>{_heads(names)}</tr></thead><tbody>'
        f"{''.join(_line(names, row) for row in rows)}</tbody></table></div>{beyond}</details>"
    )


def _line(names: Sequence[str], row: Row) -> str:
    """A failing row; its cells carry the columns' names, for screens too narrow for columns."""
    values = ((x, "" if row.get(x) is None else str(row[x])) for x in names)
    cells = (f'<td data-name="{escape(x)}">{escape(value)}</td>' for x, value in values)
    return f"<tr>{''.join(cells)}</tr>"


def _heads(names: Iterable[str]) -> str:
    return "".join(f"<th>{escape(x)}</th>" for x in names)


def _passed(results: Sequence[GateResult]) -> str:
    lines = "".join(
        f"<tr><td>{escape(x.gate)}</td><td>{escape(x.title)}</td></tr>" for x in results
    )
    return (
        f"<details><summary>{len(results):,} gates</summary>"
        f'<div class="wide"><table><tbody>{lines}</tbody></table></div></details>'
    )
