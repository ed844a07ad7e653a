"""Seen against expected: counts and single messages that MQ recorded, compared with outcomes.

The counts have to fit into the driver's memory, and so has what `routed` makes of the outcomes.
"""

import time
from typing import Final

import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame

from clwl_spark.checks.quality.data_docs import data_docs
from clwl_spark.checks.quality.deviations import EDGE_MICROS, compare
from clwl_spark.checks.quality.expectations import TableRows, check_words
from clwl_spark.checks.quality.judge import Judged
from clwl_spark.checks.quality.results import Report, Scope
from clwl_spark.checks.quality.routed import routed_between
from clwl_spark.checks.quality.suites import load_gates
from clwl_spark.checks.quality.validate import ValidateOptions, recorded, report_of, results_of
from clwl_spark.checks.quality.views import TABLE_KEYS, pandas_of
from clwl_spark.delta.lake import Lake
from clwl_spark.snapshots.views import EVERYBODY
from clwl_spark.spark.frames import frame_from_arrow
from clwl_spark.studies.conform.find import agreement
from clwl_spark.tables import OBSERVED_COUNTS, OBSERVED_ROUTES
from clwl_spark.tables import columns as c

_DEFAULT: Final = ValidateOptions()
COMPARISONS: Final = "comparisons"
CONFORMITY: Final = "conformity"
_ROWS: Final = "observed_rows"
_TIMES: Final = ("from_time", "to_time")
_FIGURES: Final = ("messages", "expected", "lowest", "highest")
_SCHEMA: Final = pa.schema(
    [
        *((x, pa.string()) for x in (c.QMGR, c.OBJECT_TYPE, c.OBJECT_NAME, c.REMOTE_QMGR, *_TIMES)),
        *((x, pa.int64()) for x in _FIGURES),
        ("cause", pa.string()),
        ("detail", pa.string()),
    ]
)
_AGREEMENT: Final = pa.schema(
    [
        (c.QMGR, pa.string()),
        *((x, pa.int64()) for x in ("compared", "agree")),
        ("least", pa.float64()),
    ]
)
_COUNTED: Final = pa.schema([("name", pa.string()), ("counted", pa.int64())])


def validate_observed(lake: Lake, options: ValidateOptions = _DEFAULT) -> Report:
    """Judge `observed_counts` and `observed_routes` by the outcomes.

    Args:
        lake: where they are; `gate_results` and `gate_failures` get what was found.
        options: how.

    Raises:
        SettingsError: a suite is wrong, with file and line.
        MissingLakeError: there is neither `observed_counts` nor `observed_routes`, or no table of
            outcomes.
    """
    gates = load_gates(Scope.OBSERVED, options.gates)
    check_words(gates.expectations)
    started = time.monotonic()
    counts = _counts(lake).toArrow()
    tables = _judged_tables(lake, counts, options.least_agreement)
    rows = {OBSERVED_COUNTS.name: TableRows(pandas_of(counts), TABLE_KEYS[OBSERVED_COUNTS.name])}
    judged = Judged(
        lake,
        tables,
        {name: frame_from_arrow(lake.spark, table) for name, table in tables.items()},
        (),
        {},
    )
    with data_docs(options.data_docs) as keep:
        results = results_of(gates, rows, judged, keep)
    return recorded(lake, report_of(Scope.OBSERVED, "observed counts", results, started))


def _counts(lake: Lake) -> DataFrame:
    """The counts; a lake that has records of single messages need not have any."""
    has_routes = lake.exists(OBSERVED_ROUTES.name)
    return (lake.read_or_empty if has_routes else lake.read)(OBSERVED_COUNTS.name)


def _judged_tables(lake: Lake, counts: pa.Table, least: float) -> dict[str, pa.Table]:
    """The tables that rules name, by name."""
    agreeing = conformity(lake, least)
    compared = agreeing["compared"][0].as_py() if agreeing.num_rows else 0
    figures = {OBSERVED_COUNTS.name: counts.num_rows, OBSERVED_ROUTES.name: compared}
    return {
        COMPARISONS: comparisons(lake, counts),
        CONFORMITY: agreeing,
        _ROWS: pa.table([[*figures], [*figures.values()]], schema=_COUNTED),
    }


def conformity(lake: Lake, least: float) -> pa.Table:
    """How many of the records that can be compared agree with outcomes.

    Grain: one row per queue manager that has such records, and before them one of all, whose qmgr
    is '*': compared, agree, and least, the share that has to agree.
    """
    by_qmgr = agreement(lake)
    sums = {x: sum(row[x] for row in by_qmgr) for x in ("compared", "agree")}
    rows = [{c.QMGR: EVERYBODY, **sums}, *by_qmgr] if by_qmgr else []
    return pa.Table.from_pylist([{**x, "least": least} for x in rows], schema=_AGREEMENT)


def comparisons(lake: Lake, counts: pa.Table) -> pa.Table:
    """What each count was expected to be, and the cause where it is another.

    Counts without a figure or a time are left out.

    Grain: one row per count: its columns, expected, lowest, highest, cause and detail.
    """
    usable = _usable(pandas_of(counts))
    found = compare(usable, routed_between(lake, _moments(usable)))
    for name in _TIMES:
        found[name] = pd.to_datetime(found[name], unit="us").dt.strftime("%Y-%m-%dT%H:%M:%SZ")
    found = found.astype(dict.fromkeys(_FIGURES, "int64"))
    found["detail"] = [_difference_text(*figures) for figures in found[[*_FIGURES]].to_numpy()]
    return pa.Table.from_pandas(found[_SCHEMA.names], schema=_SCHEMA, preserve_index=False)


def _difference_text(messages: int, expected: int, lowest: int, highest: int) -> str:
    return (
        f"{messages:,} counted, {expected:,} expected; "
        f"chance and administration explain {lowest:,} to {highest:,}"
    )


def _usable(counts: pd.DataFrame) -> pd.DataFrame:
    """Counts that can be compared, each once; their times in microseconds."""
    needed = [c.QMGR, c.OBJECT_TYPE, c.OBJECT_NAME, "messages", *_TIMES]
    usable = counts.dropna(subset=needed).fillna({c.REMOTE_QMGR: ""})
    for name in _TIMES:
        moments = pd.to_datetime(usable[name], utc=True).dt.tz_localize(None)
        usable[name] = moments.astype("datetime64[us]").astype("int64")
    usable = usable[usable["from_time"] < usable["to_time"]]
    return usable.drop_duplicates(subset=list(OBSERVED_COUNTS.keys))


def _moments(counts: pd.DataFrame) -> list[int]:
    """When counts begin and end, and when what is put close to that does."""
    ends = pd.concat([counts[name] for name in _TIMES]).unique().tolist()
    return sorted({at + step for at in ends for step in (-EDGE_MICROS, 0, EDGE_MICROS)})
