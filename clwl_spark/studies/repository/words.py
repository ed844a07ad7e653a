"""What repositories hold and send, and for how long. No Spark.

Source: Hughson's deck, "Considerations for Full Repositories", "First MQOPEN of a Queue", "Cluster
Topic Hosts", "Incorrectly deleted queue managers", "Refreshing repository information".
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final, NamedTuple

SUBSCRIBED_AT: Final = 2
"""Full repositories that a queue manager publishes to and subscribes with, if there are as many."""


class Kind(StrEnum):
    """What a record describes; QMGR is a queue manager with its CLUSRCVR."""

    QMGR = "QMGR"
    QUEUE = "QUEUE"
    TOPIC = "TOPIC"


class Sent(StrEnum):
    """Messages between repositories; each carries one record, one subscription or one order."""

    PUBLICATION = "publication"
    BETWEEN_FULL = "between full repositories"
    NOTICE = "notice to a subscriber"
    WELCOME = "answer to a queue manager that joins or refreshes"
    SUBSCRIPTION = "subscription"
    ANSWER = "answer to a subscription"
    REMOVAL = "removal by RESET CLUSTER"


class Why(StrEnum):
    """Why a queue manager does not know an object that its owner defines."""

    NEVER_OPENED = "NEVER_OPENED"
    REFRESHED = "REFRESHED"
    EXPIRED = "EXPIRED"
    RESET = "RESET"
    NOT_RECEIVED = "NOT_RECEIVED"


class How(StrEnum):
    """Why a queue manager knows an object."""

    OWN = "OWN"
    FULL_REPOSITORY = "FULL_REPOSITORY"
    SUBSCRIBED = "SUBSCRIBED"
    PUSHED = "PUSHED"


class Key(NamedTuple):
    """An object: what it is, its name, and the QMID of the queue manager that owns it."""

    kind: Kind
    name: str
    owner: str


class Want(NamedTuple):
    """What a subscription is for: every object of this kind and name, whoever owns it."""

    kind: Kind
    name: str


@dataclass(frozen=True, slots=True)
class Periods:
    """How long things last.

    Attributes:
        resubscribe: a subscription is renewed so often (Hughson's deck: 30 days).
        republish: an owner publishes an unchanged object again so often. Hughson's deck has members
            complain 27 days after a topic host was lost, which is when they expected news.
        expiry: a record or subscription that was not renewed is forgotten (Hughson's deck: 90
        days).
        topic_expiry: the same for a topic (Hughson's deck: 30 days).
    """

    resubscribe: timedelta = timedelta(days=30)
    republish: timedelta = timedelta(days=27)
    expiry: timedelta = timedelta(days=90)
    topic_expiry: timedelta = timedelta(days=30)

    def of(self, kind: Kind) -> timedelta:
        """How long a record of that kind lasts without a renewal."""
        return self.topic_expiry if kind is Kind.TOPIC else self.expiry


@dataclass(frozen=True, slots=True)
class Record:
    """An object as its owner defined it at some time.

    Attributes:
        key: the object.
        qmgr: name of the owner.
        incarnation: grows with every REFRESH CLUSTER of the owner.
        version: grows with every change of the object, from 1 on.
        published: when the owner last published it.
        attributes: what it says.
        deleted: the object is no more.
    """

    key: Key
    qmgr: str
    incarnation: int
    version: int
    published: datetime
    attributes: Mapping[str, Any] = field(default_factory=dict)
    deleted: bool = False

    @property
    def order(self) -> tuple[int, int, datetime]:
        """A record with a greater one is newer."""
        return self.incarnation, self.version, self.published

    def expires(self, periods: Periods) -> datetime:
        """When it is forgotten if nothing new comes."""
        return self.published + periods.of(self.key.kind)

    def wanted_by(self) -> Want:
        """The subscription that asks for it; of a queue manager by its name."""
        return Want(self.key.kind, self.key.name)
