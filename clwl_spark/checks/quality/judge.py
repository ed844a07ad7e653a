"""Rules on a snapshot: each is evaluated by SQLite where the snapshot fits, by Spark beyond."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame

from clwl_spark.checks.quality.engines import SparkEngine, SqliteEngine, View
from clwl_spark.checks.quality.results import GateResult
from clwl_spark.checks.quality.suites import Rule
from clwl_spark.checks.quality.views import INDEXES, RAW, Frames, SnapshotRows, snapshot_views
from clwl_spark.delta.lake import Lake
from clwl_spark.errors import InputError

IN_MEMORY_ROWS: Final = 1_500_000
"""Rows of a table up to which a snapshot is judged in memory (docs/performance.md)."""


@dataclass(frozen=True)
class Judged:
    """Rows, and the engines that evaluate rules on them, made when they are first needed.

    Attributes:
        lake: whose session Spark's engine uses.
        arrow: tables in memory; empty where they do not fit.
        spark: the same tables as frames.
        views: what is made of the tables.
        indexes: what rules join on, by view.
    """

    lake: Lake
    arrow: Mapping[str, pa.Table]
    spark: Mapping[str, DataFrame]
    views: Sequence[View]
    indexes: Mapping[str, Sequence[str]]

    @cached_property
    def in_memory(self) -> SqliteEngine:
        """The engine for small data."""
        return SqliteEngine(self.arrow, self.views, self.indexes)

    @cached_property
    def in_spark(self) -> SparkEngine:
        """The engine for all data."""
        return SparkEngine(self.lake.spark, self.spark, self.views)

    def engine_of(self, rule: Rule) -> SqliteEngine | SparkEngine:
        """The engine that evaluates a rule."""
        small = bool(self.arrow) and rule.words.runs_on == "any"
        return self.in_memory if small else self.in_spark

    def close(self) -> None:
        """Give back what the engines hold."""
        for name in ("in_memory", "in_spark"):
            if name in self.__dict__:
                getattr(self, name).close()


def snapshot_judged(lake: Lake, rows: SnapshotRows) -> Judged:
    """A snapshot's rows as rules see them."""
    return Judged(
        lake,
        {RAW.format(name): table for name, table in rows.arrow.items()},
        Frames({RAW.format(x): partial(rows.spark.__getitem__, x) for x in rows.spark}),
        snapshot_views(),
        INDEXES,
    )


def run_rules(rules: Iterable[Rule], judged: Judged) -> list[GateResult]:
    """Evaluate rules, in their order."""
    return [_run(rule, judged) for rule in rules]


def _run(rule: Rule, judged: Judged) -> GateResult:
    started = time.monotonic()
    engine = judged.engine_of(rule)
    found = engine.failing(rule.words.sql)
    return GateResult(
        gate=rule.words.id,
        suite=rule.suite,
        table="",
        severity=rule.severity,
        found=found,
        engine=engine.name,
        seconds=round(time.monotonic() - started, 4),
        title=rule.words.title,
        why=rule.words.why,
        remedy=rule.words.remedy,
    )


def refuse_broken(results: Sequence[GateResult]) -> None:
    """Say which gate could not be evaluated.

    Raises:
        InputError: there is one; it is the gate that is wrong, not the data.
    """
    broken = [x for x in results if x.found.error]
    if broken:
        first, more = broken[0], len(broken) - 1
        others = f" and {more} more" if more else ""
        raise InputError(
            f"gate '{first.gate}'{others} could not be evaluated: {first.found.error}: "
            "correct it in its suite; the data were not judged by it"
        )
