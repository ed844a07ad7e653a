"""Re-allocation as plainly as can be: one message after the other, written from SEMANTICS 8 alone.

Choices, where the text can be read in more than one way:
    1. ON_GROUP with logical order is not eligible with and without a group id.
    2. A local row is no row of the stopped channel, whatever the names (`deciding_rule`).
    3. A topic that is DIRECT at the event names a queue manager also where nobody subscribes, and
       where its PUBSCOPE is QMGR then: what is not eligible does not choose again (P31).
    4. Each event of a table is a run of its own, with its own `event_id` (P32).
    5. Edition 1 lets events run in any order; edition 2 refuses an earlier one (P30).
"""

from copy import deepcopy
from datetime import datetime
from typing import Any

from reference import Memory, Reference
from reference_candidates import Candidate
from reference_outcomes import effective_bind, message_with_defaults
from reference_plans import Plan, request_of
from reference_publishing import publication_scope, topic_of
from reference_rows import STATUS_TIERS, Row
from reference_rules import Choice
from reference_views import View
from reference_waiting import Stop, Waiting, on_the_channel, still_waiting

ORDER = {
    "v9": ((1,), (2,), (100,), (3,), (4,), (5,), (6,), (7,), (8, 9, 10, 11), (12,), (13,), (14,)),
    "v7": ((5,), (1,), (2,), (100,), (6,), (3,), (4,), (7,), (8, 9, 10, 11), (12,), (13,), (14,)),
}


class Reallocating(Reference):
    """A reference that remembers what waits, and moves it when channels stop."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.waiting: list[Waiting] = []
        self._earlier: dict[str, list[tuple[str, list[Candidate]]]] = {}
        self._last: dict[str, datetime] = {}

    def _route_one(self, message: Row) -> list[Row]:
        outcomes = super()._route_one(message)
        message = message_with_defaults(message)
        self.waiting += [
            Waiting(message, row, row["channel"], row["xmitq"], row["put_time"]) for row in outcomes
        ]
        return outcomes

    def run(self, stop: Stop) -> list[Row]:
        """Run one event; rows of `reallocations` less their ids.

        Raises:
            ValueError: in edition 2, its time is before that of the last event (P30).
        """
        there = on_the_channel(self.waiting, stop)
        if self.edition > 1:
            self._refuse_earlier(stop)
            waiting = still_waiting(there, stop, self.snapshots)
            if waiting is None:
                return []
            there = waiting
        self._last[stop.qmgr] = stop.at
        snapshot = self.snapshots.at(stop.at) or ""
        memory = self._memory_before(stop, snapshot)
        view = self.snapshots.fresh_view(snapshot, stop.qmgr)
        view.stopped[stop.channel] = STATUS_TIERS[stop.status]
        self._chosen: list[Candidate] = []
        rows = [self._reallocate(w, stop, view, memory) for w in there]
        self._earlier.setdefault(stop.qmgr, []).append((snapshot, self._chosen))
        return rows

    def _refuse_earlier(self, stop: Stop) -> None:
        if stop.at < self._last.get(stop.qmgr, stop.at):
            raise ValueError(f"an event of {stop.qmgr} before {self._last[stop.qmgr]}")

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
        asked = request_of("", waits.message)
        plan = self._planner.plan(view, asked)
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
        message, own = waits.message, waits.outcome["snapshot_id"]
        plan = self._plan(*request_of(own, message))
        bind = effective_bind(message, plan)
        if bind == "ON_OPEN":
            return "BIND_ON_OPEN"
        if bind == "ON_GROUP" and message["logical_order"]:
            return "LOGICAL_GROUP"
        if message["object_type"] == "TOPIC":
            then = self._view(own, waits.outcome["qmgr"])
            named = any(self._is_direct(view, message["object_name"]) for view in (then, now))
        else:
            named = message["object_qmgr"] != "" and self._is_for_one(plan)
        if named:
            return "NAMED_QMGR"
        return "SYSTEM_MESSAGE" if message["object_name"].startswith("SYSTEM.") else None

    def _is_direct(self, view: View, topic_string: str) -> bool:
        """P31: not what its scope keeps local, which edition 1 does not look at."""
        if self.edition > 1 and publication_scope(view, topic_string) == "QMGR":
            return False
        return is_direct(view, topic_string)

    def _is_for_one(self, plan: Plan) -> bool:
        """P23: the name leads to one queue manager, past the choice; in edition 1 any name does."""
        if self.edition == 1:
            return True
        before = (5, 1, 2, 100) if self.algorithm == "v7" else (1, 2, 100)
        rows = [row for choice in plan.choices for row in choice.candidates]
        left = {row.dest_qmgr for row in rows if row.eliminated_by not in before}
        return plan.kind == "QMGR" and len(left) == 1


def is_direct(view: View, topic_string: str) -> bool:
    """True where the topic object that a publication meets has no topic host."""
    topic = topic_of(view, topic_string)
    return topic is not None and not topic.has_hosts


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
