"""Listings that commands show."""

from collections.abc import Collection, Sequence

from rich.markup import escape
from rich.table import Table


def listing(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    numbers: Collection[str] = (),
    title: str | None = None,
) -> Table:
    """A table without lines; long texts are folded, numbers stand to the right and are never cut.

    Args:
        headings: one per column.
        rows: cells as they are to be shown.
        numbers: headings of the columns that hold numbers.
        title: a line above.
    """
    table = Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=None,
        padding=(0, 2, 0, 0),
        header_style="dim",
    )
    for at, heading in enumerate(headings):
        if heading in numbers:
            widest = max((len(row[at]) for row in rows), default=0)
            table.add_column(heading, justify="right", min_width=widest)
        else:
            table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*map(escape, row))
    return table
