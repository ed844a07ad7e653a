"""Numbers for values that come again and again, batch after batch; no Spark."""

import numpy as np
from numpy.typing import NDArray


class Numbering:
    """Numbers, from 0 on, of the distinct whole numbers that were added."""

    def __init__(self) -> None:
        """None yet."""
        self._known = np.empty(0, dtype=np.int64)
        self._number = np.empty(0, dtype=np.int64)

    def add(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """Give numbers to those that have none; returns these in the order of their numbers."""
        at = np.minimum(np.searchsorted(self._known, values), max(len(self._known) - 1, 0))
        new = np.unique(values[self._known[at] != values] if len(self._known) else values)
        if len(new):
            known = np.concatenate([self._known, new])
            order = np.argsort(known, kind="stable")
            numbers = np.arange(len(self._known), len(known))
            self._number = np.concatenate([self._number, numbers])[order]
            self._known = known[order]
        return new

    def of(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """(values,) the numbers of values that were added."""
        return self._number[np.searchsorted(self._known, values)]
