"""Random stops of channels that messages wait for, for comparing re-allocation."""

import random
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from random_clusters import STATUSES
from reference_waiting import Stop, Waiting

BEFORE: Final = (timedelta(0), timedelta(minutes=30), timedelta(hours=8), timedelta(days=9))
COUNTS: Final = (0, 1, 2, 5, 50)


def random_stops(
    rng: random.Random, waiting: Sequence[Waiting], most: int, last: dict[str, datetime]
) -> list[Stop]:
    """Up to so many stops, in order for each queue manager.

    Args:
        rng: what decides everything.
        waiting: the messages of one world, wherever they are.
        most: so many stops at most.
        last: the latest stop of each queue manager before; those of these are put there.
    """
    stops = []
    there = [x for x in waiting if x.channel is not None]
    for _ in range(rng.randint(0, most) if there else 0):
        waits = rng.choice(there)
        qmgr = waits.outcome["qmgr"]
        at = waits.put_time + timedelta(minutes=rng.choice((0, 1, 300, 2000)))
        at = last[qmgr] = max(at, last.get(qmgr, at))
        stops.append(Stop(qmgr, str(waits.channel), rng.choice(STATUSES), at))
    return stops


def with_who_waits(
    rng: random.Random, stops: Sequence[Stop], waiting: Sequence[Waiting]
) -> list[Stop]:
    """The stops, some with `since` or `backlog`; since is often the very moment of a put."""
    puts = [x.put_time for x in waiting]
    told = []
    for stop in stops:
        more: dict[str, Any] = {}
        pick = rng.random()
        if pick < 0.3:
            earlier = stop.at - rng.choice(BEFORE)
            more["since"] = rng.choice(puts) if rng.random() < 0.5 else earlier
        elif pick < 0.6:
            more["backlog"] = rng.choice(COUNTS)
        told.append(Stop(stop.qmgr, stop.channel, stop.status, stop.at, **more))
    return told
