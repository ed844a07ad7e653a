"""`clwl`: runs a command, and turns what goes wrong into one sentence.

Exit codes: 0 done, 1 a quality gate said no, 2 wrong usage or bad input, 3 anything else, 130 and
143 stopped by Ctrl-C and by SIGTERM. `cli.commands` declares the commands; what one does is in
the module of its name, imported only when it runs, so that `clwl --help` starts no Spark.
"""

import atexit
import gc
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from functools import cache
from importlib import metadata
from types import FrameType
from typing import Annotated, Final, NoReturn

import typer

from clwl_spark.cli.commands import (
    advise,
    ask,
    assert_,
    conform,
    demo,
    diff,
    doctor,
    explain,
    explain_reallocation,
    export,
    generate,
    incident,
    ingest,
    init,
    insights,
    lint,
    load,
    maintain,
    metrics,
    reallocate,
    report,
    repository,
    route,
    separation,
    share_queue,
    shares,
    snapshots,
    state,
    topics,
    trace,
    upgrade,
    validate,
    what_if,
    where,
    xmitq,
)
from clwl_spark.cli.exit_codes import INTERRUPTED, NOBODY_READS, TERMINATED, WRONG_USAGE
from clwl_spark.cli.help_screen import Command, Group
from clwl_spark.cli.options import with_options
from clwl_spark.storage.secrets import without_secrets

_OBJECTS_BETWEEN_COLLECTIONS: Final = 50_000
PANELS: Final = {
    "Begin": (doctor.doctor, demo.demo, generate.generate),
    "A cluster's configuration": (
        ingest.ingest,
        snapshots.snapshots,
        diff.diff,
        export.export,
        validate.validate,
        lint.lint,
        assert_.assert_,
        repository.repository,
        topics.topics,
    ),
    "Where messages go": (
        load.load,
        route.route,
        explain.explain,
        trace.trace,
        incident.incident,
        conform.conform,
        shares.shares,
        advise.advise,
        what_if.what_if,
        insights.insights,
    ),
    "What was routed": (ask.ask, report.report),
    "Messages that wait, shared queues": (
        where.where,
        xmitq.xmitq,
        reallocate.reallocate,
        explain_reallocation.explain_reallocation,
        separation.separation,
        share_queue.share_queue,
    ),
    "The lake's tables": (
        init.init,
        maintain.maintain,
        upgrade.upgrade,
        state.state,
        metrics.metrics,
    ),
}

app = typer.Typer(
    name="clwl",
    cls=Group,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class _TerminatedError(BaseException):
    """SIGTERM, raised where the main thread is, so that Spark is shut down on the way out."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run `clwl` with these words, by default the process's, and return the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    # Libraries leave hundreds of thousands of objects, which are there to stay.
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    if "PYSPARK_GATEWAY_PORT" in os.environ:
        from clwl_spark.spark.launched import apart_from_output

        with apart_from_output():
            return _guarded(words)
    return _guarded(words)


def job(command: str) -> Callable[..., int]:
    """What a job of spark-submit is: a command, given its options or those of the process."""

    def run(argv: Sequence[str] | None = None) -> int:
        return main([command, *(sys.argv[1:] if argv is None else argv)])

    return run


def program() -> NoReturn:
    """Run `clwl` as this process, and end the process when all is written and closed.

    Python would take what libraries have loaded apart once more, which is a tenth of a short
    command's time.
    """
    code = main()
    threading._shutdown()  # type: ignore[attr-defined]  # noqa: SLF001
    atexit._run_exitfuncs()  # noqa: SLF001
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def _guarded(words: Sequence[str]) -> int:
    """Run the words; whatever goes wrong becomes a sentence and an exit code."""
    try:
        with _ending_on_sigterm():
            tree = _tree(_named(words[:1]).rstrip())
            return int(tree(words, prog_name="clwl", standalone_mode=False) or 0)
    except typer.TyperException as error:
        _complain(f"{error.format_message().rstrip('. ')} (see `clwl {_named(words)}--help`)")
        return WRONG_USAGE
    except _TerminatedError:
        return TERMINATED
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except SystemExit as error:
        # Typer and Rich end so where what they write to is closed, as by `| head`.
        if isinstance(error.__context__, BrokenPipeError):
            return NOBODY_READS
        raise
    except Exception as error:  # noqa: BLE001  (the one guard: users get a sentence)
        return _report_failure(error, verbose=not {"--verbose", "-v"}.isdisjoint(words))


@cache
def _tree(name: str) -> Callable[..., int | None]:
    """`clwl` with the command of a name alone, or with all: typer takes a tenth of a second then.

    Args:
        name: of the command; '' = all.
    """
    tree = copy(app)
    tree.registered_commands = [x for x in app.registered_commands if name in ("", x.name)]
    return typer.main.get_command(tree)


@app.callback(invoke_without_command=True)
def _clwl(
    context: typer.Context,
    *,
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    """Where every message goes in an IBM MQ cluster, and why.

    [bold]Start with[/bold]

    clwl doctor [dim]# is this machine fit?[/dim]

    clwl demo [dim]# a small cluster and its traffic, from texts to answers[/dim]
    """
    if version:
        sys.stdout.write(f"clwl {_version()}\n")
        raise typer.Exit
    if context.invoked_subcommand is None:
        sys.stdout.write(context.get_help())
        raise typer.Exit(WRONG_USAGE)


for _panel, _commands in PANELS.items():
    for _command in _commands:
        _name = _command.__name__.strip("_").replace("_", "-")
        app.command(_name, cls=Command, rich_help_panel=_panel)(with_options(_command))


def _report_failure(error: Exception, *, verbose: bool) -> int:
    """Say what went wrong in one sentence; return the exit code."""
    from clwl_spark.cli.failures import failure

    if verbose:
        sys.stderr.write(without_secrets("".join(traceback.format_exception(error))))
    sentence, exit_code = failure(error)
    _complain(sentence)
    return exit_code


def _complain(sentence: str) -> None:
    """One line on standard error, whatever the names in it hold."""
    from clwl_spark.present.printable import printable

    sys.stderr.write(f"clwl: {printable(without_secrets(' '.join(sentence.split())))}\n")


def _version() -> str:
    """Version of the installed package."""
    try:
        return metadata.version("clwl-spark")
    except metadata.PackageNotFoundError:
        return "(not installed)"


def _named(words: Sequence[str]) -> str:
    """The command among the words, for a hint; `''` if there is none."""
    names = {command.name for command in app.registered_commands}
    return next((f"{word} " for word in words if word in names), "")


@contextmanager
def _ending_on_sigterm() -> Iterator[None]:
    """SIGTERM ends the block like Ctrl-C does, so that Spark is shut down properly."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(_signal: int, _frame: FrameType | None) -> None:
        raise _TerminatedError

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
