"""Numbers for values that come again and again, batch after batch; no Spark."""

import numpy as np
from numpy.typing import NDArray


class Numbering:
    """Numbers, from 0 on, of the distinct whole numbers that were asked for; `len` says how many.

    What is met together for the first time is numbered in its own order.
    """

    def __init__(self) -> None:
        """None yet."""
        self._known = np.empty(0, dtype=np.int64)
        self._number = np.empty(0, dtype=np.int64)

    def __len__(self) -> int:
        return len(self._known)

    def of(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """(values,) their numbers; values without one get the next."""
        at = np.searchsorted(self._known, values)
        is_new = at == len(self._known)
        is_new[~is_new] = self._known[at[~is_new]] != values[~is_new]
        if is_new.any():
            self._add(np.unique(values[is_new]))
            at = np.searchsorted(self._known, values)
        return self._number[at]

    def _add(self, new: NDArray[np.int64]) -> None:
        known = np.concatenate([self._known, new])
        order = np.argsort(known, kind="stable")
        numbers = np.arange(len(self._known), len(known))
        self._number = np.concatenate([self._number, numbers])[order]
        self._known = known[order]
