"""Weights against all weights that there are."""

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clwl_spark.algorithm.weights import nearest_weights

STEPS = sorted({1000 // weight for weight in range(1, 100)})


def error(wanted, channels, steps):
    """How far the best served host is ahead of the worst served one."""
    got = [Fraction(n, step * x) for x, n, step in zip(wanted, channels, steps, strict=True)]
    return max(got) / min(got) - 1


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 200), st.integers(1, 3)), min_size=2, max_size=2))
def test_no_weights_come_nearer(hosts):
    wanted, channels = zip(*hosts, strict=True)
    found = nearest_weights(wanted, channels)
    assert all(1 <= weight <= 99 for weight in found.weights)
    assert found.error == error(wanted, channels, [1000 // x for x in found.weights])
    every = product(STEPS, repeat=len(wanted))
    assert found.error == min(error(wanted, channels, steps) for steps in every)


@pytest.mark.parametrize(
    ("wanted", "weights"),
    [((1, 1, 1), (50, 50, 50)), ((2, 1), (50, 25)), ((1, 1000), (1, 91)), ((7,), (50,))],
)
def test_what_is_asked_for_most(wanted, weights):
    assert nearest_weights(wanted, [1] * len(wanted)).weights == weights


def test_two_channels_to_one_host_count_twice():
    found = nearest_weights((1, 1), (2, 1))
    assert found.error == 0
    assert 1000 // found.weights[0] == 2 * (1000 // found.weights[1])
