"""Which transmission queue a channel's messages wait on. Pure Python, no Spark.

Source: SEMANTICS 7 and P16 (IBM's page on transmission queues).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import translate
from functools import lru_cache
from re import Pattern
from re import compile as compile_pattern

from clwl_spark.mq.vocabulary import SYSTEM_CLUSTER_TRANSMIT, DefaultTransmissionQueue


@dataclass(frozen=True, slots=True)
class TransmissionQueues:
    """What one queue manager has, in one snapshot, to choose transmission queues from.

    Attributes:
        defclxq: SCTQ or CHANNEL.
        definitions: (queue, clchname) of its queues with USAGE(XMITQ) and CLCHNAME not blank.
        current: (channel, remote queue manager) -> transmission queue associated with now.
    """

    defclxq: str = DefaultTransmissionQueue.SCTQ
    definitions: Sequence[tuple[str, str]] = ()
    current: Mapping[tuple[str, str], str] = field(default_factory=dict)


def matches(channel: str, definitions: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The (queue, clchname) whose pattern the channel matches, in order of precedence.

    Exact names come first, then patterns with one trailing `*`, then others; among these the
    longer literal text, then the lower queue name.
    """
    fitting = [x for x in definitions if _pattern(x[1]).fullmatch(channel)]
    return sorted(fitting, key=precedence)


def after_next_start(channel: str, queues: TransmissionQueues) -> str:
    """The transmission queue that the channel uses from its next start on."""
    fitting = matches(channel, queues.definitions)
    if fitting:
        return fitting[0][0]
    if queues.defclxq == DefaultTransmissionQueue.CHANNEL:
        return f"{SYSTEM_CLUSTER_TRANSMIT}.{channel}"
    return f"{SYSTEM_CLUSTER_TRANSMIT}.QUEUE"


def now(channel: str, remote_qmgr: str, queues: TransmissionQueues) -> str:
    """The transmission queue that messages for the channel go to now."""
    return queues.current.get((channel, remote_qmgr)) or after_next_start(channel, queues)


def precedence(definition: tuple[str, str]) -> tuple[int, int, str]:
    """What (queue, clchname) are ordered by: form of the pattern, literal text, queue name."""
    queue, clchname = definition
    stars = clchname.count("*")
    trailing_only = stars == 1 and clchname.endswith("*")
    form = 0 if stars == 0 else 1 if trailing_only else 2
    return form, -(len(clchname) - stars), queue


@lru_cache(maxsize=10_000)
def _pattern(clchname: str) -> Pattern[str]:
    """A regular expression in which only `*` has a meaning."""
    literal = clchname.replace("[", "[[]").replace("?", "[?]")
    return compile_pattern(translate(literal))
