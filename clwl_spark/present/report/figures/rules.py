"""Candidates that are left after each rule of the ladder."""

from typing import Final

from clwl_spark.mq.vocabulary import Algorithm
from clwl_spark.present.report.data import Funnel
from clwl_spark.present.report.drawing import ACCENT, FAINT
from clwl_spark.present.report.figure import Figure, headings
from clwl_spark.present.report.figures.bars import Bar, bars
from clwl_spark.present.report.words import count, counted, percent
from clwl_spark.studies.explain.wording import ORDER

WORDS: Final[dict[tuple[int, ...], tuple[str, str]]] = {
    (1,): ("1", "cluster of the sender"),
    (2,): ("2", "cluster of the instance"),
    (100,): ("workload", "exit"),
    (3,): ("3", "CLWLRANK of the channel"),
    (4,): ("4", "CLWLRANK of the queue"),
    (5,): ("5", "put enabled"),
    (6,): ("6", "CLWLUSEQ"),
    (7,): ("7", "not suspended"),
    (8, 9, 10, 11): ("8–11", "channel status"),  # noqa: RUF001  (a range)
    (12,): ("12", "NETPRTY"),
    (13,): ("13", "CLWLPRTY of the channel"),
    (14,): ("14", "CLWLPRTY of the queue"),
    (0,): ("0", "duplicates"),
}
"""How the report names the rules, by their numbers in `eliminated_by`."""

_COUNTING: Final = (
    "Every candidate counts once per message that had it; messages that are bound to an earlier "
    "choice count too. Rule 15 (CLWLMRUC) is applied to each message and is in no table."
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
        name = " ".join(WORDS[numbers])
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
