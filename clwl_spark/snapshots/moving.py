"""Objects that a text has in other clusters than before: pure Python."""

from collections.abc import Mapping, Sequence
from typing import Any

from clwl_spark.mq.read.records import Row
from clwl_spark.snapshots.own_display import Key, Values, key_of, own_key
from clwl_spark.snapshots.owned import EVERYBODY
from clwl_spark.tables import columns as c


def move(rows: dict[Key, Values], qmgr: str, merged: Sequence[Row], *, merging: bool) -> None:
    """Drop the rows of objects in clusters that a text no longer has them in.

    The other attributes of a row that is told in part go along to its new cluster, or to one more;
    so does what was displayed before of an object that a later text moves.

    Args:
        rows: (table, key) -> row of the queue manager.
        qmgr: the queue manager.
        merged: what its texts tell.
        merging: the texts are no later than the rows.
    """
    objects: dict[Key, list[Row]] = {}
    for row in merged:
        if row.values.get(c.OBSERVER) == EVERYBODY and row.values.get(c.CLUSTER) is not None:
            objects.setdefault(key_of(row.table, row.values)[:-1], []).append(row)
    earlier: dict[Key, list[Key]] = {}
    for key in rows:
        earlier.setdefault(key[:-1], []).append(key)
    for name, told in objects.items():
        clusters = {row.values[c.CLUSTER] for row in told}
        there = earlier.get(name, [])
        if not merging:
            there = [*there, *earlier.get(own_key(name, qmgr), [])]
        elsewhere = [key for key in there if key[-1] not in clusters]
        if not all(row.knows(c.CLUSTER) for row in told):
            continue
        _leave(rows, elsewhere, told)
        _join(rows, [key for key in earlier.get(name, []) if key in rows], told)


def _leave(rows: dict[Key, Values], elsewhere: Sequence[Key], told: Sequence[Row]) -> None:
    """Drop an object's rows elsewhere, unless they are newer than the ones that move it."""
    newest = max(row.stamp for row in told)
    for key in elsewhere:
        if is_newer(rows[key], newest):
            continue
        old = rows.pop(key)
        for row in told:
            if row.partial:
                cluster = row.values[c.CLUSTER]
                rows.setdefault((*key[:-1], cluster), {**old, c.CLUSTER: cluster})


def _join(rows: dict[Key, Values], there: Sequence[Key], told: Sequence[Row]) -> None:
    """Let a row of a cluster that is new have what is known of the object in one that stays."""
    for key in sorted(there):
        for row in told:
            if row.partial and not is_newer(rows[key], row.stamp):
                cluster = row.values[c.CLUSTER]
                rows.setdefault((*key[:-1], cluster), {**rows[key], c.CLUSTER: cluster})


def is_newer(old: Mapping[str, Any], stamp: str) -> bool:
    """True where MQ says that a row was altered after this moment."""
    return bool(stamp) and (old.get(c.ALTERED) or "") > stamp
