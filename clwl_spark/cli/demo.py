"""`clwl demo`: a small cluster and a day of its traffic, from MQ's texts to outcomes."""

import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from pyspark.sql import functions as F
from rich.table import Table
from rich.text import Text

from clwl_spark import tables as schemas
from clwl_spark.cli.ingest import ingest_table, tell_rejects
from clwl_spark.cli.night import NIGHT, SCRIPT, change_for_tonight
from clwl_spark.cli.options import Common
from clwl_spark.cli.report import write_report
from clwl_spark.cli.route import route_options, summary_table
from clwl_spark.cli.samples import sample_messages, samples_folder
from clwl_spark.cli.work import Work, at_work
from clwl_spark.delta.lake import Lake
from clwl_spark.delta.protocol import Transaction
from clwl_spark.errors import LakeStateError
from clwl_spark.routing.run import route
from clwl_spark.snapshots.ingest import IngestOptions, ingest
from clwl_spark.spark.frames import frame_from_rows
from clwl_spark.studies.explain.rendering import render
from clwl_spark.studies.explain.request import ExplainRequest, explain
from clwl_spark.tables import columns as c

LAKE: Final = "clwl-demo"
SNAPSHOT: Final = "demo"
VALID_FROM: Final = datetime(2026, 9, 14, 6, tzinfo=UTC)
PUTTER: Final = "SHOP1"
QUEUE: Final = "PARCEL.IN"
STATE_PARTITIONS: Final = 2
"""Nine queue managers need no more, and fewer end sooner."""

_ONCE: Final = Transaction("clwl-demo", 1)
_QUERIES: Final = (
    """SELECT qmgr, object_name, dest_qmgr, channel, count(*) AS messages
  FROM {outcomes} WHERE reason = 0 GROUP BY ALL ORDER BY ALL""",
    """SELECT reason, qmgr, object_name, object_qmgr, count(*) AS messages
  FROM {outcomes} WHERE reason <> 0 GROUP BY ALL ORDER BY ALL""",
    """SELECT qmgr, object_name, dest_qmgr, channel, eliminated_by
  FROM {route_plans} JOIN {route_candidates} USING (plan_id) ORDER BY ALL""",
)


def run(common: Common) -> int:
    """Make the cluster, route its traffic, show it, and return the exit code."""
    placed = common.lake or common.catalog or common.config or common.assignments
    named = common if placed else replace(common, lake=LAKE)
    with at_work("demo", named, reads=(), routes={}) as work:
        started = time.monotonic()
        _refuse_other_lakes(work.lake)
        document = _shown(work)
        document["seconds"] = round(time.monotonic() - started, 3)
        work.screen.document(document)
    return 0


def _shown(work: Work) -> dict[str, Any]:
    """Ingest, put, route, refuse a change, explain; each shown, the whole as one document."""
    screen, lake = work.screen, work.lake
    samples = samples_folder()
    with screen.progress("demo") as tell:
        tell("ingest", 0, 1)
        when = IngestOptions(valid_from=VALID_FROM)
        ingested = ingest(lake, [samples / "topology"], SNAPSHOT, when).to_json()
        tell("ingest", 1, 1)
        _put(lake, samples / "messages.csv")
        options = replace(route_options(work.settings), state_partitions=STATE_PARTITIONS)
        summary = route(lake, options, tell)
        tell("gates", 0, 1)
        night = change_for_tonight(lake, samples / "change" / SCRIPT, SNAPSHOT)
        tell("gates", 1, 1)
        tell("report", 0, 1)
        report = _report(work)
        tell("report", 1, 1)
    request = ExplainRequest(qmgr=PUTTER, object_name=QUEUE)
    explanation = explain(lake, request)
    tell_rejects(ingested)
    screen.show(ingest_table(ingested), "")
    if summary.messages:
        screen.show(summary_table(summary), "")
    else:
        screen.show("Nothing new to route: an earlier demo did it. For all of it again: --lake NEW")
    screen.show(f"Where does a message go that {PUTTER} puts to {QUEUE}, and why?")
    screen.show(render(explanation), "", *night.shown(), "", _tables(lake))
    if report is not None:
        screen.show("", f"Report, a page for a browser: {report}")
    screen.show(_next(work))
    return {
        "lake": lake.root,
        "ingest": ingested,
        "route": summary.to_json(),
        "explain": explanation.to_json(),
        "night": night.to_json(),
        "report": None if report is None else str(report),
    }


def _refuse_other_lakes(lake: Lake) -> None:
    """Leave alone a lake that something else was loaded into."""
    snapshots = lake.read_or_empty(schemas.SNAPSHOTS.name)
    if not snapshots.where(~F.col(c.SNAPSHOT_ID).isin(SNAPSHOT, NIGHT)).isEmpty():
        raise LakeStateError(f"lake {lake.root} is not one of the demo's: give a new --lake")


def _put(lake: Lake, path: Path) -> None:
    """Append the sample's messages, once per lake."""
    lake.create([schemas.MESSAGES])
    rows = sample_messages(path)
    frame = frame_from_rows(lake.spark, rows, schemas.MESSAGES.schema)
    lake.append(schemas.MESSAGES.name, frame, _ONCE)


def _report(work: Work) -> Path | None:
    """The report's page, in a folder beside the lake; None where the lake is no folder here."""
    if work.lake.in_catalog or not Path(work.lake.root).is_dir():
        return None
    file, _, _ = write_report(work.lake, Path(f"{work.lake.root}-report"))
    return file


def _tables(lake: Lake) -> Table:
    """The lake's tables and what is in them."""
    table = Table(title=f"Tables of {lake.root}", title_justify="left")
    table.add_column("Table")
    table.add_column("What it holds")
    for name, declared in schemas.TABLES.items():
        if lake.exists(name):
            table.add_row(name, declared.comment)
    return table


def _next(work: Work) -> Text:
    """What to try next."""
    place, in_catalog = work.settings.lake or work.settings.catalog, work.lake.in_catalog
    names = {
        name: f"{place}.{name}" if in_catalog else f"delta_scan('{place}/{name}')"
        for name in schemas.TABLES
    }
    lines = ["", f"Try next, in {'SQL' if in_catalog else 'DuckDB (INSTALL delta; LOAD delta;)'}:"]
    for query in _QUERIES:
        lines += ["", f"  {query.format(**names)};"]
    option = "--catalog" if in_catalog else "--lake"
    lines += ["", "and", ""]
    lines += [f"  clwl explain {option} {place} --from {PUTTER} --object RECEIPT.PRINT"]
    return Text("\n".join(lines))
