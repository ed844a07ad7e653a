"""Loops that numba compiles, and keeps compiled where it can write."""

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

Loop = TypeVar("Loop", bound=Callable[..., Any])


def compiled(loop: Loop) -> Loop:
    """As `njit`, and what was compiled is kept for other processes."""
    return _compiled(loop)


def inlined(loop: Loop) -> Loop:
    """As `compiled`, in the place of each call."""
    return _compiled(loop, inline="always")


def _compiled(loop: Loop, **options: Any) -> Loop:  # noqa: ANN401  (as `njit`)
    """The loop; each process compiles it where neither the package nor a cache can be written."""
    try:
        made: Loop = njit(cache=True, **options)(loop)
    except RuntimeError:
        made = njit(**options)(loop)
    return made
