"""Moments that a line of its own tells: output of tools that do not say when they looked.

`date -u +'* %FT%TZ'` writes one before a DISPLAY of runmqsc, `date -u +'# %FT%TZ'` before a scrape.
"""

import re
from bisect import bisect_left
from datetime import datetime
from typing import Final

from clwl_spark.mq.traffic.records import LocalMoment

_HEADING: Final = re.compile(
    r"^\s*(?:\d* ?:)?\s*[*#]+\s*"
    r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?)\s*$",
    re.MULTILINE,
)

Moment = datetime | LocalMoment


class Headings:
    """The moments of a text, by line."""

    def __init__(self, text: str) -> None:
        self._lines: list[int] = []
        self._moments: list[Moment] = []
        line = at = 0
        for found in _HEADING.finditer(text):
            moment = moment_of(found[1])
            if moment is None:
                continue
            line += text.count("\n", at, found.start(1))
            at = found.start(1)
            self._lines.append(line + 1)
            self._moments.append(moment)

    def before(self, line: int) -> Moment | None:
        """The moment of the last heading above a line; None = there is none."""
        at = bisect_left(self._lines, line)
        return self._moments[at - 1] if at else None


def moment_of(words: str) -> Moment | None:
    """The moment that words tell, without a zone where they name none; None = they tell none."""
    try:
        found = datetime.fromisoformat(words.replace(",", "."))
    except ValueError:
        return None
    return found if found.tzinfo else LocalMoment(found)
