"""`clwl report`: what was routed, as one HTML page."""

import time
from pathlib import Path
from typing import Final

from rich.markup import escape

from clwl_spark.cli.commands.report import ReportWords
from clwl_spark.cli.options import Common
from clwl_spark.cli.work import ROUTED, at_work
from clwl_spark.cli.written import write_whole
from clwl_spark.delta.lake import Lake
from clwl_spark.errors import UsageError
from clwl_spark.present.report.data import ReportData
from clwl_spark.present.report.page import page, sentence
from clwl_spark.present.report.reading import read_report
from clwl_spark.present.report.surprises import Surprise, surprises
from clwl_spark.studies.conform.model import Conformity
from clwl_spark.tables import OBSERVED_ROUTES, OUTCOMES, ROUTE_CANDIDATES, ROUTE_PLANS

FILE_NAME: Final = "report.html"
_SHOWN: Final = 5
_READ: Final = (*ROUTED, ROUTE_PLANS.name, ROUTE_CANDIDATES.name, OBSERVED_ROUTES.name)


def run(common: Common, options: ReportWords) -> int:
    """Write the report, say where it is, and return the exit code."""
    started = time.monotonic()
    _refuse_file(options.out)  # before Spark starts
    with at_work("report", common, needs=OUTCOMES.name, reads=_READ) as work:
        file, data, found = write_report(work.lake, options.out)
        work.screen.document(
            {
                "report": str(file),
                "outcomes": data.head.outcomes,
                "surprises": [x.to_json() for x in found],
                "conformity": _agreement(data.conformity),
                "seconds": round(time.monotonic() - started, 3),
            }
        )
        lines = [f"  {at}. {x.sentence}" for at, x in enumerate(found[:_SHOWN], 1)]
        work.screen.show(*map(escape, [sentence(data, found), *lines, f"Report: {file}"]))
    return 0


def write_report(lake: Lake, out: Path) -> tuple[Path, ReportData, list[Surprise]]:
    """Write the page into a folder; the file, what is on it, and the surprises.

    Raises:
        MissingLakeError, NothingRoutedError: as `present.report.reading.read_report`.
        CannotWriteError, UsageError: as `cli.written.write_whole`.
    """
    _refuse_file(out)
    data = read_report(lake)
    file = out / FILE_NAME
    write_whole(file, page(data), "report")
    return file, data, surprises(data)


def _agreement(found: Conformity | None) -> dict[str, int] | None:
    """How many records were seen and compared, and how many of these agree; None = no records."""
    if found is None:
        return None
    return {"seen": found.seen, "compared": found.compared, "agree": found.agree}


def _refuse_file(out: Path) -> None:
    """Refuse what can be no folder before anything is read; nothing is made yet.

    Raises:
        UsageError: it is a file, or below one.
    """
    there = next(x for x in (out, *out.absolute().parents) if x.exists())
    if not there.is_dir():
        raise UsageError(f"{out}: {there} is a file; give a folder to write to")
