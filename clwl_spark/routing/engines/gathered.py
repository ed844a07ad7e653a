"""What the parts of a batch come to together, wherever they were packed and routed."""

from collections import defaultdict
from collections.abc import Iterable

import pyarrow as pa

from clwl_spark.algorithm.request import Request
from clwl_spark.routing.engines.tasks import (
    Packed,
    Routed,
)
from clwl_spark.routing.intake.by_arrow import SPLIT_ROW, duplicate_rows
from clwl_spark.routing.intake.splits import Split
from clwl_spark.routing.plans.plan_maker import by_plan_id


def memories_of(routed: Iterable[Routed]) -> dict[str, bytes]:
    """What the queue managers that routed remember after it, by their names."""
    return {qmgr: memory for one in routed for qmgr, memory in one.memories.items()}


def duplicates_of(routed: Iterable[Routed]) -> list[pa.Table]:
    """(duplicates,) The messages that are set aside because they were routed before, by split."""
    rows: dict[str, list[pa.Table]] = defaultdict(list)
    for one in routed:
        for split, found in one.duplicates.items():
            rows[split] += found
    return [
        duplicate_rows(Split.named(split), pa.concat_tables(found)[SPLIT_ROW])
        for split, found in sorted(rows.items())
    ]


def distinct_requests(packed: Iterable[Packed]) -> dict[int, Request]:
    """The distinct requests by plan_id.

    Raises:
        LakeStateError: two of them have one id.
    """
    found = by_plan_id(x for one in packed for x in one.requests)
    return dict(sorted(found.items()))
