"""All answers as one HTML page: styles within it, no script, nothing fetched from anywhere."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from html import escape
from typing import Final

from clwl_spark.present.questions.rendering import cell
from clwl_spark.present.questions.running import Answer
from clwl_spark.present.questions.texts import View

_STYLE: Final = """
:root { color-scheme: light dark; --ink: #1c2430; --dim: #5b6675; --page: #f5f6f8; --card: #fff;
  --line: #dde1e7; --mark: #1f5fa8; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ee; --dim: #9aa5b4; --page: #14181e;
  --card: #1d232b; --line: #343c47; --mark: #8ab8f0; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 72rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.5rem; margin: 0 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 0; }
p { margin: .35rem 0; } a { color: var(--mark); }
.dim { color: var(--dim); }
nav ul { columns: 24rem auto; padding-left: 1.2rem; }
section { background: var(--card); border: 1px solid var(--line); border-radius: .5rem;
  padding: .9rem 1rem; margin: 1rem 0; }
code, pre, td { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
  font-size: .85rem; }
pre { overflow-x: auto; background: var(--page); padding: .75rem; border-radius: .35rem; }
details { margin-top: .6rem; } summary { cursor: pointer; }
summary:focus-visible, .wide:focus-visible { outline: 2px solid var(--mark); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; margin-top: .5rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem 1.2rem .3rem 0;
  border-top: 1px solid var(--line); white-space: nowrap; }
th { font-size: .85rem; font-weight: 600; color: var(--dim); }
td.number, th.number { text-align: right; }
td.text { white-space: normal; min-width: 18rem; }
@media print { details > * { display: block; } }
"""


def page(lake: str, answers: Sequence[Answer], views: Iterable[View], at: datetime) -> str:
    """The whole page: each question with its result and SQL, then the views.

    Args:
        lake: name of the lake.
        answers: in the order in which they are shown.
        views: that the questions are asked of.
        at: when they were asked, in UTC.
    """
    links = "".join(
        f'<li><a href="#{escape(x.question.name)}">{escape(x.question.question)}</a></li>'
        for x in answers
    )
    title = escape(f"Questions to {lake}")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{_STYLE}</style></head><body><main><h1>{title}</h1>"
        f'<p class="dim">Asked {at:%Y-%m-%d %H:%M:%S} UTC</p><nav><ul>{links}</ul></nav>'
        f"{''.join(map(_answered, answers))}{_described(views)}</main></body></html>\n"
    )


def _answered(answer: Answer) -> str:
    """A question, its result, and its SQL."""
    asked = answer.question
    return (
        f'<section id="{escape(asked.name)}"><h2>{escape(asked.question)}</h2>'
        f'<p class="dim">{escape(asked.answers)}</p>{_result(answer)}'
        f"<details><summary>SQL of <code>clwl ask {escape(asked.name)}</code></summary>"
        f"<pre>{escape(asked.sql)}</pre></details></section>"
    )


def _result(answer: Answer) -> str:
    if not answer.rows:
        return "<p>None.</p>"
    more = f'<p class="dim">The first {len(answer.rows):,} rows; there are more.</p>'
    kinds = [' class="number"' if x in answer.numbers else "" for x in answer.columns]
    heads = "".join(
        f'<th scope="col"{kind}>{escape(x.replace("_", " "))}</th>'
        for x, kind in zip(answer.columns, kinds, strict=True)
    )
    lines = "".join(
        f"<tr>{''.join(_cell(*x) for x in zip(answer.columns, row, kinds, strict=True))}</tr>"
        for row in answer.rows
    )
    return _table(heads, lines, answer.question.question) + (more if answer.more else "")


def _cell(column: str, value: object, kind: str) -> str:
    return f"<td{kind}>{escape(cell(column, value))}</td>"


def _table(heads: str, lines: str, label: str) -> str:
    """A table that scrolls by itself where it is too wide, by keyboard too."""
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{escape(label)}"><table>'
        f"<thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table></div>"
    )


def _described(views: Iterable[View]) -> str:
    """The views, with their columns."""
    return "".join(
        f'<section><h2><code>{escape(view.name)}</code></h2><p class="dim">{escape(view.title)}. '
        f"A row is {escape(view.row)}.</p><details><summary>{len(view.columns)} columns and "
        f"SQL</summary>{_columns(view)}<pre>{escape(view.sql)}</pre></details></section>"
        for view in views
    )


def _columns(view: View) -> str:
    lines = "".join(
        f'<tr><td>{escape(name)}</td><td class="text">{escape(meaning)}</td></tr>'
        for name, meaning in view.columns.items()
    )
    return _table('<th scope="col">column</th><th scope="col">meaning</th>', lines, view.title)
