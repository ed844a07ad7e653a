"""Long-run shares against the kernel's own choices."""

import random
from fractions import Fraction

import numpy as np
import pytest

from clwl_spark.algorithm.choose import NO_KEY, Choices, History, Puts, route_in_turn
from clwl_spark.algorithm.shares import Route, long_run_shares

ALL = 999_999_999


def far(qmgr, weight=50, channel=""):
    return Route(qmgr, channel or f"TO.{qmgr}", is_local=False, clwlwght=weight)


def near(channel="TO.ME", weight=50):
    return Route("ME", channel, is_local=True, clwlwght=weight)


def counted(routes, mruc, messages):
    """How often the kernel chooses each route, from an empty history."""
    keys = {}
    channel = [keys.setdefault(route.key, len(keys)) for route in routes]
    choices = Choices(
        choice_start=np.array([0, 1], np.int32),
        route_start=np.array([0, len(routes)], np.int32),
        channel=np.array(channel, np.int32),
        weight=np.array([route.clwlwght for route in routes], np.int64),
        is_local=np.array([route.is_local for route in routes], np.bool_),
        mruc=np.array([mruc], np.int64),
    )
    zeros = np.zeros(messages, np.int32)
    times = np.zeros(messages, np.int64)
    puts = Puts(
        zeros,
        zeros,
        np.full(messages, NO_KEY, np.int32),
        times,
        np.arange(messages, dtype=np.int64),
    )
    one, none = np.zeros(1, np.int64), np.zeros(0, np.int64)
    balance = np.zeros((len(keys), 2), np.int64)
    history = History(one.copy(), balance, one.copy(), np.zeros(1, np.bool_), none, none)
    chosen = np.full(messages, -1, np.int64)
    route_in_turn(puts, choices, history, 0, chosen, np.zeros(messages, np.bool_))
    return np.bincount(chosen, minlength=len(routes)) / messages


@pytest.mark.parametrize(
    ("routes", "mruc", "shares"),
    [
        ([far("A", 20), far("B", 50), far("C", 30)], ALL, ["66/331", "165/331", "100/331"]),
        ([near(f"TO.ME.{n}") for n in range(4)] + [far("Z")], ALL, ["1/5"] * 5),
        ([near("A"), near("B", 99)], 1, ["1", "0"]),
        ([far("A"), far("B"), far("C"), near()], 2, ["1/3", "1/3", "0", "1/3"]),
        ([far("A"), far("B"), far("C", 99)], 2, ["1/2", "1/2", "0"]),
        ([far("A"), far("A"), far("B")], ALL, ["1/2", "0", "1/2"]),
        ([far("A", 99), far("B", 1)], ALL, ["100/101", "1/101"]),
        ([], 1, []),
    ],
)  # fmt: skip
def test_shares_that_can_be_worked_out_by_hand(routes, mruc, shares):
    assert long_run_shares(routes, mruc) == [Fraction(share) for share in shares]


def random_routes(rng, shared):
    """Routes in route order; where `shared`, some channels serve two."""
    routes = []
    plain = rng.random() < 0.3
    for number in range(rng.randint(1, 4)):
        local = number == 0 and rng.random() < 0.4
        for channel in range(rng.randint(1, 3)):
            weight = 50 if plain or rng.random() < 0.6 else rng.choice([1, 5, 10, 20, 80, 99])
            again = shared and not local and rng.random() < 0.4
            routes += [Route(f"Q{number}", f"C{channel}", local, weight)] * (2 if again else 1)
    return routes


@pytest.mark.parametrize(
    ("cases", "shared", "messages", "close"),
    [(4000, False, 4000, 0.006), (150, True, 20_000, 0.006)],
)
def test_shares_are_those_of_the_kernel_in_random_cases(cases, shared, messages, close):
    rng = random.Random(20240506)
    for _ in range(cases):
        routes = random_routes(rng, shared)
        if all(route.is_local for route in routes):
            continue
        mruc = rng.choice([1, 2, 3, 4, ALL])
        shares = long_run_shares(routes, mruc)
        assert sum(shares) == 1
        found = counted(routes, mruc, messages)
        assert max(abs(float(s) - f) for s, f in zip(shares, found, strict=True)) < close, routes
