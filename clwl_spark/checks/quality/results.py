"""What gates say: a verdict per gate with the failing rows, and the report of a validation."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from clwl_spark.tables.moments import moment_text

KEPT_ROWS: Final = 1_000
"""Failing rows that are kept of a gate; `failing` counts all of them."""

Row = dict[str, Any]


class Severity(StrEnum):
    """What a failing gate means."""

    ERROR = "error"
    WARN = "warn"


class Verdict(StrEnum):
    """What a gate found."""

    PASSED = "PASSED"
    FAILED = "FAILED"
    ERROR = "ERROR"


class Scope(StrEnum):
    """What a validation is about."""

    TOPOLOGY = "topology"
    OUTCOMES = "outcomes"
    OBSERVED = "observed"


@dataclass(frozen=True, slots=True)
class Found:
    """What one look at the rows found.

    Attributes:
        failing: how many rows, or groups of rows, break the gate.
        rows: the first `KEPT_ROWS` of them; `detail` says in words what is wrong.
        checked: rows that were looked at; None = not counted.
        error: why the gate could not be evaluated; blank = it was.
    """

    failing: int
    rows: tuple[Row, ...] = ()
    checked: int | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class GateResult:
    """One gate's verdict.

    Attributes:
        gate: its name.
        suite: the suite that has it.
        table: the table that it is about; blank = several.
        severity: what it means if it failed.
        found: what it found.
        engine: pandas, sqlite or spark.
        seconds: how long it took; a share of the table's time for expectations.
        title: what has to hold, in one sentence.
        why: what goes wrong where it does not.
        remedy: what to do.
    """

    gate: str
    suite: str
    table: str
    severity: Severity
    found: Found
    engine: str
    seconds: float
    title: str
    why: str
    remedy: str

    @property
    def verdict(self) -> Verdict:
        """PASSED, FAILED, or ERROR where it could not be evaluated."""
        if self.found.error:
            return Verdict.ERROR
        return Verdict.FAILED if self.found.failing else Verdict.PASSED

    def to_json(self) -> dict[str, Any]:
        """Its part of the documents of `clwl validate --json` and `clwl lint --json`."""
        fields = asdict(self)
        found = fields.pop("found")
        return fields | {
            "severity": self.severity.value,
            "verdict": self.verdict.value,
            "failing": found["failing"],
            "checked": found["checked"],
            "error": found["error"],
            "rows": list(found["rows"]),
        }


@dataclass(frozen=True, slots=True)
class Report:
    """A validation.

    Attributes:
        validation_id: names it in `gate_results` and `gate_failures`.
        scope: what it was about.
        subject: the snapshot, or what else was judged.
        judged_at: when, UTC.
        results: one per gate.
        status: status of the snapshot afterwards; None where there is none.
        used: the snapshot that routing uses instead of a quarantined one; None = none.
        seconds: how long it took.
    """

    validation_id: str
    scope: Scope
    subject: str
    judged_at: datetime
    results: tuple[GateResult, ...]
    status: str | None = None
    used: str | None = None
    seconds: float = 0.0
    notes: tuple[str, ...] = field(default=())

    def having(self, verdict: Verdict, *severities: Severity) -> list[GateResult]:
        """The gates with that verdict, and one of these severities if any are given."""
        return [
            x
            for x in self.results
            if x.verdict == verdict and (not severities or x.severity in severities)
        ]

    @property
    def failed(self) -> bool:
        """Whether a gate of severity error said no."""
        return bool(self.having(Verdict.FAILED, Severity.ERROR))

    @property
    def broken(self) -> list[GateResult]:
        """The gates that could not be evaluated."""
        return self.having(Verdict.ERROR)

    def to_json(self) -> dict[str, Any]:
        """The document of `clwl validate --json` and `clwl lint --json`."""
        return {
            "validation_id": self.validation_id,
            "scope": self.scope.value,
            "subject": self.subject,
            "status": self.status,
            "used": self.used,
            "judged_at": moment_text(self.judged_at),
            "seconds": self.seconds,
            "gates": len(self.results),
            "errors": len(self.having(Verdict.FAILED, Severity.ERROR)),
            "warnings": len(self.having(Verdict.FAILED, Severity.WARN)),
            "not_evaluated": len(self.broken),
            "notes": list(self.notes),
            "results": [x.to_json() for x in ordered(self.results)],
        }


def ordered(results: Sequence[GateResult]) -> list[GateResult]:
    """What needs attention first: not evaluated, errors, warnings, passed; else as they are."""
    weight = {Verdict.ERROR: 0, Verdict.FAILED: 1, Verdict.PASSED: 3}
    return sorted(
        results,
        key=lambda x: (
            weight[x.verdict] + (x.verdict == Verdict.FAILED and x.severity == Severity.WARN)
        ),
    )
