"""Lakes for a what-if: one for a side, and a lake as it is after a change."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.tables import MESSAGES, Table
from clwl_spark.tables import columns as c


@dataclass(frozen=True)
class ChangedLake(Lake):
    """A lake with a snapshot's rows after a change, to be read by whoever changes them further.

    Attributes:
        tables: table -> rows of the snapshot; those of other snapshots are not seen in them.
    """

    tables: Mapping[str, DataFrame] = field(default_factory=dict)

    def exists(self, table: str) -> bool:
        """Whether the table is there."""
        return table in self.tables or super().exists(table)

    def read_or_empty(
        self, table: str, column: str = "", values: Sequence[str] | Sequence[int] = ()
    ) -> DataFrame:
        """The table's rows, as `Lake.read_or_empty`."""
        frame = self.tables.get(table)
        if frame is None:
            return super().read_or_empty(table, column, values)
        return frame.where(F.col(column).isin(*values)) if column else frame


@dataclass(frozen=True)
class SideLake(Lake):
    """A path lake whose `messages` are those of another lake, less some queue managers'.

    Attributes:
        traffic: the lake that has the messages.
        down: queue managers whose messages are left out.
    """

    traffic: Lake | None = None
    down: frozenset[str] = frozenset()

    @property
    def left_out(self) -> frozenset[str]:
        """Queue managers whose messages are not put, though they are in the table."""
        return self.down

    def path(self, table: str) -> str:
        """The folder or URI of a table; of messages that of the other lake, if it has one here."""
        if table == MESSAGES.name and self.traffic is not None and self.traffic.is_here:
            return self.traffic.path(table)
        return super().path(table)

    def read(
        self,
        table: str,
        column: str = "",
        values: Sequence[str] | Sequence[int] = (),
        *,
        like: Table | None = None,
    ) -> DataFrame:
        """The table's rows, as `Lake.read`."""
        if table != MESSAGES.name or self.traffic is None:
            return super().read(table, column, values, like=like)
        return self._put(self.traffic.read(table, column, values, like=like))

    def stream(self, table: str, after: int | None = None) -> DataFrame:
        """All rows ever appended to the table, as a stream."""
        if table != MESSAGES.name or self.traffic is None:
            return super().stream(table, after)
        return self._put(self.traffic.stream(table, after))

    def _put(self, messages: DataFrame) -> DataFrame:
        """The messages that are put in spite of what is down."""
        if not self.down:
            return messages
        return messages.where(~F.coalesce(F.col(c.QMGR).isin(sorted(self.down)), F.lit(False)))
