"""What each rule is called and where it stands: one record a rule, which all else is made from.

Explanations, the report's chart, the SQL view `ladder` and the pages of the docs take their words
and their order from here; `clwl_spark.rules` has the functions.
Source: SEMANTICS 4 (the rules and their order), 5 (rule 15), R1, R3, R4.
"""

from dataclasses import dataclass
from itertools import groupby
from typing import Final

from clwl_spark.mq.vocabulary import Algorithm

EXIT: Final = 100
SAME_ROUTE: Final = 0
RECENTLY_USED: Final = 15
PUT_ENABLED: Final = 5
RESUMED: Final = 7
CONFIGURED: Final = (1, 2, 3, 4, 5, 6)
"""Rules that look at definitions alone: what they take away, no channel's status brings back."""


@dataclass(frozen=True, slots=True)
class LadderRule:
    """A rule by the number that it leaves in `eliminated_by`.

    Attributes:
        number: 1 to 15; 100 = the exit, 0 = one row per route. Plans have no 15: that rule looks
            at the history of the moment.
        v7: its place in the order of `v7`, from 1; the order of `v9` is that of `LADDER`.
        name: what it is called, in two or three words.
        title: what it looks at.
        eliminates: the candidates that it takes away.
        step: what rules that are looked at together are called; "" = it stands alone.
    """

    number: int
    v7: int
    name: str
    title: str
    eliminates: str
    step: str = ""


_STATUS: Final = "channel status"
LADDER: Final = (
    LadderRule(
        1,
        2,
        "shared cluster",
        "clusters that both ends share",
        "in a cluster that the putting queue manager is not in",
    ),
    LadderRule(
        2,
        3,
        "one cluster",
        "channels of the instance's cluster",
        "the channel is in another cluster than the instance",
    ),
    LadderRule(EXIT, 4, "exit", "cluster workload exit", "taken away by the cluster workload exit"),
    LadderRule(
        3,
        6,
        "CLWLRANK of the channel",
        "CLWLRANK of the channel or alias",
        "below the highest CLWLRANK of channels or aliases",
    ),
    LadderRule(
        4,
        7,
        "CLWLRANK of the queue",
        "CLWLRANK of the queue",
        "below the highest CLWLRANK of queues",
    ),
    LadderRule(PUT_ENABLED, 1, "PUT(DISABLED)", "PUT enabled", "put-disabled instances"),
    LadderRule(
        6,
        5,
        "CLWLUSEQ",
        "CLWLUSEQ: the local queue first",
        "remote, where a local instance takes all",
    ),
    LadderRule(
        7,
        8,
        "suspended",
        "queue managers that are not suspended",
        "suspended queue managers, if another one is not",
    ),
    LadderRule(
        8,
        9,
        "status: active",
        "channel status: INACTIVE or RUNNING",
        "others than INACTIVE and RUNNING",
        _STATUS,
    ),
    LadderRule(
        9,
        10,
        "status: starting",
        "channel status: starting",
        "below BINDING, INITIALIZING, STARTING, STOPPING",
        _STATUS,
    ),
    LadderRule(10, 11, "status: RETRYING", "channel status: RETRYING", "below RETRYING", _STATUS),
    LadderRule(
        11,
        12,
        "status: stopped",
        "channel status: stopped",
        "below REQUESTING, PAUSED, STOPPED, SWITCHING",
        _STATUS,
    ),
    LadderRule(12, 13, "NETPRTY", "NETPRTY", "below the highest NETPRTY to that queue manager"),
    LadderRule(
        13,
        14,
        "CLWLPRTY of the channel",
        "CLWLPRTY of the channel or alias",
        "below the highest CLWLPRTY of channels or aliases",
    ),
    LadderRule(
        14,
        15,
        "CLWLPRTY of the queue",
        "CLWLPRTY of the queue",
        "below the highest CLWLPRTY of queues",
    ),
    LadderRule(
        SAME_ROUTE,
        16,
        "same route",
        "one row per route",
        "the same route through another cluster",
    ),
    LadderRule(
        RECENTLY_USED,
        17,
        "recently used",
        "CLWLMRUC: the most recently used channels",
        "remote, beyond the CLWLMRUC most recently used routes",
    ),
)
"""The rules in the order of `v9`."""
BY_NUMBER: Final = {rule.number: rule for rule in LADDER}


def _steps(rules: tuple[LadderRule, ...]) -> tuple[tuple[int, ...], ...]:
    steps = groupby(rules, key=lambda rule: rule.step or rule.number)
    return tuple(tuple(rule.number for rule in step) for _, step in steps)


ORDER: Final[dict[Algorithm, tuple[tuple[int, ...], ...]]] = {
    Algorithm.V9: _steps(LADDER),
    Algorithm.V7: _steps(tuple(sorted(LADDER, key=lambda rule: rule.v7))),
}
"""Numbers of `eliminated_by` in the order of the rules; one step may give one of several."""


def numbers_in_order(algorithm: Algorithm) -> list[int]:
    """The numbers of all rules, one after the other."""
    return [number for numbers in ORDER[algorithm] for number in numbers]


def later_than_put_enabled(algorithm: Algorithm) -> tuple[int, ...]:
    """Rules that a choice in which rule 5 left nothing cannot have seen: it then ends with 2268."""
    numbers = numbers_in_order(algorithm)
    after = numbers[numbers.index(PUT_ENABLED) + 1 :]
    return tuple(sorted(x for x in after if x != SAME_ROUTE))


def as_sql_values() -> str:
    """Rows of SQL: (number, place in `v9`, place in `v7`, name, what it eliminates)."""
    rows = (
        f"({x.number}, {place}, {x.v7}, '{x.name}', '{x.eliminates}')"
        for place, x in enumerate(LADDER, 1)
    )
    return ",\n    ".join(rows)
