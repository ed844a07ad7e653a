"""Binding keys as integers: which messages share one choice.

Source: SEMANTICS 6, P15.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import compress

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from clwl_spark.algorithm.choose import NO_KEY, NOT_CHOSEN
from clwl_spark.routing.state.bucket_plans import BY_GROUP, BY_OPEN, NO_BINDING, BucketPlans
from clwl_spark.routing.state.history import Key, Memory, Route
from clwl_spark.tables import columns as c

_EFFECTIVE = np.array([NO_BINDING, BY_OPEN, NO_BINDING, BY_GROUP], dtype=np.int8)
_GROWTH = 1024


@dataclass(frozen=True, slots=True)
class BindingRules:
    """What messages are bound by, beside what each of them asks for.

    Attributes:
        ttl: `binding_ttl`, microseconds.
        shares_null_opens: messages put ON_OPEN without an open_id share one open, which is kept;
            else each is an open of its own.
    """

    ttl: int
    shares_null_opens: bool = False


@dataclass
class Bindings:
    """All binding keys that a bucket's queue managers have or get in a batch.

    Attributes:
        plans: of the queue managers.
        shares_null_opens: see `BindingRules`.
        keys: (queue manager's place, *Key) -> index.
        route: (at least len(keys),) bound route, NOT_CHOSEN where not bound.
        time: (at least len(keys),) greatest put_time, microseconds.
    """

    plans: BucketPlans
    shares_null_opens: bool = False
    keys: dict[tuple[int, bool, int | bytes | None, str, str], int] = field(default_factory=dict)
    route: NDArray[np.int64] = field(
        default_factory=lambda: np.full(_GROWTH, NOT_CHOSEN, dtype=np.int64)
    )
    time: NDArray[np.int64] = field(default_factory=lambda: np.zeros(_GROWTH, dtype=np.int64))

    def __post_init__(self) -> None:
        """Number what plans are asked for: (queue manager's place, object_name, object_qmgr)."""
        requests: dict[tuple[int, str, str], int] = {}
        names = (self.plans.plans[x].to_pylist() for x in (c.OBJECT_NAME, c.OBJECT_QMGR))
        asked = zip(self.plans.sender.tolist(), *names, strict=True)
        codes = [requests.setdefault(request, len(requests)) for request in asked]
        self._request_of_plan = np.array(codes, dtype=np.int64)
        self._asked = list(requests)
        routes = np.diff(self.plans.first_route[self.plans.first_choice])
        self._has_several = routes > 1

    def restore(self, sender: int, memory: Memory, first_route: int) -> None:
        """Take up a queue manager's bindings; their routes begin at `first_route`."""
        first = len(self.keys)
        self._grow(first + len(memory.bindings))
        for at, (key, (_, put_time)) in enumerate(memory.bindings.items()):
            self.keys[sender, *key] = first + at
            self.route[first + at] = first_route + at
            self.time[first + at] = put_time

    def key_of(self, keys: pa.Table, plan: NDArray[np.int32]) -> tuple[NDArray[np.int32], int]:
        """The key index of each message, NO_KEY where it always chooses.

        Args:
            keys: keys of a block.
            plan: (messages,) index of each message's plan.

        Returns:
            (messages,) the key indexes; and how many messages with several routes are put ON_OPEN
            and are opens of their own, since they name none.
        """
        asked = keys[c.BIND].to_numpy()
        kind = np.where(asked == 0, self.plans.bind_default[plan], _EFFECTIVE[asked])
        kind[self.plans.is_publication[plan]] = NO_BINDING
        opens = (kind == BY_OPEN) & self._has_several[plan]
        own_opens = int(np.count_nonzero(opens))
        result = np.full(len(plan), NO_KEY, dtype=np.int32)
        for by, name in ((BY_OPEN, c.OPEN_ID), (BY_GROUP, c.GROUP_ID)):
            ids = keys[name].combine_chunks()
            takes_null = by == BY_OPEN and self.shares_null_opens
            if ids.null_count == len(ids) and not takes_null:
                continue
            bound = kind == by
            if not takes_null:
                bound &= ids.is_valid().to_numpy(zero_copy_only=False)
            if bound.any():
                own_opens -= int(np.count_nonzero(bound & opens))
                result[bound] = self._indexes(by, ids, plan, bound)
        return result, own_opens

    def _indexes(
        self, by: int, ids: pa.Array, plan: NDArray[np.int32], bound: NDArray[np.bool_]
    ) -> NDArray[np.int64]:
        """Key indexes of the bound messages; new keys get the next ones, null is an id like any."""
        null = len(ids.dictionary)
        local = ids.indices.fill_null(null).to_numpy()[bound].astype(np.int64)
        requests = self._request_of_plan[plan[bound]]
        codes, unique = pd.factorize(local * len(self._asked) + requests)
        values = [*ids.dictionary.to_pylist(), None]
        indexes = np.empty(len(unique), dtype=np.int64)
        for at, combined in enumerate(unique.tolist()):
            of, request = divmod(combined, len(self._asked))
            sender, name, qmgr = self._asked[request]
            key = (sender, by == BY_GROUP, values[of], name, qmgr)
            indexes[at] = self.keys.setdefault(key, len(self.keys))
        self._grow(len(self.keys))
        return indexes[codes]

    def _grow(self, size: int) -> None:
        """Make room for `size` keys."""
        if size > len(self.route):
            more = max(size, 2 * len(self.route)) - len(self.route)
            self.route = np.append(self.route, np.full(more, NOT_CHOSEN, dtype=np.int64))
            self.time = np.append(self.time, np.zeros(more, dtype=np.int64))

    def remaining(self, oldest: Sequence[int]) -> list[dict[Key, tuple[Route, int]]]:
        """By queue manager, the bound keys whose last message is not before its `oldest`."""
        found: list[dict[Key, tuple[Route, int]]] = [{} for _ in oldest]
        least = [max(x, np.iinfo(np.int64).min) for x in oldest]
        size = len(self.keys)
        sender = np.fromiter((key[0] for key in self.keys), np.int32, size)
        route, time = self.route[:size], self.time[:size]
        is_kept = (route != NOT_CHOSEN) & (time >= np.array(least)[sender])
        routes = self.plans.routes_of(sender[is_kept], route[is_kept])
        keys = compress(self.keys, is_kept.tolist())
        bound = zip(routes, time[is_kept].tolist(), strict=True)
        for (at, by_group, of, name, qmgr), kept in zip(keys, bound, strict=True):
            found[at][by_group, of, name, qmgr] = kept
        return found
