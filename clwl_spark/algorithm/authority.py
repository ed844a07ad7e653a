"""Which profile of the object authority manager decides about an object. Pure Python, no Spark.

Source: MQ, security, "OAM generic profiles" and "Profile priorities".
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

_ANY_QUALIFIERS: Final = "**"
_TOKEN: Final = re.compile(r"\*\*|[*?]|.", re.DOTALL)
_CLASSES: Final = {"?": 1, "*": 2, "**": 3}
"""How little a wildcard says; what is none is 0, and the end of a profile says least."""

_END: Final = 4


@lru_cache(maxsize=1 << 14)
def fits(profile: str, name: str) -> bool:
    """True where a profile applies to an object of this name.

    `?` stands for one character, `*` for any number of them within a qualifier or for one whole
    qualifier, and `**` for any number of qualifiers.
    """
    return _fits(profile.split("."), name.split("."))


def _fits(profile: Sequence[str], name: Sequence[str]) -> bool:
    """As `fits`, of qualifiers."""
    if not profile:
        return not name
    first, rest = profile[0], profile[1:]
    if first == _ANY_QUALIFIERS:
        return any(_fits(rest, name[at:]) for at in range(len(name) + 1))
    return bool(name) and bool(_pattern(first).fullmatch(name[0])) and _fits(rest, name[1:])


@lru_cache(maxsize=1 << 12)
def _pattern(qualifier: str) -> re.Pattern[str]:
    """A qualifier of a profile; alone, `*` is a qualifier that is there."""
    if qualifier == "*":
        return re.compile(".+")
    words = {"*": ".*", "?": "."}
    return re.compile("".join(words.get(sign, re.escape(sign)) for sign in qualifier))


def deciding(profiles: Iterable[str], name: str) -> str | None:
    """The most specific of the profiles that apply to an object; None = none does.

    Profiles are compared from left to right: where they differ, a character goes before `?`, that
    before `*`, and that before `**`.
    """
    fitting = [x for x in profiles if fits(x, name)]
    return min(fitting, key=_generality, default=None)


def _generality(profile: str) -> tuple[tuple[int, ...], str]:
    """What profiles of one object are ordered by; the most specific is the least."""
    classes = [_CLASSES.get(token, 0) for token in _TOKEN.findall(profile)]
    return (*classes, _END), profile
