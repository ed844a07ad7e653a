"""KEYWORD(value) as MQ's displays print them: found on a line, cleaned of padding."""

import re
from typing import Final

KEY: Final = re.compile(r"[A-Z][A-Z0-9]*(?=\s*\()")
_WORD: Final = re.compile(r"[A-Z][A-Z0-9]*")
_SINGLE: Final = re.compile(r"\s*([A-Z][A-Z0-9]*)\s*\(([^()]*)\)\s*")
_PARENTHESIS: Final = re.compile(r"[()]")
_LAST: Final = re.compile(r"\)(?=\s*$|\s+[A-Z][A-Z0-9]{2,}(?:\s*\(|\s|$))")

Pairs = list[tuple[str, str]]


def pairs_of(text: str) -> Pairs:
    """Find KEY(value) and bare words on a line; parentheses within a value must match.

    Args:
        text: a line, or the lines of one value put together.

    Returns:
        Keyword and value of each, in order; bare words have the value ''. A value that is not
        closed ends with the text.
    """
    single = _SINGLE.fullmatch(text)
    if single:
        return [(single[1], clean(single[2]))]
    found: Pairs = []
    position = 0
    while key := _WORD.search(text, position):
        start = key.end()
        while text[start : start + 1] in (" ", "\t"):
            start += 1
        if text[start : start + 1] != "(":
            found.append((key[0], ""))
            position = key.end()
            continue
        end = _closing(text, start)
        found.append((key[0], clean(text[start + 1 : end])))
        position = end + 1
    return found


def is_open(text: str) -> bool:
    """True where a value's closing parenthesis is still to come."""
    return text.count("(") > text.count(")")


def is_unclosed(text: str) -> bool:
    """True where a line ends within the value of its last keyword."""
    if not is_open(text):
        return False
    position = 0
    while key := KEY.search(text, position):
        position = _closing(text, text.index("(", key.end())) + 1
    return position > len(text)


def clean(value: str) -> str:
    """A shown value without padding and, where some tools add them, its quotes."""
    value = value.strip()
    if len(value) > 1 and value[0] == value[-1] == "'":
        value = value[1:-1].strip()
    return value


def _closing(text: str, start: int) -> int:
    """Index of the parenthesis that closes the one at `start`, or where its value must end."""
    depth = 0
    for match in _PARENTHESIS.finditer(text, start):
        depth += 1 if match[0] == "(" else -1
        if depth == 0:
            return match.start()
    # A description may hold parentheses that do not match: the first one counts that something
    # like a keyword follows, or nothing.
    last = _LAST.search(text, start)
    return last.start() if last else len(text)
