"""Whether what a record tells of a message may mean a route, or the end of a plan without one."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clwl_spark.algorithm.choose import Choices
from clwl_spark.algorithm.transmit import now
from clwl_spark.mq.vocabulary import PlanKind
from clwl_spark.routing.state.bucket_plans import BucketPlans
from clwl_spark.tables import columns as c

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


def route_ends(bucket: BucketPlans) -> Ends:
    """(dest_qmgr, channel, xmitq) of each route; a local one has neither of the last two."""
    routes = bucket.routes.slice(0, len(bucket.weight))
    names = (routes[x].to_pylist() for x in (c.DEST_QMGR, c.CHANNEL, c.IS_LOCAL))
    queues = next(iter(bucket.queues[0].values()))
    return [
        (0, dest, None, None) if local else (0, dest, channel, now(channel, dest, queues))
        for dest, channel, local in zip(*names, strict=True)
    ]


def plan_ends(bucket: BucketPlans, choices: Choices, qmgr: str) -> Ends:
    """Of each plan, where messages go without a choice; a reason where they go nowhere."""
    takes = bucket.takes.to_pylist()
    first = choices.choice_start[:-1].tolist()
    ends: list[tuple[Any, ...]] = []
    for at, row in enumerate(bucket.plans.to_pylist()):
        if takes[first[at]] is not None:
            ends.append((0, qmgr, None, None))
        elif row[c.KIND] == PlanKind.XMITQ.value and row[c.REASON] == 0:
            ends.append((0, row[c.RESOLVED_QMGR], None, row[c.XMITQ]))
        else:
            ends.append((row[c.REASON] or -1, None, None, None))
    return ends
