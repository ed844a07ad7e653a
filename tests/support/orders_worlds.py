"""A queue manager that puts to a queue of three hosts, and where its messages go, as records."""

from typing import Any

from reference import Reference
from small_worlds import qmgr, queue, rcvr, sender, tables

Row = dict[str, Any]
HOSTS = ("SRV1", "SRV2", "SRV3")
TOLD = (
    "qmgr",
    "put_seq",
    "message_id",
    "put_time",
    "object_name",
    "reason",
    "dest_qmgr",
    "channel",
)


def world(
    hosts: tuple[str, ...] = HOSTS,
    weight: dict[str, int] | None = None,
    status: dict[str, str] | None = None,
) -> dict[str, list[Row]]:
    """APP1 puts to ORDERS, which each host has."""
    rows = [qmgr("APP1"), rcvr("APP1")]
    for host in hosts:
        own = {"clwlwght": weight[host]} if weight and host in weight else {}
        rows += [rcvr(host, **own), queue(host, "ORDERS", "K", defbind="NOTFIXED")]
        rows.append(sender("APP1", host, (status or {}).get(host, "RUNNING")))
    return tables(*rows)


def ways(truth: dict[str, list[Row]], puts: list[Row]) -> list[Row]:
    """Where the plain router sends them, as records."""
    outcomes = Reference(truth, edition=2).route([dict(x) for x in puts])
    return [{x: row[x] for x in TOLD} | {"source": "test"} for row in outcomes]
