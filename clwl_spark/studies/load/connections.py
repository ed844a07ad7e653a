"""Connections of activity trace as numbers, the same in all slices of operations."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from clwl_spark.studies.load import operations as o
from clwl_spark.studies.load.spool import Longs


class Connections:
    """Queue manager and connection of operations, numbered as they are met.

    Attributes:
        names: (queue manager, connection) of each number.
    """

    def __init__(self) -> None:
        """None yet."""
        self.names: list[tuple[str | None, str | None]] = []
        self._number: dict[tuple[str | None, str | None], int] = {}

    def codes(self, operations: pa.Table) -> Longs:
        """(operations,) the number of each one's connection.

        Args:
            operations: one chunk.
        """
        qmgrs, names = (operations[x].combine_chunks() for x in (o.QMGR, o.CONNECTION))
        both = (_indices(qmgrs) << 32) | (_indices(names) + 1)
        distinct, first, code = np.unique(both, return_index=True, return_inverse=True)
        number = np.zeros(len(distinct), dtype=np.int64)
        for at in np.argsort(first, kind="stable").tolist():
            row = int(first[at])
            name = (qmgrs[row].as_py(), names[row].as_py())
            if name not in self._number:
                self._number[name] = len(self.names)
                self.names.append(name)
            number[at] = self._number[name]
        return number[code]


def _indices(words: pa.DictionaryArray) -> Longs:
    found: Longs = pc.fill_null(words.indices, -1).to_numpy().astype(np.int64)
    return found


def filled(of: pa.Table, name: str, absent: int = 0) -> Longs:
    """A column of whole numbers, with another one for null."""
    found: Longs = pc.fill_null(of[name], absent).to_numpy().astype(np.int64)
    return found


def begins(ordered: Longs) -> NDArray[np.bool_]:
    """Where rows in an order have another number than the one before."""
    found = np.ones(len(ordered), dtype=np.bool_)
    found[1:] = np.diff(ordered) != 0
    return found
