"""Chances against walking: many messages sent on at random."""

import math
import random

import pytest

from clwl_spark.studies.trace.chances import chances


def test_shares_are_multiplied_along_the_way():
    found = chances([{1: 0.8, 2: 0.2}, {3: 0.5}, {3: 1.0}, {}])
    assert found.visits == [1.0, 0.8, 0.2, 0.6]
    assert found.loops == []


def test_a_loop_with_a_way_out_is_summed_over_all_rounds():
    found = chances([{1: 0.5, 2: 0.5}, {2: 0.5, 3: 0.5}, {1: 0.5, 3: 0.5}, {}])
    assert found.visits == pytest.approx([1, 1, 1, 1])
    assert [(x.places, x.share, x.is_closed) for x in found.loops] == [((1, 2), 1.0, False)]


def test_a_closed_loop_keeps_what_comes_in():
    found = chances([{1: 0.25, 3: 0.75}, {2: 1.0}, {1: 1.0}, {}])
    assert found.visits[3] == 0.75
    assert math.isinf(found.visits[1])
    assert [(x.places, x.share, x.is_closed) for x in found.loops] == [((1, 2), 0.25, True)]


def test_a_place_that_leads_to_itself_is_a_loop():
    found = chances([{0: 0.5, 1: 0.5}, {}])
    assert found.visits == pytest.approx([2, 1])
    assert found.loops[0].places == (0,)


def test_a_loop_behind_a_loop_is_another_one():
    found = chances([{1: 1.0}, {0: 0.5, 2: 0.5}, {3: 1.0}, {2: 0.9}])
    assert [x.places for x in found.loops] == [(0, 1), (2, 3)]
    assert found.loops[1].share == pytest.approx(1)
    assert 0.1 * found.visits[3] == pytest.approx(1)


@pytest.mark.parametrize("seed", range(30))
def test_random_graphs_end_where_walking_ends(seed):
    rng = random.Random(seed)
    size = rng.randint(2, 8)
    ways = []
    for _ in range(size):
        others = rng.sample(range(size), rng.randint(0, min(3, size)))
        cut = sorted(rng.random() for _ in others)
        ways.append({to: b - a for to, a, b in zip(others, [0, *cut], cut, strict=False)})
    found = chances(ways)
    counted = [0] * size
    walks = 3000
    for _ in range(walks):
        place = 0
        while place is not None:
            counted[place] += 1
            throw = rng.random()
            for to, share in ways[place].items():
                throw -= share
                if throw < 0:
                    place = to
                    break
            else:
                place = None
    for visits, count in zip(found.visits, counted, strict=True):
        assert visits == pytest.approx(count / walks, abs=0.05 + 0.1 * visits)
    assert bool(found.loops) == any(at in _reached(ways, at) for at in _reached(ways, 0) | {0})


def _reached(ways, start):
    found, waiting = set(), list(ways[start])
    while waiting:
        place = waiting.pop()
        if place not in found:
            found.add(place)
            waiting += ways[place]
    return found
