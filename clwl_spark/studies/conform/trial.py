"""A hypothesis as the loop takes it, and what it comes to."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clwl_spark.algorithm.follow import DIFFERS


@dataclass(frozen=True, slots=True)
class Start:
    """What a queue manager would remember before its first message.

    Attributes:
        number: (channels,) dest_seq_number.
        factor: (channels,) dest_seq_factor.
    """

    number: NDArray[np.int64]
    factor: NDArray[np.int64]

    @property
    def counters(self) -> int:
        """How many are not 0."""
        return int(np.count_nonzero(self.number) + np.count_nonzero(self.factor))


@dataclass(frozen=True, slots=True)
class Trial:
    """A hypothesis, as the loop takes it.

    Attributes:
        variant: of the plans: which of those supposed.
        span: messages that have it, or the weight; others are as known. None = all have it.
        weight: (channel, CLWLWGHT) of one that is another; None = as known.
        resets: where the span begins or ends, all factors become 0.
        start: of the history; None = empty.
        most: choices of others that may be supposed before a message.
        strays: patterns of records of no message that are choices, too, with their times.
    """

    variant: int = 0
    span: tuple[int, int] | None = None
    weight: tuple[int, int] | None = None
    resets: bool = False
    start: Start | None = None
    most: int = 0
    strays: tuple[NDArray[np.int32], NDArray[np.int64]] | None = None


@dataclass(frozen=True, slots=True)
class Held:
    """What a trial comes to.

    Attributes:
        verdict: (messages,) as of `algorithm.follow`.
        extra: (messages,) choices of others that were supposed before each.
    """

    verdict: NDArray[np.int32]
    extra: NDArray[np.int64]

    @property
    def compared(self) -> int:
        """Messages that were seen."""
        return int(np.count_nonzero(self.verdict))

    @property
    def wrong(self) -> int:
        """Those that went elsewhere."""
        return int(np.count_nonzero(self.verdict == DIFFERS))
