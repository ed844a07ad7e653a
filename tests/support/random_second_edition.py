"""What edition 2 of the semantics looks at, added to a random cluster that is there.

Partial views that lack names, scopes, user subscriptions without proxies, backlogs. Each takes the
rows of `random_clusters` and alters them; nothing of what drew those is drawn from here.
"""

import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Final

Row = dict[str, Any]
Tables = dict[str, list[Row]]

ASKED_BY: Final = {"queues": "queue", "cluster_channels": "qmgr"}
KEYS: Final = {"queues": ("qmgr", "queue"), "cluster_channels": ("qmgr", "channel")}
TOPIC_STRINGS: Final = ("/a", "/a/b", "/a/b/c", "/a/x", "b", "/other", "")
PUBLISHED: Final = ("/a", "/a/b", "/a/b/c", "/a/b", "/a/x", "/a/x/b", "b", "b/c", "/ab/c", "/other")
BY_LEVELS: Final = ("/a/#", "/a/+", "#", "/a/b", "/+/b", "/a/*", "b/#", "/a/?", "+/+/b")
BY_CHARACTERS: Final = ("/a*", "*", "/?/b", "/a/?", "/a/#", "/a/+", "*b", "b*", "/a?b*", "*/b", "?")
SCOPES: Final = (None, "ALL", "QMGR")
BACKLOGS: Final = (0, 1, 2, 3, 8, 100)


def widen(rng: random.Random, prefix: str, tables: Tables, batches: list[list[Row]]) -> None:
    """Add what is new to a case's tables and messages, in place.

    Args:
        rng: what decides everything; not the one that drew the case.
        prefix: what every name of the case starts with.
        tables: rows by table name, of all the case's snapshots.
        batches: the case's messages.
    """
    second = _Second(rng, prefix, tables)
    second.see_partly()
    second.say_whose_view_is_whole()
    second.limit_topics()
    second.add_unshared_topics()
    second.subscribe()
    second.let_messages_wait()
    second.publish([message for batch in batches for message in batch])


@dataclass(slots=True)
class _Second:
    """A case on its way into edition 2."""

    rng: random.Random
    prefix: str
    tables: Tables
    snapshots: list[str] = field(init=False)
    qmgrs: list[str] = field(init=False)
    clusters: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.snapshots = [row["snapshot_id"] for row in self.tables["snapshots"]]
        self.qmgrs = _values(self.tables["queue_managers"], "qmgr")
        clusters = _values(self.tables["cluster_channels"], "cluster")
        self.clusters = [*filter(None, clusters), f"{self.prefix}FAR"]

    # ---- views -----------------------------------------------------------------------------------

    def see_partly(self) -> None:
        """Queue managers that know a part of the names, others' objects only, and keep to it."""
        often = self.rng.choice((0.2, 0.5, 0.8))
        for qmgr, table in product(self.qmgrs, ASKED_BY):
            if self.rng.random() < often:
                names = _values(self.tables[table], ASKED_BY[table])
                missing = self.rng.choice((0.2, 0.5, 0.9))
                lacks = {name for name in names if self.rng.random() < missing}
                elsewhere = {name for name in names if self.rng.random() < 0.1}
                for snapshot in self.snapshots:
                    self._see(table, snapshot, qmgr, lacks, elsewhere)

    def _see(
        self, table: str, snapshot: str, qmgr: str, lacks: set[str], elsewhere: set[str]
    ) -> None:
        """One queue manager's view of others in one snapshot: some rows of some names."""
        column = ASKED_BY[table]
        known: dict[tuple[Any, ...], Row] = {}
        rest = []
        for row in self.tables[table]:
            if row["snapshot_id"] != snapshot or row["qmgr"] == qmgr or row["observer"] != qmgr:
                rest.append(row)
            if row["snapshot_id"] != snapshot or row["qmgr"] == qmgr or row["observer"] != "*":
                continue
            if row[column] in lacks or self.rng.random() < 0.1:
                continue
            seen = {**row, "observer": qmgr}
            if row[column] in elsewhere:
                seen["cluster"] = self.rng.choice(self.clusters)
            known[*(seen[name] for name in KEYS[table]), seen["cluster"]] = seen
        self.tables[table] = [*rest, *known.values()]

    def say_whose_view_is_whole(self) -> None:
        """Whole views, views that are not, and those of which it is not known."""
        known = ("queues", "cluster_channels", "queues", "cluster_channels", "topics")
        self.tables["views"] = [
            {
                "snapshot_id": snapshot, "observer": qmgr, "table": table,
                "whole": self.rng.choice((True, True, False, None)),
            }
            for snapshot, qmgr, table in product(self.snapshots, self.qmgrs, dict.fromkeys(known))
            if self.rng.random() < 0.5
        ]  # fmt: skip
        for row in self.tables["cluster_channels"]:
            if self.rng.random() < 0.1:
                row["qmtype"] = self.rng.choice((None, "NORMAL", "REPOS"))

    # ---- topics ----------------------------------------------------------------------------------

    def limit_topics(self) -> None:
        """Scopes of topics, mostly the same in all snapshots and views."""
        chance = self.rng.choice((0, 0.15, 0.15, 0.5))
        drawn: dict[tuple[str, str, str], Row] = {}
        for row in self.tables["topics"]:
            key = (row["qmgr"], row["topic"], row["cluster"])
            if key not in drawn or self.rng.random() < 0.1:
                drawn[key] = {
                    column: self._scope() if self.rng.random() < chance else None
                    for column in ("pub_scope", "sub_scope")
                }
            row.update(drawn[key])

    def _scope(self) -> str | None:
        return self.rng.choice(SCOPES)

    def add_unshared_topics(self) -> None:
        """Topic objects of one queue manager's own, a few in a cluster that it is not in."""
        for qmgr, name in product(self.qmgrs, ("OWN1", "OWN2")):
            if self.rng.random() < 0.15:
                row = {
                    "observer": "*", "qmgr": qmgr, "topic": f"{self.prefix}{name}",
                    "cluster": self.rng.choice(("", "", "", f"{self.prefix}FAR")),
                    "topicstr": self.rng.choice(TOPIC_STRINGS), "clroute": "DIRECT",
                    "pub_enabled": True, "sub_enabled": True, "proxysub": "FIRSTUSE",
                    "pub_scope": self._scope(), "sub_scope": self._scope(),
                }  # fmt: skip
                self.tables["topics"] += [{"snapshot_id": x, **row} for x in self.snapshots]

    # ---- subscriptions ---------------------------------------------------------------------------

    def subscribe(self) -> None:
        """Wildcards of both schemas, scopes, and queue managers without proxies."""
        without = {
            (snapshot, qmgr)
            for qmgr in self.qmgrs
            if self.rng.random() < 0.6
            for snapshot in self._some_snapshots()
        }
        rows = [
            row
            for row in self.tables["subscriptions"]
            if row["subtype"] != "PROXY" or (row["snapshot_id"], row["qmgr"]) not in without
        ]
        for row in rows:
            if self.rng.random() < 0.3:
                row.update(self._subscription())
        for qmgr, number in product(self.qmgrs, range(3)):
            row = {"qmgr": qmgr, "sub_name": f"{self.prefix}USR{number}", **self._subscription()}
            if self.rng.random() < 0.5:
                user = {"subtype": self.rng.choice(("USER", None)), "dest": "Q"}
                place = {"dest_qmgr": self.rng.choice(self.qmgrs)}
                rows += [{"snapshot_id": x, **row, **user, **place} for x in self._some_snapshots()]
        self.tables["subscriptions"] = rows

    def _some_snapshots(self) -> Iterable[str]:
        if self.rng.random() < 0.7:
            return self.snapshots
        return [self.rng.choice(self.snapshots)]

    def _subscription(self) -> Row:
        wschema = self.rng.choice(("TOPIC", None, "CHAR"))
        strings = BY_CHARACTERS if wschema == "CHAR" else BY_LEVELS
        scope = self.rng.choice((None, None, None, "ALL", "QMGR"))
        return {"wschema": wschema, "topicstr": self.rng.choice(strings), "sub_scope": scope}

    # ---- what is put, and what waits -------------------------------------------------------------

    def let_messages_wait(self) -> None:
        """Backlogs of CLUSSDRs."""
        chance = self.rng.choice((0, 0, 0.3, 1))
        for row in self.tables["channel_status"]:
            if row["chltype"] == "CLUSSDR" and self.rng.random() < chance:
                row["backlog"] = self.rng.choice(BACKLOGS)

    def publish(self, messages: list[Row]) -> None:
        """Some puts become publications, always the same ones; messages have scopes."""
        strings: dict[tuple[Any, ...], str | None] = {}
        for message in messages:
            if message["object_type"] in (None, "QUEUE") and message["object_name"]:
                key = (message["qmgr"], message["object_name"], message["object_qmgr"])
                if key not in strings:
                    publishes = self.rng.random() < 0.25
                    strings[key] = self.rng.choice(PUBLISHED) if publishes else None
                if (topic := strings[key]) is not None:
                    message |= {"object_type": "TOPIC", "object_name": topic, "object_qmgr": None}
            message["scope"] = self.rng.choice((None, None, None, None, None, "ALL", "QMGR"))


def _values(rows: list[Row], column: str) -> list[str]:
    """Distinct values in order."""
    return sorted({row[column] for row in rows})
