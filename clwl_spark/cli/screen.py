"""What a command shows: results on standard output, progress and notes on standard error."""

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from typing import Any, Final, TextIO

import structlog
from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn

from clwl_spark.logs import OnProgress
from clwl_spark.present.printable import Printable, printable

PIPED_WIDTH: Final = 160
_TAB: Final = "\t"


@dataclass(frozen=True)
class Screen:
    """Where a command writes, made once per run.

    Attributes:
        out: standard output, as it was before `others_to_stderr`.
        as_json: results are one JSON document.
        quiet: no progress and no summary.
        engine: that answers; '' = there is nothing to be worked out.
    """

    out: TextIO
    as_json: bool = False
    quiet: bool = False
    engine: str = ""

    def show(self, *parts: RenderableType) -> None:
        """Show a result to a reader; nothing with `--json` and `--quiet`."""
        if self.as_json or self.quiet:
            return
        console = _console(self.out)
        for part in parts:
            console.print(Printable(part))

    def document(self, content: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> None:
        """Print the result's JSON document, with `--json`; each says which engine answered."""
        if self.as_json:
            if self.engine:
                content = self._with_engine(content)
            self.out.write(json.dumps(content, indent=2, ensure_ascii=False, default=str) + "\n")
            self.out.flush()

    def _with_engine(
        self, content: Mapping[str, Any] | Sequence[Mapping[str, Any]]
    ) -> Mapping[str, Any] | list[Mapping[str, Any]]:
        if isinstance(content, Mapping):
            return {**content, "engine": content.get("engine") or self.engine}
        return [{**x, "engine": self.engine} for x in content]

    @contextmanager
    def others_to_stderr(self) -> Iterator[None]:
        """With `--json`, whatever else is printed goes to standard error."""
        if not self.as_json:
            yield
            return
        with redirect_stdout(sys.stderr):
            yield

    @contextmanager
    def progress(self, event: str) -> Iterator[OnProgress]:
        """Show stages and counts: a bar on a terminal, log lines elsewhere."""
        if self.quiet or not sys.stderr.isatty():
            yield _logged(event)
            return
        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn())
        with Progress(
            *columns, MofNCompleteColumn(), console=Console(stderr=True), transient=True
        ) as bars:
            tasks: dict[str, Any] = {}

            def tell(stage: str, done: int, total: int) -> None:
                if stage not in tasks:
                    tasks[stage] = bars.add_task(stage, total=total or None)
                bars.update(tasks[stage], completed=done, total=total or None)

            yield tell


def note(line: str) -> None:
    """One plain line on standard error, whatever the names in it hold."""
    sys.stderr.write(f"{printable(line, _TAB)}\n")


def _logged(event: str) -> OnProgress:
    """Progress as log lines."""
    logger = structlog.get_logger()

    def tell(stage: str, done: int, total: int) -> None:
        logger.info(event, stage=stage, done=done, total=total)

    return tell


def _console(out: TextIO) -> Console:
    """A console as wide as the terminal; wide enough for tables where there is none."""
    if out.isatty() or "COLUMNS" in os.environ:
        return Console(file=out)
    return Console(file=out, width=PIPED_WIDTH)
