"""The states of a cluster and who sees what in each: SEMANTICS S1, C1, P20.

Choices, where the text can be read in more than one way:
    1. Of snapshots with the same `valid_from` the greater id is the later one.
"""

from datetime import datetime

from reference_rows import TABLES, Row, Tables, with_defaults
from reference_views import VIEWS, View


class Snapshots:
    """All rows, by snapshot.

    One queue manager's view is built by going through all rows of a snapshot: small worlds only.
    """

    def __init__(self, edition: int) -> None:
        self.edition = edition
        self._rows: dict[str, list[Row]] = {table: [] for table in TABLES}
        self._views: dict[tuple[str, str], View] = {}

    def add(self, tables: Tables) -> None:
        """Add rows, of later snapshots."""
        for table, rows in tables.items():
            self._rows[table] += [with_defaults(table, row) for row in rows]
        self._views.clear()

    def valid(self) -> list[Row]:
        """The snapshots that count, in their order."""
        rows = [row for row in self._rows["snapshots"] if row["status"] == "VALID"]
        return sorted(rows, key=lambda row: (row["valid_from"], row["snapshot_id"]))

    def at(self, moment: datetime) -> str | None:
        """The id of the last valid snapshot in force, or null (S1)."""
        ids = [str(r["snapshot_id"]) for r in self.valid() if r["valid_from"] <= moment]
        return ids[-1] if ids else None

    def up_to(self, snapshot_id: str) -> list[str]:
        """The ids of the valid snapshots up to one of them, itself included."""
        ids = [str(row["snapshot_id"]) for row in self.valid()]
        return ids[: ids.index(snapshot_id) + 1]

    def valid_from(self, snapshot_id: str) -> datetime:
        """From when on a valid snapshot is in force."""
        rows = (row for row in self.valid() if row["snapshot_id"] == snapshot_id)
        moment: datetime = next(rows)["valid_from"]
        return moment

    def view(self, snapshot_id: str, qmgr: str) -> View:
        """A snapshot as one queue manager sees it."""
        key = (snapshot_id, qmgr)
        if key not in self._views:
            self._views[key] = self.fresh_view(snapshot_id, qmgr)
        return self._views[key]

    def fresh_view(self, snapshot_id: str, qmgr: str) -> View:
        """The same, for the caller alone."""
        tables = {
            table: [row for row in rows if row["snapshot_id"] == snapshot_id]
            for table, rows in self._rows.items()
        }
        return VIEWS[self.edition](tables, qmgr)

    def is_reset(self, qmgr: str, old: str, new: str) -> bool:
        """True where an available channel was altered, came back or is new (C1, P20)."""
        before = _channel_values(self.view(old, qmgr))
        after = _channel_values(self.view(new, qmgr))
        return any(
            tier == 1 and before.get(key) != (values, 1) for key, (values, tier) in after.items()
        )


def _channel_values(view: View) -> dict[tuple[str, str, str], tuple[tuple[int, ...], int]]:
    """Workload attributes and status tier of every channel that L sees."""
    names = ("clwlrank", "clwlprty", "clwlwght", "netprty")
    return {
        (row["qmgr"], row["channel"], row["cluster"]): (
            tuple(row[name] for name in names),
            view.status_tier(row["qmgr"], row["channel"]),
        )
        for row in view.seen_channels()
    }
