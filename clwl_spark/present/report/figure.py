"""What a chart is on the page: picture, words and numbers."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Heading:
    """Of a column: its words, and whether it holds numbers."""

    words: str
    is_number: bool = False


@dataclass(frozen=True, slots=True)
class Figure:
    """One chart.

    Attributes:
        key: tells it from others on the page; a word.
        title: what it shows.
        label: what it comes to, with its main figure, for those who cannot see it.
        svg: the picture; blank = there is nothing to draw.
        headings: of the table with its numbers.
        rows: (rows, headings) cells as they are shown.
        notes: what is left out, or has to be known to read it.
    """

    key: str
    title: str
    label: str
    svg: str
    headings: tuple[Heading, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


def headings(*words: str, numbers: int) -> tuple[Heading, ...]:
    """Headings of columns, the last `numbers` of which hold numbers."""
    first = len(words) - numbers
    return tuple(Heading(x, at >= first) for at, x in enumerate(words))
