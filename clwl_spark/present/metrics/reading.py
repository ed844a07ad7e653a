"""What a lake's runs, snapshots and gates come to, as figures for monitoring.

Names and units follow Prometheus' conventions: seconds, bytes, `_total` for what only grows.
"""

import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.errors import InputError
from clwl_spark.routing.intake.pending_messages import pending_messages
from clwl_spark.routing.ledger.runs import DONE, begin, newest_run
from clwl_spark.snapshots.catalog import snapshot_catalog
from clwl_spark.spark.parallel import run_parallel
from clwl_spark.tables import GATE_RESULTS, MESSAGES, REJECTED_MESSAGES, RUNS
from clwl_spark.tables import columns as c
from clwl_spark.tables.moments import SECOND, micros, moment_at

_MIB: Final = 2**20
_PASSED: Final = "PASSED"
Labels = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Sample:
    """One value of a figure.

    Attributes:
        value: in the figure's unit.
        labels: what it is of.
    """

    value: float
    labels: Labels


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of a lake.

    Attributes:
        name: without the ending `_total` of counters.
        words: what it is.
        unit: seconds, bytes, or blank for counts.
        grows: it is a counter, which begins with the lake's first run.
        samples: its values.
    """

    name: str
    words: str
    unit: str
    grows: bool
    samples: tuple[Sample, ...]


@dataclass(frozen=True, slots=True)
class Figures:
    """All figures of a lake.

    Attributes:
        at: when they were read, UTC.
        since: start of the first run, when counters began; None = nothing was routed yet.
        figures: those that the lake has something to say of.
    """

    at: datetime
    since: datetime | None
    figures: tuple[Figure, ...]


def read_figures(lake: Lake) -> Figures:
    """Read a lake's figures.

    Args:
        lake: its session is used as it is; nothing is written.
    """
    found = run_parallel(lake.spark, lambda part: part(lake), [_runs, _backlog, _snapshots, _gates])
    figures = tuple(x for part in found for x in part if x.samples)
    ((since,),) = lake.read_or_empty(RUNS.name).agg(F.unix_micros(F.min("started_at"))).collect()
    first = None if since is None else moment_at(since)
    return Figures(datetime.now(UTC), first, figures)


def _runs(lake: Lake) -> list[Figure]:
    """What routing did, in all and at last."""
    done = lake.read_or_empty(RUNS.name).where(F.col(c.STATUS) == DONE)
    counts = ("messages", "outcomes", "rejected", "out_of_order", "seconds")
    engine = F.coalesce("engine", F.lit("spark")).alias("engine")
    sums = (F.sum(x).alias(x) for x in counts)
    by_engine = _rows(done.groupBy(engine).agg(F.count("*").alias("runs"), *sums).orderBy("engine"))
    reasons = done.select(F.explode("by_reason").alias("reason", "n")).groupBy("reason")
    by_reason = _rows(reasons.agg(F.sum("n").alias("n")).orderBy("reason"))
    rejects = lake.read_or_empty(REJECTED_MESSAGES.name).groupBy(F.coalesce(c.ERROR, F.lit("")))
    by_error = rejects.count().collect()

    def of_engine(name: str) -> list[Sample]:
        return [Sample(float(x[name] or 0), {"engine": x["engine"]}) for x in by_engine]

    return [
        _counter("clwl_runs", "Runs of routing that ended well.", of_engine("runs")),
        _counter("clwl_messages_taken", "Messages that were routed or set aside.",
                 of_engine("messages")),
        _counter("clwl_outcomes", "Outcomes by MQ's reason code; 0 = it has a destination.",
                 [Sample(float(x["n"]), {"reason": str(x["reason"])}) for x in by_reason]),
        _counter("clwl_outcomes_out_of_order", "Outcomes of messages that came out of order.",
                 of_engine("out_of_order")),
        _counter("clwl_run_seconds", "Time that runs took.", of_engine("seconds"), "seconds"),
        _gauge("clwl_rejected_messages", "Messages set aside, by error.",
               [Sample(float(n), {"error": error}) for error, n in sorted(by_error)]),
        *_last_run(newest_run(lake)),
    ]  # fmt: skip


def _last_run(row: Mapping[str, Any] | None) -> list[Figure]:
    """The newest run."""
    if row is None:
        return []
    named = {"engine": row.get("engine") or "spark"}
    told = {
        "clwl_last_run_started_timestamp_seconds": (_epoch(row["started_at"]), "When it began."),
        "clwl_last_run_finished_timestamp_seconds": (
            _epoch(row["finished_at"]), "When it ended; absent while it runs, or if it was killed.",
        ),
        "clwl_last_run_messages": (row["messages"], "Messages that it took."),
        "clwl_last_run_seconds": (row["seconds"], "Time that it took."),
        "clwl_last_run_worker_peak_bytes": (
            None if row["worker_peak_mib"] is None else row["worker_peak_mib"] * _MIB,
            "Memory of its largest worker.",
        ),
    }  # fmt: skip
    is_running = Sample(float(row[c.STATUS] != DONE), named)
    return [
        _gauge("clwl_run_unfinished", "1 = the newest run goes on, or was killed.", [is_running]),
        *(
            _gauge(name, f"Of the newest run. {words}", [Sample(float(value), named)], _unit(name))
            for name, (value, words) in told.items()
            if value is not None
        ),
    ]


def _backlog(lake: Lake) -> list[Figure]:
    """Messages that the next run would take; nothing where only Spark can tell."""
    if not lake.is_here or not lake.exists(MESSAGES.name):
        return []
    try:
        with tempfile.TemporaryDirectory(prefix="clwl-backlog-") as scratch:
            pending = pending_messages(lake, begin(lake), Path(scratch))
    except InputError:
        return []  # the next run says why
    rows = [] if pending is None else [Sample(float(pending.rows), {})]
    return [_gauge("clwl_backlog_messages", "Messages that the next run would take.", rows)]


def _snapshots(lake: Lake) -> list[Figure]:
    """How many snapshots there are, and since when the newest is in force."""
    catalog = snapshot_catalog(lake)
    counts = Counter(x.status or "UNKNOWN" for x in catalog.ordered)
    valid = [
        Sample(x.valid_from / SECOND, {"snapshot_id": x.snapshot_id}) for x in catalog.pins[-1:]
    ]
    name = "clwl_snapshot_valid_from_timestamp_seconds"
    return [
        _gauge("clwl_snapshots", "Snapshots of the topology, by status.",
               [Sample(float(n), {"status": x}) for x, n in sorted(counts.items())]),
        _gauge(name, "Since when the last valid snapshot is in force.", valid, "seconds"),
    ]  # fmt: skip


def _gates(lake: Lake) -> list[Figure]:
    """What the newest validation of each scope found."""
    results = lake.read_or_empty(GATE_RESULTS.name)
    newest = results.groupBy("scope").agg(F.max("judged_at").alias("judged_at"))
    rows = _rows(
        results.join(newest, ["scope", "judged_at"]).select(
            "scope", "gate", "severity", "verdict", "failing"
        )
    )
    verdicts = Counter((x["scope"], x["verdict"]) for x in rows)
    failing = [
        Sample(float(x["failing"] or 0), {k: x[k] for k in ("scope", "gate", "severity")})
        for x in sorted(rows, key=lambda x: (x["scope"], x["gate"]))
        if x["verdict"] != _PASSED
    ]
    return [
        _gauge("clwl_gates", "Gates of the newest validation, by verdict.",
               [Sample(float(n), {"scope": x, "verdict": y})
                for (x, y), n in sorted(verdicts.items())]),
        _gauge("clwl_gate_failing", "Rows that break a gate, in the newest validation.", failing),
    ]  # fmt: skip


def _counter(name: str, words: str, samples: Iterable[Sample], unit: str = "") -> Figure:
    return Figure(name, words, unit, grows=True, samples=tuple(samples))


def _gauge(name: str, words: str, samples: Iterable[Sample], unit: str = "") -> Figure:
    return Figure(name, words, unit, grows=False, samples=tuple(samples))


def _unit(name: str) -> str:
    """The unit that a name ends with."""
    return next((x for x in ("seconds", "bytes") if name.endswith(f"_{x}")), "")


def _epoch(moment: datetime | None) -> float | None:
    """Seconds since 1970."""
    return None if moment is None else micros(moment) / SECOND


def _rows(frame: DataFrame) -> list[dict[str, Any]]:
    return [row.asDict() for row in frame.collect()]
