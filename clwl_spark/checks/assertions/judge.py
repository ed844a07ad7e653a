"""Ask once, then judge each assertion by what was answered."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import product

from clwl_spark.checks.assertions.answers import Answer, Answers, Question
from clwl_spark.checks.assertions.cases import cases_of
from clwl_spark.checks.assertions.measure import (
    UnansweredError,
    demand_of,
    excess,
    figure_of,
    is_met,
    needs_whole_way,
)
from clwl_spark.checks.assertions.model import Assertion, Case, Request, Separate, requests_of
from clwl_spark.checks.assertions.results import CaseFound, Report, Result, Verdict
from clwl_spark.checks.assertions.wording import case_words

_Asked = Mapping[tuple[Case, Request], Question]


@dataclass(frozen=True, slots=True)
class _Prepared:
    """An assertion with its cases, or with what is wrong with it."""

    assertion: Assertion
    cases: Sequence[Case]
    problems: Sequence[str]


def judge(assertions: Sequence[Assertion], answers: Answers) -> Report:
    """Judge assertions; the engine is asked once, and not at all where there is nothing to ask.

    Args:
        assertions: any number.
        answers: the engine.

    Returns:
        One result per assertion, in their order.

    Raises:
        UnansweredError: the engine left out a question, or the whole way of one.
    """
    started = time.monotonic()
    network = answers.network()
    prepared = [_Prepared(x, *cases_of(x.statement, network)) for x in assertions]
    asked = _questions(prepared)
    found = answers.answer(list(asked.values())) if asked else {}
    results = tuple(_result(x, asked, found) for x in prepared)
    return Report(results, datetime.now(UTC), round(time.monotonic() - started, 3))


def _questions(prepared: Iterable[_Prepared]) -> _Asked:
    """The distinct questions: of those about one put in one case, one, for all who ask it."""
    asked: dict[tuple[Case, Request], Question] = {}
    for one in prepared:
        fact = one.assertion.statement.fact
        is_whole_way, is_lines = needs_whole_way(fact), isinstance(fact, Separate)
        for case, request in product(one.cases, requests_of(fact)):
            before = asked.get((case, request), Question(case=case, request=request))
            more = {
                "is_whole_way": is_whole_way or before.is_whole_way,
                "is_lines": is_lines or before.is_lines,
            }
            asked[case, request] = before.model_copy(update=more)
    return asked


def _result(one: _Prepared, asked: _Asked, found: Mapping[Question, Answer]) -> Result:
    if one.problems:
        return Result(one.assertion, Verdict.ERROR, error="; ".join(one.problems))
    statement = one.assertion.statement
    demand = demand_of(statement)
    judged: list[tuple[bool, float, CaseFound]] = []
    for case in one.cases:
        words = case_words(case)
        answers = [_answer(asked[case, x], found) for x in requests_of(statement.fact)]
        error = next((x.error for x in answers if x.error), "")
        if error:
            return Result(one.assertion, Verdict.ERROR, error=f"{error} (when {words})")
        figure = figure_of(statement.fact, *answers)
        met = is_met(figure, demand)
        judged.append((met, excess(figure, demand), CaseFound(words, figure.said)))
    judged.sort(key=lambda x: (x[0], -x[1]))
    failing = tuple(x for met, _, x in judged if not met)
    verdict = Verdict.FAILED if failing else Verdict.PASSED
    return Result(one.assertion, verdict, len(judged), judged[0][2], failing)


def _answer(question: Question, found: Mapping[Question, Answer]) -> Answer:
    if question not in found:
        raise UnansweredError(f"{question.request} when {case_words(question.case)}")
    return found[question]
