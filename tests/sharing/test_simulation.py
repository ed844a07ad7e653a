"""Estimates and their intervals."""

import numpy as np
import pytest

from clwl_spark.studies.shared_queue.group import make_group
from clwl_spark.studies.shared_queue.simulation import (
    HOW,
    estimate,
    simulate_group,
    student_quantile,
)

TABLE = {  # Student's distribution, from the usual tables: (probability, freedom) -> quantile
    (0.95, 9): 1.8331,
    (0.975, 9): 2.2622,
    (0.995, 9): 3.2498,
    (0.9995, 9): 4.7809,
    (0.975, 30): 2.0423,
    (0.995, 99): 2.6264,
    (0.975, 1_000_000): 1.95997,
}
GROUP = {
    "queue_managers": [
        {"name": "A", "getters": 1, "busy": 0.6},
        {"name": "B", "getters": 2},
    ],
    "putters": [{"queue_manager": "A", "rate": 400.0, "persistent": 0.5}],
    "messages": 100,
}


@pytest.mark.parametrize(("asked", "quantile"), TABLE.items())
def test_quantiles_are_those_of_the_tables(asked, quantile):
    assert student_quantile(*asked) == pytest.approx(quantile, rel=1e-3)


def test_an_interval_is_centred_on_the_mean_and_vanishes_without_variation():
    values = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0])
    found = estimate(values, 0.95)
    assert found.mean == 5.5
    assert found.high - found.mean == pytest.approx(2.2622 * np.std(values, ddof=1) / 10**0.5, 1e-3)
    assert found.mean - found.low == pytest.approx(found.high - found.mean)
    assert estimate(np.ones(10), 0.99).to_json() == {"mean": 1.0, "low": 1.0, "high": 1.0}


def test_intervals_hold_the_true_share_as_often_as_they_say():
    """Ninety times of a hundred, give or take three standard deviations of such a count."""
    truth = simulate_group(make_group(GROUP | {"runs": 40_000, "seed": 99}, "t")).members[0].share
    tries = 400
    held = 0
    for seed in range(tries):
        told = GROUP | {"runs": 30, "confidence": 0.9, "seed": seed}
        share = simulate_group(make_group(told, "t")).members[0].share
        held += share.low <= truth.mean <= share.high
    assert abs(held - 0.9 * tries) <= 3 * (tries * 0.9 * 0.1) ** 0.5


def test_the_document_adds_up():
    answer = simulate_group(make_group(GROUP | {"runs": 50}, "t")).to_json()
    members = answer["queue_managers"]
    assert sum(x["share"]["mean"] for x in members) == pytest.approx(1)
    assert sum(x["mean"] for x in answer["how"].values()) == pytest.approx(1)
    for how in HOW:
        parts = sum(x["how"][how]["mean"] for x in members)
        assert parts == pytest.approx(answer["how"][how]["mean"])
    told = sum(x["notifications"]["mean"] for x in members)
    assert told == pytest.approx(answer["notifications"]["mean"])
    assert {"transitions", "waited_ms", "deepest", "runs", "seed", "confidence"} <= answer.keys()
