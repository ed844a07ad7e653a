"""Messages followed hop by hop in plain Python, over the reference router.

Written from what `clwl_spark.studies.trace` promises, without its code: one reference per hop, each
with a history of its own, and lists in between.
"""

from typing import Any

from reference import Reference

Row = dict[str, Any]
PER_BATCH = 2**40


class ReferenceJourneys:
    """Routes batches and follows them on for `most_hops`; `rows` are those of the table hops."""

    def __init__(
        self, tables: dict[str, list[Row]], most_hops: int, edition: int, null_open_id: str = "own"
    ) -> None:
        self.tables = tables
        self.most_hops = most_hops
        self.references = [Reference(tables, edition=edition) for _ in range(most_hops)]
        for reference in self.references:
            reference.null_open_id = null_open_id
        self.rows: list[Row] = []
        self.batch = 0

    def route(self, messages: list[Row]) -> None:
        carried = {m["message_id"]: (m["qmgr"], m["put_seq"], m, []) for m in messages}
        for hop, reference in enumerate(self.references, 1):
            asked = {m["message_id"]: m for m in messages}
            outcomes = reference.route(messages)
            arriving = [
                x
                for outcome in outcomes
                if (x := self._follow(outcome, hop, asked, carried)) is not None
            ]
            messages = self._in_order(arriving)
        self.batch += 1

    def _follow(self, outcome: Row, hop: int, asked: Row, carried: Row) -> Row | None:
        qmgr, put_seq, first, been = carried[outcome["message_id"]]
        message = asked[outcome["message_id"]]
        place = (outcome["qmgr"], outcome["object_name"], outcome["object_qmgr"])
        came_back = place in been
        plan = self.references[hop - 1].plan(
            outcome["snapshot_id"], outcome["qmgr"], outcome["object_type"],
            outcome["object_name"], outcome["object_qmgr"],
            message.get("via") or "LOCAL", message.get("scope") or "ALL",
            came_from=message.get("came_from") or "",
        )  # fmt: skip
        end, to, for_qmgr = self._end(outcome, plan)
        if end is None:
            carried[outcome["message_id"]] = (qmgr, put_seq, first, [*been, place])
            if hop == self.most_hops:
                end = "LOOP" if came_back else "MORE_HOPS"
        names = (
            "put_time", "object_type", "object_name", "object_qmgr", "snapshot_id", "reason",
            "dest_qmgr", "dest_object", "channel", "cluster", "xmitq", "is_local",
        )  # fmt: skip
        row = {name: outcome[name] for name in names}
        row |= {"qmgr": qmgr, "put_seq": put_seq, "hop": hop, "at_qmgr": outcome["qmgr"]}
        row |= {"at_seq": outcome["put_seq"], "came_back": came_back, "ends": end}
        self.rows.append(row | {"message_id": first["message_id"]})
        if to is None:
            return None
        is_topic = outcome["object_type"] == "TOPIC"
        return {
            "sender": outcome["qmgr"], "sent": outcome["put_seq"], "qmgr": to,
            "message_id": outcome["message_id"], "put_time": outcome["put_time"],
            "object_type": outcome["object_type"],
            "object_name": outcome["object_name" if is_topic else "dest_object"],
            "object_qmgr": for_qmgr, "came_from": for_qmgr if is_topic else "",
            "via": "CLUSTER" if outcome["channel"] else "LOCAL",
            "group_id": first.get("group_id"),
        }  # fmt: skip

    def _end(self, outcome: Row, plan: Row) -> tuple[str | None, str | None, str]:
        if outcome["reason"] != 0:
            return "DEAD_END", None, ""
        if outcome["object_type"] == "TOPIC":
            to = self._host(outcome, plan)
            return (None, to, outcome["qmgr"]) if to else ("TOPIC", None, "")
        if outcome["is_local"]:
            return "QUEUE", None, ""
        to, for_qmgr = self._next(outcome, plan)
        if to is not None:
            return None, to, for_qmgr
        by_name = plan["kind"] == "QMGR" or not outcome["channel"]
        return ("LEAVES" if by_name else "QUEUE"), None, ""

    def _host(self, outcome: Row, plan: Row) -> str | None:
        """The topic host that a publication goes to, if it is one that sends on."""
        dest = outcome["dest_qmgr"]
        to_host = plan["clroute"] == "TOPICHOST" and not outcome["is_local"]
        return dest if to_host and self._is_defined(outcome["snapshot_id"], dest) else None

    def _next(self, outcome: Row, plan: Row) -> tuple[str | None, str]:
        """The queue manager that a message comes to, and the one it is for."""
        snapshot, dest = outcome["snapshot_id"], outcome["dest_qmgr"]
        if outcome["channel"]:
            by_qmgr = plan["kind"] == "QMGR"
            to = dest if self._is_defined(snapshot, dest) else None
            return to, plan["resolved_qmgr"] if by_qmgr else ""
        for name in (outcome["xmitq"], dest):
            if name != outcome["qmgr"] and self._is_defined(snapshot, name):
                return name, dest
        return None, ""

    def _is_defined(self, snapshot: str, qmgr: str) -> bool:
        return any(
            row["qmgr"] == qmgr
            and row["snapshot_id"] == snapshot
            and row["observer"] in ("*", qmgr)
            for table in ("queue_managers", "cluster_channels", "queues")
            for row in self.tables[table]
        )

    def _in_order(self, arriving: list[Row]) -> list[Row]:
        """Number them per queue manager, in the order in which they come."""
        latest: Row = {}
        for row in sorted(arriving, key=lambda x: (x["sender"], x["sent"])):
            latest[row["sender"]] = max(latest.get(row["sender"], row["put_time"]), row["put_time"])
            row["arrived"] = latest[row["sender"]]
        arriving.sort(key=lambda x: (x["arrived"], x["sender"], x["sent"]))
        numbers: Row = {}
        messages = []
        for row in arriving:
            numbers[row["qmgr"]] = numbers.get(row["qmgr"], 0) + 1
            wanted = {k: v for k, v in row.items() if k not in ("sender", "sent", "arrived")}
            wanted["put_seq"] = self.batch * PER_BATCH + numbers[row["qmgr"]]
            messages.append(wanted)
        return messages
