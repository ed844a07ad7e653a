"""The plans of a bucket's queue managers in one line, as arrays for the kernel and as columns.

All of a bucket's are worked out at once: 5,000 queue managers have 60,000 plans with 480,000
routes, and a row at a time took 4.5 s of a core. Plans lie by queue manager, choices by plan,
routes by choice and in route order.

Source: SEMANTICS 4 (R1, R2), 5, 7, P16.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from clwl_spark.algorithm.choose import Choices
from clwl_spark.algorithm.transmit import TransmissionQueues
from clwl_spark.mq.vocabulary import DefBind, ObjectType, PlanKind
from clwl_spark.planning.facts import (
    BY_FACTOR,
    CHOICES,
    CURRENT,
    CURRENT_COLUMNS,
    DEFINITIONS,
    PLAN_COLUMNS,
    PLANS,
    RESETS,
    ROUTE_COLUMNS,
    ROUTES,
    SENDERS,
    STEPS,
)
from clwl_spark.planning.names import NAME
from clwl_spark.routing.state.history import Route, table_of
from clwl_spark.routing.state.plan_steps import PlanSteps, plan_steps
from clwl_spark.tables import ROUTE_CANDIDATES, ROUTE_PLANS
from clwl_spark.tables import columns as c

NO_BINDING: Final = 0
BY_OPEN: Final = 1
BY_GROUP: Final = 2
_BIND_DEFAULTS: Final = {
    DefBind.OPEN.value: BY_OPEN,
    DefBind.NOTFIXED.value: NO_BINDING,
    DefBind.GROUP.value: BY_GROUP,
}
_PLANS: Final = ROUTE_PLANS.arrow(PLAN_COLUMNS)
_ROUTES: Final = ROUTE_CANDIDATES.arrow(ROUTE_COLUMNS)
_CHOICE: Final = "place of the choice"
_ROUTE_ORDER: Final = (_CHOICE, c.DEST_QMGR, c.DEST_OBJECT, c.CHANNEL, c.IS_ALIAS)
ENDS: Final = ROUTE_CANDIDATES.arrow(
    (c.DEST_QMGR, c.DEST_OBJECT, c.CHANNEL, c.CHANNEL_CLUSTER, c.IS_LOCAL)
)
"""A `history.Route` as columns."""


@dataclass(frozen=True)
class BucketPlans:
    """The plans of several queue managers, one queue manager's behind the other's.

    Attributes:
        qmgrs: (senders,) the queue managers.
        plans: (plans,) rows of route_plans: PLAN_COLUMNS.
        routes: (routes + restored,) rows of ENDS; those of restored bindings are behind all others.
        index: plan_id -> place of the plan.
        sender: (plans,) place of the queue manager.
        first_plan: (senders + 1,) where the plans of each begin.
        first_choice: (plans + 1,) where the choices of each begin.
        first_route: (choices + 1,) where the routes of each begin.
        first_restored: (senders + 1,) where the restored routes of each begin.
        channel: (routes + restored,) number of the queue manager's channel; in the order of
            the routes, so that those of each queue manager follow one another.
        first_channel: (senders + 1,) number of the first channel of each.
        channels: (channels,) dest_qmgr and channel of those that routes without restored ones have.
        weight: (routes,) CLWLWGHT.
        is_local: (routes,) routes over an own CLUSRCVR.
        mruc: (plans,) CLWLMRUC of the queue manager in the plan's snapshot.
        takes: (choices,) dest_object where only local ones are left (R2), which is no choice.
        snapshot: (plans,) position of the plan's snapshot.
        bind_default: (plans,) NO_BINDING, BY_OPEN or BY_GROUP.
        is_publication: (plans,) publications always choose.
        queues: (senders,) transmission queues by snapshot_id.
        resets: (senders,) snapshots that reset the history.
        by_factor: (senders,) whether the factor counts whatever the weights are (R3).
        steps: when other plans take a plan's place.
    """

    qmgrs: list[str]
    plans: pa.Table
    routes: pa.Table
    index: dict[int, int]
    sender: NDArray[np.int32]
    first_plan: NDArray[np.int64]
    first_choice: NDArray[np.int64]
    first_route: NDArray[np.int64]
    first_restored: NDArray[np.int64]
    channel: NDArray[np.int64]
    first_channel: NDArray[np.int64]
    channels: list[tuple[str, str]]
    weight: NDArray[np.int64]
    is_local: NDArray[np.bool_]
    mruc: NDArray[np.int64]
    takes: pa.Array
    snapshot: NDArray[np.int32]
    bind_default: NDArray[np.int8]
    is_publication: NDArray[np.bool_]
    queues: list[dict[str, TransmissionQueues]]
    resets: list[frozenset[str]]
    by_factor: list[bool]
    steps: PlanSteps

    @cached_property
    def copies(self) -> NDArray[np.int32]:
        """(plans,) choices that a message makes."""
        return np.diff(self.first_choice).astype(np.int32)

    @cached_property
    def first_own_route(self) -> NDArray[np.int64]:
        """(senders + 1,) where the routes of each queue manager begin."""
        return self.first_route[self.first_choice[self.first_plan]]

    def choices_of(self, sender: int) -> Choices:
        """The arrays for the kernel: plans, choices, routes and channels count from 0."""
        plans = slice(*self.first_plan[sender : sender + 2])
        choices = slice(*self.first_choice[self.first_plan[sender : sender + 2]])
        routes = slice(*self.first_own_route[sender : sender + 2])
        choice_start = self.first_choice[plans.start : plans.stop + 1] - choices.start
        route_start = self.first_route[choices.start : choices.stop + 1] - routes.start
        return Choices(
            choice_start.astype(np.int32),
            route_start.astype(np.int32),
            (self.channel[routes] - self.first_channel[sender]).astype(np.int32),
            self.weight[routes],
            self.is_local[routes],
            self.mruc[plans],
            self.by_factor[sender],
        )

    def channels_of(self, sender: int) -> list[tuple[str, str]]:
        """(dest_qmgr, channel) by the numbers that `choices_of` has."""
        first, end = self.first_channel[sender : sender + 2]
        return self.channels[first:end]

    def place_of(self, sender: NDArray[np.int32], route: NDArray[np.int64]) -> NDArray[np.int64]:
        """The place of queue managers' routes, own or restored, which the kernel counts from 0."""
        first = self.first_own_route
        own = (first[1:] - first[:-1])[sender]
        restored = self.first_restored[sender] - own
        places: NDArray[np.int64] = route + np.where(route < own, first[:-1][sender], restored)
        return places

    def routes_of(self, sender: NDArray[np.int32], route: NDArray[np.int64]) -> list[Route]:
        """Queue managers' routes, own or restored, which the kernel counts from 0."""
        chosen = self.routes.take(pa.array(self.place_of(sender, route)))
        return list(zip(*(column.to_pylist() for column in chosen.columns), strict=True))


def read_facts(
    documents: Mapping[str, Mapping[str, Any]],
    snapshots: Sequence[str],
    restored: Mapping[str, Sequence[Route]] | None = None,
) -> BucketPlans:
    """Turn documents of `planning.facts` into arrays.

    Args:
        documents: by queue manager, as `planning.facts.read_document` gives them.
        snapshots: all valid snapshots, in order.
        restored: routes of restored bindings, by queue manager.
    """
    plans = _together([x[PLANS] for x in documents.values()], _PLANS)
    rows = _together([x[ROUTES] for x in documents.values()], _ROUTES)
    first_plan = _starts([len(x[PLANS][c.PLAN_ID]) for x in documents.values()])
    sender = np.repeat(np.arange(len(documents), dtype=np.int32), np.diff(first_plan))
    index = {plan_id: at for at, plan_id in enumerate(plans[c.PLAN_ID].to_pylist())}
    first_choice = _starts(plans[CHOICES].to_numpy())
    candidates = _in_route_order(rows, index, first_choice)
    takes, is_kept = _local_only(plans, candidates, first_choice)
    routes = candidates.filter(pa.array(is_kept))
    choice = routes[_CHOICE].to_numpy()
    behind = [(restored or {}).get(qmgr, ()) for qmgr in documents]
    ends = pa.concat_tables(
        [routes.select(ENDS.names), table_of([x for routes in behind for x in routes], ENDS)]
    ).combine_chunks()
    first_restored = _starts([len(x) for x in behind], routes.num_rows)
    of_route = np.repeat(sender, np.diff(first_choice))[choice]
    of_restored = np.repeat(np.arange(len(behind)), np.diff(first_restored))
    channel = _numbered(np.concatenate([of_route, of_restored]), ends)
    names, first_channel = _channels(channel[: routes.num_rows], of_route, ends, len(behind))
    asked = [{row[c.SNAPSHOT_ID]: row for row in x.get(SENDERS) or ()} for x in documents.values()]
    of_snapshot, binds = (plans[x].to_pylist() for x in (c.SNAPSHOT_ID, c.BIND_DEFAULT))
    own = [asked[at][x] for at, x in zip(sender.tolist(), of_snapshot, strict=True)]
    position = {snapshot: at for at, snapshot in enumerate(snapshots)}
    return BucketPlans(
        qmgrs=list(documents),
        plans=plans,
        routes=ends,
        index=index,
        sender=sender,
        first_plan=first_plan,
        first_choice=first_choice,
        first_route=_starts(np.bincount(choice, minlength=int(first_choice[-1]))),
        first_restored=first_restored,
        channel=channel,
        first_channel=first_channel,
        channels=names,
        weight=routes[c.CLWLWGHT].to_numpy().astype(np.int64),
        is_local=np.array(routes[c.IS_LOCAL], dtype=np.bool_),
        mruc=np.array([row[c.CLWLMRUC] for row in own], dtype=np.int64),
        takes=takes,
        snapshot=np.array([position[x] for x in of_snapshot], dtype=np.int32),
        bind_default=np.array([_BIND_DEFAULTS[x] for x in binds], dtype=np.int8),
        is_publication=np.array(pc.equal(plans[c.OBJECT_TYPE], ObjectType.TOPIC.value), np.bool_),
        queues=[{at: _queues(row) for at, row in x.items()} for x in asked],
        resets=[frozenset(x.get(RESETS) or ()) for x in documents.values()],
        by_factor=[bool(x.get(BY_FACTOR)) for x in documents.values()],
        steps=plan_steps([x.get(STEPS) for x in documents.values()], index),
    )


def _together(documents: Sequence[Mapping[str, Sequence[Any]]], schema: pa.Schema) -> pa.Table:
    """The rows of documents that have a list for each column, one document's behind the other's."""
    columns = ([x for document in documents for x in document[name]] for name in schema.names)
    arrays = [pa.array(x, f.type) for x, f in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)


def _starts(counts: Sequence[int] | NDArray[np.integer[Any]], first: int = 0) -> NDArray[np.int64]:
    """(counts + 1,) where each begins, and the end of the last."""
    return np.concatenate([[first], first + np.cumsum(counts, dtype=np.int64)])


def _in_route_order(
    rows: pa.Table, index: Mapping[int, int], first_choice: NDArray[np.int64]
) -> pa.Table:
    """Survivors of the rules with the place of their choice, by it and in route order."""
    plan = np.array([index[x] for x in rows[c.PLAN_ID].to_pylist()], dtype=np.int64)
    choice = first_choice[plan] + rows[c.CHOICE].to_numpy()
    placed = rows.append_column(_CHOICE, pa.array(choice))
    placed = placed.set_column(
        placed.schema.get_field_index(c.IS_ALIAS), c.IS_ALIAS, placed[c.IS_ALIAS].cast(pa.int8())
    )
    return placed.sort_by([(name, "ascending") for name in _ROUTE_ORDER]).combine_chunks()


def _local_only(
    plans: pa.Table,
    rows: pa.Table,
    first_choice: NDArray[np.int64],
) -> tuple[pa.Array, NDArray[np.bool_]]:
    """Where there is nothing to choose, for only local ones are left (R2).

    Returns:
        (choices,) the local object that takes the message, null where one is chosen, and (rows,)
        the routes that are chosen from.
    """
    number = int(first_choice[-1])
    choice = rows[_CHOICE].to_numpy()
    local = np.bincount(choice[np.array(rows[c.IS_LOCAL], np.bool_)], minlength=number)
    count = np.bincount(choice, minlength=number)
    first = np.minimum(_starts(count)[:-1], max(rows.num_rows - 1, 0))
    plan = np.repeat(np.arange(plans.num_rows), np.diff(first_choice))
    is_own = np.array(
        pc.and_(pc.equal(plans[c.KIND], PlanKind.LOCAL.value), pc.equal(plans[c.REASON], 0)),
        np.bool_,
    )[plan]
    is_fixed = is_own | ((count > 0) & (local == count))
    objects = plans[c.RESOLVED_OBJECT].take(pa.array(plan)).combine_chunks()
    if rows.num_rows:
        of_routes = rows[c.DEST_OBJECT].take(pa.array(first))
        objects = pc.if_else(pa.array(is_own), objects, of_routes.combine_chunks())
    nothing = pa.scalar(None, pa.string())
    return pc.if_else(pa.array(is_fixed), objects, nothing), ~is_fixed[choice]


def _numbered(sender: NDArray[np.int64], ends: pa.Table) -> NDArray[np.int64]:
    """(routes,) a number for each (queue manager, dest_qmgr, channel), in the order of the rows."""
    numbers = sender.astype(np.int64)
    for name in (c.DEST_QMGR, c.CHANNEL):
        words = ends[name].combine_chunks().dictionary_encode(null_encoding="encode")
        codes = words.indices.to_numpy().astype(np.int64)
        numbers = pd.factorize(numbers * max(len(words.dictionary), 1) + codes)[0]
    result: NDArray[np.int64] = numbers.astype(np.int64)
    return result


def _channels(
    channel: NDArray[np.int64], sender: NDArray[np.int64], ends: pa.Table, senders: int
) -> tuple[list[tuple[str, str]], NDArray[np.int64]]:
    """(channels,) dest_qmgr and channel of each number; (senders + 1,) the first number of each."""
    first = np.unique(channel, return_index=True)[1]
    met = ends.take(pa.array(first))
    names = list(zip(met[c.DEST_QMGR].to_pylist(), met[c.CHANNEL].to_pylist(), strict=True))
    return names, _starts(np.bincount(sender[first], minlength=senders))


def _queues(row: dict[str, Any]) -> TransmissionQueues:
    current = row.get(CURRENT) or dict.fromkeys(CURRENT_COLUMNS, ())
    return TransmissionQueues(
        defclxq=row[c.DEFCLXQ],
        definitions=[(x[NAME], x[c.CLCHNAME]) for x in row.get(DEFINITIONS) or ()],
        current=dict(
            zip(
                zip(current[c.CHANNEL], current[c.REMOTE_QMGR], strict=True),
                current[c.XMITQ],
                strict=True,
            )
        ),
    )
