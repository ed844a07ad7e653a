"""The definitions of a cluster's objects, as configuration events change them one after another.

Source: SEMANTICS S2 (own rows, and those of everybody), P1 (defaults).
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from clwl_spark.mq.traffic.configuration import CHANNEL, DELETED, QMGR, QUEUE
from clwl_spark.mq.vocabulary import QmType
from clwl_spark.snapshots.timeline import RowChange
from clwl_spark.snapshots.views import EVERYBODY
from clwl_spark.tables import CLUSTER_CHANNELS, QUEUE_MANAGERS, QUEUES, TABLES
from clwl_spark.tables import columns as c
from clwl_spark.tables.stored_changes import ADDED, CHANGED, REMOVED

TABLE_OF: Final = {
    QUEUE: (QUEUES.name, c.QUEUE),
    CHANNEL: (CLUSTER_CHANNELS.name, c.CHANNEL),
    QMGR: (QUEUE_MANAGERS.name, ""),
}
"""Type of the object -> its table, and the column that names it; '' = its queue manager does."""
_NO_CONTENT: Final = (c.SOURCE, c.ALTERED)
Row = Mapping[str, Any]
Key = tuple[Any, ...]


class Definitions:
    """Rows of queues, CLUSRCVRs and queue managers of one moment.

    Rows of other queue managers' views stay: what they see of a change, and when, no event tells.

    Attributes:
        rows: by table and key, without snapshot_id.
    """

    def __init__(self, rows: Mapping[str, Iterable[Row]]) -> None:
        """Begin with the rows of a snapshot, by table."""
        self.rows: dict[tuple[str, Key], Row] = {}
        for table, found in rows.items():
            for row in found:
                self._put(table, {x: row[x] for x in TABLES[table].names if x != c.SNAPSHOT_ID})

    def take(self, event: Row) -> None:
        """Take an event, a row of `config_events`."""
        table, name = TABLE_OF[event["object_type"]]
        before = [*self._of(table, name, event)]
        for key, _ in before:
            del self.rows[table, key]
        if event["change"] == DELETED:
            return
        told = json.loads(event["attributes"])
        mine = [row for _, row in before] or [self._new(table, name, event)]
        if c.CLUSTER in told:
            # One row for each that sees it so: its clusters are now this one.
            mine = [*{row[c.OBSERVER]: row for row in mine}.values()]
        if table == CLUSTER_CHANNELS.name and told.get(c.CLUSTER) == "":
            return
        for row in mine:
            known = {x: y for x, y in told.items() if x in row}
            self._put(table, {**row, **known, c.SOURCE: event[c.SOURCE], c.ALTERED: None})

    def changes_since(self, earlier: Mapping[tuple[str, Key], Row]) -> Iterator[RowChange]:
        """The rows that differ from those of an earlier moment, in the order of their keys."""
        for at in sorted({*self.rows, *earlier}, key=repr):
            now, before = self.rows.get(at), earlier.get(at)
            if now is before:
                continue
            if now is None and before is not None:
                yield RowChange(at[0], before, REMOVED, "")
            elif now is not None and (before is None or _content(now) != _content(before)):
                change = ADDED if before is None else CHANGED
                yield RowChange(at[0], now, change, str(now[c.SOURCE] or ""))

    def _of(self, table: str, name: str, event: Row) -> Iterator[tuple[Key, Row]]:
        """The rows of everybody's and of its own view of the event's object."""
        qmgr = event[c.QMGR]
        for (of, key), row in [*self.rows.items()]:
            if (
                of == table
                and row[c.QMGR] == qmgr
                and row[c.OBSERVER] in (EVERYBODY, qmgr)
                and (not name or row[name] == event["object_name"])
            ):
                yield key, row

    @staticmethod
    def _new(table: str, name: str, event: Row) -> Row:
        row = dict.fromkeys(x for x in TABLES[table].names if x != c.SNAPSHOT_ID)
        row |= {c.OBSERVER: EVERYBODY, c.QMGR: event[c.QMGR]}
        if name:
            row |= {name: event["object_name"], c.CLUSTER: ""}
        if table == CLUSTER_CHANNELS.name:
            row[c.QMTYPE] = QmType.NORMAL.value
        return row

    def _put(self, table: str, row: Row) -> None:
        keys = (x for x in TABLES[table].keys if x != c.SNAPSHOT_ID)
        self.rows[table, tuple(row[x] for x in keys)] = row


def _content(row: Row) -> dict[str, Any]:
    return {x: y for x, y in row.items() if x not in _NO_CONTENT}
