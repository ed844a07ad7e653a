"""A fact's text into values; what is wrong in it is told with its place and an example."""

import re
from collections.abc import Iterable
from functools import cache
from typing import Final

from lark import Lark
from lark.exceptions import UnexpectedCharacters, UnexpectedToken

from clwl_spark.checks.assertions.building import OutOfRangeError, ToValues
from clwl_spark.checks.assertions.model import Statement
from clwl_spark.checks.assertions.wording import KEYWORDS
from clwl_spark.errors import InputError, did_you_mean

_Unexpected = UnexpectedToken | UnexpectedCharacters
_CONDITION: Final = "when QM2 down and channel TO.QM3 stopped, or when any channel down"
_EXAMPLES: Final = {
    "never": "never crosses cluster PUBLIC (AUDIT from APP1)",
    "share": "share(ORDERS from APP1 to QM1) <= 40%",
    "destinations": "destinations(ORDERS from APP1) >= 2",
    "hops": "hops(ORDERS from APP1) <= 1",
    "reason": "reason(ORDERS from APP1) = 2085",
    "reachable": "reachable(ORDERS from APP1) when any channel down",
    "crosses": "never crosses cluster PUBLIC (AUDIT from APP1)",
    "separate": "separate(AUDIT from APP1, ORDERS from APP1)",
    "goes": "never goes to queue manager QM7 (AUDIT from APP1)",
}
_WORDS: Final = {
    "NAME": "a name",
    "QUOTED": "a name",
    "COMPARISON": "one of = != < <= > >=",
    "EQUALITY": "= or !=",
    "FIGURE": "a share like 0.4, 40% or 5/7",
    "COUNT": "a whole number",
    "MQRC": "a reason code like 2085 or MQRC_UNKNOWN_OBJECT_NAME",
    "_COMMA": "','",
    "_LPAR": "'('",
    "_RPAR": "')'",
    "_GOES_TO": "goes to",
    "_QUEUE_MANAGER": "queue manager",
    "$END": "the end",
}
"""Terminals that are not told by their own names."""

_WORD: Final = re.compile(r"[A-Za-z0-9._/%]+|'(?:[^']|'')*'|.", re.DOTALL)


class FactError(InputError):
    """A text that is no fact.

    Attributes:
        offset: position in the text, from 0, of what is wrong.
    """

    def __init__(self, text: str, offset: int, expected: str) -> None:
        """Say what was expected there, what is there, and give an example."""
        self.offset = offset
        found = _WORD.match(text.rstrip(), offset)
        there = repr(found.group()) if found else "the end"
        super().__init__(
            f"expected {expected}, found {there}; for example: {_example(text[:offset])}"
        )


def parse(text: str) -> Statement:
    """Read one fact.

    Raises:
        FactError: it is none.
    """
    try:
        return _parser().parse(text)  # type: ignore[return-value]
    except (UnexpectedToken, UnexpectedCharacters) as error:
        offset = _offset(error, text)
        raise FactError(text, offset, _expected(error, text, offset)) from None
    except OutOfRangeError as error:
        raise FactError(text, error.offset, error.expected) from None


@cache
def _parser() -> Lark:
    return Lark.open(
        "grammar.lark", rel_to=__file__, parser="lalr", lexer="contextual", transformer=ToValues()
    )


def _offset(error: _Unexpected, text: str) -> int:
    """Where something is wrong; at the end that is after the last word."""
    if isinstance(error, UnexpectedCharacters):
        return error.pos_in_stream  # type: ignore[return-value]
    return len(text.rstrip()) if error.token.type == "$END" else error.token.start_pos or 0


def _expected(error: _Unexpected, text: str, offset: int) -> str:
    """What may stand there, in words; the nearest keyword if one is near."""
    words = list(dict.fromkeys(map(_word, sorted(_terminals(error), key=_order))))
    if len(words) == 1:
        return words[0]
    listed = f"{', '.join(words[:-1])} or {words[-1]}"
    found = _WORD.match(text, offset)
    if found and found.group() == "'":
        return f"{listed} whose quote is closed"
    meant = did_you_mean(found.group().lower(), KEYWORDS.intersection(words)) if found else ""
    return f"{listed} ({meant})" if meant.startswith("did") else listed


def _terminals(error: _Unexpected) -> Iterable[str]:
    if isinstance(error, UnexpectedCharacters):
        return error.allowed
    return error.accepts or error.expected


def _word(terminal: str) -> str:
    return _WORDS.get(terminal, terminal.strip("_").lower())


def _order(terminal: str) -> tuple[bool, str]:
    """Names first, then keywords by the alphabet."""
    return terminal.startswith("_") or terminal == "$END", terminal.strip("_")


def _example(before: str) -> str:
    """An example of what is being written where something is wrong."""
    words = [x.lower() for x in _WORD.findall(before)]
    if "when" in words:
        return f"... {_CONDITION}"
    return next((_EXAMPLES[x] for x in words if x in _EXAMPLES), _EXAMPLES["share"])
