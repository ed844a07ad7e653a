"""Which CLWLWGHTs give hosts of an object the shares that are wanted, and whom else they move.

A weight belongs to a channel, so it counts for every object whose messages meet that channel: the
shares of all objects of the queue manager are told before and after.

Source: SEMANTICS 5 (balancing), P33; Hughson's deck, "CLWLWGHT".
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.algorithm.weights import nearest_weights
from clwl_spark.errors import InputError, UsageError
from clwl_spark.mq.vocabulary import LARGEST_STEP, QueueType
from clwl_spark.planning.plans import Ladder
from clwl_spark.snapshots.spelling import named
from clwl_spark.snapshots.views import EVERYBODY, Topology, own_qmgrs
from clwl_spark.spark.frames import frame_from_rows
from clwl_spark.spark.materialize import checkpoint, fitting
from clwl_spark.studies.attributes_set import by_recent_use
from clwl_spark.studies.shares.expected import SHARE, route_shares
from clwl_spark.studies.shares.traffic import Puts, traffic_from
from clwl_spark.studies.sweep.sweep import Base, base_of
from clwl_spark.tables import columns as c

Row = dict[str, Any]
Channel = tuple[str, str]
_BEFORE = "before"
_AFTER = "after"
_NEW = "new_weight"
_MOVED = 1e-9
"""Of a share, below which it is the same."""


class NotAdvisableError(InputError):
    """Weights cannot give what is wanted: no choice, or not among these hosts."""


@dataclass(frozen=True, slots=True)
class Advice:
    """Weights, and what they do.

    Attributes:
        snapshot_id: the snapshot.
        put: whose shares are wanted.
        wanted: by queue manager, how often against the others.
        weights: one row per channel: dest_qmgr, channel, clwlwght (of now), advised, step.
        error: by how much the best served host is ahead of the worst served one, as a part of
            what was wanted.
        shares: one row per host: dest_qmgr, wanted, before, after; each sums to 1.
        others: one row per other object of the queue manager of which messages go elsewhere then:
            object_name, moved (part of its messages), before, after (shares by queue manager).
        objects: how many objects have these hosts, the put's among them.
    """

    snapshot_id: str
    put: Puts
    wanted: Mapping[str, int]
    weights: Sequence[Row]
    error: Fraction
    shares: Sequence[Row]
    others: Sequence[Row]
    objects: int

    @property
    def commands(self) -> list[str]:
        """The change in MQSC words, as `clwl what-if --change` takes it."""
        return [
            f"ALTER CHANNEL({named(x[c.CHANNEL])}) CHLTYPE(CLUSRCVR) CLWLWGHT({x['advised']}) "
            f"ON {named(x[c.DEST_QMGR])}"
            for x in self.weights
            if x["advised"] != x[c.CLWLWGHT]
        ]

    def to_json(self) -> Row:
        """The document of `clwl advise --json`."""
        return {
            c.SNAPSHOT_ID: self.snapshot_id,
            c.QMGR: self.put.qmgr,
            c.OBJECT_NAME: self.put.object_name,
            "wanted": dict(self.wanted),
            "weights": list(self.weights),
            "error": float(self.error),
            "shares": list(self.shares),
            "others": list(self.others),
            "objects": self.objects,
            "commands": self.commands,
        }


def advise(
    put: Puts, wanted: Mapping[str, int], snapshot_id: str, topology: Topology, ladder: Ladder
) -> Advice:
    """Find the weights that come nearest to the shares that are wanted.

    Weights of now that come as near stay: nothing is moved for nothing.

    Args:
        put: whose messages are to be shared out.
        wanted: by queue manager, how often against the others, 1 or more.
        snapshot_id: the snapshot.
        topology: its tables.
        ladder: the rules.

    Raises:
        NotAdvisableError: the put chooses among no routes, or a host of it is not told, or one is
            that it does not choose from.
    """
    names = {put.object_name, *_objects_at(topology, put.qmgr, [*wanted])}
    puts = [put, *(Puts(put.qmgr, x) for x in sorted(names - {put.object_name}))]
    traffic = traffic_from(topology.queues.sparkSession, snapshot_id, puts)
    base = base_of(traffic, topology, ladder, fitting(len(puts)))
    _refuse_limit(base, topology, put)
    weights_now = _weights_of(base, put)
    hosts = _hosts(put, wanted, weights_now)
    numbers = [len(hosts[x]) for x in wanted]
    found = nearest_weights([*wanted.values()], numbers)
    error = _error_of(wanted, weights_now)
    advised: dict[Channel, int] = dict(weights_now)
    if error > found.error:
        error = found.error
        for host, weight in zip(wanted, found.weights, strict=True):
            advised |= dict.fromkeys(hosts[host], weight)
    before, after = _shares(base.ends), _shares(_ends_with(base, topology, advised))
    own, others = _compared(put, before, after)
    whole = sum(wanted.values())
    return Advice(
        snapshot_id,
        put,
        wanted,
        [
            {
                c.DEST_QMGR: channel[0],
                c.CHANNEL: channel[1],
                c.CLWLWGHT: weights_now[channel],
                "advised": weight,
                "step": 1000 // weight,
            }
            for channel, weight in sorted(advised.items())
        ],
        error,
        [
            {
                c.DEST_QMGR: host,
                "wanted": often / whole,
                _BEFORE: own[_BEFORE].get(host, 0.0),
                _AFTER: own[_AFTER].get(host, 0.0),
            }
            for host, often in wanted.items()
        ],
        others,
        sum(x == put.object_name or not wanted.keys().isdisjoint(before[x]) for x in before),
    )


def wanted_shares(words: str) -> dict[str, int]:
    """Read `QM=N,QM=N`.

    Raises:
        UsageError: it is not said so, or a queue manager comes twice.
    """
    found: dict[str, int] = {}
    for word in words.split(","):
        name, _, number = (x.strip() for x in word.partition("="))
        if not name or not number.isdecimal() or not int(number) or name in found:
            raise UsageError(
                f'--want "{words}": say each queue manager once and how often against the others, '
                'as in "QM2=2,QM3=1"; weights give nobody nothing: SUSPEND QMGR does'
            )
        found[name] = int(number)
    return found


def _objects_at(topology: Topology, qmgr: str, hosts: Sequence[str]) -> list[str]:
    """What messages to the hosts may be put to.

    Cluster queues that one of the hosts has, whichever way the queue manager knows of them, and its
    own aliases and remote queues.
    """
    of_hosts = (F.col(c.CLUSTER) != "") & F.col(c.QMGR).isin(*hosts)
    own = (F.col(c.QMGR) == qmgr) & (F.col(c.QTYPE) != QueueType.QLOCAL.value)
    seen = topology.queues.where(F.col(c.OBSERVER).isin(EVERYBODY, qmgr)).where(of_hosts | own)
    return [str(x[0]) for x in seen.select(c.QUEUE).distinct().collect()]


def _refuse_limit(base: Base, topology: Topology, put: Puts) -> None:
    """Refuse a put that CLWLMRUC keeps to fewer routes than it has.

    Raises:
        NotAdvisableError: it does, whatever the weights are (SEMANTICS 5, step 1).
    """
    plan = base.plans.where(F.col(c.OBJECT_NAME) == put.object_name).select(c.PLAN_ID)
    limited = by_recent_use(base, own_qmgrs(topology.queue_managers))
    for row in limited.join(plan, c.PLAN_ID, "left_semi").limit(1).collect():
        raise NotAdvisableError(
            f"CLWLMRUC({row[c.CLWLMRUC]}) of {put.qmgr} keeps {put.object_name} to "
            f"{row[c.CLWLMRUC]} of {row['routes']} routes to other queue managers, whatever the "
            f"weights are: ALTER QMGR CLWLMRUC({row['routes']}) comes first"
        )


def _weights_of(base: Base, put: Puts) -> dict[Channel, int]:
    """CLWLWGHT of the channels that a put chooses from."""
    plan = base.plans.where(F.col(c.OBJECT_NAME) == put.object_name)
    mine = base.ends.join(plan.select(c.PLAN_ID), c.PLAN_ID, "left_semi")
    rows = mine.select(c.REASON, c.DEST_QMGR, c.CHANNEL, c.CLWLWGHT).collect()
    reasons = {row[c.REASON] for row in rows} - {0}
    is_choice = len(rows) > 1 and all(row[c.CLWLWGHT] is not None for row in rows)
    if reasons or not is_choice:
        why = f"ends with {min(reasons)}" if reasons else "has not several routes"
        raise NotAdvisableError(
            f"{put.object_name} put at {put.qmgr} {why}: there is nothing for weights to decide"
        )
    return {(row[c.DEST_QMGR], row[c.CHANNEL]): row[c.CLWLWGHT] for row in rows}


def _hosts(
    put: Puts, wanted: Mapping[str, int], weights: Mapping[Channel, int]
) -> dict[str, list[Channel]]:
    """The channels to each host.

    Raises:
        NotAdvisableError: the hosts are not those wanted.
    """
    hosts = defaultdict(list)
    for channel in sorted(weights):
        hosts[channel[0]].append(channel)
    for names, words in (
        (wanted.keys() - hosts.keys(), "is none that it chooses from"),
        (hosts.keys() - wanted.keys(), "has no wanted share"),
    ):
        if names:
            raise NotAdvisableError(
                f"{put.object_name} put at {put.qmgr} chooses from {', '.join(sorted(hosts))}: "
                f"{', '.join(sorted(names))} {words}"
            )
    return hosts


def _error_of(wanted: Mapping[str, int], weights: Mapping[Channel, int]) -> Fraction:
    """How far off weights leave the hosts, as `Advice.error` has it."""
    got = dict.fromkeys(wanted, Fraction(0))
    for (host, _), weight in weights.items():
        got[host] += Fraction(1, LARGEST_STEP // weight)
    served = [got[host] / often for host, often in wanted.items()]
    return max(served) / min(served) - 1


def _ends_with(base: Base, topology: Topology, weights: Mapping[Channel, int]) -> DataFrame:
    """Where messages go with other weights; no rule looks at them, so the routes are the same."""
    rows = [(*channel, weight) for channel, weight in weights.items()]
    changed = frame_from_rows(
        topology.queues.sparkSession,
        rows,
        f"{c.DEST_QMGR} string, {c.CHANNEL} string, {_NEW} int",
    )
    candidates = (
        base.candidates.join(F.broadcast(changed), [c.DEST_QMGR, c.CHANNEL], "left")
        .withColumn(c.CLWLWGHT, F.coalesce(_NEW, c.CLWLWGHT))
        .drop(_NEW)
    )
    return checkpoint(route_shares(base.plans, candidates, topology))


def _shares(ends: DataFrame) -> dict[str, dict[str, float]]:
    """Shares by object and queue manager, of objects whose messages get somewhere."""
    goes = ends.where((F.col(c.REASON) == 0) & F.col(c.DEST_QMGR).isNotNull())
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for name, qmgr, share in goes.groupBy(c.OBJECT_NAME, c.DEST_QMGR).agg(F.sum(SHARE)).collect():
        found[name][qmgr] = float(share)
    return found


def _compared(
    put: Puts, before: Mapping[str, dict[str, float]], after: Mapping[str, dict[str, float]]
) -> tuple[dict[str, dict[str, float]], list[Row]]:
    """Shares of the put, and the other objects that are moved, the most first."""
    rows = []
    for name, was in before.items():
        then = after[name]
        moved = sum(max(then.get(x, 0.0) - was.get(x, 0.0), 0.0) for x in then)
        if name != put.object_name and moved > _MOVED:
            rows.append({c.OBJECT_NAME: name, "moved": moved, _BEFORE: was, _AFTER: then})
    own = {_BEFORE: before[put.object_name], _AFTER: after[put.object_name]}
    return own, sorted(rows, key=lambda x: (-x["moved"], x[c.OBJECT_NAME]))
