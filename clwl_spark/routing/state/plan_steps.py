"""Which plan takes another one's place, by the time of the put; and the snapshot of that time.

Source: SEMANTICS S1.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from clwl_spark.planning.facts import STEP_COLUMNS
from clwl_spark.snapshots.catalog import Pin


@dataclass(frozen=True, slots=True)
class PlanSteps:
    """Steps of a bucket's plans, by plan and time.

    Attributes:
        moments: (moments,) the microseconds at which there is a step, ascending.
        code: (steps,) place of the plan, and of the moment from 1 on; ascending.
        to: (steps,) place of the plan from then on.
    """

    moments: NDArray[np.int64]
    code: NDArray[np.int64]
    to: NDArray[np.int32]

    def at(self, plan: NDArray[np.int32], put_time: NDArray[np.int64]) -> NDArray[np.int32]:
        """(messages,) the place of the plan of each, of the place of the one that it asks for."""
        if not len(self.code):
            return plan
        size = len(self.moments) + 1
        asked = plan.astype(np.int64) * size
        asked += np.searchsorted(self.moments, put_time, side="right")
        last = np.searchsorted(self.code, asked, side="right") - 1
        is_own = (last >= 0) & (self.code[last] // size == plan)
        result: NDArray[np.int32] = np.where(is_own, self.to[last], plan)
        return result


def plan_steps(
    documents: Sequence[Mapping[str, Sequence[int]] | None], index: Mapping[int, int]
) -> PlanSteps:
    """Steps as arrays.

    Args:
        documents: STEPS of documents of `planning.facts`; None = there are none.
        index: plan_id -> place of the plan.
    """
    there = [x for x in documents if x is not None]
    plan_id, since, to = ([y for x in there for y in x[name]] for name in STEP_COLUMNS)
    moments = np.unique(np.array(since, dtype=np.int64))
    code = np.array([index[x] for x in plan_id], dtype=np.int64) * (len(moments) + 1)
    code += np.searchsorted(moments, np.array(since, dtype=np.int64)) + 1
    order = np.argsort(code)
    places = np.array([index[x] for x in to], dtype=np.int32)
    return PlanSteps(moments, code[order], places[order])


@dataclass(frozen=True)
class InForce:
    """The snapshots of a run, where some of them share plans.

    Attributes:
        names: of the snapshots.
        since: (snapshots,) microsecond from which each is in force.
    """

    names: pa.Array
    since: NDArray[np.int64]

    def places(self, put_time: NDArray[np.int64]) -> NDArray[np.int32]:
        """(messages,) the place of the snapshot in force."""
        found = np.searchsorted(self.since, put_time, side="right") - 1
        return found.astype(np.int32)

    def words(self, put_time: NDArray[np.int64]) -> pa.DictionaryArray:
        """(messages,) its name."""
        places, codes = np.unique(self.places(put_time), return_inverse=True)
        names = self.names.take(pa.array(places))
        return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), names)


def in_force(pins: Sequence[Pin]) -> InForce | None:
    """By what messages tell their snapshot; None = by their plan, for each has its own."""
    if not any(x.continues for x in pins):
        return None
    names = pa.array([x.snapshot_id for x in pins], pa.string())
    return InForce(names, np.array([x.valid_from for x in pins], dtype=np.int64))
