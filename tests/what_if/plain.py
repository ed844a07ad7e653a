"""Random clusters as topologies, and where the reference router sends what is put there."""

from collections import Counter
from collections.abc import Iterable, Sequence
from math import lcm
from typing import Any, Final

from pyspark.sql import SparkSession
from random_clusters import Case
from reference import Memory, Reference
from reference_rules import Choice
from worlds import frame

from clwl_spark.algorithm.request import Request
from clwl_spark.snapshots.views import DEFAULTS, Topology

Row = dict[str, Any]
End = tuple[int, int, str | None, str | None, str | None, bool]
"""(choice, reason, dest_qmgr, dest_object, channel, is_local); channel None where it is local."""

_CYCLES: Final = 10
_AT_FIRST: Final = 50


def topology_of(spark: SparkSession, tables: dict[str, list[Row]]) -> Topology:
    """The tables as `read_topology` would give them."""
    frames = {}
    for name, defaults in DEFAULTS.items():
        frames[name] = (
            frame(spark, name, tables.get(name, [])).drop("source", "altered").fillna(defaults)
        )
    return Topology(**frames)


def requests_of(case: Case, snapshot_ids: Sequence[str]) -> list[Request]:
    """Distinct requests of a case's messages, in each of the snapshots."""
    found = {
        Request(
            snapshot_id,
            message["qmgr"],
            message["object_type"] or "QUEUE",
            message["object_name"],
            message["object_qmgr"] or "",
            message["via"] or "LOCAL",
        )
        for message in case.messages
        if message["qmgr"]
        and message["object_name"]
        and message["object_type"] in (None, "QUEUE", "TOPIC")
        and message["via"] in (None, "LOCAL", "CLUSTER")
        for snapshot_id in snapshot_ids
    }
    return sorted(found, key=lambda x: x.in_order)


def choices_of(reference: Reference, request: Request) -> list[Choice]:
    """The choices that a message of a request makes, each with its rows judged."""
    return reference._plan(*request).choices


def ends_of(reference: Reference, request: Request) -> dict[End, float]:
    """The share of each end, counted over messages of the reference, which puts one at a time."""
    plan = reference._plan(*request)
    view = reference._view(request.snapshot_id, request.qmgr)
    if not plan.choices:
        (end,) = reference._decide(plan, view, Memory())
        return {_end(0, end): 1.0}
    shares: Counter[End] = Counter()
    for number, choice in enumerate(plan.choices):
        memory = Memory()
        messages = _counted(choice)
        for _ in range(messages + _AT_FIRST):
            reference._make(choice, view, memory)
        ends = (_end(number, reference._make(choice, view, memory)) for _ in range(messages))
        counts = Counter(ends)
        shares.update({end: count / messages for end, count in counts.items()})
    return dict(shares)


def messages_of(reference: Reference, request: Request) -> int:
    """Over how many messages `ends_of` counts, at least."""
    return min((_counted(choice) for choice in choices_of(reference, request)), default=1)


def _counted(choice: Choice) -> int:
    """Messages of some whole cycles, after each of which the weights begin anew."""
    steps = [1000 // route.clwlwght for route in choice.routes]
    return _CYCLES * (sum(lcm(*steps) // step for step in steps) or 1)


def _end(number: int, outcome: Row) -> End:
    return (
        number,
        outcome["reason"],
        outcome["dest_qmgr"],
        outcome["dest_object"],
        outcome["channel"],
        outcome["is_local"],
    )


def shares_by_end(rows: Iterable[Row]) -> dict[End, float]:
    """Rows of `route_shares` of one plan, as `ends_of` has them; ends that get nothing left out."""
    shares: Counter[End] = Counter()
    for row in rows:
        channel = None if row["is_local"] else row["channel"]
        end = (
            row["choice"], row["reason"], row["dest_qmgr"], row["dest_object"], channel,
            row["is_local"],
        )  # fmt: skip
        if row["share"]:
            shares[end] += row["share"]
    return dict(shares)
