"""Small random cluster worlds with their messages, for comparing routers.

Every name starts with the case's prefix, and all cases share the snapshots of `SNAPSHOTS`, so that
hundreds of cases fit into one lake (`merged_tables`) without seeing one another.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any, Final

from random_second_edition import widen

Row = dict[str, Any]

START: Final = datetime(2024, 3, 1, 12, 0, 0, 250_000, tzinfo=UTC)
SNAPSHOTS: Final[list[Row]] = [
    {
        "snapshot_id": name,
        "valid_from": START + timedelta(hours=hours),
        "status": status,
        "source": "random",
        "loaded_at": START,
    }
    for name, hours, status in (
        ("S1", 0, "VALID"),
        ("S2", 3, "VALID"),
        ("S3", 9, "QUARANTINED"),
        ("S4", 15, "VALID"),
    )
]
TABLES: Final = (
    "snapshots", "queue_managers", "cluster_channels", "channel_status", "queues", "topics",
    "subscriptions",
)  # fmt: skip
OBSERVED: Final = ("queue_managers", "cluster_channels", "queues", "topics")
STATUSES: Final = (
    "INACTIVE", "RUNNING", "BINDING", "INITIALIZING", "STARTING", "STOPPING", "RETRYING",
    "REQUESTING", "PAUSED", "STOPPED", "SWITCHING",
)  # fmt: skip
NULLABLE: Final[dict[str, tuple[str, ...]]] = {
    "queue_managers": ("clwluseq", "clwlmruc", "defclxq", "defxmitq"),
    "cluster_channels": ("clwlrank", "clwlprty", "clwlwght", "netprty", "suspended"),
    "channel_status": ("status", "xmitq"),
    "queues": (
        "put_enabled", "clwlrank", "clwlprty", "clwluseq", "defbind", "target", "rname", "rqmname",
        "xmitq", "usage", "clchname",
    ),
    "topics": ("clroute", "pub_enabled", "proxysub"),
    "subscriptions": ("subtype",),
}  # fmt: skip
TOPIC_STRINGS: Final = ("/a", "/a/b", "/a/b/c", "/a/x", "b", "/ab/c", "/other")
SUBSCRIBED: Final = ("/a/#", "/a/+", "#", "/a/b", "/+/b", "/a/*", "/a/#/c", "b", "/a/b/c/d")
CROWDED: Final = 2  # so many queue names are instances on most queue managers
STEPS: Final = (
    timedelta(0), timedelta(seconds=1, microseconds=7), timedelta(minutes=10), timedelta(hours=2),
    timedelta(hours=24), timedelta(hours=24, microseconds=1),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Case:
    """One world and its traffic.

    Attributes:
        prefix: what every name starts with.
        tables: rows by table name; `snapshots` is the same in every case.
        batches: the messages in the order of their arrival, 1-3 batches.
    """

    prefix: str
    tables: dict[str, list[Row]]
    batches: list[list[Row]]

    @property
    def messages(self) -> list[Row]:
        """All messages."""
        return [message for batch in self.batches for message in batch]


def random_case(
    rng: random.Random, prefix: str, *, unique_put_seq: bool = False, edition: int = 1
) -> Case:
    """One random case.

    Args:
        rng: what decides everything.
        prefix: a case's own, such as `C017.`.
        unique_put_seq: leave out messages whose `(qmgr, put_seq)` was there before; late ones
            then fall into the gaps that `put_seq` has.
        edition: 2 adds what edition 2 of SEMANTICS looks at, to the case that it is with 1.
    """
    world = _World(rng, prefix)
    tables: dict[str, list[Row]] = {table: [] for table in TABLES}
    tables["snapshots"] = [{**row} for row in SNAPSHOTS]
    for snapshot in SNAPSHOTS:
        for table, rows in world.observed_rows().items():
            tables[table] += [{"snapshot_id": snapshot["snapshot_id"], **row} for row in rows]
        world.change()
    batches = _Traffic(rng, world).batches()
    if edition > 1:
        widen(random.Random(rng.getrandbits(64)), prefix, tables, batches)
    return Case(prefix, tables, _unique(batches) if unique_put_seq else batches)


def _unique(batches: list[list[Row]]) -> list[list[Row]]:
    """The batches without messages whose `(qmgr, put_seq)` was there before."""
    seen: set[tuple[Any, Any]] = set()
    kept: list[list[Row]] = []
    for batch in batches:
        kept.append([])
        for message in batch:
            key = (message["qmgr"], message["put_seq"])
            if key not in seen:
                kept[-1].append(message)
            seen.add(key)
    return kept


def merged_tables(cases: Iterable[Case]) -> dict[str, list[Row]]:
    """The tables of all cases in one, the snapshots once."""
    merged: dict[str, list[Row]] = {table: [] for table in TABLES}
    for case in cases:
        for table, rows in case.tables.items():
            merged.setdefault(table, []).extend(rows)
    merged["snapshots"] = [{**row} for row in SNAPSHOTS]
    return merged


@dataclass(slots=True)
class _Spread:
    """How far this case's attributes stray from their defaults, so that ties are common."""

    chance: float
    values: Sequence[Any]
    default: Any

    def draw(self, rng: random.Random) -> Any:
        return rng.choice(self.values) if rng.random() < self.chance else self.default


def _distinct(rows: list[Row], *columns: str) -> list[Row]:
    """The first row of each key."""
    first: dict[tuple[Any, ...], Row] = {}
    for row in rows:
        first.setdefault(tuple(row[column] for column in columns), row)
    return list(first.values())


@dataclass(slots=True)
class _World:
    """Definitions as they are at the moment; `change` moves on to the next snapshot."""

    rng: random.Random
    prefix: str
    qmgrs: list[str] = field(init=False)
    clusters: list[str] = field(init=False)
    members: dict[str, list[str]] = field(init=False)
    spreads: dict[str, _Spread] = field(init=False)
    rows: dict[str, list[Row]] = field(init=False)

    def __post_init__(self) -> None:
        rng, prefix = self.rng, self.prefix
        self.qmgrs = [f"{prefix}QM{n}" for n in range(rng.randint(2, 6))]
        self.clusters = [f"{prefix}K{n}" for n in range(rng.choice((1, 1, 2, 2, 3)))]
        self.members = {qmgr: self._some(self.clusters) for qmgr in self.qmgrs}
        if rng.random() < 0.1:
            self.members[self.qmgrs[-1]] = []
        self.spreads = {
            "rank": self._spread((0, 5), 0),
            "queue_rank": self._spread((0, 1, 2), 0),
            "priority": self._spread((0, 3, 9), 0),
            "queue_priority": self._spread((0, 4), 0),
            "netprty": self._spread((0, 2, 7), 0),
            "weight": self._spread((10, 20, 50, 99, 1), 50),
            "put": _Spread(rng.choice((0.03, 0.1, 0.5)), (False,), True),
            "suspended": _Spread(rng.choice((0, 0.2, 0.6)), (True,), False),
            "status": _Spread(rng.choice((0, 0.4, 1)), STATUSES, "RUNNING"),
            "use": self._spread(("ANY", "LOCAL", "QMGR"), rng.choice(("QMGR", "ANY"))),
            "defbind": self._spread(
                ("OPEN", "NOTFIXED", "GROUP"), rng.choice(("NOTFIXED", "OPEN"))
            ),
        }
        self.rows = {table: [] for table in NULLABLE}
        self.rows["queue_managers"] = [self._queue_manager(q) for q in self.qmgrs]
        self.rows["cluster_channels"] = self._channels()
        self.rows["channel_status"] = self._statuses()
        self.rows["queues"] = self._queues()
        self.rows["topics"] = self._topics()
        self.rows["subscriptions"] = self._subscriptions()

    # ---- small dice ------------------------------------------------------------------------------

    def _spread(self, values: Sequence[Any], default: Any) -> _Spread:
        return _Spread(self.rng.choice((0, 0, 0, 0.2, 1)), values, default)

    def draw(self, name: str) -> Any:
        """An attribute's value, by this case's spread of it."""
        return self.spreads[name].draw(self.rng)

    def _some(self, names: Sequence[str]) -> list[str]:
        """A non-empty choice, often all of them."""
        if self.rng.random() < 0.5:
            return list(names)
        return sorted(self.rng.sample(list(names), self.rng.randint(1, len(names))))

    def name(self, kind: str, most: int) -> str:
        """A name out of a small pool, so that the same one is used in several places."""
        return f"{self.prefix}{kind}{self.rng.randrange(most)}"

    def queue_manager_name(self) -> str:
        """A queue manager, an alias, a transmission queue or nobody."""
        pick = self.rng.random()
        if pick < 0.45:
            return self.rng.choice(self.qmgrs)
        if pick < 0.9:
            return self.name("AL", 3)
        return self.name("X", 2) if pick < 0.95 else f"{self.prefix}NOBODY"

    def queue_name(self) -> str:
        """One of the few queue names, often a crowded one, now and then an unknown one."""
        pick = self.rng.random()
        if pick < 0.04:
            return f"{self.prefix}NOTHING"
        return self.name("Q", CROWDED if pick < 0.35 else 6)

    # ---- definitions -----------------------------------------------------------------------------

    def _queue_manager(self, qmgr: str) -> Row:
        rng = self.rng
        default_xmitq = f"{self.prefix}DEF.XMITQ" if rng.random() < 0.25 else ""
        return {
            "observer": "*",
            "qmgr": qmgr,
            "qmid": f"{qmgr}_2024",
            "clwluseq": rng.choice(("LOCAL", "ANY", "ANY")),
            "clwlmruc": rng.choice((1, 2, 3, 999_999_999, None, None, None)),
            "defclxq": rng.choice(("SCTQ", "CHANNEL")),
            "defxmitq": default_xmitq,
            "qsgname": None,
        }

    def _channels(self) -> list[Row]:
        rows = []
        for number, qmgr in enumerate(self.qmgrs):
            for index in range(self.rng.choice((1, 1, 2, 2, 3)) if self.members[qmgr] else 0):
                shared_name = self.rng.random() < 0.08
                channel = "TO.ANY" if shared_name else f"TO.QM{number}.{index}"
                rows += [
                    self._channel(qmgr, self.prefix + channel, cluster)
                    for cluster in self._some(self.members[qmgr])
                ]
        return _distinct(rows, "qmgr", "channel", "cluster")

    def _channel(self, qmgr: str, channel: str, cluster: str) -> Row:
        return {
            "observer": "*",
            "qmgr": qmgr,
            "channel": channel,
            "cluster": cluster,
            "clwlrank": self.draw("rank"),
            "clwlprty": self.draw("priority"),
            "clwlwght": self.draw("weight"),
            "netprty": self.draw("netprty"),
            "suspended": self.draw("suspended"),
            "conname": f"host({1414 + len(channel)})",
            "qmtype": self.rng.choice(("NORMAL", "REPOS")),
        }

    def _statuses(self) -> list[Row]:
        rng, rows = self.rng, []
        channels = {(row["qmgr"], row["channel"]) for row in self.rows["cluster_channels"]}
        for qmgr in self.qmgrs:
            for owner, channel in sorted(channels):
                if owner != qmgr and rng.random() < 0.7:
                    rows.append(self._status(qmgr, channel, "CLUSSDR", owner))
                elif owner == qmgr and rng.random() < 0.7:
                    remotes = rng.sample(self.qmgrs, rng.randint(1, min(3, len(self.qmgrs))))
                    rows += [self._status(qmgr, channel, "CLUSRCVR", name) for name in remotes]
        return rows

    def _status(self, qmgr: str, channel: str, chltype: str, remote: str) -> Row:
        current = self.name("X", 3) if self.rng.random() < 0.15 else ""
        return {
            "qmgr": qmgr,
            "channel": channel,
            "chltype": chltype,
            "remote_qmgr": remote,
            "status": self.draw("status"),
            "xmitq": current if chltype == "CLUSSDR" else None,
        }

    def _queues(self) -> list[Row]:
        rng, rows = self.rng, []
        for qmgr in self.qmgrs:
            rows += self._ordinary_queues(qmgr) + self._ways_out(qmgr)
        if rng.random() < 0.1:
            rows += self._long_chain(self.qmgrs[0])
        return _distinct(rows, "qmgr", "queue", "cluster")

    def _ordinary_queues(self, qmgr: str) -> list[Row]:
        """The queue names of the pool that exist here."""
        rng, rows = self.rng, []
        for number in range(6):
            crowded = number < CROWDED and rng.random() < 0.9
            if rng.random() < (0.75 if crowded else 0.55):
                name = f"{self.prefix}Q{number}"
                body = _body("QLOCAL") if crowded else self._body(name)
                rows += self._queue(qmgr, name, body)
        return rows

    def _ways_out(self, qmgr: str) -> list[Row]:
        """Queue manager aliases and transmission queues, a few by a queue manager's name."""
        rng, rows = self.rng, []
        aliases = [f"{self.prefix}AL{number}" for number in range(3) if rng.random() < 0.5]
        if rng.random() < 0.15:
            aliases.append(rng.choice(self.qmgrs))
        for name in aliases:
            rows += self._queue(qmgr, name, self._manager_alias(name))
        transmission = [f"{self.prefix}X{number}" for number in range(3) if rng.random() < 0.3]
        if rng.random() < 0.04:
            transmission.append(rng.choice(self.qmgrs))
        for name in transmission:
            if name not in aliases:
                rows += self._queue(qmgr, name, self._transmission())
        return rows

    def _queue(self, qmgr: str, name: str, body: Row) -> list[Row]:
        """A definition's rows, one per cluster; they often differ in their attributes."""
        rng = self.rng
        clusters = [""] if rng.random() < 0.15 or body["usage"] == "XMITQ" else []
        clusters = clusters or self._some(self.clusters if rng.random() < 0.3 else self._own(qmgr))
        head = {"observer": "*", "qmgr": qmgr, "queue": name}
        differ = rng.random() < 0.6
        first = self._attributes()
        return [
            {**head, "cluster": cluster, **body, **(self._attributes() if differ else first)}
            for cluster in clusters
        ]

    def _own(self, qmgr: str) -> list[str]:
        return self.members[qmgr] or self.clusters

    def _attributes(self) -> Row:
        return {
            "put_enabled": self.draw("put"),
            "clwlrank": self.draw("queue_rank"),
            "clwlprty": self.draw("queue_priority"),
            "clwluseq": self.draw("use"),
            "defbind": self.draw("defbind"),
            "qsgdisp": "QMGR",
        }

    def _body(self, name: str) -> Row:
        """A QLOCAL, QALIAS or QREMOTE under an ordinary queue name."""
        pick = self.rng.random()
        if pick < 0.4:
            return _body("QLOCAL")
        if pick < 0.7:
            itself = self.rng.random() < 0.2
            return _body("QALIAS", target=name if itself else self.queue_name())
        at = self.queue_manager_name() if self.rng.random() < 0.7 else ""
        xmitq = self.name("X", 2) if self.rng.random() < 0.2 else ""
        rname = self.queue_name() if self.rng.random() < 0.8 else ""
        return _body("QREMOTE", rname=rname, rqmname=at, xmitq=xmitq)

    def _manager_alias(self, name: str) -> Row:
        """A queue manager alias: blank, itself, or another name."""
        pick = self.rng.random()
        at = "" if pick < 0.3 else name if pick < 0.5 else self.queue_manager_name()
        xmitq = self.name("X", 2) if self.rng.random() < 0.2 else ""
        return _body("QREMOTE", rqmname=at, xmitq=xmitq)

    def _transmission(self) -> Row:
        """A transmission queue with a CLCHNAME of any form."""
        names = [row["channel"] for row in self.rows["cluster_channels"]] or ["TO.NOBODY"]
        name = self.rng.choice(names)
        patterns = (
            name, f"{name[:-2]}*", f"{self.prefix}*", f"{self.prefix}TO*QM*", f"*{name[-3:]}", "*",
            f"{self.prefix}*.*", "",
        )  # fmt: skip
        return _body("QLOCAL", usage="XMITQ", clchname=self.rng.choice(patterns))

    def _long_chain(self, qmgr: str) -> list[Row]:
        """18 queue manager aliases in a row: more steps than are allowed."""
        names = [f"{self.prefix}CH{number}" for number in range(19)]
        rows = []
        for name, following in pairwise(names):
            rows += self._queue(qmgr, name, _body("QREMOTE", rqmname=following))
        return rows

    def _topics(self) -> list[Row]:
        rng, rows = self.rng, []
        for number in range(rng.randint(1, 4)):
            topicstr = rng.choice(TOPIC_STRINGS[:-1])
            route = rng.choice(("DIRECT", "TOPICHOST"))
            for qmgr in self._some(self.qmgrs):
                clusters = [""] if rng.random() < 0.1 else self._some(self._own(qmgr))
                head = {"observer": "*", "qmgr": qmgr, "topic": f"{self.prefix}T{number}"}
                rows += [
                    {**head, "cluster": cluster, **self._topic(topicstr, route)}
                    for cluster in clusters
                ]
        return rows

    def _topic(self, topicstr: str, route: str) -> Row:
        rng = self.rng
        return {
            "topicstr": topicstr if rng.random() < 0.95 else "/a",
            "clroute": route if rng.random() < 0.9 else "DIRECT",
            "pub_enabled": self.draw("put"),
            "sub_enabled": True,
            "proxysub": "FORCE" if rng.random() < 0.08 else "FIRSTUSE",
        }

    def _subscriptions(self) -> list[Row]:
        rng = self.rng
        return [
            {
                "qmgr": qmgr,
                "sub_name": f"{self.prefix}SUB{number}",
                "topicstr": rng.choice(SUBSCRIBED),
                "subtype": rng.choice(("PROXY", "PROXY", "PROXY", "USER")),
                "dest": "SYSTEM.INTER.QMGR.PUBS",
                "dest_qmgr": rng.choice(self.qmgrs),
            }
            for qmgr in self.qmgrs
            for number in range(rng.randint(0, 5))
        ]

    # ---- snapshots -------------------------------------------------------------------------------

    def change(self) -> None:
        """Alter a few definitions; sometimes none, sometimes only statuses."""
        rng = self.rng
        if rng.random() < 0.4:
            self.rows["channel_status"] = self._statuses()
        if rng.random() < 0.4:
            return
        for row in self.rows["cluster_channels"]:
            if rng.random() < 0.25:
                row.update(self._channel(row["qmgr"], row["channel"], row["cluster"]))
        for row in self.rows["queues"]:
            if rng.random() < 0.15:
                row.update(self._attributes())
        table = rng.choice(("cluster_channels", "queues", "topics", "queue_managers"))
        if self.rows[table] and rng.random() < 0.5:
            self.rows[table].remove(rng.choice(self.rows[table]))

    def observed_rows(self) -> dict[str, list[Row]]:
        """The snapshot's rows: the full repositories' and some partial views, some nulls."""
        rng = self.rng
        tables = {table: [{**row} for row in rows] for table, rows in self.rows.items()}
        for table in OBSERVED:
            for qmgr in self.qmgrs:
                if rng.random() < 0.2:
                    tables[table] += self._partial_view(table, qmgr)
        for table, rows in tables.items():
            for row in rows:
                for column in NULLABLE[table]:
                    if rng.random() < 0.03:
                        row[column] = None
        return tables

    def _partial_view(self, table: str, qmgr: str) -> list[Row]:
        """What one queue manager knows: its own rows only, others' only, or some of both."""
        rng = self.rng
        what = rng.choice(("own", "others", "both"))
        rows = []
        for row in self.rows[table]:
            mine = row["qmgr"] == qmgr
            if (what != "both" and mine != (what == "own")) or rng.random() < 0.2:
                continue
            fresh: Row = {}
            if rng.random() < 0.3 and table == "queues":
                fresh = self._attributes()
            elif rng.random() < 0.3 and table == "cluster_channels":
                fresh = self._channel(row["qmgr"], row["channel"], row["cluster"])
            rows.append({**row, **fresh, "observer": qmgr})
        return rows


def _body(qtype: str, **attributes: str) -> Row:
    """The attributes that say what kind of queue it is."""
    blank = dict.fromkeys(("target", "rname", "rqmname", "xmitq", "clchname"), "")
    return {"qtype": qtype, **blank, "usage": "NORMAL", **attributes}


@dataclass(slots=True)
class _Traffic:
    """Messages for a world: a few hot requests, opens and groups that come back, odd ones."""

    rng: random.Random
    world: _World
    clock: datetime = START - timedelta(seconds=3)
    next_seq: dict[str, int] = field(default_factory=dict)

    def batches(self) -> list[list[Row]]:
        """10-60 messages in 1-3 batches."""
        rng = self.rng
        putters = rng.sample(self.world.qmgrs, min(rng.randint(1, 3), len(self.world.qmgrs)))
        requests = [self._request(rng.choice(putters)) for _ in range(rng.randint(3, 14))]
        requests += self._chain_requests()
        batches: list[list[Row]] = [[] for _ in range(rng.randint(1, 3))]
        size = rng.randint(10, 60) // len(batches) + 1
        for number, batch in enumerate(batches):
            batch += [self._message(rng.choice(requests), late=number > 0) for _ in range(size)]
            self._odd_ones(batch)
            if rng.random() < 0.3:
                rng.shuffle(batch)
        return batches

    def _request(self, qmgr: str) -> Row:
        """What some application on a queue manager does again and again."""
        rng, world = self.rng, self.world
        if rng.random() < 0.2:
            topic = rng.choice(TOPIC_STRINGS) + rng.choice(("", "", "/b", "/b/c", "/d"))
            where = {"object_type": "TOPIC", "object_name": topic, "object_qmgr": None}
        else:
            pick = rng.random()
            at: str | None = "" if pick < 0.45 else None if pick < 0.6 else qmgr
            if pick > 0.65:
                at = world.queue_manager_name()
            kind = rng.choice(("QUEUE", "QUEUE", None))
            where = {"object_type": kind, "object_name": world.queue_name(), "object_qmgr": at}
        bind = rng.choice(("AS_Q_DEF", None, "ON_OPEN", "NOT_FIXED", "NOT_FIXED", "ON_GROUP"))
        via = rng.choice(("LOCAL", "LOCAL", "LOCAL", None, "CLUSTER"))
        return {"qmgr": qmgr, **where, "bind": bind, "via": via}

    def _chain_requests(self) -> list[Row]:
        """Requests that take 16 steps, 17 and more, where this world has the long chain."""
        queues = {row["queue"] for row in self.world.rows["queues"]}
        chain = [f"{self.world.prefix}CH{number}" for number in range(4)]
        start = self._request(self.world.qmgrs[0])
        return [
            {**start, "object_type": "QUEUE", "object_qmgr": name}
            for name in chain
            if name in queues
        ]

    def _message(self, request: Row, *, late: bool) -> Row:
        rng = self.rng
        qmgr = request["qmgr"]
        self.clock += rng.choices(STEPS, (10, 60, 15, 8, 1, 1))[0]
        if rng.random() < 0.03:
            times = [row["valid_from"] for row in SNAPSHOTS if row["valid_from"] > self.clock]
            self.clock = min(times, default=self.clock)
        put_seq = self.next_seq.get(qmgr, 0) + rng.choice((1, 1, 1, 2))
        self.next_seq[qmgr] = put_seq
        back = timedelta(hours=rng.choice((1, 6))) if rng.random() < 0.03 else timedelta(0)
        if late and rng.random() < 0.12:
            put_seq = max(1, put_seq - rng.randint(1, 30))
        return {
            "qmgr": qmgr,
            "put_seq": put_seq,
            "message_id": rng.randbytes(24),
            "put_time": self.clock - back,
            "object_type": request["object_type"],
            "object_name": request["object_name"],
            "object_qmgr": request["object_qmgr"],
            "bind": request["bind"],
            "open_id": rng.choice((None, 1, 1, 2)),
            "group_id": rng.choice((None, b"G1" + bytes(22), b"G1" + bytes(22), bytes(24))),
            "logical_order": rng.choice((True, False, None)),
            "via": request["via"],
            "persistent": rng.choice((True, False)),
            "msg_length": rng.randrange(10_000),
        }

    def _odd_ones(self, batch: list[Row]) -> None:
        """Equal put_seq, equal message ids, and messages that cannot be routed."""
        rng = self.rng
        faults: list[Row] = [
            {"qmgr": None}, {"qmgr": ""}, {"put_seq": None}, {"put_time": None},
            {"object_type": "STREAM"}, {"object_name": None}, {"object_name": ""},
            {"bind": "SOMEHOW"}, {"via": "PIGEON"},
        ]  # fmt: skip
        for row in list(batch):
            pick = rng.random()
            if pick < 0.02:
                row.update(rng.choice(faults))
            elif pick < 0.05:
                batch.append({**row, "message_id": rng.randbytes(24)})
            elif pick < 0.07:
                row["message_id"] = batch[0]["message_id"]
            elif pick < 0.08:
                row["message_id"] = None
        # Which of two that differ in nothing else goes first, nothing says.
        known = set()
        for row in batch:
            order = (row["qmgr"], row["put_seq"], row["message_id"] or b"", row["put_time"])
            if order in known:
                row["message_id"] = rng.randbytes(24)
            known.add(order)
