"""What a fact says, as values. Made by `parse`, printed by `wording`, judged by `judge`."""

from enum import StrEnum
from fractions import Fraction
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from clwl_spark.mq.vocabulary import CHANNEL_NAME_LENGTH, NAME_LENGTH, REASON_TEXTS

_NAME: Final = r"^[A-Za-z0-9._/%]+$"

ObjectName = Annotated[str, StringConstraints(pattern=_NAME, max_length=NAME_LENGTH)]
"""Name of a queue, queue manager or cluster."""

ChannelName = Annotated[str, StringConstraints(pattern=_NAME, max_length=CHANNEL_NAME_LENGTH)]
TopicString = Annotated[str, StringConstraints(min_length=1)]


def _answerable(reason: int) -> int:
    """Refuse a reason that no put of this package ends with: the fact could never fail or hold."""
    if reason not in REASON_TEXTS:
        raise ValueError(reason)
    return reason


ReasonCode = Annotated[int, AfterValidator(_answerable)]


def _at_most_all(figure: str) -> str:
    if fraction_of(figure) > 1:
        raise ValueError(figure)
    return figure


def fraction_of(figure: str) -> Fraction:
    """The value of a share as it is written: `0.4`, `40%`, `5/7`."""
    if figure.endswith("%"):
        return Fraction(figure.removesuffix("%")) / 100
    return Fraction(figure)


ShareFigure = Annotated[
    str,
    StringConstraints(pattern=r"^([0-9]+/0*[1-9][0-9]*|([0-9]+(\.[0-9]+)?|\.[0-9]+)%?)$"),
    AfterValidator(_at_most_all),
]
"""A share of 1 at most, as it is written; `fraction_of` is its value."""


class Value(BaseModel):
    """Base of all values: equal by content, hashable."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Comparison(StrEnum):
    """How a figure is compared with the wanted one."""

    EQUAL = "="
    UNEQUAL = "!="
    LESS = "<"
    AT_MOST = "<="
    MORE = ">"
    AT_LEAST = ">="

    @property
    def negated(self) -> "Comparison":
        """What holds exactly where this one does not."""
        return _NEGATED[self]


Equality = Literal[Comparison.EQUAL, Comparison.UNEQUAL]

_NEGATED: Final = {
    Comparison.EQUAL: Comparison.UNEQUAL,
    Comparison.UNEQUAL: Comparison.EQUAL,
    Comparison.LESS: Comparison.AT_LEAST,
    Comparison.AT_MOST: Comparison.MORE,
    Comparison.MORE: Comparison.AT_MOST,
    Comparison.AT_LEAST: Comparison.LESS,
}


class Request(Value):
    """A put.

    Attributes:
        object_name: a queue's name, or a topic string.
        sender: queue manager where the message is put.
        object_qmgr: object queue manager; blank = none named.
        is_topic: `object_name` is a topic string.
    """

    object_name: TopicString
    sender: ObjectName
    object_qmgr: ObjectName | Literal[""] = ""
    is_topic: bool = False


class Share(Value):
    """Share of the sender's messages that go to a queue manager, over a channel, or both."""

    kind: Literal["share"] = "share"
    request: Request
    to: ObjectName | None = None
    over: ChannelName | None = None
    comparison: Comparison
    figure: ShareFigure


class Count(Value):
    """How many queue managers the sender chooses among, or hops of the longest way."""

    kind: Literal["destinations", "hops"]
    request: Request
    comparison: Comparison
    count: Annotated[int, Field(ge=0)]


class ReasonIs(Value):
    """The MQRC that the put ends with; 0 = it does not fail."""

    kind: Literal["reason"] = "reason"
    request: Request
    comparison: Equality
    reason: ReasonCode


class Reachable(Value):
    """Every message comes to a queue, or to subscriptions, in the end; negated: none does."""

    kind: Literal["reachable"] = "reachable"
    request: Request


class Crosses(Value):
    """Some message takes a channel of the cluster on its way."""

    kind: Literal["crosses"] = "crosses"
    request: Request
    cluster: ObjectName


class GoesTo(Value):
    """Some message comes to the queue manager on its way, or ends there."""

    kind: Literal["goes to"] = "goes to"
    request: Request
    qmgr: ObjectName


class Separate(Value):
    """No channel and no transmission queue can have messages of both puts, in whatever state."""

    kind: Literal["separate"] = "separate"
    request: Request
    other: Request


Fact = Share | Count | ReasonIs | Reachable | Crosses | GoesTo | Separate


def requests_of(fact: Fact) -> tuple[Request, ...]:
    """The puts that a fact is about."""
    return (fact.request, fact.other) if isinstance(fact, Separate) else (fact.request,)


class QmgrDown(Value):
    """A queue manager is down: no channel to it or from it runs."""

    qmgr: ObjectName


class ChannelStopped(Value):
    """A cluster channel is stopped.

    Attributes:
        channel: name of the CLUSRCVR.
        to: queue manager that has it; None = every one that has one of this name.
        on: queue manager whose CLUSSDR is stopped; None = those of all queue managers.
    """

    channel: ChannelName
    to: ObjectName | None = None
    on: ObjectName | None = None


class ClusterDown(Value):
    """All channels of a cluster are stopped."""

    cluster: ObjectName


class AnyDown(Value):
    """A sweep: each one of a kind by itself."""

    kind: Literal["channel", "queue manager", "cluster"]


Hit = QmgrDown | ChannelStopped | ClusterDown
"""Something definite that is down."""

Condition = Hit | AnyDown

Case = tuple[Hit, ...]
"""What is down at the same time, sorted by its words; () = the cluster as it is."""


class Statement(Value):
    """A fact with its negation and its conditions, which hold together.

    `never crosses` and `never goes to` are negated facts; a condition is outside the negation.
    """

    fact: Fact
    is_negated: bool = False
    conditions: tuple[Condition, ...] = ()


class Assertion(Value):
    """A statement of a file.

    Attributes:
        name: as given, else the statement's words.
        statement: what must hold.
        why: the reason for it; may be blank.
        file: the file's name.
        line: of the statement, from 1.
    """

    name: str
    statement: Statement
    why: str = ""
    file: str = ""
    line: int = 1
