"""Questions of the Python API about what is in the lake: snapshots, tables, what was routed."""

from dataclasses import replace
from pathlib import Path
from typing import Final

import pandas as pd
from pyspark.sql import DataFrame

from clwl_spark.api.rules import Rules, known_algorithm
from clwl_spark.api.shown import frame_of
from clwl_spark.cli.report import write_report
from clwl_spark.delta.lake import Lake
from clwl_spark.errors import UsageError
from clwl_spark.present.questions.running import ask, prepared
from clwl_spark.present.questions.texts import question_named
from clwl_spark.routing.hops.journeys import check_hops, follow_messages
from clwl_spark.routing.run import RunSummary, route
from clwl_spark.snapshots.catalog import list_snapshots
from clwl_spark.snapshots.inspection import WRITABLE
from clwl_spark.tables import OUTCOMES, SNAPSHOTS, TABLES

_SNAPSHOT: Final = (
    "snapshot_id", "valid_from", "status", "being_written", "source", "base", "loaded_at",
)  # fmt: skip


def table_of(lake: Lake, name: str) -> DataFrame:
    """A table of the lake.

    Raises:
        UsageError: no lake has such a table.
        MissingLakeError: this lake does not have it yet.
    """
    if name not in TABLES:
        raise UsageError(f"no table {name!r} in any lake: there are {', '.join(TABLES)}")
    return lake.read(name)


def snapshots_of(lake: Lake) -> pd.DataFrame:
    """One row per snapshot in the order in which they come into force, with rows per table.

    Raises:
        MissingLakeError: the lake has no snapshots.
    """
    lake.read(SNAPSHOTS.name)
    found = list_snapshots(lake)
    rows = [{**{x: getattr(entry, x) for x in _SNAPSHOT}, **entry.rows} for entry in found]
    return frame_of(rows, (*_SNAPSHOT, *WRITABLE))


def routed(rules: Rules, hops: int, algorithm: str | None, exit_function: str | None) -> RunSummary:
    """Route every message that is not routed yet, and follow them so many hops.

    Raises:
        MissingLakeError: there are no messages or no snapshots.
        LakeStateError: another algorithm than the lake's.
        UsageError: an unknown algorithm, or less than no hop.
    """
    if hops:
        check_hops(hops)
    options = rules.options(exit_function)
    if algorithm is not None:
        options = replace(
            options, wanted=replace(options.wanted, algorithm=known_algorithm(algorithm))
        )
    summary = route(rules.lake, options)
    if hops:
        follow_messages(rules.lake, options, hops, lambda _stage, _done, _total: None)
    return summary


def answer_of(lake: Lake, name: str, limit: int) -> pd.DataFrame:
    """The rows of a ready question; `attrs` has it, what it answers, and if there are `more`.

    Raises:
        UnknownQuestionError: there is none of that name.
        UsageError: less than one row.
        MissingLakeError: nothing was routed yet.
    """
    question = question_named(name)
    if limit < 1:
        raise UsageError(f"limit {limit}: ask for at least one row")
    lake.read(OUTCOMES.name)
    with prepared(lake, [question]) as named:
        answer = ask(named, question, limit)
    rows = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
    frame = frame_of(rows, answer.columns)
    told = {"question": question.question, "answers": question.answers, "more": answer.more}
    frame.attrs.update(told)
    return frame


def report_of(lake: Lake, out: str | Path) -> Path:
    """The file of the report, written into a folder, which is made if need be.

    Raises:
        UsageError: the folder cannot be made.
        MissingLakeError: there are neither outcomes nor messages.
        NothingRoutedError: there are no outcomes yet.
    """
    file, _, _ = write_report(lake, Path(out))
    return file
