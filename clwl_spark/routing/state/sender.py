"""One queue manager that chooses, message after message of one batch; no Spark.

Source: SEMANTICS 5, 6, C1, P15, P21.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from clwl_spark.algorithm.choose import History, Puts, route_in_turn
from clwl_spark.routing.state.asking import Asks, Balancing, choose_asking
from clwl_spark.routing.state.bucket_plans import BucketPlans
from clwl_spark.routing.state.history import Memory, balance_array

_BEFORE_ALL: Final = -(2**63)


class Sender:
    """A queue manager, with its plans and its memory as arrays."""

    def __init__(
        self, plans: BucketPlans, at: int, memory: Memory, snapshots: Sequence[str]
    ) -> None:
        """Start with the memory of earlier batches.

        Args:
            plans: of the bucket.
            at: place of the queue manager in it.
            memory: of it, changed by `remember`.
            snapshots: all valid snapshots, in order.
        """
        self.newest = _BEFORE_ALL
        self._choices = plans.choices_of(at)
        self.routes = len(self._choices.channel)
        self._memory = memory
        self._snapshots = snapshots
        self._channels = list(dict.fromkeys([*plans.channels_of(at), *memory.balance]))
        self._counter = np.array([memory.counter], dtype=np.int64)
        self._balance = balance_array(memory, self._channels)
        self._brought = np.array([-1], dtype=np.int64)
        pending = [x in plans.resets[at] and x not in memory.brought for x in snapshots]
        self._pending = np.array(pending, dtype=np.bool_)

    @property
    def has_routed(self) -> bool:
        """Whether it has chosen for a message of the batch."""
        return self.newest > _BEFORE_ALL

    def late(self, put_seq: NDArray[np.int64]) -> NDArray[np.bool_]:
        """(messages,) whether each was overtaken: put_seqs, ascending, are routed from here on."""
        highest = self._memory.highest_put_seq
        late = put_seq <= highest
        late[1:] |= put_seq[1:] == put_seq[:-1]
        self._memory.highest_put_seq = max(highest, int(put_seq[-1]))
        return late

    def choose(
        self,
        puts: Puts,
        bound_to: tuple[NDArray[np.int64], NDArray[np.int64]],
        ttl: int,
        chosen: NDArray[np.int64],
        bound: NDArray[np.bool_],
        asks: Asks | None = None,
    ) -> None:
        """Choose for messages in turn.

        Args:
            puts: the messages, in order.
            bound_to: route and time of each binding key, changed in place.
            ttl: `binding_ttl`, microseconds.
            chosen: as `algorithm.choose.route_in_turn`.
            bound: as `algorithm.choose.route_in_turn`.
            asks: who may want other routes; None = nobody.
        """
        self.newest = max(self.newest, int(puts.put_time.max()))
        history = History(self._counter, self._balance, self._brought, self._pending, *bound_to)
        if asks is None:
            route_in_turn(puts, self._choices, history, ttl, chosen, bound)
        else:
            balancing = Balancing(self._choices, history, ttl)
            choose_asking(puts, balancing, asks, chosen, bound)

    def remember(self) -> None:
        """Write the arrays back into the memory; bindings are not here."""
        self._memory.counter = int(self._counter[0])
        self._memory.balance = {
            channel: (number, factor)
            for channel, (number, factor) in zip(
                self._channels, self._balance.tolist(), strict=True
            )
        }
        self._memory.brought.update(self._snapshots[: int(self._brought[0]) + 1])
