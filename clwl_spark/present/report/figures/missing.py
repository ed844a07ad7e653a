"""Puts that ended with a reason, and messages that were rejected."""

from typing import Final

from clwl_spark.present.report.data import Head
from clwl_spark.present.report.drawing import BAD
from clwl_spark.present.report.figure import Figure, headings
from clwl_spark.present.report.figures.bars import Bar, bars
from clwl_spark.present.report.findings import Failure, Failures
from clwl_spark.present.report.surprises import why_rejected
from clwl_spark.present.report.words import (
    count,
    counted,
    named,
    percent,
    reason,
    request,
    told_apart,
)

_DRAWN: Final = 12
_NAME: Final = 34


def failure_figures(head: Head, failures: Failures) -> list[Figure]:
    """Those of the two that have anything to show."""
    found = []
    if failures.rows:
        found.append(_reasons(head, failures))
    if failures.rejected:
        found.append(_rejected(failures))
    return found


def _reasons(head: Head, failures: Failures) -> Figure:
    shown = failures.rows[:_DRAWN]
    names = told_apart([_short(x) for x in shown], _NAME)
    first = failures.rows[0]
    notes = []
    if len(failures.rows) > _DRAWN:
        notes.append(f"{len(failures.rows) - _DRAWN} more in the table.")
    if failures.others:
        notes.append(f"{counted(failures.others, 'failed outcome')} of other objects not listed.")
    rows = tuple(
        (named(x.qmgr), request(x.object_name, x.object_qmgr), reason(x.reason),
         count(x.messages), percent(x.messages / x.asked))
        for x in failures.rows
    )  # fmt: skip
    return Figure(
        "failures",
        "Outcomes that failed, by object and reason",
        f"{count(head.failed)} of {counted(head.outcomes, 'outcome')} failed; most, "
        f"{count(first.messages)}, with {reason(first.reason)} for "
        f"{request(first.object_name, first.object_qmgr)} put on {named(first.qmgr)}.",
        bars(
            [
                Bar(name, x.messages, f"{count(x.messages)}  {reason(x.reason)}", BAD)
                for name, x in zip(names, shown, strict=True)
            ],
            longest=1.9 * shown[0].messages,
        ),
        headings("Put on", "Object", "Reason", "Failed", "Of what was put there", numbers=2),
        rows,
        tuple(notes),
    )


def _short(found: Failure) -> str:
    """An object and who put to it, for beside a bar."""
    return f"{request(found.object_name, found.object_qmgr)} from {found.qmgr}"


def _rejected(failures: Failures) -> Figure:
    errors = [*failures.rejected.items()]
    first, most = errors[0]
    names = told_apart([error for error, _ in errors], _NAME)
    return Figure(
        "rejected",
        "Messages that could not be routed at all, by error",
        f"{counted(sum(failures.rejected.values()), 'message')} rejected; most, "
        f"{count(most)}, with {named(first)}.",
        bars([Bar(name, n, count(n), BAD) for name, (_, n) in zip(names, errors, strict=True)]),
        headings("Error", "Why", "Messages", numbers=1),
        tuple((named(error), why_rejected(error), count(n)) for error, n in errors),
    )
