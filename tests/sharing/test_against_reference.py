"""The kernel against the plain simulation, on random groups: means agree within their errors."""

import random

import numpy as np
import pytest
from sharing.reference_queue import run_once

from clwl_spark.studies.shared_queue import kernel
from clwl_spark.studies.shared_queue.group import make_group
from clwl_spark.studies.shared_queue.simulation import HOW, as_arrays, seeds_of

CASES = 24
RUNS = 120
FAR = 4.5
"""Standard errors; of some 300 comparisons fewer than one in a hundred tries goes beyond."""


def random_group(seed):
    dice = random.Random(seed)
    names = [f"MQ{at}" for at in range(dice.randint(1, 4))]
    members = [
        {
            "name": name,
            "getters": dice.choice([0, 1, 1, 2, 3]),
            "service_ms": dice.choice([0.5, 2.0, 5.0]),
            "service": dice.choice(["exponential", "fixed"]),
            "busy": dice.choice([0.0, 0.0, 0.5, 0.9]),
            "local_ms": dice.choice([0.0, 0.05, 0.5]),
            "answer_ms": dice.choice([0.1, 0.5]),
        }
        for name in names
    ]
    members[-1]["getters"] += 1
    putters = [
        {
            "queue_manager": dice.choice(names),
            "rate": dice.choice([50.0, 400.0, 2000.0]),
            "arrivals": dice.choice(["poisson", "poisson", "even"]),
            "persistent": dice.choice([0.0, 0.3, 1.0]),
            "syncpoint": dice.choice([0.0, 0.5]),
        }
        for _ in range(dice.randint(1, 3))
    ]
    told = {"queue_managers": members, "putters": putters, "messages": 150, "runs": RUNS}
    return make_group(told | {"seed": seed}, "test")


@pytest.mark.parametrize("seed", range(CASES))
def test_means_agree(seed):
    group = random_group(seed)
    counts, totals = kernel.simulate(as_arrays(group), group.messages, seeds_of(group))
    plain = [run_once(group, 1000 * seed + run) for run in range(RUNS)]
    pairs = {
        "transitions": (totals[:, kernel.TRANSITIONS], [x["transitions"] for x in plain]),
        "waited": (totals[:, kernel.WAITED], [x["waited"] for x in plain]),
        "notifications": (
            counts[:, :, kernel.NOTIFICATIONS].sum(axis=1),
            [x["notifications"] for x in plain],
        ),
    }
    for at, member in enumerate(group.queue_managers):
        for how, name in enumerate(HOW):
            pairs[member.name, name] = (
                counts[:, at, how],
                [x[member.name, name] for x in plain],
            )
    for what, (ours, theirs) in pairs.items():
        error = np.sqrt((np.var(ours) + np.var(theirs)) / RUNS)
        assert abs(np.mean(ours) - np.mean(theirs)) <= FAR * error + 1e-9, what
