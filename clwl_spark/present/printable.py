"""Names as text that a page or a terminal shows as it is, whatever characters they hold."""

import unicodedata
from collections.abc import Iterator
from typing import Final

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

_UNSHOWN: Final = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Controls, marks that turn the direction of writing, halves of characters, separators of lines."""


def printable(text: str, keep: str = "") -> str:
    """A text without characters that show as nothing, or turn what stands beside them.

    Args:
        text: it.
        keep: such characters that stay.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        "\ufffd" if unicodedata.category(x) in _UNSHOWN and x not in keep else x for x in text
    )


class Printable:
    """What is shown on a terminal, whose own commands no name can give."""

    def __init__(self, part: RenderableType) -> None:
        """Take what is to be shown."""
        self._part = part

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        """The part as it would be shown, its texts printable."""
        for text, style, control in console.render(self._part, options):
            yield Segment(text if control else printable(text, "\n"), style, control)
