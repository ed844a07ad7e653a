"""What messages of a time went to, as it is counted: channels, queues, transmission queues."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from clwl_spark.tables import columns as c

PUTTER: Final = "putter"
_OBJECT: Final = [c.QMGR, c.OBJECT_TYPE, c.OBJECT_NAME, c.REMOTE_QMGR]
_PLAN: Final = [PUTTER, c.PLAN_ID]
_WAY: Final = [c.DEST_QMGR, c.DEST_OBJECT, c.CHANNEL]


@dataclass(frozen=True, slots=True)
class Window:
    """A time, in microseconds since 1970, UTC; its end is not within."""

    start: int
    end: int

    @property
    def micros(self) -> int:
        """Its length."""
        return self.end - self.start

    def has(self, at: pd.Series) -> pd.Series:
        """Which moments are within."""
        return (at >= self.start) & (at < self.end)

    def near(self, at: pd.Series, micros: int) -> pd.Series:
        """Which moments are so close to one of its ends."""
        near_start = (at >= self.start - micros) & (at < self.start + micros)
        return near_start | ((at >= self.end - micros) & (at < self.end + micros))


@dataclass(frozen=True, slots=True)
class Routed:
    """What routing gives, in times between the moments at which counts begin and end.

    Attributes:
        taken: at, qmgr, plan_id, dest_qmgr, dest_object, channel, xmitq, outcomes: so many
            messages put from `at` on, in microseconds; text is blank where nothing is.
        ways: qmgr, plan_id, dest_qmgr, dest_object, channel: the routes of each plan.
        opens: plan_id, first_at, last_at, squares, largest: opens and groups of more than one
            message; `squares` sums (size - 1) * size of them.
        resets: qmgr, at: when a history was reset.
    """

    taken: pd.DataFrame
    ways: pd.DataFrame
    opens: pd.DataFrame
    resets: pd.DataFrame


def attributed_counts(taken: pd.DataFrame) -> pd.DataFrame:
    """What counts each message: its channel, its transmission queue, and the queue it comes to.

    A channel counts it twice: with the queue manager at the other end, and for a count that does
    not name one.

    Grain: one row per object and plan; `outcomes` are the messages, `channels` those that take a
    transmission queue.
    """
    sent = taken[taken[c.CHANNEL] != ""].assign(**{c.OBJECT_TYPE: "CHANNEL"})
    sent = sent.assign(**{c.OBJECT_NAME: sent[c.CHANNEL], c.REMOTE_QMGR: sent[c.DEST_QMGR]})
    queued = taken.assign(**{c.OBJECT_TYPE: "QUEUE", c.REMOTE_QMGR: ""})
    waiting = queued[queued[c.XMITQ] != ""]
    waiting = waiting.assign(**{c.OBJECT_NAME: waiting[c.XMITQ]})
    come = queued[queued[c.DEST_OBJECT] != ""]
    come = come.assign(**{c.OBJECT_NAME: come[c.DEST_OBJECT], "owner": come[c.DEST_QMGR]})
    parts = [sent, sent.assign(**{c.REMOTE_QMGR: ""}), waiting, come]
    rows = pd.concat([x if "owner" in x else x.assign(owner=x[c.QMGR]) for x in parts])
    rows = rows.rename(columns={c.QMGR: PUTTER, "owner": c.QMGR})
    takes = rows[c.CHANNEL].where(rows[c.OBJECT_NAME] == rows[c.XMITQ])
    grouped = rows.assign(takes=takes).groupby([*_OBJECT, *_PLAN], as_index=False)
    return grouped.agg(outcomes=("outcomes", "sum"), channels=("takes", "nunique"))


def of_plans(routed: Routed, window: Window) -> pd.DataFrame:
    """What each plan of a time gives to what counts its messages, and what chance may change.

    Grain: one row per object and plan: outcomes, tried (all messages of the plan), spread (the
    variance if each message chose), open_spread and largest (if each open did), shared (other
    plans of the queue manager share a channel, but not all), was_reset.
    """
    taken = routed.taken[window.has(routed.taken["at"])]
    of_plan = taken.groupby([c.QMGR, c.PLAN_ID], as_index=False).agg(tried=("outcomes", "sum"))
    here = routed.ways.merge(of_plan[[c.QMGR, c.PLAN_ID]], on=[c.QMGR, c.PLAN_ID])
    routes = pd.concat([taken, here.assign(outcomes=0, xmitq="")])
    of_plan = of_plan.merge(_choices(routes), on=[c.QMGR, c.PLAN_ID])
    of_plan = of_plan.merge(_opens(routed.opens, window), on=c.PLAN_ID, how="left")
    of_plan = of_plan.fillna({"squares": 0, "largest": 1})
    resets = routed.resets[window.has(routed.resets["at"])]
    of_plan["was_reset"] = of_plan[c.QMGR].isin(resets[c.QMGR]).astype(int)
    found = attributed_counts(routes).merge(of_plan.rename(columns={c.QMGR: PUTTER}), on=_PLAN)
    # One message added to each side: a route that got nothing might have got some.
    share = (found.outcomes + 1) / (found.tried + 2)
    each = np.where(found.several, share * (1 - share), 0)
    found["spread"] = each * found.tried
    found["open_spread"] = each * (found.tried + found.squares)
    return found


def _choices(routes: pd.DataFrame) -> pd.DataFrame:
    """Whether a plan has several ways, and shares one with a plan that has others.

    Grain: one row per plan.
    """
    ways = routes[[c.QMGR, c.PLAN_ID, *_WAY]].drop_duplicates()
    remote = ways.assign(way=ways[c.DEST_QMGR] + " " + ways[c.CHANNEL])
    remote = remote[remote[c.CHANNEL] != ""]
    sets = remote.groupby([c.QMGR, c.PLAN_ID])["way"].agg(frozenset).rename("those")
    remote = remote.join(sets, on=[c.QMGR, c.PLAN_ID])
    others = remote.groupby([c.QMGR, "way"])["those"].transform("nunique")
    shared = remote.assign(shared=others > 1).groupby([c.QMGR, c.PLAN_ID])["shared"].max()
    several = ways.groupby([c.QMGR, c.PLAN_ID]).size().gt(1).rename("several")
    found = pd.concat([several, shared], axis=1).reset_index()
    return found.assign(shared=found["shared"].eq(other=True).astype(int))


def _opens(opens: pd.DataFrame, window: Window) -> pd.DataFrame:
    """Opens that have messages in a time, by plan."""
    within = opens[(opens.first_at < window.end) & (opens.last_at >= window.start)]
    return within.groupby(c.PLAN_ID, as_index=False).agg(
        squares=("squares", "sum"), largest=("largest", "max")
    )
