"""Rows between two moments: what else files hold is left in them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from clwl_spark.studies.load.counting import FROM, TO
from clwl_spark.tables import (
    CONFIG_EVENTS,
    COUNTER_READINGS,
    MESSAGES,
    OBSERVED_COUNTS,
    OBSERVED_ROUTES,
    STATUS_EVENTS,
)
from clwl_spark.tables import columns as c
from clwl_spark.tables import loading as t

_MOMENTS: Final = {
    MESSAGES.name: (c.PUT_TIME, c.PUT_TIME),
    OBSERVED_ROUTES.name: (c.PUT_TIME, c.PUT_TIME),
    OBSERVED_COUNTS.name: (FROM, TO),
    STATUS_EVENTS.name: (t.AT, t.AT),
    CONFIG_EVENTS.name: (t.AT, t.AT),
    COUNTER_READINGS.name: (t.AT, t.AT),
}
"""Table -> the columns that begin and end what its rows are about."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What is loaded.

    Attributes:
        since: rows of before are not; None = all of them are.
        until: rows of this moment and later are not; None = all of them are.
    """

    since: datetime | None = None
    until: datetime | None = None

    @property
    def name(self) -> str:
        """What tells these bounds from others; "" = there are none."""
        told = [x.isoformat() if x else "" for x in (self.since, self.until)]
        return "/".join(told) if any(told) else ""

    def within(self, table: str, rows: pa.Table) -> pa.Table:
        """The rows between the bounds; a count whole in them; those without a moment are not."""
        if not self.name or table not in _MOMENTS:
            return rows
        return rows.filter(self._hold(table, rows))

    def without(self, table: str, rows: pa.Table) -> pa.Table:
        """The rows that `within` leaves out."""
        if not self.name or table not in _MOMENTS:
            return rows.slice(0, 0)
        return rows.filter(pc.invert(self._hold(table, rows)))

    def _hold(self, table: str, rows: pa.Table) -> pa.ChunkedArray:
        """(rows,) whether each is between the bounds."""
        begin, end = _MOMENTS[table]
        kept = pc.is_valid(rows[begin])
        if self.since is not None:
            kept = pc.and_kleene(kept, pc.greater_equal(rows[begin], _scalar(self.since)))
        if self.until is not None:
            before = pc.less if begin == end else pc.less_equal
            kept = pc.and_kleene(kept, before(rows[end], _scalar(self.until)))
        return kept


def _scalar(moment: datetime) -> pa.Scalar:
    return pa.scalar(moment, pa.timestamp("us", "UTC"))
