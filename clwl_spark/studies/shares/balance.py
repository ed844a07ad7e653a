"""Expected load: the long-run share of each route, channel and queue manager of a mix of puts.

Source: SEMANTICS 5; `algorithm.shares` has the formula of one request, `studies.shares.mix` of
several.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clwl_spark.algorithm.shares import Route
from clwl_spark.mq.vocabulary import DEFAULT_WEIGHT, LARGEST_STEP, PlanKind
from clwl_spark.planning.plans import Ladder
from clwl_spark.snapshots.views import DEFAULTS, VIEWER, Topology, own_rows
from clwl_spark.spark.frames import frame_from_rows
from clwl_spark.studies.explain.planned import EXPECTED_SHARE, Planned, planned
from clwl_spark.studies.shares.expected import SHARE
from clwl_spark.studies.shares.traffic import MESSAGES_OF, Puts
from clwl_spark.tables import columns as c

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Balance:
    """Where a mix of puts of one queue manager goes.

    Attributes:
        requests: for each put (object_name, object_qmgr, messages, reason, routes); a route has
            the columns of `clwl explain --json`, `step`, which is 1000 div CLWLWGHT, and `share`
            of the object's messages within the mix beside `expected_share`, that of the object
            alone.
        queue_managers: (dest_qmgr, share) of all messages that get a destination.
        channels: (dest_qmgr, channel, share), local ones left out.
        is_exact: the shares repeat for ever; else they are counted over millions of choices.
    """

    requests: Sequence[Row]
    queue_managers: Sequence[Row]
    channels: Sequence[Row]
    is_exact: bool

    def to_json(self) -> Row:
        """The document of `clwl shares --from ... --json`."""
        return {
            "requests": list(self.requests),
            "queue_managers": list(self.queue_managers),
            "channels": list(self.channels),
            "exact": self.is_exact,
        }


def balance(puts: Sequence[Puts], snapshot_id: str, topology: Topology, ladder: Ladder) -> Balance:
    """Work out where puts of one queue manager go, which share its history.

    Args:
        puts: of one queue manager, distinct, with whole numbers of messages.
        snapshot_id: the snapshot.
        topology: its tables.
        ladder: the rules.
    """
    asked = [x.request(snapshot_id) for x in puts]
    found = planned(asked, topology, ladder)
    sender = frame_from_rows(
        topology.queues.sparkSession,
        [(snapshot_id, puts[0].qmgr)],
        f"{c.SNAPSHOT_ID} string, {VIEWER} string",
    )
    mruc = own_rows(sender, topology.queue_managers, ()).select(c.CLWLMRUC).collect()
    most = int(mruc[0][0]) if mruc else int(DEFAULTS["queue_managers"][c.CLWLMRUC])
    together = [(put, found[request]) for put, request in zip(puts, asked, strict=True)]
    choosing = [(put, plan) for put, plan in together if _chooses(plan)]
    by_factor = ladder.semantics.by_factor
    shares, is_exact = _mixed(choosing, most, by_factor) if len(choosing) > 1 else ({}, True)
    requests = [_request(put, plan, shares.get(id(plan))) for put, plan in together]
    return Balance(requests, *_summed(requests, _without_choice(together)), is_exact)


def _mixed(
    choosing: Sequence[tuple[Puts, Planned]],
    mruc: int,
    by_factor: bool,  # noqa: FBT001
) -> tuple[dict[int, list[float]], bool]:
    """Shares of puts that choose among the same channels, by the plan's identity; if exact."""
    from clwl_spark.studies.shares.mix import Stream, mixed_shares  # noqa: PLC0415  (it has the kernel)

    streams = [Stream(_routes(plan), int(put.messages)) for put, plan in choosing]
    mixed = mixed_shares(streams, mruc, by_factor=by_factor)
    found = {
        id(plan): [float(x) for x in shares]
        for (_, plan), shares in zip(choosing, mixed.shares, strict=True)
    }
    return found, mixed.is_exact


def _chooses(plan: Planned) -> bool:
    """Whether messages of a plan choose, in one choice each; copies of a publication do not mix."""
    remote = [row for row in plan.routes if not row[c.IS_LOCAL]]
    return bool(remote) and plan.plan["choices"] == 1


def _routes(plan: Planned) -> list[Route]:
    return [Route(x[c.DEST_QMGR], x[c.CHANNEL], x[c.IS_LOCAL], x[c.CLWLWGHT]) for x in plan.routes]


def _request(put: Puts, plan: Planned, shares: Sequence[float] | None) -> Row:
    alone = [row[EXPECTED_SHARE] for row in plan.routes]
    within = alone if shares is None else shares
    routes = [
        {**row, "step": LARGEST_STEP // row[c.CLWLWGHT], SHARE: share}
        for row, share in zip(plan.routes, within, strict=True)
    ]
    return {
        c.OBJECT_NAME: put.object_name,
        c.OBJECT_QMGR: put.object_qmgr,
        MESSAGES_OF: put.messages,
        c.REASON: plan.plan[c.REASON],
        c.KIND: plan.plan[c.KIND],
        "routes": routes,
    }


def _without_choice(together: Sequence[tuple[Puts, Planned]]) -> dict[str, float]:
    """Messages by queue manager that get there without a choice.

    They stay on a queue that no cluster has, or a definition names their transmission queue.
    """
    found = defaultdict[str, float](float)
    for put, plan in together:
        if plan.plan[c.REASON] == 0 and not plan.routes:
            stays = plan.plan[c.KIND] == PlanKind.LOCAL.value
            found[put.qmgr if stays else plan.plan[c.RESOLVED_QMGR]] += put.messages
    return found


def _summed(
    requests: Sequence[Row], without_choice: Mapping[str, float]
) -> tuple[list[Row], list[Row]]:
    """Shares of queue managers and of channels in all messages that get a destination."""
    qmgrs = defaultdict[str, float](float, without_choice)
    channels: Counter[tuple[str, str]] = Counter()
    for request in requests:
        for route in request["routes"]:
            messages = request[MESSAGES_OF] * route[SHARE]
            qmgrs[route[c.DEST_QMGR]] += messages
            if not route[c.IS_LOCAL]:
                channels[route[c.DEST_QMGR], route[c.CHANNEL]] += messages
    whole = sum(qmgrs.values()) or 1.0
    return (
        [{c.DEST_QMGR: x, SHARE: count / whole} for x, count in sorted(qmgrs.items())],
        [
            {c.DEST_QMGR: x, c.CHANNEL: channel, SHARE: count / whole}
            for (x, channel), count in sorted(channels.items())
        ],
    )


def alike(weights: Mapping[str, int]) -> list[list[str]]:
    """Names whose different weights count alike, since only 1000 div CLWLWGHT does.

    Args:
        weights: name -> CLWLWGHT. All of them 50 take turns; else a step decides.

    Returns:
        Groups of two names or more, in order.
    """
    if all(weight == DEFAULT_WEIGHT for weight in weights.values()):
        return []
    groups: dict[int, list[str]] = {}
    for name, weight in sorted(weights.items()):
        groups.setdefault(LARGEST_STEP // weight, []).append(name)
    return [names for names in groups.values() if len({weights[name] for name in names}) > 1]
