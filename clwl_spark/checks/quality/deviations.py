"""Counts that MQ gave against counts that routing gives: which differ by more than chance, and why.

The test: were every choice drawn by lot with the shares that routing gave, a count would differ
from the expected one by more than `room` in one lake of a hundred (Bernstein's inequality, shared
over all counts). MQ takes turns and differs by less, so what is beyond has a cause. To that come
the messages put close to the ends of the time, and administration messages. No Spark here.

Source: SEMANTICS 5 (a history is shared by all objects; C1, reset) and 6 (binding).
"""

import math
from enum import StrEnum
from typing import Final

import numpy as np
import pandas as pd

from clwl_spark.checks.quality.count_attribution import (
    PUTTER,
    Routed,
    Window,
    attributed_counts,
    of_plans,
)
from clwl_spark.tables import columns as c
from clwl_spark.tables.moments import HOUR, SECOND

CHANCE: Final = 0.01
"""How likely it is that any count of a lake is told of though chance alone is at work."""
EDGE_MICROS: Final = 5 * SECOND
"""Time between a put and its count: what is put so close to an end may count on the other side."""
ADMINISTRATION_PER_HOUR: Final = 12.0
"""Messages of the cluster itself on a channel, where idle channels do not say that it is more."""

_IDLE_CHANNELS: Final = 3
_KEY: Final = [c.QMGR, c.OBJECT_TYPE, c.OBJECT_NAME, c.REMOTE_QMGR]


class Cause(StrEnum):
    """What most likely made a count deviate; blank = it does not."""

    NONE = ""
    OTHER_TRAFFIC = "OTHER_TRAFFIC"
    NOT_COUNTED = "NOT_COUNTED"
    BIND_ON_OPEN = "BIND_ON_OPEN"
    RESET = "RESET"
    SHARED_COUNTERS = "SHARED_COUNTERS"
    UNKNOWN = "UNKNOWN"


def compare(counts: pd.DataFrame, routed: Routed) -> pd.DataFrame:
    """Tell what each count was expected to be, and why it is another where it is.

    Grain: one row per count, before and after.

    Args:
        counts: the columns of `observed_counts`, times in microseconds, none of them null.
        routed: what routing gives in those times.

    Returns:
        The counts with `expected`, `tried` (messages that might have come there), `lowest`,
        `highest` (what chance and administration explain) and `cause`.
    """
    level = math.log(2 * max(1, len(counts)) / CHANCE)
    times = counts[["from_time", "to_time"]].drop_duplicates().to_numpy().tolist()
    found = [_of_window(counts, Window(start, end), routed, level) for start, end in times]
    return pd.concat(found, ignore_index=True) if found else _nothing(counts)


def room(variance: pd.Series, largest: pd.Series | int, level: float) -> pd.Series:
    """How far a sum of independent choices may be from its mean.

    Args:
        variance: of the sum.
        largest: the most that one choice adds.
        level: logarithm of how unlikely it is to be farther.
    """
    third = level / 3 * largest
    return third + (third**2 + 2 * level * variance).pow(0.5)


def _of_window(counts: pd.DataFrame, window: Window, routed: Routed, level: float) -> pd.DataFrame:
    """The counts of one time.

    Grain: one row per count of that time.
    """
    plans = of_plans(routed, window)
    counts = counts[(counts.from_time == window.start) & (counts.to_time == window.end)]
    found = counts.merge(_expected(plans), on=_KEY, how="left")
    near = attributed_counts(routed.taken[window.near(routed.taken["at"], EDGE_MICROS)])
    edges = near.groupby(_KEY, as_index=False).agg(edge=("outcomes", "sum"))
    found = found.merge(edges, on=_KEY, how="left")
    numbers = {*found.columns} - {*counts.columns}
    found = found.fillna({**dict.fromkeys(numbers, 0), "largest": 1})
    found["administration"] = _administration(found, window)
    chance = room(found.spread, 1, level)
    above = room(found.spread + found.administration, 1, level)
    found["lowest"] = np.floor(np.maximum(0, found.expected - found.edge - chance))
    found["highest"] = np.ceil(found.expected + found.edge + found.administration + above)
    found["cause"] = _causes(found, _totals(found, plans, level), level)
    return found


def _expected(plans: pd.DataFrame) -> pd.DataFrame:
    """What plans give a counted object.

    Grain: from one row per object and plan to one per object.
    """
    return plans.groupby(_KEY, as_index=False).agg(
        expected=("outcomes", "sum"),
        tried=("tried", "sum"),
        spread=("spread", "sum"),
        open_spread=("open_spread", "sum"),
        largest=("largest", "max"),
        channels=("channels", "max"),
        shared=("shared", "max"),
        was_reset=("was_reset", "max"),
    )


def _administration(found: pd.DataFrame, window: Window) -> pd.Series:
    """Messages of the cluster itself that a count may have, from channels that carry no others.

    A transmission queue has those of each of its channels.
    """
    hours = window.micros / HOUR
    is_channel = found[c.OBJECT_TYPE] == "CHANNEL"
    idle = found[is_channel & (found.tried == 0)].groupby(c.QMGR)["messages"]
    known = idle.median()[idle.size() >= _IDLE_CHANNELS]
    least = ADMINISTRATION_PER_HOUR * hours
    a_channel = np.maximum(found[c.QMGR].map(known).fillna(0).astype(float), least)
    allowed: pd.Series = a_channel * found.channels.where(~is_channel, 1)
    return allowed


def _totals(found: pd.DataFrame, plans: pd.DataFrame, level: float) -> pd.DataFrame:
    """Whether the counts that share messages deviate together, where all of them are there.

    Channels of one queue manager share them, and queues of one name.

    Grain: one row per count, in the order of `found`: above, below.
    """
    is_channel = found[c.OBJECT_TYPE] == "CHANNEL"
    family = found[c.OBJECT_TYPE] + " " + found[c.QMGR].where(is_channel, found[c.OBJECT_NAME])
    counted = plans.merge(found[_KEY].assign(family=family), on=_KEY)
    of_plan = counted.groupby(["family", PUTTER, c.PLAN_ID]).agg(
        here=("outcomes", "sum"), tried=("tried", "first")
    )
    whole = (of_plan.here == of_plan.tried).groupby("family").all()
    sums = found.groupby(family)[["messages", "expected", "edge", "administration"]].sum()
    excess = sums.messages - sums.expected
    more = sums.edge + sums.administration + room(sums.administration, 1, level)
    less = sums.edge + room(sums.administration * 0, 1, level)
    is_whole = family.map(whole).eq(other=True)
    return pd.DataFrame(
        {
            "above": is_whole & family.map(excess > more),
            "below": is_whole & family.map(-excess > less),
        }
    )


def _causes(found: pd.DataFrame, totals: pd.DataFrame, level: float) -> pd.Series:
    """The likeliest cause, what the figures show before what may be."""
    above, below = found.messages > found.highest, found.messages < found.lowest
    of_opens = room(found.open_spread + found.administration, found.largest, level)
    by_opens = (found.messages - found.expected).abs() <= found.edge + found.administration + (
        of_opens
    )
    more_than_all = found.messages > found.tried + found.highest - found.expected
    system = found[c.OBJECT_NAME].str.startswith("SYSTEM.") & (found.tried == 0)
    conditions = [
        ~(above | below) | (system & (found[c.OBJECT_TYPE] == "QUEUE")),
        above & (totals.above | more_than_all),
        below & (totals.below | (found.spread == 0)),
        (found.largest > 1) & by_opens,
        found.was_reset > 0,
        found.shared > 0,
    ]
    names = [
        Cause.NONE,
        Cause.OTHER_TRAFFIC,
        Cause.NOT_COUNTED,
        Cause.BIND_ON_OPEN,
        Cause.RESET,
        Cause.SHARED_COUNTERS,
    ]
    chosen = np.select(conditions, [x.value for x in names], Cause.UNKNOWN.value)
    return pd.Series(chosen, index=found.index)


def _nothing(counts: pd.DataFrame) -> pd.DataFrame:
    """No counts."""
    return counts.assign(expected=0.0, tried=0.0, lowest=0.0, highest=0.0, cause="")
