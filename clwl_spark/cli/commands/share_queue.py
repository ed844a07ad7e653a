"""`clwl share-queue`: who gets the messages of a shared queue."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from clwl_spark.cli.options import Common, run_command

_GROUP = "Queue-sharing group"
_RUNS = "Runs"


def _of_group(*names: str, metavar: str | None = None, text: str) -> Any:  # noqa: ANN401
    return typer.Option(*names, metavar=metavar, help=text, rich_help_panel=_GROUP)


def _of_runs(name: str, text: str) -> Any:  # noqa: ANN401
    return typer.Option(name, help=text, rich_help_panel=_RUNS)


@dataclass(frozen=True, slots=True)
class ShareQueueWords:
    """Options of `clwl share-queue`; what is not given is the file's, else the default."""

    scenario: Annotated[
        Path | None,
        _of_group("--scenario", metavar="FILE", text="TOML file that tells the group."),
    ] = None
    group: Annotated[
        str | None, _of_group("--group", metavar="QSG", text="Name of the queue-sharing group.")
    ] = None
    queue: Annotated[str | None, _of_group("--queue", metavar="Q", text="The shared queue.")] = None
    get: Annotated[
        list[str],
        _of_group("--get", metavar="QM=N", text="Applications that get there with wait."),
    ] = field(default_factory=list)
    put: Annotated[
        list[str],
        _of_group("--put", metavar="QM=RATE", text="Messages a second put there."),
    ] = field(default_factory=list)
    busy: Annotated[
        list[str],
        _of_group("--busy", metavar="QM=SHARE", text="Taken by other work there, 0 to below 1."),
    ] = field(default_factory=list)
    service_ms: Annotated[
        float | None, _of_group("--service-ms", text="Mean time of a getter for a message.")
    ] = None
    persistent: Annotated[
        float | None, _of_group("--persistent", text="Share of persistent messages, 0 to 1.")
    ] = None
    syncpoint: Annotated[
        float | None, _of_group("--syncpoint", text="Share of puts in syncpoint, 0 to 1.")
    ] = None
    snapshot: Annotated[
        str | None,
        _of_group("--snapshot", metavar="ID", text="With --lake; default: the last valid one."),
    ] = None
    messages: Annotated[int | None, _of_runs("--messages", "Messages of a run.")] = None
    runs: Annotated[int | None, _of_runs("--runs", "Repetitions, at least 10.")] = None
    seed: Annotated[int | None, _of_runs("--seed", "Chooses the random numbers.")] = None
    confidence: Annotated[
        float | None, _of_runs("--confidence", "Level of the intervals, 0.5 to 0.999.")
    ] = None


def share_queue(common: Common, options: ShareQueueWords) -> int:
    """Simulate which queue managers of a queue-sharing group get a shared queue's messages.

    MQ does not balance shared queues: getters pull, and the queue manager where a message is
    put comes first. A file or the options say who gets and puts; with --lake the members of the
    group are those of a snapshot (QSGNAME), and the queue has to be QSGDISP(SHARED) there.

    [bold]Examples[/bold]

    clwl share-queue --scenario group.toml

    clwl share-queue --get QSG1A=2 --get QSG1B=2 --put QSG1A=500 --persistent 0.3 --json

    clwl share-queue --lake build/lake --group QSG1 --queue ORDERS --get MQ1=4 --put MQ2=200
    """
    return run_command("share_queue", common, options)
