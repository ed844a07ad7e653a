"""Whether what a record tells of a message may mean a route, or the end of a plan without one."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clwl_spark.algorithm.choose import Choices
from clwl_spark.algorithm.transmit import TransmissionQueues, now
from clwl_spark.mq.vocabulary import PlanKind
from clwl_spark.routing.state.bucket_plans import BucketPlans
from clwl_spark.tables import columns as c

Ends = Sequence[tuple[Any, ...]]
"""(reason, dest_qmgr, channel, xmitqs) of routes, or of plans' ends: a transmission queue for each
set of them that the queue manager had, since those of a message's own snapshot count (P16)."""


def queue_sets(bucket: BucketPlans) -> tuple[list[TransmissionQueues], NDArray[np.int64]]:
    """The sets of transmission queues that a queue manager had, and (plans,) the one of each."""
    sets: list[TransmissionQueues] = []
    number: dict[str, int] = {}
    for snapshot, queues in bucket.queues[0].items():
        if queues not in sets:
            sets.append(queues)
        number[snapshot] = sets.index(queues)
    return sets, np.array([number[x] for x in bucket.plans[c.SNAPSHOT_ID].to_pylist()], np.int64)


def plain(record: Sequence[Any]) -> tuple[Any, ...]:
    """What a record tells as values that compare; the first is the reason."""
    return tuple(None if pd.isna(x) else int(x) if at == 0 else x for at, x in enumerate(record))


def fitting(kinds: Mapping[tuple[int, tuple[Any, ...]], int], ends: Ends) -> NDArray[np.bool_]:
    """(kinds, ends) whether what a record tells, of a message with a set of queues, fits an end."""
    found = np.zeros((max(len(kinds), 1), len(ends)), np.bool_)
    for kind, at in kinds.items():
        for place, end in enumerate(ends):
            found[at, place] = _is_it(kind, end)
    return found


def _is_it(kind: tuple[Any, ...], end: tuple[Any, ...]) -> bool:
    """Whether a record may mean an end; -1 is the reason of a choice without routes."""
    own, (reason, *told) = kind
    if reason or end[0]:
        return bool(reason and end[0]) and end[0] in (-1, reason)
    goes = (*end[1:3], end[3][own])
    return all(x is None or x == there for x, there in zip(told, goes, strict=True))


def route_ends(bucket: BucketPlans, sets: Sequence[TransmissionQueues]) -> Ends:
    """The end of each route; a local one has neither channel nor transmission queue."""
    routes = bucket.routes.slice(0, len(bucket.weight))
    names = (routes[x].to_pylist() for x in (c.DEST_QMGR, c.CHANNEL, c.IS_LOCAL))
    none = (None,) * len(sets)
    return [
        (0, dest, None, none)
        if local
        else (0, dest, channel, tuple(now(channel, dest, x) for x in sets))
        for dest, channel, local in zip(*names, strict=True)
    ]


def plan_ends(bucket: BucketPlans, choices: Choices, qmgr: str, sets: int) -> Ends:
    """Of each plan, where messages go without a choice; a reason where they go nowhere."""
    takes = bucket.takes.to_pylist()
    first = choices.choice_start[:-1].tolist()
    ends: list[tuple[Any, ...]] = []
    for at, row in enumerate(bucket.plans.to_pylist()):
        if takes[first[at]] is not None:
            ends.append((0, qmgr, None, (None,) * sets))
        elif row[c.KIND] == PlanKind.XMITQ.value and row[c.REASON] == 0:
            ends.append((0, row[c.RESOLVED_QMGR], None, (row[c.XMITQ],) * sets))
        else:
            ends.append((row[c.REASON] or -1, None, None, None))
    return ends
