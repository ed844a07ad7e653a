"""Rows of the table `outcomes`, and what is known of a message before: SEMANTICS 6, P1, P16, P24.

Choices, where the text can be read in more than one way:
    1. A bound message's object names are the bound route's, its `cluster` too.
"""

from collections.abc import Mapping
from typing import Any, Final

from reference_candidates import Candidate
from reference_memory import BoundRoute
from reference_plans import Plan
from reference_rows import Row
from reference_rules import Choice
from reference_views import View

MESSAGE_DEFAULTS: Final[Row] = {
    "object_type": "QUEUE", "object_qmgr": "", "bind": "AS_Q_DEF", "via": "LOCAL",
    "logical_order": False, "scope": "ALL",
}  # fmt: skip
BIND_OF_DEFBIND: Final = {"OPEN": "ON_OPEN", "NOTFIXED": "NOT_FIXED", "GROUP": "ON_GROUP"}
BINDS: Final = ("AS_Q_DEF", "ON_OPEN", "NOT_FIXED", "ON_GROUP")


def message_error(message: Row) -> str | None:
    """Why a message is rejected, whatever the snapshots; the first reason that holds."""
    checks = {
        "NO_QMGR": not message.get("qmgr"),
        "NO_PUT_SEQ": message.get("put_seq") is None,
        "NO_PUT_TIME": message.get("put_time") is None,
        "UNKNOWN_OBJECT_TYPE": message.get("object_type") not in (None, "QUEUE", "TOPIC"),
        "NO_OBJECT": not message.get("object_name"),
        "UNKNOWN_BIND": message.get("bind") not in (None, *BINDS),
        "UNKNOWN_VIA": message.get("via") not in (None, "LOCAL", "CLUSTER"),
    }
    return next((error for error, holds in checks.items() if holds), None)


def message_with_defaults(message: Row) -> Row:
    """The message with what a null means (P1)."""
    nulls = {k: v for k, v in MESSAGE_DEFAULTS.items() if message.get(k) is None}
    return {**message, **nulls}


def identity(message: Row) -> tuple[str, int, bytes]:
    """What says which message it is, in the order in which messages are routed."""
    return message["qmgr"], message["put_seq"], message.get("message_id") or b""


def effective_bind(message: Row, plan: Plan) -> str:
    """The option that counts for a message, in its own snapshot (P15)."""
    if message["object_type"] == "TOPIC":
        return "NOT_FIXED"
    if message["bind"] == "AS_Q_DEF":
        return BIND_OF_DEFBIND[plan.bind_default]
    return str(message["bind"])


def binding_key(message: Row, plan: Plan, null_open_id: str = "own") -> tuple[Any, ...] | None:
    """What the message is bound by; null where it always chooses.

    Puts ON_OPEN without an open_id are each an open of its own, or share one (`shared`).
    """
    bind = effective_bind(message, plan)
    if bind == "NOT_FIXED":
        return None
    value = message.get("open_id" if bind == "ON_OPEN" else "group_id")
    if value is None and (bind != "ON_OPEN" or null_open_id == "own"):
        return None
    return (bind, value, message["object_name"], message["object_qmgr"])


def is_local_only(choice: Choice) -> bool:
    """R2: no channel is chosen and no history changes."""
    return all(route.is_local for route in choice.routes)


def sent(view: View, route: Candidate | BoundRoute, *, bound: bool) -> Row:
    """The outcome of a chosen or bound route, as of now (P16, P24)."""
    names = {"dest_qmgr": route.dest_qmgr, "dest_object": route.dest_object}
    if route.is_local or route.channel is None:
        return outcome(**names, is_local=True, bound=bound)
    cluster = route.instance_cluster if isinstance(route, Candidate) else route.cluster
    xmitq = view.transmission_queue(route.dest_qmgr, route.channel)
    return outcome(**names, channel=route.channel, cluster=cluster, xmitq=xmitq, bound=bound)


def outcome(**known: Any) -> Row:
    """An outcome's columns from `reason` to `bound`; unknown ones null, false or 0."""
    empty: Mapping[str, Any] = {
        "reason": 0, "dest_qmgr": None, "dest_object": None, "channel": None, "cluster": None,
        "xmitq": None, "is_local": False, "bound": False,
    }  # fmt: skip
    return {**empty, **known}
