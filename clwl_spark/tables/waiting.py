"""Messages that wait on transmission queues: re-allocation and the switch of a channel's queue.

Source: CONTRACT, table `reallocations`; SEMANTICS 7, 8, P22, P27 to P32 (Dick's article, IBM's page
on transmission queues).
"""

from dataclasses import replace
from enum import StrEnum
from typing import Final

from clwl_spark.mq import vocabulary as v
from clwl_spark.tables import columns as c
from clwl_spark.tables.declare import Column, Table, key, text, word

EVENT_ID: Final = "event_id"
EVENT_NUMBER: Final = "event_number"
AT: Final = "at"
FROM_CHANNEL: Final = "from_channel"
TO_CHANNEL: Final = "to_channel"
FROM_XMITQ: Final = "from_xmitq"
TO_XMITQ: Final = "to_xmitq"
TO_QMGR: Final = "to_qmgr"
TO_OBJECT: Final = "to_object"
TO_CLUSTER: Final = "to_cluster"
OUTCOME: Final = "outcome"
DECIDING_RULE: Final = "deciding_rule"
INELIGIBLE_REASON: Final = "ineligible_reason"
MESSAGE_KEY: Final = "message_key"
DUPLICATE: Final = "duplicate"
PROGRESS: Final = "progress"
WAITING: Final = "waiting"
MOVED: Final = "moved"
STILL_FAVOURED: Final = "still_favoured"
FAILED: Final = "failed"
NOT_ELIGIBLE: Final = "not_eligible"
CHOICES_MADE: Final = "choices_made"
CHOSEN: Final = "chosen"
LAST: Final = "last"
FACTOR: Final = "factor"
SWITCH_ID: Final = "switch_id"
POSITION: Final = "position"
ARRIVED_AT: Final = "arrived_at"
PLACED_AT: Final = "placed_at"
HOW: Final = "how"
SINCE: Final = "since"
WAITING_BY: Final = "waiting_by"
PUT_FROM: Final = "put_from"


class Reallocation(StrEnum):
    """What became of a waiting message when its channel stopped."""

    MOVED = "MOVED"
    STILL_FAVOURED = "STILL_FAVOURED"
    FAILED = "FAILED"
    NOT_ELIGIBLE = "NOT_ELIGIBLE"


class IneligibleReason(StrEnum):
    """Why a waiting message is left alone, in the order in which it is asked."""

    BIND_ON_OPEN = "BIND_ON_OPEN"
    LOGICAL_GROUP = "LOGICAL_GROUP"
    NAMED_QMGR = "NAMED_QMGR"
    SYSTEM_MESSAGE = "SYSTEM_MESSAGE"


class WaitingBy(StrEnum):
    """What says which of a channel's messages wait (SEMANTICS 8, "Who waits")."""

    SINCE = "SINCE"
    BACKLOG = "BACKLOG"
    STATUS_BACKLOG = "STATUS_BACKLOG"
    TIER = "TIER"
    NONE = "NONE"
    ALL = "ALL"


class Progress(StrEnum):
    """How far an event has come; RUNNING without a process is one that was killed."""

    RUNNING = "RUNNING"
    DONE = "DONE"


class Placed(StrEnum):
    """How a message came to the queue that it is on when a switch has ended."""

    SWITCHED = "SWITCHED"
    REBALANCED = "REBALANCED"
    PUT_ON_NEW = "PUT_ON_NEW"
    LEFT = "LEFT"


_STATUSES: Final = tuple(v.STATUS_TIERS)

REALLOCATIONS: Final = Table(
    "reallocations",
    "One row per waiting message and event of its channel: where it went, or why it stayed",
    (
        text(EVENT_ID, "The event (reallocation_events)"),
        Column(AT, "timestamp", "When the channel stopped, or a retry failed"),
        Column(c.MESSAGE_ID, "binary", "Of the message"),
        Column(c.PUT_SEQ, "bigint", "Of the message"),
        text(c.QMGR, "Queue manager where the message waits"),
        text(FROM_CHANNEL, "Channel that it waited for"),
        text(TO_CHANNEL, "Channel that it waits for now; null = none, it is no longer waiting"),
        text(FROM_XMITQ, "Transmission queue that it was on"),
        text(TO_XMITQ, "Transmission queue that it is on now; null = it went to a local queue"),
        word(OUTCOME, Reallocation, "What became of it"),
        Column(DECIDING_RULE, "int", "STILL_FAVOURED: rule that left only its channel; 0, 15"),
        word(INELIGIBLE_REASON, IneligibleReason, "NOT_ELIGIBLE: why"),
        Column(c.REASON, "int", "FAILED: the MQRC that the new choice ended with"),
        text(TO_QMGR, "MOVED: queue manager that it goes to now"),
        Column(EVENT_NUMBER, "bigint", "Number of the event in the lake, from 1"),
        Column(c.PLAN_ID, "bigint", "Plan of the first put (route_plans)"),
        Column(MESSAGE_KEY, "bigint", "Names its outcome: a hash of the outcome's columns"),
        Column(DUPLICATE, "int", "Which of several equal outcomes, from 0"),
        Column(TO_OBJECT, "string", "MOVED: its dest_object now (outcomes)", optional=True),
        Column(TO_CLUSTER, "string", "MOVED: its cluster now (outcomes)", optional=True),
    ),
)
REALLOCATION_EVENTS: Final = Table(
    "reallocation_events",
    "One row per channel stop or failed retry that waiting messages were re-allocated for",
    (
        key(EVENT_ID, "The event"),
        Column(EVENT_NUMBER, "bigint", "Its number in the lake, from 1"),
        text(c.QMGR, "Queue manager whose channel it is"),
        text(c.CHANNEL, "The channel"),
        word(c.STATUS, _STATUSES, "Status that the channel took"),
        Column(AT, "timestamp", "When"),
        text(c.SNAPSHOT_ID, "Snapshot in force then"),
        word(PROGRESS, Progress, "RUNNING = at work, or killed; DONE = it counts"),
        Column(WAITING, "bigint", "Messages that waited for the channel"),
        Column(MOVED, "bigint", "Messages with outcome MOVED"),
        Column(STILL_FAVOURED, "bigint", "Messages with outcome STILL_FAVOURED"),
        Column(FAILED, "bigint", "Messages with outcome FAILED"),
        Column(NOT_ELIGIBLE, "bigint", "Messages with outcome NOT_ELIGIBLE"),
        Column(CHOICES_MADE, "bigint", "Choices that count in the history (SEMANTICS P29)"),
        replace(
            word(
                WAITING_BY,
                WaitingBy,
                "What said who waits: an option, channel_status.backlog, the channel's tier; ALL = "
                "every message of the channel; null = ALL",
            ),
            optional=True,
        ),
        Column(PUT_FROM, "timestamp", "Those put from then on; null = any", optional=True),
        Column(c.BACKLOG, "bigint", "The last so many; null = any number", optional=True),
    ),
)
REALLOCATION_CHOICES: Final = Table(
    "reallocation_choices",
    "One row per event and channel it chose: what the event adds to the balancing history",
    (
        key(EVENT_ID, "The event"),
        key(c.DEST_QMGR, "Queue manager that the channel leads to"),
        key(c.CHANNEL, "Channel"),
        Column(CHOSEN, "bigint", "How often it was chosen"),
        Column(LAST, "bigint", "Which of the event's choices was its last, from 1"),
        Column(FACTOR, "bigint", "Sum of 1000 div CLWLWGHT over its choices"),
    ),
)
CHANNEL_EVENTS: Final = Table(
    "channel_events",
    "One row per stop or failed retry of a channel: a history for `clwl reallocate --events`",
    (
        text(c.QMGR, "Queue manager whose cluster-sender channel it is"),
        text(c.CHANNEL, "The channel"),
        text(c.STATUS, "Status that it took: STOPPED, RETRYING, ..."),
        Column(AT, "timestamp", "When"),
        Column(SINCE, "timestamp", "Those wait that were put after it; or null", optional=True),
        Column(c.BACKLOG, "bigint", "The last so many wait; or null", optional=True),
    ),
)
SWITCHES: Final = Table(
    "switches",
    "One row per simulated switch of a channel to another transmission queue",
    (
        key(SWITCH_ID, "The simulation"),
        text(c.QMGR, "Queue manager whose channel it is"),
        text(c.CHANNEL, "The channel"),
        text(c.SNAPSHOT_ID, "Snapshot whose definitions count"),
        text(FROM_XMITQ, "Transmission queue that it is associated with"),
        text(TO_XMITQ, "Transmission queue that it switches to"),
        Column("started_at", "timestamp", "The channel starts: step 1"),
        Column("step_2_at", "timestamp", "None left on the old queue: step 2; null = not reached"),
        Column("waiting", "bigint", "Messages waiting for the channel at the start"),
        Column("switched", "bigint", "Messages that the switch moved to the new queue"),
        Column("rebalanced", "bigint", "Messages that workload balancing took away"),
        Column("put_on_new", "bigint", "Messages put straight on the new queue: step 2"),
        Column("left_on_old", "bigint", "Messages still on the old queue: it was interrupted"),
        Column("rolled_back", "bigint", "Moves that interruptions undid"),
    ),
)
SWITCHED_MESSAGES: Final = Table(
    "switched_messages",
    "One row per message of a simulated switch: which queue it is on, since when, and how",
    (
        text(SWITCH_ID, "The simulation"),
        Column(POSITION, "bigint", "Order in which the channel transfers them, from 0"),
        text(c.QMGR, "Queue manager where the message waits"),
        text(c.CHANNEL, "Channel that it waits for"),
        Column(c.PUT_SEQ, "bigint", "Of the message"),
        Column(c.MESSAGE_ID, "binary", "Of the message"),
        Column(ARRIVED_AT, "timestamp", "When it was put on a transmission queue"),
        Column(PLACED_AT, "timestamp", "When it came to the queue that it is on"),
        word(HOW, Placed, "How it came there"),
        text(c.XMITQ, "Transmission queue that it is on; null = it went to a local queue"),
    ),
)
