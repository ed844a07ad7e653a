"""The tables of a later hop: those of routing under other names, beside the lake's topology."""

from dataclasses import dataclass
from typing import Final

from clwl_spark.delta.lake import Lake
from clwl_spark.routing.run import WRITTEN
from clwl_spark.tables import MESSAGES

_OWN: Final = frozenset({MESSAGES.name, *(table.name for table in WRITTEN)})


@dataclass(frozen=True)
class HopLake(Lake):
    """A lake as a hop sees it: `messages`, `outcomes` ... are its own, topology is everybody's.

    So a hop is routed by the same code as the first put, with the same exactly once. It has a
    balancing history of its own: what its messages choose does not change what messages put by
    applications choose, whenever they are routed.

    Attributes:
        hop: from 2 on; its tables are called `messages_hop2` and so on.
    """

    hop: int = 2

    def path(self, table: str) -> str:
        """Folder of a table of a path lake."""
        return super().path(self._name(table))

    def sql_name(self, table: str) -> str:
        """The table's name within SQL."""
        return super().sql_name(self._name(table) if self.in_catalog else table)

    def _name(self, table: str) -> str:
        return f"{table}_hop{self.hop}" if table in _OWN else table


def lake_at(lake: Lake, hop: int) -> Lake:
    """The lake as a hop sees it; hop 1 is the lake itself."""
    if hop == 1:
        return lake
    return HopLake(lake.spark, lake.root, lake.in_catalog, lake.checkpoints, hop)


def hop_of(lake: Lake) -> int:
    """The hop that sees the lake so."""
    return lake.hop if isinstance(lake, HopLake) else 1
