"""Which name somebody may have meant."""

import difflib
from collections.abc import Iterable
from typing import Final

_LISTED: Final = 8


def near(name: str, names: Iterable[str]) -> str:
    """The nearest name as a question, else the first few names that there are."""
    known = sorted(names)
    found = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    if found:
        return f"did you mean {found[0]!r}?"
    if not known:
        return "there are none"
    more = len(known) - _LISTED
    return f"there are {', '.join(known[:_LISTED])}" + (f" and {more:,} more" if more > 0 else "")
