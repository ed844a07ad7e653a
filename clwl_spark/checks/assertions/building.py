"""What the grammar's rules make: values, checked against what MQ allows."""

import re
from collections.abc import Sequence
from typing import Any, Final, Literal

from lark import Token, Transformer
from pydantic import TypeAdapter, ValidationError

from clwl_spark.checks.assertions import model as m
from clwl_spark.errors import InputError, did_you_mean
from clwl_spark.mq.vocabulary import CHANNEL_NAME_LENGTH, NAME_LENGTH, REASON_TEXTS

Made = tuple[m.Fact, bool]
"""A fact, and whether `never` is written before it."""

_OBJECT: Final = TypeAdapter[str](m.ObjectName)
_CHANNEL: Final = TypeAdapter[str](m.ChannelName)
_TOPIC: Final = TypeAdapter[str](m.TopicString)
_FIGURE: Final = TypeAdapter[str](m.ShareFigure)
_CHARACTERS: Final = "letters, digits, '.', '_', '/' and '%'"


class OutOfRangeError(InputError):
    """A value that MQ does not have.

    Attributes:
        offset: position in the text, from 0.
        expected: what may stand there.
    """

    def __init__(self, token: Token, expected: str) -> None:
        """Keep the place."""
        self.offset = token.start_pos or 0
        self.expected = expected
        super().__init__(f"expected {expected}, found {token}: correct it")


class ToValues(Transformer[Token, m.Statement]):
    """Build the values while parsing; an optional part that is not there comes as None."""

    def start(self, parts: Sequence[Any]) -> m.Statement:
        """A fact, perhaps with `not` before it and conditions behind."""
        negation, (fact, is_never), conditions = parts
        is_negated = (negation is not None) != is_never
        return m.Statement(fact=fact, is_negated=is_negated, conditions=conditions or ())

    def share(self, parts: Sequence[Any]) -> Made:
        """`share(...) <= 40%`."""
        request, (to, over), comparison, token = parts
        figure = re.sub(r"\s", "", token)
        try:
            _FIGURE.validate_python(figure)
        except ValidationError:
            meant = f"; perhaps {figure}%" if figure.isdigit() else ""
            raise OutOfRangeError(token, f"a share of 1 or 100% at most{meant}") from None
        sign = m.Comparison(comparison)
        return m.Share(request=request, to=to, over=over, comparison=sign, figure=figure), False

    def destinations(self, parts: Sequence[Any]) -> Made:
        """`destinations(...) >= 2`."""
        request, sign, count = parts
        return _count("destinations", request, sign, count), False

    def hops(self, parts: Sequence[Any]) -> Made:
        """`hops(...) <= 1`."""
        request, sign, count = parts
        return _count("hops", request, sign, count), False

    def reason(self, parts: Sequence[Any]) -> Made:
        """`reason(...) = 2085`, or by the reason's name."""
        request, comparison, token = parts
        codes = {text: code for code, text in REASON_TEXTS.items()}
        code = int(token) if token.isdigit() else codes.get(token.upper())
        if code not in REASON_TEXTS:
            known = [str(x) for x in REASON_TEXTS] if token.isdigit() else list(codes)
            expected = (
                f"a reason code that a put may end with here ({did_you_mean(token.upper(), known)})"
            )
            raise OutOfRangeError(token, expected)
        sign: m.Equality = m.Comparison.EQUAL if comparison == "=" else m.Comparison.UNEQUAL
        return m.ReasonIs(request=request, comparison=sign, reason=code), False

    def reachable(self, parts: Sequence[Any]) -> Made:
        """`reachable(...)`."""
        return m.Reachable(request=parts[0]), False

    def crosses(self, parts: Sequence[Any]) -> Made:
        """`never crosses cluster K (...)`."""
        never, cluster, request = parts
        return m.Crosses(request=request, cluster=cluster), never is not None

    def goes_to(self, parts: Sequence[Any]) -> Made:
        """`never goes to queue manager QM (...)`."""
        never, qmgr, request = parts
        return m.GoesTo(request=request, qmgr=qmgr), never is not None

    def separate(self, parts: Sequence[Any]) -> Made:
        """`separate(A from QM1, B from QM1)`."""
        request, other = parts
        return m.Separate(request=request, other=other), False

    def to_qmgr(self, parts: Sequence[Any]) -> tuple[str, str | None]:
        """`to QM1 over TO.QM1`."""
        to, over = parts
        return to, over

    def over_channel(self, parts: Sequence[Any]) -> tuple[None, str]:
        """`over TO.QM1`."""
        return None, parts[0]

    def queue_request(self, parts: Sequence[Any]) -> m.Request:
        """`ORDERS at QM9 from APP1`."""
        name, at, sender = parts
        return m.Request(object_name=name, object_qmgr=at or "", sender=sender)

    def topic_request(self, parts: Sequence[Any]) -> m.Request:
        """`topic 'a/b' from APP1`."""
        topic, sender = parts
        return m.Request(object_name=topic, sender=sender, is_topic=True)

    def when(self, parts: Sequence[Any]) -> tuple[m.Condition, ...]:
        """`when A and B`."""
        return tuple(parts)

    def qmgr_down(self, parts: Sequence[Any]) -> m.Condition:
        """`QM2 down`."""
        return m.QmgrDown(qmgr=parts[0])

    def channel_stopped(self, parts: Sequence[Any]) -> m.Condition:
        """`channel C to QM1 on QM2 stopped`."""
        channel, to, on = parts
        return m.ChannelStopped(channel=channel, to=to, on=on)

    def cluster_down(self, parts: Sequence[Any]) -> m.Condition:
        """`cluster K down`."""
        return m.ClusterDown(cluster=parts[0])

    def any_down(self, parts: Sequence[Any]) -> m.Condition:
        """`any channel down`."""
        return m.AnyDown(kind=parts[0])

    def any_channel(self, _: Sequence[Any]) -> str:
        """`any channel`."""
        return "channel"

    def any_qmgr(self, _: Sequence[Any]) -> str:
        """`any queue manager`."""
        return "queue manager"

    def any_cluster(self, _: Sequence[Any]) -> str:
        """`any cluster`."""
        return "cluster"

    def qmgr(self, parts: Sequence[Any]) -> str:
        """Name of a queue manager, queue or cluster."""
        return _named(_OBJECT, parts[0], f"a name of {NAME_LENGTH} {_CHARACTERS} at most")

    queue = cluster = qmgr

    def channel(self, parts: Sequence[Any]) -> str:
        """Name of a channel."""
        return _named(_CHANNEL, parts[0], f"a name of {CHANNEL_NAME_LENGTH} {_CHARACTERS} at most")

    channel_name = channel

    def topic(self, parts: Sequence[Any]) -> str:
        """A topic string."""
        return _named(_TOPIC, parts[0], "a topic string")

    def name(self, parts: Sequence[Any]) -> Token:
        """A name, or a topic string, without its quotes, and with its place."""
        token: Token = parts[0]
        if token.type == "NAME":
            return token
        return Token.new_borrow_pos("NAME", token[1:-1].replace("''", "'"), token)


def _count(
    kind: Literal["destinations", "hops"], request: m.Request, sign: str, count: str
) -> m.Fact:
    comparison = m.Comparison(sign)
    return m.Count(kind=kind, request=request, comparison=comparison, count=int(count))


def _named(kind: TypeAdapter[str], token: Token, expected: str) -> str:
    try:
        return kind.validate_python(str(token))
    except ValidationError:
        raise OutOfRangeError(token, expected) from None
