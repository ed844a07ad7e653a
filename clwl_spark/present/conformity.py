"""Predictions and what was seen as HTML: a page of its own, or a part of another one.

Styles are within the page, there is no script, and nothing is fetched from anywhere.
"""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, Final

from clwl_spark.present.printable import printable
from clwl_spark.present.report.words import percent
from clwl_spark.studies.conform.model import Conformity, Disagreement
from clwl_spark.studies.conform.wording import end, summary
from clwl_spark.tables import columns as c

_SHOWN: Final = 200
_STYLE: Final = """
:root { color-scheme: light dark; --ink: #1c2430; --dim: #5b6675; --page: #f5f6f8; --card: #fff;
  --line: #dde1e7; --bar: #1b6e3c; --no: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ee; --dim: #9aa5b4; --page: #14181e;
  --card: #1d232b; --line: #343c47; --bar: #7bd69b; --no: #ff8a80; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 70rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
h3 { font-size: 1rem; margin: 0; overflow-wrap: anywhere; }
p { margin: .35rem 0; } .dim { color: var(--dim); } .said { font-weight: 650; }
article { background: var(--card); border: 1px solid var(--line); border-left: .3rem solid
  var(--no); border-radius: .5rem; padding: .75rem 1rem; margin: 0 0 .75rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; margin-top: .5rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem .3rem 0;
  border-top: 1px solid var(--line); }
th { font-size: .85rem; font-weight: 600; color: var(--dim); }
td { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .85rem; }
details { margin-top: .6rem; } summary { cursor: pointer; }
meter { width: 8rem; }
@media print { details > * { display: block; } }
"""
Rows = Sequence[Mapping[str, Any]]


def page(found: Conformity) -> str:
    """All that was found: what it comes to, where, and why."""
    said = f'<p class="said">{_text(summary(found))}</p>'
    body = f"<h1>Foretold and seen</h1>{said}{parts(found)}"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Foretold and seen</title><style>{_STYLE}</style></head>"
        f"<body><main>{body}</main></body></html>\n"
    )


def parts(found: Conformity, level: int = 2) -> str:
    """What was found, with headings from that level on; all that others wrote is text in it."""
    tables = (
        ("By queue manager", _agreeing(found.by_queue_manager)),
        ("By object", _agreeing(found.by_object)),
        ("By channel", _table(found.by_channel)),
        ("Not compared", _table(found.not_compared)),
        ("Counts of channels", _table(found.counts)),
    )
    told = (("First disagreements", _articles(found.first_disagreements, level + 1)), *tables)
    return "".join(
        f"<h{level}>{_text(title)}</h{level}>{content}" for title, content in told if content
    )


def _articles(told: Sequence[Disagreement], level: int) -> str:
    """First disagreements, each an article."""
    return "".join(_article(x, level) for x in told[:_SHOWN]) + _left_out(told)


def _article(one: Disagreement, level: int) -> str:
    """A first disagreement, with all that bears on it."""
    when = f", put {one.put_time}" if one.put_time else ""
    settle = f'<p class="dim">What would settle it: {_text(one.settle)}</p>' if one.settle else ""
    more = [
        ("Hypotheses that were tried", one.hypotheses),
        ("The least start that fits", one.start),
        ("What each rule saw", one.candidates),
        ("Channel statuses in force", one.statuses),
        ("Changes of status near it", one.status_events),
        ("What the queue manager remembers before it", one.history),
    ]
    return (
        f"<article><h{level}>"
        f"{_text(f'{one.qmgr}:{one.put_seq}{when} to {one.object_name}')}</h{level}>"
        f'<p class="said">{_text(one.cause or "not looked into")}</p>'
        f"<p>Foretold {_text(end(one.predicted))}, seen {_text(end(one.seen))}.</p>"
        f"<p>{_text(one.why)}</p>{settle}"
        + "".join(
            f"<details><summary>{_text(title)}</summary>{_table(rows)}</details>"
            for title, rows in more
            if rows
        )
        + "</article>"
    )


def _agreeing(rows: Rows) -> str:
    """Rows with the share that agrees."""
    return _table(
        [{**x, "share": x["agree"] / x["compared"] if x["compared"] else 0.0} for x in rows]
    )


def _table(rows: Rows) -> str:
    if not rows:
        return ""
    names = list(rows[0])
    head = "".join(f"<th>{_text(x)}</th>" for x in names)
    body = "".join(
        f"<tr>{''.join(f'<td>{_cell(name, row[name])}</td>' for name in names)}</tr>"
        for row in rows[:_SHOWN]
    )
    return (
        f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
        f"</div>{_left_out(rows)}"
    )


def _cell(name: str, value: Any) -> str:  # noqa: ANN401
    if value is None:
        return ""
    if name == "share":
        return f'<meter min="0" max="1" value="{value:.4f}"></meter> {_text(percent(value))}'
    if isinstance(value, (list, tuple)):
        return _text("; ".join(map(str, value)))
    is_count = isinstance(value, int) and not isinstance(value, bool) and name != c.PUT_SEQ
    return _text(f"{value:,}" if is_count else str(value))


def _left_out(rows: Sequence[object]) -> str:
    return f'<p class="dim">and {len(rows) - _SHOWN:,} more</p>' if len(rows) > _SHOWN else ""


def _text(value: str) -> str:
    return escape(printable(value))
