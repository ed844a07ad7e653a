"""A plain sequential router: one message after the other, slow and obvious.

It is written from SEMANTICS.md alone and shares no code with the package, so that the two can be
compared row for row. `reference_names` says what a queue manager sees and where names lead,
`reference_rules` which candidate rows are eliminated; this module chooses, binds and keeps history.

Choices, where the text can be read in more than one way:
    1. A blank cluster name is no cluster: neither of a queue manager nor of a channel (S3, P4).
    2. L's rows replace `*` rows as a whole, nulls included; they are not merged (S2, P3).
    3. A null PUB is enabled: "null means MQ's default" goes before P1's list of booleans.
    4. Topic hosts and aliases in clusters L is not in are candidate rows like queues (P4); the
       topic object itself is looked for in L's clusters only (P17).
    5. TOPICSTR T is an ancestor of S where S starts with `T/`; so `''` is one of `/a`, not of `a`.
    6. Row 1's replacement is a step even where nothing is found at the target (P10). A step that
       ends at a transmission queue is none.
    7. The kind of an error is judged by R at that moment: L's own name (row 6) counts as set.
    8. Row 6 sends a QALIAS's target through row 1's rules, so a shared target is chosen for.
    9. The exit comes after rule 2 in `v7`, too.
    10. A DIRECT copy whose rows the exit all takes away is one outcome with 2270.
    11. DIRECT: rules act on each copy's rows alone; the topic's clusters are those of L's that
        its rows are in.
    12. `bind_default` of a topic's plan is OPEN, and nothing looks at it.
    13. A null message_id sorts as an empty one. Of snapshots with the same `valid_from` the
        greater id is the later one.
    14. A message brings the resets not yet brought of all valid snapshots up to its own, so one
        that was added late between two known ones still has its turn, once (P21).
    15. A bound message's object names are the bound route's, its `cluster` too.
    16. Where duplicates are rejected, a message without a message_id is known by its qmgr and
        put_seq, and is another one than a message with an id; an empty id is none, as in 13. Of
        messages of one identity in a batch the earliest put_time is routed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from reference_names import NameWalk, Row, Tables, View, topic_object, with_defaults
from reference_rules import (
    Candidate,
    Choice,
    Circumstances,
    ExitFunction,
    Rows,
    choose_among,
    direct_candidates,
    queue_candidates,
    queue_manager_candidates,
    topic_host_candidates,
)

TABLES: Final = (
    "snapshots", "queue_managers", "cluster_channels", "channel_status", "queues", "topics",
    "subscriptions",
    "views",
)  # fmt: skip
MESSAGE_DEFAULTS: Final[Row] = {
    "object_type": "QUEUE", "object_qmgr": "", "bind": "AS_Q_DEF", "via": "LOCAL",
    "logical_order": False,
}  # fmt: skip
BIND_OF_DEFBIND: Final = {"OPEN": "ON_OPEN", "NOTFIXED": "NOT_FIXED", "GROUP": "ON_GROUP"}
BINDS: Final = ("AS_Q_DEF", "ON_OPEN", "NOT_FIXED", "ON_GROUP")
DAY: Final = timedelta(hours=24)


@dataclass(slots=True)
class Plan:
    """A request's answer before any history: where it leads and what can be chosen.

    Attributes:
        choices: the cluster choices to make for each message: one, none where the plan ends
            without one, several for the copies of a DIRECT publication.
        xmitq: the transmission queue, in kind XMITQ.
    """

    kind: str
    reason: int
    resolved_object: str
    resolved_qmgr: str
    bind_default: str
    path: tuple[str, ...] = ()
    xmitq: str = ""
    choices: list[Choice] = field(default_factory=list)


@dataclass(slots=True)
class BoundRoute:
    """What an open or a group keeps (P16), and when it was last used."""

    dest_qmgr: str
    dest_object: str
    channel: str | None
    cluster: str | None
    is_local: bool
    last: datetime


ChannelKey = tuple[str, str]


@dataclass(slots=True)
class Memory:
    """All that one queue manager remembers from message to message."""

    counter: int = 0
    numbers: dict[ChannelKey, int] = field(default_factory=dict)
    factors: dict[ChannelKey, int] = field(default_factory=dict)
    brought: set[str] = field(default_factory=set)
    highest_put_seq: int | None = None
    bound: dict[tuple[Any, ...], BoundRoute] = field(default_factory=dict)

    def choose(self, routes: Rows, most: int) -> Candidate:
        """Rule 15 and the balancing (section 5); `most` is L's CLWLMRUC."""
        kept = self._most_recently_used(routes, most)
        if any(route.clwlwght != 50 for route in kept):
            chosen = min(kept, key=lambda route: (self._factor(route), self._number(route)))
        else:
            chosen = min(kept, key=self._number)
        self.counter += 1
        key = (chosen.dest_qmgr, chosen.channel)
        self.factors[key] = self._factor(chosen) + 1000 // chosen.clwlwght
        self.numbers[key] = self.counter
        return chosen

    def _most_recently_used(self, routes: Rows, most: int) -> Rows:
        remote = [route for route in routes if not route.is_local]
        if len(remote) <= most:
            return routes
        latest_first = sorted(remote, key=lambda route: -self._number(route))
        kept = latest_first[:most]
        return [r for r in routes if r.is_local or any(r is k for k in kept)]

    def _number(self, route: Candidate) -> int:
        return self.numbers.get((route.dest_qmgr, route.channel), 0)

    def _factor(self, route: Candidate) -> int:
        return self.factors.get((route.dest_qmgr, route.channel), 0)

    def reset(self) -> None:
        """Every factor to 0; numbers and counter stay (C1)."""
        self.factors = dict.fromkeys(self.factors, 0)


class Reference:
    """Routes batches of messages; history, bindings and resets last from batch to batch.

    One queue manager's view is built by going through all rows of a snapshot: give each small
    world (see `random_clusters.Case`) a `Reference` of its own.

    Attributes:
        rejected: the messages that were not routed, each with its `error`.
        choices_cut: how often rule 15 cut routes away.
        resets: how often a message brought a reset.
    """

    def __init__(
        self,
        tables: Tables,
        algorithm: str = "v9",
        binding_ttl: timedelta = DAY,
        exit_function: ExitFunction | None = None,
        duplicates: str = "keep",
    ) -> None:
        """`tables` are lists of rows by the names of CONTRACT.md."""
        self.duplicates = duplicates
        self.algorithm = algorithm
        self.binding_ttl = binding_ttl
        self.exit_function = exit_function
        self.rejected: list[Row] = []
        self.choices_cut = 0
        self.resets = 0
        self._rows: dict[str, list[Row]] = {table: [] for table in TABLES}
        self._views: dict[tuple[str, str], View] = {}
        self._plans: dict[tuple[str, ...], Plan] = {}
        self._memories: dict[str, Memory] = {}
        self._routed: set[tuple[str, int, bytes]] = set()
        self.add_tables(tables)

    def add_tables(self, tables: Tables) -> None:
        """Add rows, of later snapshots."""
        for table, rows in tables.items():
            self._rows[table] += [with_defaults(table, row) for row in rows]
        self._views.clear()
        self._plans.clear()

    def route(self, messages: list[Row]) -> list[Row]:
        """Route one batch.

        Args:
            messages: rows of the table `messages`.

        Returns:
            Rows of the table `outcomes` without `plan_id`, by queue manager and `put_seq`.
        """
        accepted = []
        for message in messages:
            error = self._error(message)
            if error is not None:
                self.rejected.append({**message, "error": error})
            else:
                accepted.append(message)
        accepted.sort(key=lambda m: (*_identity(m), m["put_time"]))
        if self.duplicates == "reject":
            accepted = [message for message in accepted if self._is_new(message)]
        return [outcome for message in accepted for outcome in self._route_one(message)]

    def _is_new(self, message: Row) -> bool:
        """Whether no message of its identity was routed before; else it is rejected."""
        identity = _identity(message)
        if identity in self._routed:
            self.rejected.append({**message, "error": "DUPLICATE"})
            return False
        self._routed.add(identity)
        return True

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

    def plan(
        self,
        snapshot_id: str,
        qmgr: str,
        object_type: str,
        object_name: str,
        object_qmgr: str = "",
        via: str = "LOCAL",
    ) -> Row:
        """Explain one request.

        Returns:
            kind, reason, resolved_object, resolved_qmgr, bind_default, resolution_path, xmitq,
            `candidates` (dicts, losing ones with `eliminated_by`) and `routes` (in route order,
            of a DIRECT publication one copy after the other).
        """
        plan = self._plan(snapshot_id, qmgr, object_type, object_name, object_qmgr, via)
        names = Candidate.__dataclass_fields__
        rows = [row for choice in plan.choices for row in choice.candidates]
        routes = [row for choice in plan.choices for row in choice.routes]
        return {
            "kind": plan.kind,
            "reason": plan.reason,
            "resolved_object": plan.resolved_object,
            "resolved_qmgr": plan.resolved_qmgr,
            "bind_default": plan.bind_default,
            "resolution_path": list(plan.path),
            "xmitq": plan.xmitq or None,
            "candidates": [{name: getattr(row, name) for name in names} for row in rows],
            "routes": [
                {name: getattr(row, name) for name in names} | {"cluster": row.instance_cluster}
                for row in routes
            ],
        }

    # ---- messages --------------------------------------------------------------------------------

    def _error(self, message: Row) -> str | None:
        """Why a message is rejected; the first reason that holds."""
        checks = {
            "NO_QMGR": not message.get("qmgr"),
            "NO_PUT_SEQ": message.get("put_seq") is None,
            "NO_PUT_TIME": message.get("put_time") is None,
            "UNKNOWN_OBJECT_TYPE": message.get("object_type") not in (None, "QUEUE", "TOPIC"),
            "NO_OBJECT": not message.get("object_name"),
            "UNKNOWN_BIND": message.get("bind") not in (None, *BINDS),
            "UNKNOWN_VIA": message.get("via") not in (None, "LOCAL", "CLUSTER"),
        }
        for error, holds in checks.items():
            if holds:
                return error
        return "NO_SNAPSHOT" if self._snapshot_at(message["put_time"]) is None else None

    def _route_one(self, message: Row) -> list[Row]:
        """The outcomes of one message: one, or one per copy of a DIRECT publication."""
        nulls = {k: v for k, v in MESSAGE_DEFAULTS.items() if message.get(k) is None}
        message = {**message, **nulls}
        qmgr, put_seq = message["qmgr"], message["put_seq"]
        snapshot = self._snapshot_at(message["put_time"])
        memory = self._memories.setdefault(qmgr, Memory())
        self._bring_resets(memory, qmgr, snapshot)
        highest = memory.highest_put_seq
        late = highest is not None and put_seq <= highest
        memory.highest_put_seq = put_seq if highest is None else max(highest, put_seq)
        plan = self._plan(
            snapshot, qmgr, message["object_type"], message["object_name"],
            message["object_qmgr"], message["via"],
        )  # fmt: skip
        view = self._view(snapshot, qmgr)
        base = {
            **{name: message.get(name) for name in ("qmgr", "put_seq", "message_id", "put_time")},
            **{name: message[name] for name in ("object_type", "object_name", "object_qmgr")},
            "snapshot_id": snapshot,
        }
        ends = self._bound_or_new(message, plan, view, memory)
        return [{**base, **end, "out_of_order": late} for end in ends]

    def _bound_or_new(self, message: Row, plan: Plan, view: View, memory: Memory) -> list[Row]:
        """Use the route the open or the group is bound to, else decide (section 6)."""
        key = _binding_key(message, plan)
        if key is None:
            return self._decide(plan, view, memory)
        now = message["put_time"]
        route = memory.bound.get(key)
        if route is not None and now - route.last <= self.binding_ttl:
            route.last = max(route.last, now)
            return [_sent(view, route, bound=True)]
        memory.bound.pop(key, None)
        (end,) = self._decide(plan, view, memory)
        if len(plan.choices) == 1 and end["reason"] == 0 and not _is_local_only(plan.choices[0]):
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
            return [_outcome(reason=plan.reason)]
        if plan.kind == "XMITQ":
            return [
                _outcome(
                    dest_qmgr=plan.resolved_qmgr, dest_object=plan.resolved_object,
                    xmitq=plan.xmitq,
                )
            ]  # fmt: skip
        return [_outcome(dest_qmgr=view.qmgr, dest_object=plan.resolved_object, is_local=True)]

    def _make(self, choice: Choice, view: View, memory: Memory) -> Row:
        """Make one cluster choice."""
        if choice.reason != 0:
            return _outcome(reason=choice.reason)
        if _is_local_only(choice):
            name = choice.routes[0].dest_object
            return _outcome(dest_qmgr=view.qmgr, dest_object=name, is_local=True)
        most = view.settings["clwlmruc"]
        self.choices_cut += sum(not route.is_local for route in choice.routes) > most
        chosen = memory.choose(choice.routes, most)
        return _sent(view, chosen, bound=False)

    # ---- snapshots -------------------------------------------------------------------------------

    def _valid_snapshots(self) -> list[Row]:
        rows = [row for row in self._rows["snapshots"] if row["status"] == "VALID"]
        return sorted(rows, key=lambda row: (row["valid_from"], row["snapshot_id"]))

    def _snapshot_at(self, put_time: datetime) -> Any:
        """The id of the last valid snapshot in force, or null (S1)."""
        ids = [r["snapshot_id"] for r in self._valid_snapshots() if r["valid_from"] <= put_time]
        return ids[-1] if ids else None

    def _view(self, snapshot: str, qmgr: str) -> View:
        key = (snapshot, qmgr)
        if key not in self._views:
            tables = {
                table: [row for row in rows if row["snapshot_id"] == snapshot]
                for table, rows in self._rows.items()
            }
            self._views[key] = View(tables, qmgr)
        return self._views[key]

    def _bring_resets(self, memory: Memory, qmgr: str, snapshot: str) -> None:
        """Reset the history for each snapshot up to this one that did not yet (C1, P21)."""
        ids = [row["snapshot_id"] for row in self._valid_snapshots()]
        for position, this in enumerate(ids[: ids.index(snapshot) + 1]):
            if this not in memory.brought:
                memory.brought.add(this)
                if position > 0 and self._is_reset(qmgr, ids[position - 1], this):
                    self.resets += 1
                    memory.reset()

    def _is_reset(self, qmgr: str, old: str, new: str) -> bool:
        """True where an available channel was altered, came back or is new (C1, P20)."""
        before = _channel_values(self._view(old, qmgr))
        after = _channel_values(self._view(new, qmgr))
        return any(
            tier == 1 and before.get(key) != (values, 1) for key, (values, tier) in after.items()
        )

    # ---- plans -----------------------------------------------------------------------------------

    def _plan(self, *request: str) -> Plan:
        """The plan of (snapshot, qmgr, object type, object name, object qmgr, via)."""
        if request not in self._plans:
            snapshot, qmgr, object_type, object_name, object_qmgr, via = request
            view = self._view(snapshot, qmgr)
            if object_type == "TOPIC":
                self._plans[request] = self._topic_plan(view, object_name, via)
            else:
                self._plans[request] = self._queue_plan(view, object_name, object_qmgr, via)
        return self._plans[request]

    def _queue_plan(self, view: View, object_name: str, object_qmgr: str, via: str) -> Plan:
        end = NameWalk(view, object_name, object_qmgr).run()
        plan = Plan(
            end.kind, end.reason, end.object_name, end.object_qmgr, end.bind_default, end.path,
            end.xmitq,
        )  # fmt: skip
        if end.reason != 0 or end.kind in ("LOCAL", "XMITQ"):
            return plan
        if end.kind == "QUEUE":
            rows = queue_candidates(view, end.object_name)
        else:
            rows = queue_manager_candidates(view, end.object_name, end.object_qmgr)
        return self._with_choices(plan, view, via, [rows])

    def _topic_plan(self, view: View, topic_string: str, via: str) -> Plan:
        found = topic_object(view, topic_string)
        if found is None:
            return Plan("LOCAL", 0, topic_string, "", "OPEN")
        name, topicstr = found
        own = [row for row in view.own_shared("topics") if _is_topic(row, found)]
        rows = own + [row for row in view.others_seen("topics") if _is_topic(row, found)]
        if any(row["clroute"] == "TOPICHOST" for row in own):
            return Plan("LOCAL", 0, name, "", "OPEN", (name,))
        plan = Plan("TOPIC", 0, name, "", "OPEN", (name,))
        if any(row["clroute"] == "TOPICHOST" for row in rows):
            hosts = topic_host_candidates(view, name, topicstr)
            return self._with_choices(plan, view, via, [hosts])
        clusters = {row["cluster"] for row in rows}
        members = [
            row["qmgr"]
            for row in view.others_seen("cluster_channels")
            if row["cluster"] in clusters
        ]
        subscribers = set(members) & view.proxy_subscribers(topic_string)
        copies = set(members) if any(r["proxysub"] == "FORCE" for r in rows) else subscribers
        if not copies:
            plan.kind = "LOCAL"
            return plan
        each = [direct_candidates(view, name, clusters, member) for member in sorted(copies)]
        return self._with_choices(plan, view, via, each)

    def _with_choices(self, plan: Plan, view: View, via: str, each: list[Rows]) -> Plan:
        """Let the rules act; the plan fails where every one of its choices does."""
        around = Circumstances(
            plan.kind, view, via == "CLUSTER", self.algorithm, self.exit_function
        )
        plan.choices = [choose_among(rows, around) for rows in each]
        plan.reason = min(choice.reason for choice in plan.choices)
        return plan


def _is_topic(row: Row, topic: tuple[str, str]) -> bool:
    return (row["topic"], row["topicstr"]) == topic


def _is_local_only(choice: Choice) -> bool:
    """R2: no channel is chosen and no history changes."""
    return all(route.is_local for route in choice.routes)


def _channel_values(view: View) -> dict[tuple[str, str, str], tuple[tuple[int, ...], int]]:
    """Workload attributes and status tier of every channel that L sees."""
    names = ("clwlrank", "clwlprty", "clwlwght", "netprty")
    return {
        (row["qmgr"], row["channel"], row["cluster"]): (
            tuple(row[name] for name in names),
            view.status_tier(row["qmgr"], row["channel"]),
        )
        for row in view.seen_channels()
    }


def _identity(message: Row) -> tuple[str, int, bytes]:
    """What says which message it is, in the order in which messages are routed."""
    return message["qmgr"], message["put_seq"], message.get("message_id") or b""


def _binding_key(message: Row, plan: Plan) -> tuple[Any, ...] | None:
    """What the message is bound by, in its own snapshot; null where it always chooses (P15)."""
    if message["object_type"] == "TOPIC":
        return None
    bind = message["bind"]
    if bind == "AS_Q_DEF":
        bind = BIND_OF_DEFBIND[plan.bind_default]
    if bind == "NOT_FIXED":
        return None
    value = message.get("open_id" if bind == "ON_OPEN" else "group_id")
    if value is None:
        return None
    return (bind, value, message["object_name"], message["object_qmgr"])


def _sent(view: View, route: Candidate | BoundRoute, *, bound: bool) -> Row:
    """The outcome of a chosen or bound route, as of now (P16, P24)."""
    names = {"dest_qmgr": route.dest_qmgr, "dest_object": route.dest_object}
    if route.is_local or route.channel is None:
        return _outcome(**names, is_local=True, bound=bound)
    cluster = route.instance_cluster if isinstance(route, Candidate) else route.cluster
    xmitq = view.transmission_queue(route.dest_qmgr, route.channel)
    return _outcome(**names, channel=route.channel, cluster=cluster, xmitq=xmitq, bound=bound)


def _outcome(**known: Any) -> Row:
    """An outcome's columns from `reason` to `bound`; unknown ones null, false or 0."""
    empty: Mapping[str, Any] = {
        "reason": 0, "dest_qmgr": None, "dest_object": None, "channel": None, "cluster": None,
        "xmitq": None, "is_local": False, "bound": False,
    }  # fmt: skip
    return {**empty, **known}
