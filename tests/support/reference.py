"""A plain sequential router: one message after the other, slow and obvious.

It is written from SEMANTICS.md alone and shares no code with the package, so that the two can be
compared row for row. `reference_views` says what a queue manager sees, `reference_plans` what a
request leads to, `reference_memory` which route is chosen; this module routes messages.

Choices, where the text can be read in more than one way (other modules have more of them):
    1. A null message_id sorts as an empty one.
    2. A message brings the resets not yet brought of all valid snapshots up to its own, so one
       that was added late between two known ones still has its turn, once (P21).
    3. Where duplicates are rejected, a message without a message_id is known by its qmgr and
       put_seq, and is another one than a message with an id; an empty id is none, as in 1. Of
       messages of one identity in a batch the earliest put_time is routed.
"""

from datetime import datetime, timedelta
from typing import Final

from reference_candidates import as_row
from reference_memory import BoundRoute, Memory, cut_by_rule_15
from reference_outcomes import (
    binding_key,
    identity,
    is_local_only,
    message_error,
    message_with_defaults,
    outcome,
    sent,
)
from reference_plans import Plan, Planner, Request, explained, request_of
from reference_rows import Row, Tables
from reference_rules import Choice, ExitFunction
from reference_snapshots import Snapshots
from reference_views import View

DAY: Final = timedelta(hours=24)


class Reference:
    """Routes batches of messages; history, bindings and resets last from batch to batch.

    One queue manager's view is built by going through all rows of a snapshot: give each small
    world (see `random_clusters.Case`) a `Reference` of its own.

    Attributes:
        rejected: the messages that were not routed, each with its `error`.
        choices_cut: how often rule 15 cut routes away.
        resets: how often a message brought a reset.
        null_open_id: "own", or set to "shared" before the first message: puts ON_OPEN without an
            open_id share one open for each queue manager, object and object queue manager.
    """

    null_open_id: str = "own"

    def __init__(
        self,
        tables: Tables,
        algorithm: str = "v9",
        binding_ttl: timedelta = DAY,
        exit_function: ExitFunction | None = None,
        duplicates: str = "keep",
        edition: int = 1,
    ) -> None:
        """`tables` are lists of rows by the names of CONTRACT.md, `edition` is SEMANTICS'."""
        self.duplicates = duplicates
        self.algorithm = algorithm
        self.edition = edition
        self.binding_ttl = binding_ttl
        self.rejected: list[Row] = []
        self.choices_cut = 0
        self.resets = 0
        self.snapshots = Snapshots(edition)
        self._planner = Planner(algorithm, edition, exit_function)
        self._plans: dict[Request, Plan] = {}
        self._memories: dict[str, Memory] = {}
        self._routed: set[tuple[str, int, bytes]] = set()
        self.add_tables(tables)

    def add_tables(self, tables: Tables) -> None:
        """Add rows, of later snapshots."""
        self.snapshots.add(tables)
        self._plans.clear()

    def route(self, messages: list[Row]) -> list[Row]:
        """Route one batch.

        Args:
            messages: rows of the table `messages`. In edition 2 a publication that reached a topic
                host over a cluster channel may have `came_from`, the queue manager it came from:
                its outcomes are then the copies that the host sends on (section 9).

        Returns:
            Rows of the table `outcomes` without `plan_id`, by queue manager and `put_seq`.
        """
        accepted = []
        for message in messages:
            error = message_error(message)
            if error is None and self.snapshots.at(message["put_time"]) is None:
                error = "NO_SNAPSHOT"
            if error is not None:
                self.rejected.append({**message, "error": error})
            else:
                accepted.append(message)
        accepted.sort(key=lambda m: (*identity(m), m["put_time"]))
        if self.duplicates == "reject":
            accepted = [message for message in accepted if self._is_new(message)]
        return [row for message in accepted for row in self._route_one(message)]

    def _is_new(self, message: Row) -> bool:
        """Whether no message of its identity was routed before; else it is rejected."""
        known = identity(message) in self._routed
        if known:
            self.rejected.append({**message, "error": "DUPLICATE"})
        self._routed.add(identity(message))
        return not known

    def balance_history(self) -> list[Row]:
        """The table `balance_history` after the last batch."""
        return [
            {
                "qmgr": qmgr,
                "dest_qmgr": key[0],
                "channel": key[1],
                "dest_seq_number": memory.numbers[key],
                "dest_seq_factor": memory.factors[key],
            }
            for qmgr, memory in sorted(self._memories.items())
            for key in sorted(memory.numbers)
        ]

    # ---- explanations ----------------------------------------------------------------------------

    def plan(self, *request: str, **named: str) -> Row:
        """Explain one request: the values of `Request`, in its order or by name.

        Returns:
            The columns of `route_plans` (first_open null in edition 1, scope ALL as null),
            `candidates` (losing ones with `eliminated_by`) and `routes` (in route order, of a
            DIRECT publication one copy after the other).
        """
        asked = self._asked(*request, **named)
        return explained(asked, self._plan(*asked))

    def cut(
        self, numbers: dict[tuple[str, str], int] | None, *request: str, **named: str
    ) -> list[list[Row]]:
        """The rows of a plan that rule 15 cuts as its history is (R4, P43).

        Args:
            numbers: `dest_seq_number` by (dest_qmgr, channel), 0 where there is none; null =
                those after the last batch.
            request: as for `plan`.
            named: as for `plan`.

        Returns:
            The rows of each choice (each copy of a DIRECT publication), latest number first.
        """
        asked = self._asked(*request, **named)
        if numbers is None:
            numbers = self._memories.get(asked.qmgr, Memory()).numbers
        most = self._view(asked.snapshot_id, asked.qmgr).settings["clwlmruc"]
        choices = self._plan(*asked).choices
        each = [cut_by_rule_15(choice.routes, numbers, most) for choice in choices]
        return [[as_row(row) | {"eliminated_by": 15} for row in rows] for rows in each]

    def _asked(self, *request: str, **named: str) -> Request:
        """The request as plans are told apart by it."""
        asked = Request(*request, **named)
        within = asked.scope == "QMGR" and asked.object_type == "TOPIC" and self.edition > 1
        return asked._replace(scope="QMGR" if within else "ALL")

    def _plan(self, *request: str, **named: str) -> Plan:
        asked = self._asked(*request, **named)
        if asked not in self._plans:
            view = self._view(asked.snapshot_id, asked.qmgr)
            self._plans[asked] = self._planner.plan(view, asked)
        return self._plans[asked]

    def _view(self, snapshot_id: str, qmgr: str) -> View:
        return self.snapshots.view(snapshot_id, qmgr)

    # ---- messages --------------------------------------------------------------------------------

    def _route_one(self, message: Row) -> list[Row]:
        """The outcomes of one message: one, or one per copy of a publication."""
        message = message_with_defaults(message)
        qmgr, put_seq = message["qmgr"], message["put_seq"]
        snapshot = self.snapshots.at(message["put_time"]) or ""
        memory = self._memories.setdefault(qmgr, Memory())
        self._bring_resets(memory, qmgr, snapshot)
        highest = memory.highest_put_seq
        late = highest is not None and put_seq <= highest
        memory.highest_put_seq = put_seq if highest is None else max(highest, put_seq)
        plan = self._plan(*request_of(snapshot, message))
        base = {
            **{name: message.get(name) for name in ("qmgr", "put_seq", "message_id", "put_time")},
            **{name: message[name] for name in ("object_type", "object_name", "object_qmgr")},
            "snapshot_id": snapshot,
        }
        ends = self._bound_or_new(message, plan, self._view(snapshot, qmgr), memory)
        return [{**base, **end, "out_of_order": late} for end in ends]

    def _bring_resets(self, memory: Memory, qmgr: str, snapshot: str) -> None:
        """Reset the history for each snapshot up to this one that did not yet (C1, P21)."""
        ids = self.snapshots.up_to(snapshot)
        for old, this in zip([None, *ids], ids, strict=False):
            if this not in memory.brought:
                memory.brought.add(this)
                if old is not None and self.snapshots.is_reset(qmgr, old, this):
                    self.resets += 1
                    memory.reset()

    def _bound_or_new(self, message: Row, plan: Plan, view: View, memory: Memory) -> list[Row]:
        """Use the route the open or the group is bound to, else decide (section 6)."""
        key = binding_key(message, plan, self.null_open_id)
        if key is None:
            return self._decide(plan, view, memory)
        now: datetime = message["put_time"]
        route = memory.bound.get(key)
        if route is not None and now - route.last <= self.binding_ttl:
            route.last = max(route.last, now)
            return [sent(view, route, bound=True)]
        memory.bound.pop(key, None)
        (end,) = self._decide(plan, view, memory)
        if len(plan.choices) == 1 and end["reason"] == 0 and not is_local_only(plan.choices[0]):
            memory.bound[key] = BoundRoute(
                end["dest_qmgr"], end["dest_object"], end["channel"], end["cluster"],
                end["is_local"], now,
            )  # fmt: skip
        return [end]

    def _decide(self, plan: Plan, view: View, memory: Memory) -> list[Row]:
        """What the plan says, with L's history where there is a choice."""
        if plan.choices:
            return [self._make(choice, view, memory) for choice in plan.choices]
        if plan.reason != 0:
            return [outcome(reason=plan.reason)]
        names = {"dest_qmgr": plan.resolved_qmgr, "dest_object": plan.resolved_object}
        if plan.kind == "XMITQ":
            return [outcome(**names, xmitq=plan.xmitq)]
        return [outcome(**names | {"dest_qmgr": view.qmgr}, is_local=True)]

    def _make(self, choice: Choice, view: View, memory: Memory) -> Row:
        """Make one cluster choice."""
        if choice.reason != 0:
            return outcome(reason=choice.reason)
        if is_local_only(choice):
            name = choice.routes[0].dest_object
            return outcome(dest_qmgr=view.qmgr, dest_object=name, is_local=True)
        most = view.settings["clwlmruc"]
        self.choices_cut += sum(not route.is_local for route in choice.routes) > most
        by_factor = self.algorithm == "v7" and self.edition > 1
        return sent(view, memory.choose(choice.routes, most, by_factor=by_factor), bound=False)
