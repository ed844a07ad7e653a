"""The statuses of a cluster's channels, as events change them one after another.

Source: SEMANTICS 3 (whose status counts for whom), CONTRACT `channel_status`.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Final

from clwl_spark.mq.vocabulary import ChannelType
from clwl_spark.snapshots.timeline import RowChange
from clwl_spark.tables import CHANNEL_STATUS
from clwl_spark.tables import columns as c
from clwl_spark.tables.stored_changes import ADDED, CHANGED

_KEY: Final = (c.QMGR, c.CHANNEL, c.CHLTYPE, c.REMOTE_QMGR)
_OF_CLUSTERS: Final = (ChannelType.CLUSSDR.value, ChannelType.CLUSRCVR.value)
_STOPPED: Final = "STOPPED"
Key = tuple[str, str, str, str]
Row = Mapping[str, Any]


class Statuses:
    """Rows of `channel_status` of one moment; events turn them into those of the next.

    Attributes:
        rows: by key, without snapshot_id.
    """

    def __init__(self, rows: Iterable[Row], channels: Iterable[tuple[str, str]]) -> None:
        """Begin with a snapshot.

        Args:
            rows: its rows of `channel_status`.
            channels: (owner, name) of its CLUSRCVRs.
        """
        self.rows: dict[Key, Row] = {}
        self._by_channel: dict[tuple[str, str], list[Key]] = defaultdict(list)
        self._owners: dict[str, set[str]] = defaultdict(set)
        for qmgr, channel in channels:
            self._owners[channel].add(qmgr)
        for row in rows:
            self._put({x: row[x] for x in CHANNEL_STATUS.names if x != c.SNAPSHOT_ID})

    @property
    def senders(self) -> set[tuple[str, str, str]]:
        """(queue manager, the one at the other end, channel) of the CLUSSDRs."""
        is_sender = ChannelType.CLUSSDR.value
        return {(x[0], x[3], x[1]) for x in self.rows if x[2] == is_sender and x[0] != x[3]}

    def know(self, qmgr: str, channel: str) -> None:
        """Learn of a CLUSRCVR."""
        self._owners[channel].add(qmgr)

    def take(self, event: Row) -> bool:
        """Take an event, a row of `status_events`; False = its channel is of no cluster here."""
        keys = self._keys(event)
        for key in keys:
            before = self.rows.get(key, dict.fromkeys(CHANNEL_STATUS.names[1:]))
            named = dict(zip(_KEY, key, strict=True))
            now = {c.STATUS: event[c.STATUS], c.BACKLOG: None, c.ALTERED: None}
            if before.get(c.STATUS) != event[c.STATUS]:
                self._put({**before, **named, **now, c.SOURCE: event[c.SOURCE]})
        return bool(keys)

    def changes_since(self, earlier: Mapping[Key, Row]) -> list[RowChange]:
        """The rows with another status or backlog than at an earlier moment, by their keys."""
        return [
            RowChange(
                CHANNEL_STATUS.name,
                row,
                CHANGED if key in earlier else ADDED,
                str(row[c.SOURCE] or ""),
            )
            for key, row in sorted(self.rows.items())
            if row is not earlier.get(key)
            and (key not in earlier or _content(earlier[key]) != _content(row))
        ]

    def _put(self, row: Row) -> None:
        key: Key = tuple(row[x] for x in _KEY)
        if key not in self.rows:
            self._by_channel[key[0], key[1]].append(key)
        self.rows[key] = row

    def _keys(self, event: Row) -> list[Key]:
        """The rows that an event is about.

        What it does not tell is what the snapshot has of the channel: its type is CLUSRCVR on its
        owner. Of a CLUSRCVR that stopped, all instances are; otherwise one without a queue manager
        at the other end is one of its own.
        """
        qmgr, channel = event[c.QMGR], event[c.CHANNEL]
        owners = self._owners.get(channel, set())
        kind = event[c.CHLTYPE] or _OF_CLUSTERS[qmgr in owners]
        if kind not in _OF_CLUSTERS or not owners:
            return []
        other = event[c.REMOTE_QMGR]
        if other:
            return [(qmgr, channel, kind, other)]
        known = [x for x in self._by_channel[qmgr, channel] if x[2] == kind]
        if kind == ChannelType.CLUSSDR.value:
            return known or [(qmgr, channel, kind, x) for x in sorted(owners - {qmgr})]
        return (known if event[c.STATUS] == _STOPPED else []) or [(qmgr, channel, kind, "")]


def _content(row: Row) -> tuple[str | None, int | None]:
    return row[c.STATUS], row[c.BACKLOG]
