"""How answers of the Python API are shown: as DataFrames, as plain text, as HTML in notebooks.

The HTML has no scripts and takes its colours from the page around it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from io import StringIO
from typing import Any, Final

import pandas as pd
from rich.console import Console, RenderableType

from clwl_spark.cli.screen import PIPED_WIDTH
from clwl_spark.present.printable import Printable

_STYLE: Final = """
.clwl { color: inherit; margin: .25rem 0 .75rem; }
.clwl p { margin: .2rem 0; }
.clwl .said { font-weight: 600; }
.clwl .wide { overflow-x: auto; }
.clwl table { border-collapse: collapse; margin: .5rem 0; color: inherit; background: none; }
.clwl caption { caption-side: top; text-align: left; padding: 0; color: inherit; opacity: .8; }
.clwl th, .clwl td { padding: .2rem .9rem .2rem 0; text-align: left; vertical-align: top;
  border: 0; border-top: 1px solid rgba(128, 128, 128, .4); background: none; color: inherit; }
.clwl th { font-weight: 600; white-space: nowrap; }
.clwl .number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.clwl tr.strong td { font-weight: 600; }
"""
"""Every colour is inherited, so that a light and a dark notebook both have their contrast."""


@dataclass(frozen=True, slots=True)
class HtmlTable:
    """A table that is shown.

    Attributes:
        caption: what it is.
        headings: one per column.
        rows: cells as they are to be shown, one per heading.
        numbers: headings of the columns that hold numbers.
        strong: positions of the rows that stand out.
    """

    caption: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: Collection[str] = ()
    strong: Collection[int] = ()


def frame_of(rows: Iterable[Mapping[str, Any]], names: Sequence[str]) -> pd.DataFrame:
    """Rows as a DataFrame with these columns, in this order, also where there are no rows.

    Whole numbers with gaps stay whole: their column is Int64.
    """
    found = list(rows)
    columns: dict[str, Any] = {}
    for name in names:
        values = [row[name] for row in found]
        there = [value for value in values if value is not None]
        is_whole = bool(there) and all(type(value) is int for value in there)
        gaps = is_whole and len(there) < len(values)
        columns[name] = pd.array(values, dtype="Int64") if gaps else values
    return pd.DataFrame(columns, columns=list(names))


def text_of(*parts: RenderableType) -> str:
    """What a command would show of these, as plain text."""
    console = Console(file=StringIO(), width=PIPED_WIDTH, color_system=None)
    with console.capture() as shown:
        for part in parts:
            console.print(Printable(part))
    return "\n".join(line.rstrip() for line in shown.get().splitlines())


def fragment(said: str, notes: Sequence[str], tables: Sequence[HtmlTable]) -> str:
    """A sentence, notes and tables as an HTML fragment; tables without rows are left out.

    Args:
        said: the answer in one sentence.
        notes: paragraphs below it.
        tables: in their order.
    """
    body = [f'<p class="said">{escape(said)}</p>', *(f"<p>{escape(note)}</p>" for note in notes)]
    body += [_table(table) for table in tables if table.rows]
    return f'<div class="clwl"><style>{_STYLE}</style>{"".join(body)}</div>'


def _table(table: HtmlTable) -> str:
    classes = [' class="number"' if x in table.numbers else "" for x in table.headings]
    heads = "".join(
        f"<th{of}>{escape(x)}</th>" for x, of in zip(table.headings, classes, strict=True)
    )
    lines = []
    for at, row in enumerate(table.rows):
        cells = "".join(f"<td{of}>{escape(x)}</td>" for x, of in zip(row, classes, strict=True))
        strong = ' class="strong"' if at in table.strong else ""
        lines.append(f"<tr{strong}>{cells}</tr>")
    return (
        f'<div class="wide"><table><caption>{escape(table.caption)}</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>"
    )
