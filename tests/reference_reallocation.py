"""Re-allocation as plainly as can be: one message after the other, written from SEMANTICS 8 alone.

Choices, where the text can be read in more than one way:
    1. ON_GROUP with logical order is not eligible with and without a group id.
    2. A local row is no row of the stopped channel, whatever the names (`deciding_rule`).
    3. A topic that is DIRECT at the event names a queue manager also where nobody subscribes (P31).
    4. Each event of a table is a run of its own, with its own `event_id` (P32).
"""

from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from reference import BIND_OF_DEFBIND, MESSAGE_DEFAULTS, Memory, Plan, Reference
from reference_names import STATUS_TIERS, Row, View, topic_object
from reference_rules import Candidate, Choice

ORDER = {
    "v9": ((1,), (2,), (100,), (3,), (4,), (5,), (6,), (7,), (8, 9, 10, 11), (12,), (13,), (14,)),
    "v7": ((5,), (1,), (2,), (100,), (6,), (3,), (4,), (7,), (8, 9, 10, 11), (12,), (13,), (14,)),
}


@dataclass(slots=True)
class Waiting:
    """A message on its way: where it is now."""

    message: Row
    outcome: Row
    channel: str | None
    xmitq: str | None
    put_time: datetime


@dataclass(frozen=True, slots=True)
class Stop:
    """A channel stops, or a retry of it fails."""

    qmgr: str
    channel: str
    status: str
    at: datetime


class StoppedView(View):
    """A view in which the channels of one name have the event's status (P22, P30)."""

    def __init__(self, tables: dict[str, list[Row]], stop: Stop) -> None:
        super().__init__(tables, stop.qmgr)
        self.stop = stop

    def status_tier(self, qmgr: str, channel: str) -> int:
        if qmgr != self.qmgr and channel == self.stop.channel:
            return STATUS_TIERS[self.stop.status]
        return super().status_tier(qmgr, channel)


class Reallocating(Reference):
    """A reference that remembers what waits, and moves it when channels stop."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.waiting: list[Waiting] = []
        self._earlier: dict[str, list[tuple[str, list[Candidate]]]] = {}

    def _route_one(self, message: Row) -> list[Row]:
        outcomes = super()._route_one(message)
        nulls = {k: v for k, v in MESSAGE_DEFAULTS.items() if message.get(k) is None}
        for outcome in outcomes:
            self.waiting.append(
                Waiting(
                    {**message, **nulls}, outcome, outcome["channel"], outcome["xmitq"],
                    outcome["put_time"],
                )
            )  # fmt: skip
        return outcomes

    def run(self, stop: Stop) -> list[Row]:
        """Run one event; rows of `reallocations` less their ids."""
        snapshot = self._snapshot_at(stop.at)
        memory = self._memory_before(stop, snapshot)
        tables = {
            table: [row for row in rows if row["snapshot_id"] == snapshot]
            for table, rows in self._rows.items()
        }
        view = StoppedView(tables, stop)
        self._chosen: list[Candidate] = []
        there = [w for w in self.waiting if w.outcome["qmgr"] == stop.qmgr]
        there = [w for w in there if w.channel == stop.channel and w.put_time <= stop.at]
        there.sort(key=lambda w: (w.outcome["put_seq"], w.outcome["message_id"] or b""))
        rows = [self._reallocate(w, stop, view, memory) for w in there]
        self._earlier.setdefault(stop.qmgr, []).append((snapshot, self._chosen))
        return rows

    def _memory_before(self, stop: Stop, snapshot: str) -> Memory:
        """L's history after routing, changed by all earlier events (P29)."""
        memory = deepcopy(self._memories.get(stop.qmgr, Memory()))
        for earlier, chosen in self._earlier.get(stop.qmgr, []):
            self._bring_resets(memory, stop.qmgr, earlier)
            for route in chosen:
                key = (route.dest_qmgr, route.channel)
                memory.counter += 1
                memory.numbers[key] = memory.counter
                memory.factors[key] = memory.factors.get(key, 0) + 1000 // route.clwlwght
        self._bring_resets(memory, stop.qmgr, snapshot)
        return memory

    def _reallocate(self, waits: Waiting, stop: Stop, view: View, memory: Memory) -> Row:
        row = {
            "at": stop.at, "message_id": waits.outcome["message_id"],
            "put_seq": waits.outcome["put_seq"], "qmgr": stop.qmgr, "from_channel": waits.channel,
            "to_channel": waits.channel, "from_xmitq": waits.xmitq, "to_xmitq": waits.xmitq,
            "deciding_rule": None, "ineligible_reason": self._why_not(waits, view),
        }  # fmt: skip
        if row["ineligible_reason"] is not None:
            return row | {"outcome": "NOT_ELIGIBLE"}
        message = waits.message
        if message["object_type"] == "TOPIC":
            plan = self._topic_plan(view, message["object_name"], message["via"])
        else:
            plan = self._queue_plan(view, message["object_name"], "", message["via"])
        end = self._end(plan, view, memory)
        if end["reason"] != 0:
            return row | {"outcome": "FAILED"}
        waits.put_time = stop.at
        if end["channel"] == stop.channel:
            rule = deciding_rule(plan.choices[0], stop.channel, self.algorithm)
            return row | {"outcome": "STILL_FAVOURED", "deciding_rule": rule}
        waits.channel, waits.xmitq = end["channel"], end["xmitq"]
        return row | {
            "outcome": "MOVED", "to_channel": end["channel"], "to_xmitq": end["xmitq"],
        }  # fmt: skip

    def _end(self, plan: Plan, view: View, memory: Memory) -> Row:
        """Decide as at a put, and note the choice."""
        before = memory.counter
        (end,) = self._decide(plan, view, memory)
        if memory.counter > before:
            (key,) = [key for key, number in memory.numbers.items() if number == memory.counter]
            routes = plan.choices[0].routes
            self._chosen.append(next(r for r in routes if (r.dest_qmgr, r.channel) == key))
        return end

    def _why_not(self, waits: Waiting, now: View) -> str | None:
        """The first reason that holds."""
        message, outcome = waits.message, waits.outcome
        then = self._view(outcome["snapshot_id"], outcome["qmgr"])
        published = message["object_type"] == "TOPIC"
        bind = message["bind"]
        if bind == "AS_Q_DEF":
            plan = self._plan(
                outcome["snapshot_id"], outcome["qmgr"], message["object_type"],
                message["object_name"], message["object_qmgr"], message["via"],
            )  # fmt: skip
            bind = BIND_OF_DEFBIND[plan.bind_default]
        if published:
            bind = "NOT_FIXED"
        direct = published and any(is_direct(view, message["object_name"]) for view in (then, now))
        if bind == "ON_OPEN":
            return "BIND_ON_OPEN"
        if bind == "ON_GROUP" and message["logical_order"]:
            return "LOGICAL_GROUP"
        if message["object_qmgr"] != "" or direct:
            return "NAMED_QMGR"
        return "SYSTEM_MESSAGE" if message["object_name"].startswith("SYSTEM.") else None


def is_direct(view: View, topic_string: str) -> bool:
    """True where the topic object that a publication meets has no topic host."""
    found = topic_object(view, topic_string)
    if found is None:
        return False
    rows = [*view.own_shared("topics"), *view.others_seen("topics")]
    rows = [row for row in rows if (row["topic"], row["topicstr"]) == found]
    return not any(row["clroute"] == "TOPICHOST" for row in rows)


def deciding_rule(choice: Choice, channel: str, algorithm: str) -> int:
    """The first rule after which only rows of the channel were left."""
    rows = list(choice.candidates)
    past_rule_2 = False
    for numbers in ORDER[algorithm]:
        lost = [row for row in rows if row.eliminated_by in numbers]
        rows = [row for row in rows if row.eliminated_by not in numbers]
        past_rule_2 = past_rule_2 or numbers == (2,)
        if past_rule_2 and all(r.channel == channel and not r.is_local for r in rows):
            return 0 if numbers == (2,) else lost[0].eliminated_by
    return 15
