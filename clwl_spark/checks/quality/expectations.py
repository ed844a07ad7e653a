"""Expectations run by Great Expectations: on pandas frames, or on Spark frames.

It is never called while messages are routed: a batch has CHECK constraints and counts itself.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, Final

import pandas as pd
from pyspark.sql import DataFrame

from clwl_spark.checks.quality.library import (
    ExpectationNotFoundError,
    ExpectationSuiteValidationResult,
    ExpectationValidationResult,
    FailureSeverity,
    GreatExpectationsError,
    GxExpectation,
    ProgressBarsConfig,
    get_expectation_impl,
    gx,
    quiet,
)
from clwl_spark.checks.quality.results import KEPT_ROWS, Found, GateResult, Row, Severity
from clwl_spark.checks.quality.suites import Expectation
from clwl_spark.errors import SettingsError

OnValidated = Callable[[ExpectationSuiteValidationResult], None]
"""Takes what Great Expectations found of a table, its suites' names joined."""

_IDENTITY: Final = "gate"
_GX_SEVERITY: Final = {
    Severity.ERROR: FailureSeverity.CRITICAL,
    Severity.WARN: FailureSeverity.WARNING,
}


@dataclass(frozen=True, slots=True)
class TableRows:
    """A table's rows of what is judged.

    Attributes:
        frame: the rows, in pandas or in Spark.
        keys: the columns that tell one row from another.
    """

    frame: pd.DataFrame | DataFrame
    keys: tuple[str, ...]


def keep_nothing(_validation: ExpectationSuiteValidationResult) -> None:
    """Let it go."""


def check_words(expectations: Sequence[Expectation]) -> None:
    """Refuse expectations that Great Expectations does not have, or arguments it does not take.

    Raises:
        SettingsError: with file and line.
    """
    for expectation in expectations:
        _made(expectation)


def run_expectations(
    expectations: Sequence[Expectation],
    tables: Mapping[str, TableRows],
    keep: OnValidated = keep_nothing,
) -> list[GateResult]:
    """Evaluate expectations, table by table, in their order.

    Args:
        expectations: what has to hold; each one's table is in `tables`.
        tables: the rows by table.
        keep: given each table's validation, for Data Docs.
    """
    by_table: dict[str, list[Expectation]] = {}
    for expectation in expectations:
        by_table.setdefault(expectation.table, []).append(expectation)
    results: dict[str, GateResult] = {}
    with quiet():
        for table, these in by_table.items():
            for result in _of_table(these, tables[table], keep):
                results[result.gate] = result
    return [results[x.words.id] for x in expectations]


def _of_table(
    expectations: Sequence[Expectation], rows: TableRows, keep: OnValidated
) -> list[GateResult]:
    """One validation per table; on Spark the failing rows are asked for where there are some."""
    started = time.monotonic()
    in_memory = isinstance(rows.frame, pd.DataFrame)
    validation = _validated(expectations, rows, "SUMMARY" if in_memory else "BOOLEAN_ONLY")
    found = {_gate(x): _found(x, rows.keys) for x in validation.results}
    failed = [x for x in expectations if found[x.words.id].failing and not in_memory]
    if failed:
        again = {_gate(x): x for x in _validated(failed, rows, "SUMMARY").results}
        found |= {gate: _found(x, rows.keys) for gate, x in again.items()}
        validation.results = [again.get(_gate(x), x) for x in validation.results]
    keep(validation)
    seconds = round((time.monotonic() - started) / len(expectations), 4)
    engine = "pandas" if in_memory else "spark"
    return [
        GateResult(
            gate=x.words.id,
            suite=x.suite,
            table=x.table,
            severity=x.severity,
            found=found[x.words.id],
            engine=engine,
            seconds=seconds,
            title=x.words.title,
            why=x.words.why,
            remedy=x.words.remedy,
        )
        for x in expectations
    ]


def _validated(
    expectations: Sequence[Expectation], rows: TableRows, how: str
) -> ExpectationSuiteValidationResult:
    """What Great Expectations says of a table."""
    names = ", ".join(dict.fromkeys(x.suite for x in expectations))
    suite = gx.ExpectationSuite(names, expectations=[_made(x) for x in expectations])
    result_format: dict[str, Any] = {"result_format": how}
    if how != "BOOLEAN_ONLY":
        # On Spark, too, this is how many rows come to the driver, whatever else is wrong.
        result_format["partial_unexpected_count"] = KEPT_ROWS
        result_format["unexpected_index_column_names"] = list(rows.keys)
    found: ExpectationSuiteValidationResult = _batch(rows.frame).validate(
        suite, result_format=result_format
    )
    return found


def _gate(validation: ExpectationValidationResult) -> str:
    """The gate that it is about."""
    words: Any = validation.expectation_config
    return str(words.meta[_IDENTITY])


def _batch(frame: pd.DataFrame | DataFrame) -> Any:  # noqa: ANN401  (its type is not exported)
    sources = _context().data_sources
    if isinstance(frame, pd.DataFrame):
        source = sources.add_or_update_pandas("clwl pandas")
    else:
        # persist=True, its default, would leave a persisted frame behind after each run.
        source = sources.add_or_update_spark("clwl spark", persist=False)
    asset = source.add_dataframe_asset("rows")
    return asset.add_batch_definition_whole_dataframe("all").get_batch({"dataframe": frame})


@cache
def _context() -> Any:  # noqa: ANN401
    """A context that keeps nothing on disk."""
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    return context


def _made(expectation: Expectation) -> GxExpectation:
    """The expectation as Great Expectations has it.

    Raises:
        SettingsError: there is none of that name, or it does not take these arguments.
    """
    words = expectation.words
    try:
        return get_expectation_impl(words.expect)(
            **words.arguments,
            severity=_GX_SEVERITY[expectation.severity],
            meta={_IDENTITY: words.id},
        )
    except ExpectationNotFoundError as error:
        raise SettingsError(
            f"{expectation.where}: {words.id}: Great Expectations has no {words.expect!r}: "
            "give one of its expectations, such as expect_column_values_to_not_be_null"
        ) from error
    except (ValueError, TypeError, GreatExpectationsError) as error:
        said = " ".join(str(error).split())
        raise SettingsError(
            f"{expectation.where}: {words.id}: {words.expect} does not take these arguments: {said}"
        ) from error


def _found(validation: ExpectationValidationResult, keys: Sequence[str]) -> Found:
    """What an expectation found; one that raised has an error and no verdict."""
    if error := _raised(validation.exception_info):
        return Found(0, error=error)
    result = validation.result or {}
    checked = result.get("element_count")
    if validation.success:
        return Found(0, checked=checked)
    failing = result.get("unexpected_count")
    rows = tuple(_rows(validation, keys))
    return Found(failing or max(1, len(rows)), rows, checked)


def _rows(validation: ExpectationValidationResult, keys: Sequence[str]) -> list[Row]:
    """The failing rows: their keys and the value; without keys the values or the figure alone."""
    result = validation.result or {}
    configuration = validation.expectation_config
    arguments = configuration.kwargs if configuration else {}
    told = str(arguments.get("column") or ", ".join(arguments.get("column_list", ())) or "rows")
    indexed = result.get("partial_unexpected_index_list") or ()
    if indexed:
        return [_row(x, told, keys) for x in indexed[:KEPT_ROWS]]
    values = result.get("partial_unexpected_list") or ()
    if values:
        return [{"detail": f"{told}: {_plain(x)!r}"} for x in values[:KEPT_ROWS]]
    if "observed_value" in result:
        return [{"detail": f"{told}: {_plain(result['observed_value'])}"}]
    return []


def _row(found: Mapping[str, Any], told: str, keys: Sequence[str]) -> Row:
    row = {key: _plain(found.get(key)) for key in keys}
    value = ", ".join(f"{x} {_plain(found.get(x))!r}" for x in told.split(", "))
    return row | {"detail": value}


def _plain(value: Any) -> Any:  # noqa: ANN401  (whatever a cell has)
    """A value that JSON can say; moments as text."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, (float, datetime)) and value != value:  # noqa: PLR0124  (NaN, NaT)
        return None
    return str(value) if isinstance(value, (datetime, bytes, bytearray)) else value


def _raised(info: Mapping[str, Any] | None) -> str:
    """What an expectation raised, in one line; blank = nothing.

    The document has one level, or one for each metric that raised.
    """
    documents = [info or {}, *(x for x in (info or {}).values() if isinstance(x, Mapping))]
    for document in documents:
        if document.get("raised_exception"):
            return " ".join(str(document.get("exception_message") or "it raised").split())
    return ""
