"""The plans of one queue manager as arrays for the kernel, and what each choice means in words.

Source: SEMANTICS 4 (R1, R2), 7, P14, P16, P24.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from clwl_spark import columns as c
from clwl_spark.kernel.choose import NOT_CHOSEN, Choices
from clwl_spark.plan.facts import CURRENT, DEFINITIONS, PLANS, RESETS, ROUTES, SENDERS
from clwl_spark.plan.names import NAME
from clwl_spark.plan.transmit import TransmissionQueues, now
from clwl_spark.routing.history import Route
from clwl_spark.vocabulary import DefBind, ObjectType, PlanKind, Reason

ANSWER_SCHEMA: Final = pa.schema(
    [
        (c.QMGR, pa.string()),
        (c.OBJECT_TYPE, pa.string()),
        (c.OBJECT_NAME, pa.string()),
        (c.OBJECT_QMGR, pa.string()),
        (c.SNAPSHOT_ID, pa.string()),
        (c.PLAN_ID, pa.int64()),
        (c.REASON, pa.int32()),
        (c.DEST_QMGR, pa.string()),
        (c.DEST_OBJECT, pa.string()),
        (c.CHANNEL, pa.string()),
        (c.CLUSTER, pa.string()),
        (c.XMITQ, pa.string()),
        (c.IS_LOCAL, pa.bool_()),
        (c.BOUND, pa.bool_()),
    ]
)
NO_BINDING: Final = 0
BY_OPEN: Final = 1
BY_GROUP: Final = 2
_BIND_DEFAULTS: Final = {
    DefBind.OPEN.value: BY_OPEN,
    DefBind.NOTFIXED.value: NO_BINDING,
    DefBind.GROUP.value: BY_GROUP,
}
_ROUTE_ORDER: Final = (c.DEST_QMGR, c.DEST_OBJECT, c.CHANNEL, c.IS_ALIAS)


@dataclass(frozen=True)
class SenderPlans:
    """The plans of one queue manager.

    Attributes:
        qmgr: the queue manager.
        plans: rows of route_plans, by index.
        index: plan_id -> index of the plan.
        choices: the arrays for the kernel.
        fixed: (choices,) the route where nothing is to choose, or None: then the plan says why.
        channels: (dest_qmgr, channel) by index into the history.
        routes: the routes by index; restored bindings' routes are behind the plans' own.
        snapshot: (plans,) position of the plan's snapshot.
        bind_default: (plans,) NO_BINDING, BY_OPEN or BY_GROUP.
        is_publication: (plans,) publications always choose.
        queues: transmission queues by snapshot_id.
        resets: snapshots that reset the history.
    """

    qmgr: str
    plans: list[dict[str, Any]]
    index: dict[int, int]
    choices: Choices
    fixed: list[Route | None]
    channels: list[tuple[str, str]]
    routes: list[Route]
    snapshot: NDArray[np.int32]
    bind_default: NDArray[np.int8]
    is_publication: NDArray[np.bool_]
    queues: dict[str, TransmissionQueues]
    resets: frozenset[str]

    def answer(self, plan: int, choice: int, route: int, *, bound: bool) -> tuple[Any, ...]:
        """The answer's columns (`ANSWER_SCHEMA`) for a choice that ended at `route`."""
        row = self.plans[plan]
        asked = tuple(row[x] for x in (c.OBJECT_TYPE, c.OBJECT_NAME, c.OBJECT_QMGR))
        head = (self.qmgr, *asked, row[c.SNAPSHOT_ID], row[c.PLAN_ID])
        taken = self.fixed[choice] if route == NOT_CHOSEN else self.routes[route]
        if taken is not None:
            return (*head, Reason.NONE.value, *self._ends(taken, row[c.SNAPSHOT_ID]), bound)
        if row[c.KIND] == PlanKind.XMITQ and row[c.REASON] == 0:
            ends = (row[c.RESOLVED_QMGR], row[c.RESOLVED_OBJECT], None, None, row[c.XMITQ], False)
            return (*head, Reason.NONE.value, *ends, False)
        reason = row[c.REASON] or Reason.NO_DESTINATIONS_AVAILABLE.value
        return (*head, reason, None, None, None, None, None, False, False)

    def _ends(self, route: Route, snapshot_id: str) -> tuple[Any, ...]:
        """dest_qmgr, dest_object, channel, cluster, xmitq, is_local of a route."""
        dest_qmgr, dest_object, channel, cluster, is_local = route
        if is_local:
            return dest_qmgr, dest_object, None, None, None, True
        xmitq = now(channel, dest_qmgr, self.queues[snapshot_id])
        return dest_qmgr, dest_object, channel, cluster, xmitq, False


def read_facts(
    qmgr: str, found: dict[str, Any], snapshots: Sequence[str], bound_routes: Sequence[Route]
) -> SenderPlans:
    """Turn a document of `plan.facts` into arrays.

    Args:
        qmgr: the queue manager.
        found: the document.
        snapshots: all valid snapshots, in order.
        bound_routes: routes of restored bindings.
    """
    plans = found[PLANS]
    index = {row[c.PLAN_ID]: at for at, row in enumerate(plans)}
    senders = {row[c.SNAPSHOT_ID]: row for row in found.get(SENDERS) or ()}
    arranged = _Arranged(qmgr, plans, found.get(ROUTES) or ())
    position = {snapshot: at for at, snapshot in enumerate(snapshots)}
    mruc = [senders[row[c.SNAPSHOT_ID]][c.CLWLMRUC] for row in plans]
    return SenderPlans(
        qmgr=qmgr,
        plans=plans,
        index=index,
        choices=arranged.choices(mruc),
        fixed=arranged.fixed,
        channels=arranged.channels,
        routes=[*arranged.routes, *bound_routes],
        snapshot=np.array([position[row[c.SNAPSHOT_ID]] for row in plans], dtype=np.int32),
        bind_default=np.array([_BIND_DEFAULTS[row[c.BIND_DEFAULT]] for row in plans], np.int8),
        is_publication=np.array([row[c.OBJECT_TYPE] == ObjectType.TOPIC for row in plans], bool),
        queues={key: _queues(row) for key, row in senders.items()},
        resets=frozenset(found.get(RESETS) or ()),
    )


class _Arranged:
    """The routes of all plans in one line, by plan, choice and route order."""

    def __init__(
        self, qmgr: str, plans: list[dict[str, Any]], rows: Sequence[dict[str, Any]]
    ) -> None:
        by_choice: dict[tuple[int, int], list[dict[str, Any]]] = defaultdict(list)
        for row in rows:
            by_choice[row[c.PLAN_ID], row[c.CHOICE]].append(row)
        self.routes: list[Route] = []
        self.fixed: list[Route | None] = []
        self.channels: list[tuple[str, str]] = []
        self._rows: list[dict[str, Any]] = []
        self._choice_start = [0]
        self._route_start = [0]
        for plan in plans:
            for choice in range(plan["choices"]):
                self._add(qmgr, plan, by_choice[plan[c.PLAN_ID], choice])
            self._choice_start.append(len(self.fixed))

    def _add(self, qmgr: str, plan: dict[str, Any], rows: list[dict[str, Any]]) -> None:
        """Add one choice; where only local routes are left nothing is chosen (R2)."""
        rows = sorted(rows, key=lambda row: tuple(row[x] for x in _ROUTE_ORDER))
        fixed: Route | None = None
        if plan[c.KIND] == PlanKind.LOCAL and plan[c.REASON] == 0:
            fixed = (qmgr, plan[c.RESOLVED_OBJECT], "", "", True)
        elif rows and all(row[c.IS_LOCAL] for row in rows):
            fixed = (qmgr, rows[0][c.DEST_OBJECT], "", "", True)
        else:
            self._rows += rows
            self.routes += [_route(row) for row in rows]
        self.fixed.append(fixed)
        self._route_start.append(len(self._rows))

    def choices(self, mruc: Sequence[int]) -> Choices:
        """The arrays; channels get their index in the order they are met."""
        channel_of: dict[tuple[str, str], int] = {}
        channel = [
            channel_of.setdefault((row[c.DEST_QMGR], row[c.CHANNEL]), len(channel_of))
            for row in self._rows
        ]
        self.channels += list(channel_of)
        return Choices(
            choice_start=np.array(self._choice_start, dtype=np.int32),
            route_start=np.array(self._route_start, dtype=np.int32),
            channel=np.array(channel, dtype=np.int32),
            weight=np.array([row[c.CLWLWGHT] for row in self._rows], dtype=np.int64),
            is_local=np.array([row[c.IS_LOCAL] for row in self._rows], dtype=np.bool_),
            mruc=np.array(mruc, dtype=np.int64),
        )


def _route(row: dict[str, Any]) -> Route:
    return (
        row[c.DEST_QMGR],
        row[c.DEST_OBJECT],
        row[c.CHANNEL],
        row[c.CHANNEL_CLUSTER],
        row[c.IS_LOCAL],
    )


def _queues(row: dict[str, Any]) -> TransmissionQueues:
    return TransmissionQueues(
        defclxq=row[c.DEFCLXQ],
        definitions=[(x[NAME], x[c.CLCHNAME]) for x in row.get(DEFINITIONS) or ()],
        current={(x[c.CHANNEL], x[c.REMOTE_QMGR]): x[c.XMITQ] for x in row.get(CURRENT) or ()},
    )
