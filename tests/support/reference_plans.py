"""Plans: what a request leads to and what can be chosen, before any history.

`reference_names` says where names lead, `reference_publishing` what becomes of publications,
`reference_candidates` and `reference_rules` hold SEMANTICS 3 and 4.

Choices, where the text can be read in more than one way:
    1. A DIRECT copy whose rows the exit all takes away is one outcome with 2270. Rules act on each
       copy's rows alone.
    2. `bind_default` of a topic's plan is OPEN, and nothing looks at it.
    3. `first_open` looks at the kind and the names that a plan ends with, also where it ends with
       a reason: instances, aliases and channels "of section 3" are those of these names (P36).
    4. The scope of a message counts where it is QMGR; in a put to a queue, and in edition 1, it is
       no part of the request.
    5. What arrives at a topic host goes on whatever PUBSCOPE is there: it is not published again.
    6. A host sends on what its own view has the topic object of, and only where it sees itself as
       one of that object's hosts (section 9, "At a topic host"). The cluster is that object's.
    7. PROXYSUB FORCE counts at a topic host, too: it is part of P18's rule.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from reference_candidates import (
    Rows,
    aliases,
    as_row,
    direct_candidates,
    instances,
    is_first_open,
    queue_candidates,
    queue_manager_candidates,
    topic_host_candidates,
)
from reference_names import NameWalk
from reference_publishing import Topic, publication_scope, receivers, topic_of
from reference_rows import Row
from reference_rules import Choice, Circumstances, ExitFunction, choose_among
from reference_views import View


class Request(NamedTuple):
    """What a plan is for.

    Attributes:
        scope: of the message: QMGR, else ALL.
        came_from: the queue manager that a publication came from over a cluster channel to the
            topic host `qmgr`; blank where it was put there.
    """

    snapshot_id: str
    qmgr: str
    object_type: str
    object_name: str
    object_qmgr: str = ""
    via: str = "LOCAL"
    scope: str = "ALL"
    came_from: str = ""


def request_of(snapshot: str, message: Row) -> Request:
    """What a message asks for, in a snapshot; the message has its defaults."""
    names = ("qmgr", "object_type", "object_name", "object_qmgr", "via", "scope")
    return Request(snapshot, *(message[name] for name in names), message.get("came_from") or "")


@dataclass(slots=True)
class Plan:
    """A request's answer before any history: where it leads and what can be chosen.

    Attributes:
        choices: the cluster choices to make for each message: one, none where the plan ends
            without one, several for the copies of a publication.
        xmitq: the transmission queue, in kind XMITQ.
        first_open: something of it is known by a first open only; null in edition 1.
        clroute: how the copies of a publication go, in kind TOPIC; null in edition 1.
    """

    kind: str
    reason: int
    resolved_object: str
    resolved_qmgr: str
    bind_default: str
    path: tuple[str, ...] = ()
    xmitq: str = ""
    choices: list[Choice] = field(default_factory=list)
    first_open: bool | None = None
    clroute: str | None = None


@dataclass(frozen=True, slots=True)
class Planner:
    """Makes plans of requests.

    Attributes:
        algorithm: `v9` or `v7`.
        edition: of SEMANTICS, 1 or 2.
        exit_function: the exit, if there is one.
    """

    algorithm: str
    edition: int
    exit_function: ExitFunction | None

    def plan(self, view: View, request: Request) -> Plan:
        """The plan of a request to the view's queue manager."""
        if request.object_type == "TOPIC":
            plan = self._topic_plan(view, request)
            if self.edition == 1:
                plan.clroute = None
        else:
            plan = self._queue_plan(view, request)
        if self.edition > 1:
            plan.first_open = _has_first_open(view, plan)
        return plan

    def _queue_plan(self, view: View, request: Request) -> Plan:
        end = NameWalk(view, request.object_name, request.object_qmgr).run()
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
        return self._with_choices(plan, view, request.via, [rows])

    def _topic_plan(self, view: View, request: Request) -> Plan:
        topic = topic_of(view, request.object_name)
        if topic is None:
            return Plan("LOCAL", 0, request.object_name, "", "OPEN")
        plan = Plan("LOCAL", 0, topic.name, "", "OPEN", (topic.name,))
        if request.came_from != "":
            return self._sent_on(plan, view, topic, request)
        if topic.is_hosted_here or self._stays(view, request):
            return plan
        if topic.has_hosts:
            rows = topic_host_candidates(view, topic.name, topic.topicstr)
            plan.clroute = "TOPICHOST"
            return self._with_choices(plan, view, request.via, [rows])
        to = receivers(view, topic, request.object_name, self.edition)
        return self._copied(plan, view, topic, to)

    def _stays(self, view: View, request: Request) -> bool:
        """True where its scope keeps a publication on L (section 9, P38)."""
        if self.edition == 1:
            return False
        return "QMGR" in (request.scope, publication_scope(view, request.object_name))

    def _sent_on(self, plan: Plan, view: View, topic: Topic, request: Request) -> Plan:
        """What a topic host does with a publication that came over a cluster channel."""
        if not topic.is_hosted_here:
            return plan
        to = receivers(view, topic, request.object_name, self.edition)
        return self._copied(plan, view, topic, to - {request.came_from})

    def _copied(self, plan: Plan, view: View, topic: Topic, to: set[str]) -> Plan:
        """One copy for each queue manager; none: it stays on L (P18)."""
        each = [direct_candidates(view, topic.name, topic.clusters, qmgr) for qmgr in sorted(to)]
        if not each:
            return plan
        plan.clroute = "DIRECT"
        return self._with_choices(plan, view, "LOCAL", each)

    def _with_choices(self, plan: Plan, view: View, via: str, each: list[Rows]) -> Plan:
        """Let the rules act; the plan fails where every one of its choices does."""
        if plan.kind == "LOCAL":
            plan.kind = "TOPIC"
        around = Circumstances(
            plan.kind, view, via == "CLUSTER", self.algorithm, self.exit_function
        )
        plan.choices = [choose_among(rows, around) for rows in each]
        plan.reason = min(choice.reason for choice in plan.choices)
        return plan


def explained(request: Request, plan: Plan) -> Row:
    """A plan and the rows of its choices, as `Reference.plan` gives them."""
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
        "first_open": plan.first_open,
        "scope": request.scope if request.scope == "QMGR" else None,
        "clroute": plan.clroute,
        "candidates": [as_row(row) for row in rows],
        "routes": [as_row(row) | {"cluster": row.instance_cluster} for row in routes],
    }


def _has_first_open(view: View, plan: Plan) -> bool:
    """P36: an instance, an alias or a channel is there by a first open only."""
    if plan.kind == "QUEUE":
        rows = instances(view, plan.resolved_object)
        return is_first_open(view, rows, {row["qmgr"] for row in rows})
    if plan.kind == "QMGR":
        rows = aliases(view, plan.resolved_qmgr)
        return is_first_open(view, rows, {plan.resolved_qmgr, *(row["qmgr"] for row in rows)})
    if plan.kind == "TOPIC":
        rows_of_hosts = (row for choice in plan.choices for row in choice.candidates)
        return is_first_open(view, [], {row.dest_qmgr for row in rows_of_hosts})
    return False
