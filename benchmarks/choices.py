"""The kernel alone: nanoseconds a choice among eight routes."""

import time

import numpy as np

from clwl_spark.algorithm.choose import Choices, History, Puts, route_in_turn

ROUTES = 8
PLANS = 10
BEST_OF = 5


def nanoseconds_per_choice(messages: int, *, weighted: bool) -> float:
    """The best of five runs over this many messages, compiled before."""
    puts = Puts(
        plan=np.arange(messages, dtype=np.int32) % PLANS,
        snapshot=np.zeros(messages, dtype=np.int32),
        key=np.full(messages, -1, dtype=np.int32),
        put_time=np.arange(messages, dtype=np.int64),
        first=np.arange(messages, dtype=np.int64),
    )
    return min(_seconds(puts, weighted=weighted) for _ in range(BEST_OF + 1)) / messages * 1e9


def _seconds(puts: Puts, *, weighted: bool) -> float:
    """Seconds of one run from an empty history."""
    messages = puts.plan.shape[0]
    routes = PLANS * ROUTES
    weights = np.arange(10, 10 + routes) if weighted else np.full(routes, 50)
    choices = Choices(
        choice_start=np.arange(PLANS + 1, dtype=np.int32),
        route_start=np.arange(PLANS + 1, dtype=np.int32) * np.int32(ROUTES),
        channel=np.arange(routes, dtype=np.int32) % np.int32(2 * ROUTES),
        weight=weights.astype(np.int64),
        is_local=np.zeros(routes, dtype=np.bool_),
        mruc=np.full(PLANS, 999_999_999, dtype=np.int64),
    )
    history = History(
        counter=np.zeros(1, dtype=np.int64),
        balance=np.zeros((2 * ROUTES, 2), dtype=np.int64),
        brought=np.zeros(1, dtype=np.int64),
        pending=np.zeros(1, dtype=np.bool_),
        key_route=np.zeros(0, dtype=np.int64),
        key_time=np.zeros(0, dtype=np.int64),
    )
    chosen = np.empty(messages, dtype=np.int64)
    bound = np.zeros(messages, dtype=np.bool_)
    start = time.perf_counter()
    route_in_turn(puts, choices, history, 86_400_000_000, chosen, bound)
    return time.perf_counter() - start
