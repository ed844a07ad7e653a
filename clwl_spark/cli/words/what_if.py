"""`clwl shares`, `advise`, `what-if` and `insights`: expected load, changes, the topology."""

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from clwl_spark.cli.words.options import Common, run_command
from clwl_spark.cli.words.shared import At, Exit, Limit, PutObject, PutQmgr, Snapshot


class Swept(StrEnum):
    """What is taken away, one after the other."""

    CHANNELS = "channels"
    QUEUE_MANAGERS = "queue-managers"
    CLUSTERS = "clusters"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class SharesWords:
    """Options of `clwl shares`."""

    qmgr: Annotated[
        str | None, typer.Option("--from", metavar="QM", help="Queue manager that puts.")
    ] = None
    objects: Annotated[
        list[str],
        typer.Option(
            "--object",
            metavar="O[=N]",
            help="What is put to, and how often against the others; may be repeated.",
        ),
    ] = field(default_factory=list)
    traffic: Annotated[
        bool, typer.Option("--traffic", help="The messages of the lake instead.")
    ] = False
    snapshot: Snapshot = None
    at: At = None
    exit: Exit = None


@dataclass(frozen=True, slots=True)
class WhatIfWords:
    """Options of `clwl what-if`."""

    change: Annotated[
        list[str],
        typer.Option("--change", metavar="WORDS", help="A change in MQSC words; may be repeated."),
    ] = field(default_factory=list)
    script: Annotated[
        list[Path],
        typer.Option("--script", metavar="FILE", help="A file of MQSC that is applied first."),
    ] = field(default_factory=list)
    to: Annotated[
        str | None, typer.Option("--to", metavar="ID", help="A whole other snapshot instead.")
    ] = None
    sweep: Annotated[
        list[Swept],
        typer.Option(
            "--sweep",
            metavar="WHAT",
            help="Take each away alone, and compare: channels, queue-managers, clusters, all.",
            case_sensitive=False,
        ),
    ] = field(default_factory=list)
    puts: Annotated[
        list[str],
        typer.Option(
            "--put",
            metavar="QM:O[=N]",
            help="With --sweep: this traffic, not the lake's messages.",
        ),
    ] = field(default_factory=list)
    snapshot: Snapshot = None
    at: At = None
    limit: Limit = 15
    exit: Exit = None


@dataclass(frozen=True, slots=True)
class InsightsWords:
    """Options of `clwl insights`."""

    snapshot: Snapshot = None
    at: At = None
    limit: Limit = 15
    exit: Exit = None


def shares(common: Common, options: SharesWords) -> int:
    """Show the exact long-run share of every route, channel and queue manager.

    Nothing is simulated: shares of one object follow from the weights, as the queue manager
    reckons with them (1000 divided by CLWLWGHT, without remainder: 91 to 99 are alike). Several
    objects of one queue manager share its history, and take turns as evenly as their numbers allow.

    [bold]Examples[/bold]

    clwl shares --lake build/lake --from QM1 --object ORDERS

    clwl shares --lake build/lake --from QM1 --object ORDERS=3 --object INVOICES=1

    clwl shares --lake build/lake --traffic --json
    """
    return run_command("shares", common, options)


@dataclass(frozen=True, slots=True)
class AdviseWords:
    """Options of `clwl advise`."""

    qmgr: PutQmgr
    object_name: PutObject
    want: Annotated[
        str | None,
        typer.Option(
            "--want", metavar="QM=N,QM=N", help="How often each host, against the others."
        ),
    ] = None
    add_host: Annotated[
        str | None,
        typer.Option(
            "--add-host", metavar="QM", help="Instead: what this queue manager needs to be a host."
        ),
    ] = None
    object_qmgr: Annotated[
        str,
        typer.Option(
            "--object-qmgr", metavar="QM", help="With --add-host: object queue manager of the put."
        ),
    ] = ""
    snapshot: Snapshot = None
    at: At = None
    exit: Exit = None


def advise(common: Common, options: AdviseWords) -> int:
    """Find the weights that give the hosts of an object wanted shares.

    Every CLWLWGHT from 1 to 99 counts as 1000 divided by it, without remainder: the weights that
    come nearest are found exactly, and told with their error. A weight is a channel's, so the other
    objects of the queue manager whose shares change as well are named.

    With --add-host: which definitions another host of the queue would need, and which other queue
    managers have to change, by the design in use (a shared queue, aliases, a host that is named).

    [bold]Examples[/bold]

    clwl advise --lake build/lake --from QM1 --object ORDERS --want "SERVERB=2,SERVERA=1"

    clwl advise --lake build/lake --from QM1 --object ORDERS --want "QM2=3,QM3=2" --json

    clwl advise --lake build/lake --from QM1 --object ORDERS --add-host QM4
    """
    return run_command("advise", common, options)


def what_if(common: Common, options: WhatIfWords) -> int:
    """Route the lake's messages as they are and with a change, and show what moves.

    A change is said as runmqsc takes it, and where: ON QM1, which is left out where one queue
    manager alone defines the object. STOP and START CHANNEL, SUSPEND and RESUME QMGR, ENDMQM are
    changes too. Nothing of the lake is changed. With --sweep every channel, queue manager or
    cluster is taken away alone: single points of failure, and who takes over, by expected shares.

    [bold]Examples[/bold]

    clwl what-if --lake build/lake --change "STOP CHANNEL(TO.QM2) ON QM1"

    clwl what-if --lake build/lake --change "SUSPEND QMGR(QM4) CLUSTER(A)"

    clwl what-if --lake build/lake --to tuesday

    clwl what-if --lake build/lake --sweep queue-managers --json
    """
    return run_command("what_if", common, options)


def insights(common: Common, options: InsightsWords) -> int:
    """Show what decides the traffic of a whole topology, and what deceives.

    Which rule decides how much; attributes that are set and decide nothing; queues whose several
    hosts are no availability (rank, binding, disabled puts); own views that differ from what
    owners define; where a queue manager of MQ 7 and one of MQ 9 would send differently.

    [bold]Examples[/bold]

    clwl insights --lake build/lake

    clwl insights --lake build/lake --snapshot tuesday --json
    """
    return run_command("insights", common, options)


COMMANDS = (shares, advise, what_if, insights)
