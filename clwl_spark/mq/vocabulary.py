"""MQ's words: enumerations, ranges and defaults. No frames, no session.

Source: CONTRACT, "Topology" (ranges, defaults); SEMANTICS P1 (nulls), rules 8-11 (status tiers).
"""

from enum import IntEnum, StrEnum
from typing import Final


class QueueType(StrEnum):
    """QTYPE of a queue definition."""

    QLOCAL = "QLOCAL"
    QALIAS = "QALIAS"
    QREMOTE = "QREMOTE"


class Usage(StrEnum):
    """USAGE of a local queue."""

    NORMAL = "NORMAL"
    XMITQ = "XMITQ"


class UseQueue(StrEnum):
    """CLWLUSEQ of a queue (all three) or of a queue manager (LOCAL, ANY)."""

    LOCAL = "LOCAL"
    ANY = "ANY"
    QMGR = "QMGR"


class DefBind(StrEnum):
    """DEFBIND of a queue."""

    OPEN = "OPEN"
    NOTFIXED = "NOTFIXED"
    GROUP = "GROUP"


class DefaultTransmissionQueue(StrEnum):
    """DEFCLXQ of a queue manager."""

    SCTQ = "SCTQ"
    CHANNEL = "CHANNEL"


class ClusterRoute(StrEnum):
    """CLROUTE of a topic."""

    DIRECT = "DIRECT"
    TOPICHOST = "TOPICHOST"


class ProxySub(StrEnum):
    """PROXYSUB of a topic."""

    FIRSTUSE = "FIRSTUSE"
    FORCE = "FORCE"


class WildcardSchema(StrEnum):
    """WSCHEMA of a subscription: how its topic string matches."""

    TOPIC = "TOPIC"
    CHAR = "CHAR"


class Reach(StrEnum):
    """PUBSCOPE of a topic or publication, SUBSCOPE of a topic or subscription."""

    ALL = "ALL"
    QMGR = "QMGR"


class SubType(StrEnum):
    """SUBTYPE of a subscription."""

    USER = "USER"
    PROXY = "PROXY"


class ChannelType(StrEnum):
    """CHLTYPE of the channels that clusters use."""

    CLUSSDR = "CLUSSDR"
    CLUSRCVR = "CLUSRCVR"


class QmType(StrEnum):
    """QMTYPE: a full repository or not."""

    NORMAL = "NORMAL"
    REPOS = "REPOS"


class SnapshotStatus(StrEnum):
    """Whether routing may use a snapshot."""

    VALID = "VALID"
    QUARANTINED = "QUARANTINED"


class ObjectType(StrEnum):
    """What a message is put to."""

    QUEUE = "QUEUE"
    TOPIC = "TOPIC"


class Bind(StrEnum):
    """The MQOO_BIND option of an open."""

    AS_Q_DEF = "AS_Q_DEF"
    ON_OPEN = "ON_OPEN"
    NOT_FIXED = "NOT_FIXED"
    ON_GROUP = "ON_GROUP"


class NullOpenId(StrEnum):
    """What opens the messages put ON_OPEN without an open_id belong to.

    Each to one of its own, as MQPUT1 makes it; or those of one queue manager to one object to one
    that is kept open.
    """

    OWN = "own"
    SHARED = "shared"


class Via(StrEnum):
    """Put by a local application, or received over a cluster channel."""

    LOCAL = "LOCAL"
    CLUSTER = "CLUSTER"


class PlanKind(StrEnum):
    """What a plan chooses: a queue, a queue manager, a topic host; or nothing is left to choose."""

    QUEUE = "QUEUE"
    QMGR = "QMGR"
    TOPIC = "TOPIC"
    LOCAL = "LOCAL"
    XMITQ = "XMITQ"


class Algorithm(StrEnum):
    """Which order of the rules (SEMANTICS 4, R3)."""

    V9 = "v9"
    V7 = "v7"


class Edition(IntEnum):
    """Which edition of SEMANTICS answers."""

    FIRST = 1
    SECOND = 2


NEWEST_EDITION: Final = Edition.SECOND
"""Which edition a lake is of that was not routed yet."""


class Duplicates(StrEnum):
    """What becomes of a message that was routed before."""

    KEEP = "keep"
    REJECT = "reject"


class RejectError(StrEnum):
    """Why a message is not routed but set aside (SEMANTICS S1; the issue's "Bad input").

    In the order in which they are looked for: a message has the first. DUPLICATE is looked for
    where a run's `Duplicates` are to be rejected, in what could be routed.
    """

    NO_QMGR = "NO_QMGR"
    NO_PUT_SEQ = "NO_PUT_SEQ"
    NO_PUT_TIME = "NO_PUT_TIME"
    UNKNOWN_OBJECT_TYPE = "UNKNOWN_OBJECT_TYPE"
    NO_OBJECT = "NO_OBJECT"
    UNKNOWN_BIND = "UNKNOWN_BIND"
    UNKNOWN_VIA = "UNKNOWN_VIA"
    BAD_NUMBER = "BAD_NUMBER"
    BAD_PUT_TIME = "BAD_PUT_TIME"
    NOT_UTF8 = "NOT_UTF8"
    NO_SNAPSHOT = "NO_SNAPSHOT"
    DUPLICATE = "DUPLICATE"


class Reason(IntEnum):
    """MQ's reason codes that a resolution or a choice can end with."""

    NONE = 0
    ALIAS_BASE_Q_TYPE_ERROR = 2001
    PUT_INHIBITED = 2051
    UNKNOWN_ALIAS_BASE_Q = 2082
    UNKNOWN_OBJECT_NAME = 2085
    UNKNOWN_REMOTE_Q_MGR = 2087
    REMOTE_Q_NAME_ERROR = 2184
    CLUSTER_RESOLUTION_ERROR = 2189
    CLUSTER_PUT_INHIBITED = 2268
    NO_DESTINATIONS_AVAILABLE = 2270


STATUS_TIERS: Final[dict[str, int]] = {
    "INACTIVE": 1,
    "RUNNING": 1,
    "BINDING": 2,
    "INITIALIZING": 2,
    "STARTING": 2,
    "STOPPING": 2,
    "RETRYING": 3,
    "REQUESTING": 4,
    "PAUSED": 4,
    "STOPPED": 4,
    "SWITCHING": 4,
}
"""Channel status -> tier; 1 is the best (SEMANTICS 4, rules 8-11)."""
TIER_OF_WAITING: Final = 3
"""From this tier on messages wait for the channel."""

DEFAULT_STATUS: Final = "INACTIVE"
DEFAULT_WEIGHT: Final = 50
LARGEST_STEP: Final = 1000
"""What one choice adds to a channel's factor where its CLWLWGHT is 1; else its whole part of it."""
DEFAULT_MRUC: Final = 999_999_999
MAX_RANK: Final = 9
MAX_WEIGHT: Final = 99
NAME_LENGTH: Final = 48
CHANNEL_NAME_LENGTH: Final = 20
SYSTEM_CLUSTER_TRANSMIT: Final = "SYSTEM.CLUSTER.TRANSMIT"

REASON_TEXTS: Final[dict[int, str]] = {
    0: "MQRC_NONE",
    2001: "MQRC_ALIAS_BASE_Q_TYPE_ERROR",
    2051: "MQRC_PUT_INHIBITED",
    2082: "MQRC_UNKNOWN_ALIAS_BASE_Q",
    2085: "MQRC_UNKNOWN_OBJECT_NAME",
    2087: "MQRC_UNKNOWN_REMOTE_Q_MGR",
    2184: "MQRC_REMOTE_Q_NAME_ERROR",
    2189: "MQRC_CLUSTER_RESOLUTION_ERROR",
    2268: "MQRC_CLUSTER_PUT_INHIBITED",
    2270: "MQRC_NO_DESTINATIONS_AVAILABLE",
}


def reason_text(code: int) -> str:
    """An MQRC with its name, where that is known."""
    return f"{code} {REASON_TEXTS.get(code, '')}".rstrip()
