"""Which snapshots reset a queue manager's history, as the lake has it, read without Spark.

Source: SEMANTICS C1.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from clwl_spark import columns as c
from clwl_spark.schemas import SNAPSHOT_RESETS
from clwl_spark.spark.materialize import ROWS_HERE
from clwl_spark.storage import Lake

_KEY = (c.QMGR, c.SNAPSHOT_ID, c.PREVIOUS_ID)


def judged_pairs(lake: Lake) -> Mapping[tuple[str, str, str], bool] | None:
    """By queue manager, snapshot and the one before it, whether the snapshot resets its history.

    None where only Spark can tell.
    """
    known = lake.few_in_memory(SNAPSHOT_RESETS.name, most=ROWS_HERE)
    if known is None:
        return None
    keys = zip(*(known[x].to_pylist() for x in _KEY), strict=True)
    return dict(zip(keys, known[c.IS_RESET].to_pylist(), strict=True))


def resets_among(
    lake: Lake, neighbours: Iterable[tuple[str, str]]
) -> Mapping[str, Sequence[str]] | None:
    """By queue manager, the snapshots that reset its history; None where only Spark can tell.

    Args:
        lake: the lake.
        neighbours: snapshots that are looked at, each with the one before it.
    """
    known = judged_pairs(lake)
    if known is None:
        return None
    pairs = set(neighbours)
    found: dict[str, list[str]] = defaultdict(list)
    for (qmgr, snapshot_id, previous_id), is_reset in known.items():
        if is_reset and (snapshot_id, previous_id) in pairs:
            found[qmgr].append(snapshot_id)
    return found
