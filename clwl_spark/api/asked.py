"""What a question about one put may say by name, beyond the put itself."""

from collections.abc import Mapping
from typing import Any, TypedDict

from clwl_spark.cli.moments import Moment
from clwl_spark.errors import UsageError, did_you_mean


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


class WhereOptions(TypedDict, total=False):
    """Options of `OpenLake.where`, those of `clwl where`.

    Attributes:
        qmgr: the queue manager that it was put on, where several have the identifier.
        at: the moment that is asked about; None = now.
        since: from which on its channel is taken as down.
        backlog: or how many messages wait for that channel.
    """

    qmgr: str | None
    at: Moment | None
    since: Moment | None
    backlog: int | None


class LoadOptions(TypedDict, total=False):
    """Options of `OpenLake.load`, those of `clwl load`.

    Attributes:
        fields: column -> field, where the names do not tell it.
        observer: queue manager of puts that name none.
        time_zone: of moments that do not say theirs.
        since: only rows from this moment on.
        until: only rows before this moment.
        redact: store no words of pieces that cannot be used.
        seed: make puts of the counts of queues, drawn with it; None = make none.
        strict: load nothing if any piece cannot be used.
        dry_run: look, and write nothing.
        timeline: the snapshot that statuses of channels become followers of; None = of none.
        step: of the events of so long a time one snapshot, "1m".
    """

    fields: Mapping[str, str]
    observer: str | None
    time_zone: str | None
    since: Moment | None
    until: Moment | None
    redact: bool
    seed: int | None
    strict: bool
    dry_run: bool
    timeline: str | None
    step: str


class ConformOptions(TypedDict, total=False):
    """Options of `OpenLake.conform`, those of `clwl conform`.

    Attributes:
        object_name: only what was put to it.
        qmgr: only what this queue manager put.
        since: only what was put from then on.
        until: only what was put up to then.
        explain: queue managers whose first disagreement is looked into.
    """

    object_name: str | None
    qmgr: str | None
    since: Moment | None
    until: Moment | None
    explain: int


def check_names(options: Mapping[str, Any], kind: Any) -> None:  # noqa: ANN401  (a TypedDict)
    """Refuse options by names that a question does not have: they would change nothing.

    Raises:
        UsageError: there is one.
    """
    known = kind.__optional_keys__
    for name in options:
        if name not in known:
            raise UsageError(f"no option {name!r}: {did_you_mean(name, known)}")
