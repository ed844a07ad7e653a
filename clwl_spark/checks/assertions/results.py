"""What came of assertions."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from clwl_spark.checks.assertions.model import Assertion
from clwl_spark.checks.assertions.wording import statement_words
from clwl_spark.tables.moments import moment_text


class Verdict(StrEnum):
    """Whether an assertion holds; ERROR = nobody can say."""

    PASSED = "PASSED"
    FAILED = "FAILED"
    ERROR = "ERROR"


@dataclass(frozen=True, slots=True)
class CaseFound:
    """What was found in one case.

    Attributes:
        case: what is down, in words.
        found: the figure, in words.
    """

    case: str
    found: str


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one assertion.

    Attributes:
        assertion: it.
        verdict: whether it holds.
        cases: how many cases were tried; more than one only for a sweep.
        worst: the case that is furthest from what must hold, or nearest to breaking it; None where
            nobody can say.
        failing: the cases in which it does not hold, the worst first.
        error: why nobody can say; blank = somebody can.
    """

    assertion: Assertion
    verdict: Verdict
    cases: int = 0
    worst: CaseFound | None = None
    failing: tuple[CaseFound, ...] = ()
    error: str = ""

    @property
    def said(self) -> str:
        """The result in one line: the error, or the figure and where."""
        if self.worst is None:
            return self.error
        if not self.assertion.statement.conditions:
            return self.worst.found
        if self.cases == 1:
            return f"{self.worst.found} when {self.worst.case}"
        cases = f"{self.cases:,} cases"
        counted = f"in {len(self.failing):,} of {cases}" if self.failing else f"all {cases} hold"
        return f"{self.worst.found} when {self.worst.case} ({counted}; this is the worst)"

    def to_json(self) -> dict[str, Any]:
        """Its part of the document; the statement's words are those that parse back to it."""
        return {
            "name": self.assertion.name,
            "assertion": statement_words(self.assertion.statement),
            "why": self.assertion.why,
            "file": self.assertion.file,
            "line": self.assertion.line,
            "verdict": self.verdict.value,
            "said": self.said,
            "cases": self.cases,
            "failing": [{"case": x.case, "found": x.found} for x in self.failing],
        }


@dataclass(frozen=True, slots=True)
class Report:
    """What came of all assertions.

    Attributes:
        results: one per assertion, in the order of the files.
        judged_at: when, UTC.
        seconds: wall-clock time of asking and judging.
    """

    results: tuple[Result, ...]
    judged_at: datetime
    seconds: float = 0.0

    def having(self, verdict: Verdict) -> list[Result]:
        """The results with that verdict."""
        return [x for x in self.results if x.verdict == verdict]

    @property
    def failed(self) -> bool:
        """Whether some assertion does not hold."""
        return bool(self.having(Verdict.FAILED))

    @property
    def broken(self) -> bool:
        """Whether of some assertion nobody can say."""
        return bool(self.having(Verdict.ERROR))

    def to_json(self) -> dict[str, Any]:
        """The document of `--json`."""
        return {
            "judged_at": moment_text(self.judged_at),
            "seconds": self.seconds,
            "assertions": len(self.results),
            "passed": len(self.having(Verdict.PASSED)),
            "failed": len(self.having(Verdict.FAILED)),
            "errors": len(self.having(Verdict.ERROR)),
            "results": [x.to_json() for x in self.results],
        }
