"""Shares of requests that share one history, against the plain rules of SEMANTICS 5."""

import random
from collections import Counter
from fractions import Fraction
from itertools import pairwise

import pytest

from clwl_spark.algorithm.shares import Route, long_run_shares
from clwl_spark.studies.shares.mix import MixShares, Stream, mixed_shares

ALL = 999_999_999


def far(qmgr, weight=50, channel=""):
    return Route(qmgr, channel or f"TO.{qmgr}", is_local=False, clwlwght=weight)


def near(weight=50):
    return Route("ME", "TO.ME", is_local=True, clwlwght=weight)


class Plain:
    """A queue manager that puts a period of messages over and over, as SEMANTICS 5 says."""

    def __init__(self, streams, mruc):
        self.streams = streams
        self.mruc = mruc
        places = [
            (Fraction(2 * k + 1, 2 * stream.messages), at)
            for at, stream in enumerate(streams)
            for k in range(stream.messages)
        ]
        self.period = [at for _, at in sorted(places)]
        self.counter = 0
        self.number = Counter()
        self.factor = Counter()

    def choose(self, routes):
        remote = [at for at, route in enumerate(routes) if not route.is_local]
        latest = sorted(remote, key=lambda at: (-self.number[routes[at].key], at))[: self.mruc]
        kept = [at for at, route in enumerate(routes) if route.is_local or at in latest]
        weighted = any(routes[at].clwlwght != 50 for at in kept)
        factors = {at: self.factor[routes[at].key] if weighted else 0 for at in kept}
        chosen = min(kept, key=lambda at: (factors[at], self.number[routes[at].key], at))
        self.counter += 1
        self.number[routes[chosen].key] = self.counter
        self.factor[routes[chosen].key] += 1000 // routes[chosen].clwlwght
        return chosen

    def put(self, periods):
        """How often each (request, route) is chosen."""
        return Counter(
            (at, self.choose(self.streams[at].routes)) for _ in range(periods) for at in self.period
        )

    def state(self):
        """All that later choices depend on: the order of the numbers, factors from the least."""
        routes = {route.key: route for stream in self.streams for route in stream.routes}
        keys = sorted(routes)
        ordered = sorted(set(self.number.values()))
        numbers = [ordered.index(self.number[x]) if x in self.number else -1 for x in keys]
        if all(route.clwlwght == 50 for route in routes.values()):
            return tuple(numbers)
        least = min(self.factor[key] for key in keys)
        return (*numbers, *(self.factor[key] - least for key in keys))

    def repeating(self, most):
        """Counts of what repeats for ever; none where it does not within `most` periods."""
        seen, counts = {}, Counter()
        for _ in range(most):
            state = self.state()
            if state in seen:
                return counts - seen[state]
            seen[state] = counts.copy()
            counts += self.put(1)
        return None


def shares_of(counts, streams):
    """Counts as shares of each request's own messages."""
    found = []
    for at, stream in enumerate(streams):
        own = [counts[at, route] for route in range(len(stream.routes))]
        found.append([Fraction(count, sum(own)) for count in own])
    return found


def farthest(shares, others):
    return max(
        abs(float(x - y))
        for own, other in zip(shares, others, strict=True)
        for x, y in zip(own, other, strict=True)
    )


def random_mix(rng, weights):
    """Two to four requests that choose among some of the same channels."""
    plain = rng.random() < 0.25
    channels = [
        far(f"Q{q}", 50 if plain or rng.random() < 0.4 else rng.choice(weights), f"TO.Q{q}.{n}")
        for q in range(rng.randint(2, 4))
        for n in range(rng.choice((1, 1, 2)))
    ]
    if rng.random() < 0.3:
        channels.append(near(50 if plain else rng.choice(weights)))
    streams = []
    for _ in range(rng.randint(2, 4)):
        some = rng.sample(channels, rng.randint(1, len(channels)))
        routes = sorted(some, key=lambda route: route.key)
        if not routes[0].is_local or len(routes) > 1:
            streams.append(Stream(routes, rng.randint(1, 5)))
    return streams, rng.choice((1, 2, 3, ALL, ALL))


def test_random_mixes_that_repeat_are_exact():
    rng, exact = random.Random(20240507), 0
    for _ in range(200):
        streams, mruc = random_mix(rng, (10, 20, 25, 40, 80))
        repeated = Plain(streams, mruc).repeating(120) if streams else None
        if repeated is None:
            continue
        expected = MixShares(shares_of(repeated, streams), is_exact=True)
        assert mixed_shares(streams, mruc) == expected, (streams, mruc)
        exact += 1
    assert exact > 30


def test_other_random_mixes_come_close_in_the_long_run():
    """Where factors drift apart no state comes twice, though the choices repeat."""
    rng, drifting = random.Random(20240508), 0
    while drifting < 40:
        streams, mruc = random_mix(rng, (10, 20, 25, 40, 80))
        if not streams or Plain(streams, mruc).repeating(60) is not None:
            continue
        plain = Plain(streams, mruc)
        plain.put(200)
        found = mixed_shares(streams, mruc)
        assert found.is_exact
        assert [sum(own) for own in found.shares] == [1] * len(streams)
        counted = shares_of(plain.put(1_500), streams)
        assert farthest(found.shares, counted) < 2.5e-3, (streams, mruc)
        drifting += 1


def test_one_request_alone_has_the_shares_of_the_formula():
    rng = random.Random(20240509)
    for _ in range(100):
        streams, mruc = random_mix(rng, (10, 20, 25, 40, 80))
        for stream in streams[:1]:
            found = mixed_shares([stream], mruc)
            assert found == MixShares([long_run_shares(stream.routes, mruc)], is_exact=True)


LONG_CYCLES = {
    "few": (3, 7, 11, 13, 17, 19),
    "many": (1, 3, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43),
}


@pytest.mark.parametrize("weights", LONG_CYCLES.values(), ids=LONG_CYCLES)
def test_shares_that_do_not_repeat_soon_are_counted_and_close(weights):
    """Requests for all channels and for the heavier half of them: factors stay side by side."""
    routes = [far(f"Q{at:02d}", weight) for at, weight in enumerate(weights)]
    half = len(routes) // 2
    found = mixed_shares([Stream(routes, 3), Stream(routes[half:], 1)], ALL)
    assert not found.is_exact
    together = [3 * share for share in found.shares[0]]
    together[half:] = [x + y for x, y in zip(together[half:], found.shares[1], strict=True)]
    of_all = [[share / 4 for share in together]]
    assert farthest(of_all, [long_run_shares(routes, ALL)]) < 1e-3


def test_a_request_for_one_channel_takes_its_turns_from_the_others():
    """A is used by the request for A alone, so that the other one goes to B until they are even."""
    routes = [far("A"), far("B")]
    found = mixed_shares([Stream(routes, 1), Stream(routes[:1], 1)], ALL)
    assert found == MixShares([[Fraction(0), Fraction(1)], [Fraction(1)]], is_exact=True)


def test_weights_have_an_effect_on_requests_that_take_turns():
    """The heavier channel C lags behind: its factor grows by 12, that of A by 20."""
    turns, weighted = [far("A"), far("B")], [far("A"), far("C", 80)]
    found = mixed_shares([Stream(turns, 1), Stream(weighted, 1)], ALL)
    plain = Plain([Stream(turns, 1), Stream(weighted, 1)], ALL)
    plain.put(500)
    counted = shares_of(plain.put(1_800), plain.streams)
    assert farthest(found.shares, counted) < 1e-3
    assert found.shares[1] != long_run_shares(weighted, ALL)


def test_messages_of_a_request_are_spread_over_the_period():
    """Three to A or B, one to A or C: turns as they fall, not three and then one."""
    streams = [Stream([far("A"), far("B")], 3), Stream([far("A"), far("C")], 1)]
    plain = Plain(streams, ALL)
    assert plain.period == [0, 0, 1, 0]
    assert mixed_shares(streams, ALL).shares == shares_of(plain.repeating(50), streams)


def test_clwlmruc_keeps_channels_that_another_request_used_last():
    """Of A, B, C one is kept: C, since the other request uses it all the time."""
    every, last = [far("A"), far("B"), far("C")], [far("C")]
    found = mixed_shares([Stream(every, 1), Stream(last, 5)], 1)
    assert found.shares[0] == [0, 0, 1]
    assert mixed_shares([Stream(every, 1)], 1).shares[0] == [1, 0, 0]


def test_the_local_queue_is_neither_counted_nor_cut_by_clwlmruc():
    routes = [near(), far("A"), far("B")]
    found = mixed_shares([Stream(routes, 1), Stream(routes[1:], 1)], 1)
    assert found.shares == [[1, 0, 0], [1, 0]]
    assert found.is_exact


@pytest.mark.parametrize("scale", [2, 10])
def test_only_the_proportions_of_messages_count(scale):
    streams = [Stream([far("A"), far("B", 20)], 3), Stream([far("B", 20), far("C")], 2)]
    larger = [Stream(x.routes, x.messages * scale) for x in streams]
    assert mixed_shares(larger, ALL) == mixed_shares(streams, ALL)


def test_no_requests_have_no_shares():
    assert mixed_shares([], ALL) == MixShares([], is_exact=True)


def test_the_plain_period_is_even():
    period = Plain([Stream([far("A")], 4), Stream([far("B")], 2)], ALL).period
    gaps = [y - x for x, y in pairwise([at for at, of in enumerate(period) if of == 0])]
    assert max(gaps) <= 2
