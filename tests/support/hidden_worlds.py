"""Random clusters in which something is hidden from the lake, routed as it truly is by hand.

What truly happens is routed by the plain router of the tests; the lake knows the cluster less what
is hidden, and sees where each message went.
"""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from random_clusters import START, random_case
from reference import Reference

Row = dict[str, Any]
MESSAGES: Final = 120
LEAST: Final = 8
EDITION: Final = 2
ALTERED: Final = "WEIGHT altered"
TOLD: Final = (
    "qmgr", "put_seq", "message_id", "put_time", "object_type", "object_name", "object_qmgr",
    "reason", "dest_qmgr", "channel", "xmitq",
)  # fmt: skip


@dataclass(slots=True)
class Hidden:
    """One cluster.

    Attributes:
        cause: what `clwl conform` has to name.
        qmgr: the queue manager that puts.
        tables: what the lake knows.
        messages: those that the lake knows.
        seen: where they went: rows of `observed_routes`.
        is_visible: whether anything went elsewhere than the lake foretells.
    """

    cause: str
    qmgr: str
    tables: dict[str, list[Row]]
    messages: list[Row]
    seen: list[Row] = field(default_factory=list)
    is_visible: bool = True


def hidden_clusters(seed: int, causes: Sequence[str], each: int) -> Iterator[Hidden]:
    """So many clusters for each cause, of which the cause can be seen."""
    for at, cause in enumerate(causes):
        found, number = 0, 0
        while found < each:
            rng = random.Random(f"{seed} {cause} {number}")
            made = _hidden(rng, f"{'ABCDEFG'[at]}{number:03d}.", cause)
            number += 1
            if made is not None and made.is_visible:
                found += 1
                yield made


def _hidden(rng: random.Random, prefix: str, cause: str) -> Hidden | None:
    """A cluster, or None where nobody has something to choose from."""
    tables = _of_first_snapshot(random_case(rng, prefix, edition=EDITION).tables)
    known = Reference(tables, edition=EDITION)
    put = _put(rng, tables, known)
    if put is None:
        return None
    qmgr, queue, routes = put
    messages = [_message(prefix, qmgr, queue, number) for number in range(1, MESSAGES + 1)]
    truth, shown = tables, messages
    if cause == "STATUS_KNOWN_LATE":
        truth = _stopped(tables, qmgr, rng.choice(routes))
    elif cause == "WEIGHT":
        truth = _weighted(rng, tables, rng.choice(routes))
    elif cause == ALTERED:
        truth = _altered(rng, tables, rng.choice(routes))
    elif cause == "OTHER_PUTTERS":
        shown = [x for x in messages if rng.random() < 0.75]
    outcomes = Reference(truth, edition=EDITION).route([dict(x) for x in messages])
    numbers = {x["put_seq"] for x in shown}
    seen = [{x: row.get(x) for x in TOLD} for row in outcomes if row["put_seq"] in numbers]
    foretold = known.route([dict(x) for x in shown])
    differ = any(_way(x) != _way(y) for x, y in zip(foretold, seen, strict=True))
    is_visible = cause == "" or (differ and _are_used(foretold))
    return Hidden(cause, qmgr, tables, shown, seen, is_visible)


def _are_used(foretold: list[Row]) -> bool:
    """Whether two channels at least have a share that is worth looking at."""
    used = Counter(_way(x) for x in foretold)
    return len([x for x in used.values() if x >= LEAST]) > 1


def _of_first_snapshot(tables: dict[str, list[Row]]) -> dict[str, list[Row]]:
    """All that happens here happens while it is in force."""
    return {name: [x for x in rows if x["snapshot_id"] == "S1"] for name, rows in tables.items()}


def _way(row: Row) -> tuple[Any, ...]:
    return row["reason"], row["dest_qmgr"], row["channel"]


def _put(
    rng: random.Random, tables: dict[str, list[Row]], known: Reference
) -> tuple[str, str, list[Row]] | None:
    """A queue manager, a queue and its remote routes, of several; None = there is none."""
    qmgrs = sorted({x["qmgr"] for x in tables["queue_managers"]})
    queues = sorted({x["queue"] for x in tables["queues"] if x["cluster"]})
    asked = [(x, y) for x in qmgrs for y in queues]
    rng.shuffle(asked)
    for qmgr, queue in asked:
        routes = known.plan("S1", qmgr, "QUEUE", queue)["routes"]
        remote = [x for x in routes if not x["is_local"]]
        if len({(x["dest_qmgr"], x["channel"]) for x in routes}) > 1 and remote:
            return qmgr, queue, remote
    return None


def _message(prefix: str, qmgr: str, queue: str, number: int) -> Row:
    return {
        "qmgr": qmgr, "put_seq": number, "message_id": f"{prefix}{number}".encode(),
        "put_time": START + timedelta(seconds=number), "object_type": "QUEUE",
        "object_name": queue, "bind": "NOT_FIXED",
    }  # fmt: skip


def _stopped(tables: dict[str, list[Row]], qmgr: str, route: Row) -> dict[str, list[Row]]:
    """The tables with a channel of which messages wait."""
    key = {
        "snapshot_id": "S1", "qmgr": qmgr, "channel": route["channel"], "chltype": "CLUSSDR",
        "remote_qmgr": route["dest_qmgr"],
    }  # fmt: skip
    others = [x for x in tables["channel_status"] if any(x[y] != z for y, z in key.items())]
    return {**tables, "channel_status": [*others, {**key, "status": "STOPPED"}]}


def _weighted(rng: random.Random, tables: dict[str, list[Row]], route: Row) -> dict[str, list[Row]]:
    """The tables with another CLWLWGHT of a channel."""
    known = route["clwlwght"]
    weight = rng.choice([x for x in (10, 20, 35, 50, 80, 99) if not known / 1.5 < x < known * 1.5])
    rows = [
        {**x, "clwlwght": weight}
        if (x["qmgr"], x["channel"]) == (route["dest_qmgr"], route["channel"])
        else x
        for x in tables["cluster_channels"]
    ]
    return {**tables, "cluster_channels": rows}


def _altered(rng: random.Random, tables: dict[str, list[Row]], route: Row) -> dict[str, list[Row]]:
    """The tables with a second snapshot, which has another CLWLWGHT of a channel."""
    later = _weighted(rng, tables, route)
    at = START + timedelta(seconds=rng.randint(MESSAGES // 4, MESSAGES // 2))
    found = {
        name: [*rows, *({**x, "snapshot_id": "S2"} for x in later[name])]
        for name, rows in tables.items()
    }
    found["snapshots"] = [
        *tables["snapshots"],
        {**tables["snapshots"][0], "snapshot_id": "S2", "valid_from": at},
    ]
    return found
