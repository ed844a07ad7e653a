"""`clwl generate`: its options and help."""

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from clwl_spark.cli.options import Common, run_command

_SIZES = "Topology"
_TRAFFIC = "Traffic"


def _sized(name: str, text: str, metavar: str | None = None) -> Any:  # noqa: ANN401
    return typer.Option(f"--{name}", metavar=metavar, help=text, rich_help_panel=_SIZES)


def _sent(name: str, text: str, metavar: str | None = None) -> Any:  # noqa: ANN401
    return typer.Option(f"--{name}", metavar=metavar, help=text, rich_help_panel=_TRAFFIC)


@dataclass(frozen=True, slots=True)
class GenerateWords:
    """Options of `clwl generate`: those of `GenerateSpec`; shares are fractions from 0 to 1."""

    messages: Annotated[int, _sent("messages", "Messages to put.")] = 100_000
    qmgrs: Annotated[int, _sized("qmgrs", "Queue managers.")] = 50
    clusters: Annotated[int, _sized("clusters", "Clusters.")] = 2
    overlap: Annotated[
        float, _sized("overlap", "Share of queue managers that are in the next cluster too.")
    ] = 0.2
    queues: Annotated[int, _sized("queues", "Cluster queues.")] = 20
    instances: Annotated[int, _sized("instances", "Queue managers that host each queue.")] = 8
    channels: Annotated[int, _sized("channels", "CLUSRCVRs per queue manager and cluster.")] = 1
    clwluseq: Annotated[str, _sized("clwluseq", "CLWLUSEQ of the queue managers.", "LOCAL|ANY")] = (
        "ANY"
    )
    non_default: Annotated[
        float, _sized("non-default", "Share of CLWL attributes that are not MQ's default.")
    ] = 0.0
    changed: Annotated[
        float, _sized("changed", "Share of channels that a later snapshot changes.")
    ] = 0.1
    bad_status: Annotated[
        float, _sized("bad-status", "Share of channels neither INACTIVE nor RUNNING.")
    ] = 0.0
    put_disabled: Annotated[
        float, _sized("put-disabled", "Share of queue instances with PUT(DISABLED).")
    ] = 0.0
    suspended: Annotated[
        float, _sized("suspended", "Share of queue managers suspended in a cluster.")
    ] = 0.0
    snapshots: Annotated[int, _sized("snapshots", "Snapshots of the topology.")] = 1
    snapshot_interval: Annotated[
        str, _sized("snapshot-interval", "Time between two snapshots.", "1h")
    ] = "1h"
    senders: Annotated[
        int | None, _sent("senders", "Queue managers that put, the first ones; default: all.")
    ] = None
    hot_sender: Annotated[
        float, _sent("hot-sender", "Share of messages of the first sender; 0 = as the others.")
    ] = 0.0
    bind: Annotated[
        str, _sent("bind", "Bind option of opens that --on-open and --on-group leave.", "OPTION")
    ] = "AS_Q_DEF"
    on_open: Annotated[float, _sent("on-open", "Share of opens with ON_OPEN.")] = 0.0
    on_group: Annotated[float, _sent("on-group", "Share of opens with ON_GROUP.")] = 0.0
    defbind: Annotated[
        str, _sized("defbind", "DEFBIND of the queues: OPEN, NOTFIXED or GROUP.", "BIND")
    ] = "NOTFIXED"
    messages_per_open: Annotated[int, _sent("messages-per-open", "Puts of one open.")] = 10
    topics: Annotated[
        int, _sized("topics", "Topic objects, by turns CLROUTE TOPICHOST and DIRECT.")
    ] = 0
    publications: Annotated[float, _sent("publications", "Share of opens that publish.")] = 0.0
    aliases: Annotated[float, _sized("aliases", "Share of queues that have a QALIAS.")] = 0.0
    named_qmgr: Annotated[
        float, _sent("named-qmgr", "Share of opens that name the object queue manager.")
    ] = 0.0
    unknown: Annotated[float, _sent("unknown", "Share of opens of a queue that nobody has.")] = 0.0
    seed: Annotated[int, _sent("seed", "The same seed and options give the same rows.")] = 1
    start: Annotated[
        str, _sent("start", "When the first message is put: ISO 8601 with Z or an offset.", "T")
    ] = "2026-01-01T00:00:00Z"
    rate: Annotated[
        float | None,
        _sent("rate", "Messages a second; default: spread over the snapshots."),
    ] = None


def generate(common: Common, options: GenerateWords) -> int:
    """Make a synthetic topology and traffic of any size.

    [bold]Examples[/bold]

    clwl generate --lake build/lake --messages 1000000 --qmgrs 100

    clwl generate --lake build/lake --snapshots 3 --bad-status 0.05 --on-open 0.3 --seed 7
    """
    return run_command("generate", common, options)
