"""The options of the commands, as records: a field is an option. Imports nothing heavy."""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from clwl_spark import vocabulary as v

_PLACE = "Where the tables are"
_OUTPUT = "Output"
_SIZES = "Topology"
_TRAFFIC = "Traffic"


def _place(*names: str, metavar: str, text: str) -> Any:  # noqa: ANN401  (typer's own type)
    return typer.Option(*names, metavar=metavar, help=text, rich_help_panel=_PLACE)


def _output(*names: str, text: str, metavar: str | None = None) -> Any:  # noqa: ANN401
    return typer.Option(*names, metavar=metavar, help=text, rich_help_panel=_OUTPUT)


def _sized(name: str, text: str) -> Any:  # noqa: ANN401
    return typer.Option(f"--{name}", help=text, rich_help_panel=_SIZES)


def _sent(name: str, text: str) -> Any:  # noqa: ANN401
    return typer.Option(f"--{name}", help=text, rich_help_panel=_TRAFFIC)


@dataclass(frozen=True, slots=True)
class Common:
    """Options that every command has."""

    lake: Annotated[
        str | None,
        _place("--lake", metavar="DIR", text="Folder or URI with a Delta table per folder."),
    ] = None
    catalog: Annotated[
        str | None,
        _place("--catalog", metavar="CATALOG.SCHEMA", text="Tables of a catalog instead."),
    ] = None
    config: Annotated[
        Path | None,
        _place("--config", metavar="FILE", text="TOML file with settings (conf/default.toml)."),
    ] = None
    assignments: Annotated[
        list[str],
        _place("--set", metavar="KEY=VALUE", text="One setting; may be given several times."),
    ] = field(default_factory=list)
    as_json: Annotated[
        bool, _output("--json", text="One JSON document on standard output, nothing else there.")
    ] = False
    quiet: Annotated[bool, _output("--quiet", "-q", text="No progress, no summary.")] = False
    verbose: Annotated[
        bool, _output("--verbose", "-v", text="Every log line; the traceback of an error.")
    ] = False
    log: Annotated[
        str | None,
        _output(
            "--log",
            metavar="auto|text|json",
            text="Log lines on standard error; auto = JSON unless on a terminal.",
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class RouteWords:
    """Options of `clwl route`."""

    follow: Annotated[
        bool, typer.Option("--follow", help="Go on with new messages until stopped.")
    ] = False
    algorithm: Annotated[
        v.Algorithm | None,
        typer.Option("--algorithm", help="Order of the rules; default: the lake's, v9 if new."),
    ] = None
    binding_ttl: Annotated[
        str | None,
        typer.Option("--binding-ttl", metavar="24h", help="Keep an idle binding this long."),
    ] = None
    exit: Annotated[
        str | None,
        typer.Option("--exit", metavar="MODULE:FUNCTION", help="Cluster workload exit."),
    ] = None
    poll: Annotated[
        str | None,
        typer.Option("--poll", metavar="5s", help="With --follow: look for messages this often."),
    ] = None


@dataclass(frozen=True, slots=True)
class IngestWords:
    """Arguments and options of `clwl ingest`."""

    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Texts that MQ printed, or folders.")
    ]
    snapshot: Annotated[
        str, typer.Option("--snapshot", metavar="ID", help="Name of the snapshot to write.")
    ]
    valid_from: Annotated[
        str | None,
        typer.Option(
            "--valid-from",
            metavar="T",
            help="In force from then on: ISO 8601 with Z or an offset; default: now, or as it was.",
        ),
    ] = None
    observer: Annotated[
        str | None,
        typer.Option(
            "--observer",
            metavar="QM",
            help="Queue manager of texts that do not name theirs; {stem} = the file's name.",
        ),
    ] = None
    strict: Annotated[
        bool, typer.Option("--strict", help="Load nothing if any piece cannot be used.")
    ] = False


@dataclass(frozen=True, slots=True)
class ExplainWords:
    """Options of `clwl explain`."""

    qmgr: Annotated[
        str, typer.Option("--from", metavar="QM", help="Queue manager where the put happens.")
    ]
    object_name: Annotated[
        str, typer.Option("--object", metavar="O", help="Queue name; a topic string for TOPIC.")
    ]
    object_qmgr: Annotated[
        str, typer.Option("--object-qmgr", metavar="R", help="Object queue manager name.")
    ] = ""
    object_type: Annotated[
        v.ObjectType, typer.Option("--object-type", help="What is put to.", case_sensitive=False)
    ] = v.ObjectType.QUEUE
    snapshot: Annotated[
        str | None,
        typer.Option("--snapshot", metavar="ID", help="Default: the last valid snapshot."),
    ] = None
    via: Annotated[
        v.Via,
        typer.Option("--via", help="CLUSTER = it came over a channel.", case_sensitive=False),
    ] = v.Via.LOCAL
    bind: Annotated[
        v.Bind, typer.Option("--bind", help="Bind option of the open.", case_sensitive=False)
    ] = v.Bind.AS_Q_DEF
    algorithm: Annotated[
        v.Algorithm | None,
        typer.Option("--algorithm", help="Order of the rules; default: the lake's, else v9."),
    ] = None
    exit: Annotated[
        str | None,
        typer.Option("--exit", metavar="MODULE:FUNCTION", help="Cluster workload exit."),
    ] = None


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
    clwluseq: Annotated[
        str, _sized("clwluseq", "CLWLUSEQ of the queue managers: LOCAL or ANY.")
    ] = "ANY"
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
        str, _sized("snapshot-interval", "Time between two snapshots.")
    ] = "1h"
    senders: Annotated[
        int | None, _sent("senders", "Queue managers that put, the first ones; default: all.")
    ] = None
    hot_sender: Annotated[
        float, _sent("hot-sender", "Share of messages of the first sender; 0 = as the others.")
    ] = 0.0
    bind: Annotated[
        str, _sent("bind", "Bind option of the opens that --on-open and --on-group leave.")
    ] = "AS_Q_DEF"
    on_open: Annotated[float, _sent("on-open", "Share of opens with ON_OPEN.")] = 0.0
    on_group: Annotated[float, _sent("on-group", "Share of opens with ON_GROUP.")] = 0.0
    defbind: Annotated[
        str, _sized("defbind", "DEFBIND of the queues: OPEN, NOTFIXED or GROUP.")
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
        str, _sent("start", "Moment of the first message: ISO 8601 with Z or an offset.")
    ] = "2026-01-01T00:00:00Z"
    rate: Annotated[
        float | None,
        _sent("rate", "Messages a second; default: spread over the snapshots."),
    ] = None


def with_options(command: Callable[..., int]) -> Callable[..., int]:
    """The command as typer wants it: with a parameter for each field of its option records."""
    hints = get_type_hints(command)
    records = {name: kind for name, kind in hints.items() if name != "return"}
    types: dict[str, Any] = {}
    parameters: list[inspect.Parameter] = []
    for record in records.values():
        types |= get_type_hints(record, include_extras=True)
        parameters.extend(_parameter(x, types[x.name]) for x in fields(record))

    def call(**words: Any) -> int:  # noqa: ANN401  (whatever the fields' types are)
        given = {
            name: record(**{x.name: words[x.name] for x in fields(record)})
            for name, record in records.items()
        }
        return command(**given)

    call.__name__ = command.__name__
    call.__doc__ = command.__doc__
    call.__annotations__ = {**types, "return": int}
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return call


def _parameter(option: "Field[Any]", annotation: object) -> inspect.Parameter:
    """A field as a keyword parameter."""
    default = option.default
    if option.default_factory is not MISSING:
        default = option.default_factory()
    elif default is MISSING:
        default = inspect.Parameter.empty
    return inspect.Parameter(
        option.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
    )
