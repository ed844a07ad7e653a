"""Whether what a record tells of a message may mean a route, or the end of a plan without one."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Ends = Sequence[tuple[Any, ...]]
"""(dest_qmgr, channel, xmitq) of routes, or of plans' ends."""


def plain(record: Sequence[Any]) -> tuple[Any, ...]:
    """What a record tells as values that compare; the first is the reason."""
    return tuple(None if pd.isna(x) else int(x) if at == 0 else x for at, x in enumerate(record))


def fitting(kinds: Mapping[tuple[Any, ...], int], ends: Ends) -> NDArray[np.bool_]:
    """(kinds, ends) whether what a record tells fits an end."""
    found = np.zeros((max(len(kinds), 1), len(ends)), np.bool_)
    for kind, at in kinds.items():
        for place, end in enumerate(ends):
            found[at, place] = _is_it(kind, end)
    return found


def _is_it(kind: tuple[Any, ...], end: tuple[Any, ...]) -> bool:
    """Whether a record may mean an end; -1 is the reason of a choice without routes."""
    reason = kind[0] or 0
    if reason or end[0]:
        return bool(reason and end[0]) and end[0] in (-1, reason)
    return all(told is None or told == there for told, there in zip(kind[1:], end[1:], strict=True))
