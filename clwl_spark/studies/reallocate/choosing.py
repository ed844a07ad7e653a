"""Waiting messages choose in turn, each alone: routing's own kernel without bindings.

Source: SEMANTICS 8, P22.
"""

import numpy as np
from numpy.typing import NDArray

from clwl_spark.algorithm.choose import NO_KEY, NOT_CHOSEN, Choices, History, Puts, route_in_turn


def choose(
    plan: NDArray[np.int32],
    choices: Choices,
    counter: NDArray[np.int64],
    balance: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Let messages choose, one after the other.

    Args:
        plan: (messages,) index of each one's plan.
        choices: of the plans.
        counter: (1,) choices ever made; changed.
        balance: (channels, 2) the history; changed.

    Returns:
        (messages,) index of the chosen route, or NOT_CHOSEN.
    """
    count = len(plan)
    chosen = np.full(count, NOT_CHOSEN, dtype=np.int64)
    nothing = np.zeros(count, dtype=np.int64)
    route_in_turn(
        Puts(
            plan,
            np.zeros(count, np.int32),
            np.full(count, NO_KEY, np.int32),
            nothing,
            np.arange(count, dtype=np.int64),
        ),
        choices,
        History(
            counter,
            balance,
            np.zeros(1, np.int64),
            np.zeros(1, np.bool_),
            np.full(1, NOT_CHOSEN, np.int64),
            np.zeros(1, np.int64),
        ),
        0,
        chosen,
        np.zeros(count, np.bool_),
    )
    return chosen
