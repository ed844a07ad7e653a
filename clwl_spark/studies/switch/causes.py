"""Which change makes a switch pending, what the present queue holds, and queues that MQ makes.

Pure Python, no Spark.
Source: SEMANTICS 7, P16, P34; IBM's page on transmission queues (three kinds of change; default
queues by DEFCLXQ).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from clwl_spark.algorithm.transmit import precedence
from clwl_spark.mq.vocabulary import SYSTEM_CLUSTER_TRANSMIT

MODEL_QUEUE: Final = f"{SYSTEM_CLUSTER_TRANSMIT}.MODEL.QUEUE"

Match = tuple[str, str]


class Cause(StrEnum):
    """What made a switch pending."""

    PRESENT_IS_GONE = "PRESENT_IS_GONE"
    PRESENT_FITS_LESS = "PRESENT_FITS_LESS"
    ANOTHER_FITS_BETTER = "ANOTHER_FITS_BETTER"
    DEFCLXQ_CHANGED = "DEFCLXQ_CHANGED"


KINDS: Final = {
    Cause.PRESENT_IS_GONE: 1,
    Cause.PRESENT_FITS_LESS: 1,
    Cause.ANOTHER_FITS_BETTER: 2,
    Cause.DEFCLXQ_CHANGED: 3,
}
"""The kinds of change, as IBM's page counts them."""


@dataclass(frozen=True, slots=True)
class Present:
    """What a snapshot says of the queue that a channel has now.

    Attributes:
        queue: its name; None = the association is not known.
        is_gone: the queue manager's queues are defined in the snapshot, and it is none of them.
        clchname_before: its CLCHNAME in the valid snapshot before; None = not known.
        clchname: its CLCHNAME; "" = blank, or it is not defined.
        backlog: messages of the channel on it; None = not known.
    """

    queue: str | None = None
    is_gone: bool = False
    clchname_before: str | None = None
    clchname: str = ""
    backlog: int | None = None


UNKNOWN: Final = Present()
"""Of a channel whose association nothing tells."""


def is_default(queue: str) -> bool:
    """Whether a transmission queue is one that DEFCLXQ names, not one that is defined by hand."""
    return queue.startswith(f"{SYSTEM_CLUSTER_TRANSMIT}.")


def is_dynamic(queue: str, channel: str) -> bool:
    """Whether it is the queue that the queue manager makes for the channel under CHANNEL."""
    return queue == f"{SYSTEM_CLUSTER_TRANSMIT}.{channel}"


def cause_of(present: Present, following: str, matches: Sequence[Match]) -> Cause | None:
    """Which change makes the channel's next start switch queues; None = it does not.

    Args:
        present: the queue that it has now.
        following: the queue that it uses from its next start on.
        matches: (queue, CLCHNAME) of all definitions that fit, in order of precedence.
    """
    queue = present.queue
    if queue is None or queue == following:
        return None
    if is_default(queue):
        return Cause.DEFCLXQ_CHANGED if is_default(following) else Cause.ANOTHER_FITS_BETTER
    if present.is_gone:
        return Cause.PRESENT_IS_GONE
    fitting = dict(matches)
    if queue not in fitting or following not in fitting:
        return Cause.PRESENT_FITS_LESS
    before = present.clchname_before or present.clchname
    held = precedence((queue, before)) < precedence((following, fitting[following]))
    # As it was, it would still be the channel's.
    return Cause.PRESENT_FITS_LESS if held else Cause.ANOTHER_FITS_BETTER


def cause_told(cause: Cause, present: Present, following: str, defclxq: str) -> str:
    """The change, in words."""
    queue = present.queue
    was = f", which was CLCHNAME({present.clchname_before})," if present.clchname_before else ""
    texts = {
        Cause.PRESENT_IS_GONE: f"{queue} is no longer defined; a queue can be deleted while its "
        "channel is stopped",
        Cause.PRESENT_FITS_LESS: f"the CLCHNAME of {queue}{was} does not fit the channel any more, "
        "or less well",
        Cause.ANOTHER_FITS_BETTER: f"{following} was added, or its CLCHNAME altered, and fits "
        "better",
        Cause.DEFCLXQ_CHANGED: f"no CLCHNAME fits, and DEFCLXQ has become {defclxq}",
    }
    return f"{texts[cause]} (kind {KINDS[cause]} of the changes that switch a channel)"


def held_told(present: Present) -> str:
    """What the queue that a channel leaves still holds for it."""
    queue, backlog = present.queue, present.backlog
    if present.is_gone:
        return f"{queue} does not exist, so it holds nothing."
    if backlog is None:
        return f"How many messages {queue} holds for the channel is not known: XQMSGSA tells."
    if backlog == 0:
        return f"{queue} holds no message for the channel, so there is none to move."
    return (
        f"{queue} still holds {backlog:,} message{'s' * (backlog != 1)} for the channel: the next "
        "start moves them, in their order, before new ones go to the new queue."
    )


def dynamic_told(queue: str) -> str:
    """Where a queue of the channel's own comes from."""
    return f"{queue} is permanent dynamic: made of {MODEL_QUEUE} when the channel first needs it"
