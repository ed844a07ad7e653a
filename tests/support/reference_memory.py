"""What a queue manager remembers, and the choice made with it: SEMANTICS sections 5 and 6.

Choices, where the text can be read in more than one way:
    1. The rows of rule 15 shown (R4) are routes: a row that differs from a route in the cluster
       alone keeps its 0.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from reference_candidates import Candidate, Rows

ChannelKey = tuple[str, str]


@dataclass(slots=True)
class BoundRoute:
    """What an open or a group keeps (P16), and when it was last used."""

    dest_qmgr: str
    dest_object: str
    channel: str | None
    cluster: str | None
    is_local: bool
    last: datetime


def cut_by_rule_15(routes: Rows, numbers: Mapping[ChannelKey, int], most: int) -> Rows:
    """The remote routes beyond L's CLWLMRUC, by a history as it is (rule 15, R4).

    Args:
        routes: of one choice, in route order.
        numbers: `dest_seq_number` by (dest_qmgr, channel); 0 where there is none.
        most: L's CLWLMRUC.
    """
    remote = [route for route in routes if not route.is_local]
    latest_first = sorted(remote, key=lambda r: -numbers.get((r.dest_qmgr, r.channel), 0))
    return latest_first[most:]


@dataclass(slots=True)
class Memory:
    """All that one queue manager remembers from message to message.

    Attributes:
        factor_decided: how often the factor decided among equal weights (R3), against the number.
    """

    counter: int = 0
    numbers: dict[ChannelKey, int] = field(default_factory=dict)
    factors: dict[ChannelKey, int] = field(default_factory=dict)
    brought: set[str] = field(default_factory=set)
    highest_put_seq: int | None = None
    bound: dict[tuple[Any, ...], BoundRoute] = field(default_factory=dict)
    factor_decided: int = 0

    def choose(self, routes: Rows, most: int, *, by_factor: bool = False) -> Candidate:
        """Rule 15 and the balancing (section 5).

        Args:
            routes: of one choice, in route order.
            most: L's CLWLMRUC.
            by_factor: look at the factor whatever the weights are (R3 of edition 2).
        """
        cut = cut_by_rule_15(routes, self.numbers, most)
        kept = [route for route in routes if not any(route is c for c in cut)]
        weighted = any(route.clwlwght != 50 for route in kept)
        chosen = least_used = min(kept, key=self._number)
        if weighted or by_factor:
            chosen = min(kept, key=lambda route: (self._factor(route), self._number(route)))
        self.factor_decided += not weighted and chosen is not least_used
        self.counter += 1
        key = (chosen.dest_qmgr, chosen.channel)
        self.factors[key] = self._factor(chosen) + 1000 // chosen.clwlwght
        self.numbers[key] = self.counter
        return chosen

    def _number(self, route: Candidate) -> int:
        return self.numbers.get((route.dest_qmgr, route.channel), 0)

    def _factor(self, route: Candidate) -> int:
        return self.factors.get((route.dest_qmgr, route.channel), 0)

    def reset(self) -> None:
        """Every factor to 0; numbers and counter stay (C1)."""
        self.factors = dict.fromkeys(self.factors, 0)
