"""What a question about one put may say by name, beyond the put itself."""

from collections.abc import Mapping
from typing import TypedDict


class RuleOptions(TypedDict, total=False):
    """By what a question is answered; see `OpenLake`."""

    snapshot: str | None
    algorithm: str | None
    exit_function: str | None


class ExplainOptions(RuleOptions, total=False):
    """Options of `OpenLake.explain`, those of `clwl explain`.

    Attributes:
        object_type: QUEUE or TOPIC.
        via: LOCAL, or CLUSTER = received over a cluster channel.
        bind: option of the open.
        scope: of a publication: ALL, or QMGR = it stays on its queue manager.
        empty_history: rule 15 as before any put, not as after the last routed batch.
    """

    object_type: str
    via: str
    bind: str
    scope: str
    empty_history: bool


class TraceOptions(RuleOptions, total=False):
    """Options of `OpenLake.trace`, those of `clwl trace`.

    Attributes:
        object_type: as for `explain`.
        via: as for `explain`.
        links: other ends of transmission queues: (queue manager, transmission queue) -> queue
            manager.
        hops: how many are followed at most.
    """

    object_type: str
    via: str
    links: Mapping[tuple[str, str], str] | None
    hops: int
