"""Options as records: a field is an option. Imports nothing heavy."""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass, field, fields
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

_PLACE = "Where the tables are"
_OUTPUT = "Output"


def _place(*names: str, metavar: str, text: str) -> Any:  # noqa: ANN401  (typer's own type)
    return typer.Option(*names, metavar=metavar, help=text, rich_help_panel=_PLACE)


def _output(*names: str, text: str, metavar: str | None = None) -> Any:  # noqa: ANN401
    return typer.Option(*names, metavar=metavar, help=text, rich_help_panel=_OUTPUT)


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
    engine: Annotated[
        str | None,
        _place(
            "--engine",
            metavar="auto|embedded|arrow|spark",
            text="What answers and routes: this process (no Java), or Apache Spark (arrow: its "
            "workers read messages without Java); auto = what fits.",
        ),
    ] = None
    profile: Annotated[
        str | None,
        _place(
            "--profile",
            metavar="serverless",
            text="Ask a Spark session for nothing that serverless compute refuses.",
        ),
    ] = None
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


def run_command(name: str, *options: object) -> int:
    """Run a command: `run` of the module of its name, which is loaded only now.

    Args:
        name: of the module in `clwl_spark.cli`.
        options: the records of its options, `Common` first.

    Returns:
        The exit code.
    """
    return int(import_module(f"clwl_spark.cli.{name}").run(*options))


def with_options(command: Callable[..., int]) -> Callable[..., int]:
    """The command as typer wants it: with a parameter for each field of its option records."""
    hints = get_type_hints(command)
    records = {name: kind for name, kind in hints.items() if name != "return"}
    types: dict[str, Any] = {}
    parameters: list[inspect.Parameter] = []
    # The command's own options come before those that every command has.
    for record in sorted(records.values(), key=lambda x: x is Common):
        types |= get_type_hints(record, include_extras=True)
        parameters.extend(_parameter(x, types[x.name]) for x in fields(record))

    def call(**words: Any) -> int:  # noqa: ANN401  (whatever the fields' types are)
        given = {
            name: record(**{x.name: words[x.name] for x in fields(record)})
            for name, record in records.items()
        }
        return command(**given)

    call.__name__ = command.__name__
    call.__doc__ = _unwrapped(command.__doc__ or "")
    call.__annotations__ = {**types, "return": int}
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return call


def _unwrapped(text: str) -> str:
    """Each paragraph on one line, so that the help is wrapped once, by the terminal's width."""
    return "\n\n".join(" ".join(x.split()) for x in inspect.cleandoc(text).split("\n\n"))


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
