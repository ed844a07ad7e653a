"""Which snapshots reset a queue manager's history, as the lake has it.

Source: SEMANTICS C1.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from clwl_spark.delta.lake import Lake
from clwl_spark.tables import SNAPSHOT_RESETS
from clwl_spark.tables import columns as c

_KEY = (c.QMGR, c.SNAPSHOT_ID, c.PREVIOUS_ID)


def judged_pairs(lake: Lake) -> Mapping[tuple[str, str, str], bool]:
    """By queue manager, snapshot and the one before it, whether the snapshot resets its history."""
    known = lake.in_memory(SNAPSHOT_RESETS.name)
    keys = zip(*(known[x].to_pylist() for x in _KEY), strict=True)
    return dict(zip(keys, known[c.IS_RESET].to_pylist(), strict=True))


def resets_among(lake: Lake, neighbours: Iterable[tuple[str, str]]) -> Mapping[str, Sequence[str]]:
    """By queue manager, the snapshots that reset its history.

    Args:
        lake: the lake.
        neighbours: snapshots that are looked at, each with the one before it.
    """
    pairs = set(neighbours)
    found: dict[str, list[str]] = defaultdict(list)
    for (qmgr, snapshot_id, previous_id), is_reset in judged_pairs(lake).items():
        if is_reset and (snapshot_id, previous_id) in pairs:
            found[qmgr].append(snapshot_id)
    return found
