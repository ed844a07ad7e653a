"""Candidates that are left after each rule of the ladder."""

from typing import Final

from clwl_spark.algorithm.ladder import BY_NUMBER, EXIT, ORDER
from clwl_spark.mq.vocabulary import Algorithm
from clwl_spark.present.report.data import Funnel
from clwl_spark.present.report.drawing import ACCENT, FAINT
from clwl_spark.present.report.figure import Figure, headings
from clwl_spark.present.report.figures.bars import Bar, bars
from clwl_spark.present.report.words import count, counted, percent

_COUNTING: Final = (
    "Every candidate counts once per message that had it; messages that are bound to an earlier "
    "choice count too. Rule 15 (CLWLMRUC) is as of the history after the last routed batch."
)


def funnel_figure(funnel: Funnel, algorithm: Algorithm) -> Figure:
    """Bars that grow shorter with each rule; rules that eliminated nothing are pale."""
    left = funnel.candidates
    found = [Bar("all candidates", left, count(left))]
    rows = [("all candidates", "", count(left))]
    strongest, most = "", 0
    for numbers in ORDER[algorithm]:
        gone = sum(funnel.eliminated.get(x, 0) for x in numbers)
        left -= gone
        name = _name(numbers)
        text = f"{count(left)}  −{count(gone)}" if gone else count(left)  # noqa: RUF001
        found.append(Bar(name, left, text, ACCENT if gone else FAINT))
        rows.append((name, count(gone), count(left)))
        if gone > most:
            strongest, most = name, gone
    return Figure(
        "rules",
        f"Candidates that are left after each rule, in the order of {algorithm}",
        _label(funnel, left, strongest, most),
        bars(found) if funnel.candidates else "",
        headings("Rule", "Eliminates", "Leaves", numbers=2),
        tuple(rows) if funnel.candidates else (),
        (_COUNTING,),
    )  # fmt: skip


def _name(numbers: tuple[int, ...]) -> str:
    """A step of the rules by its numbers and its name."""
    first = BY_NUMBER[numbers[0]]
    if first.number == EXIT:
        return first.name
    spelled = f"{numbers[0]}–{numbers[-1]}" if len(numbers) > 1 else str(first.number)  # noqa: RUF001
    return f"{spelled} {first.step or first.name}"


def _label(funnel: Funnel, left: int, strongest: str, most: int) -> str:
    """What the rules leave."""
    if not funnel.candidates:
        return "No message had candidates to choose from."
    per_message = funnel.candidates / max(funnel.messages, 1)
    most_told = (
        f" Rule {strongest} eliminated most, {count(most)}." if strongest else " No rule had work."
    )
    return (
        f"{counted(funnel.messages, 'message')} had {count(funnel.candidates)} candidates, "
        f"{per_message:.1f} each; the rules left {count(left)} of them, "
        f"{percent(left / funnel.candidates)}.{most_told}"
    )
