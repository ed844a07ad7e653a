"""What a queue manager is in its clusters, where its own channels' rows leave that open.

Source: CONTRACT, "What MQ's texts become", 2, 4 and 10.
"""

from collections.abc import Iterable, Mapping, Sequence

from clwl_spark.mq.read.assemble import surroundings
from clwl_spark.mq.read.records import TextState
from clwl_spark.mq.vocabulary import QmType
from clwl_spark.snapshots.for_everybody import TABLES_SHOWN
from clwl_spark.snapshots.own_display import Key, Tables, Values, is_displayed, is_own
from clwl_spark.snapshots.owned import EVERYBODY
from clwl_spark.tables import CLUSTER_CHANNELS
from clwl_spark.tables import columns as c


def say_memberships(rows: Mapping[Key, Values], states: Sequence[TextState]) -> None:
    """Say of own channels that are only displayed what texts say of the queue manager.

    Args:
        rows: (table, key) -> row of the queue manager; they are changed.
        states: its texts.
    """
    displayed = [
        row
        for key, row in rows.items()
        if key[0] == CLUSTER_CHANNELS.name
        and is_own(row)
        and (key[0], EVERYBODY, *key[2:]) not in rows
    ]
    if not displayed:
        return
    around, _ = surroundings(states)
    for row in displayed:
        if row[c.QMTYPE] is None and around.repositories is not None:
            is_full = row[c.CLUSTER] in around.repositories
            row[c.QMTYPE] = (QmType.REPOS if is_full else QmType.NORMAL).value
        if row[c.SUSPENDED] is None:
            row[c.SUSPENDED] = around.suspended.get(row[c.CLUSTER])


def seen_of_new_repository(rows: Mapping[Key, Values], earlier: Tables, qmgr: str) -> set[Key]:
    """What a queue manager shows of others in clusters of which it is a full repository since now.

    Of texts that are merged it does not matter which come first. A later text (`--base`) does not
    make what was shown before it newer than what has changed meanwhile.

    Args:
        rows: (table, key) -> row of the queue manager, after its texts.
        earlier: its rows before them, by table.
        qmgr: the queue manager.

    Returns:
        Keys of `rows`.
    """
    before = _full_in(earlier.get(CLUSTER_CHANNELS.name, ()), qmgr)
    channels = [row for key, row in rows.items() if key[0] == CLUSTER_CHANNELS.name]
    anew = _full_in(channels, qmgr) - before
    return {
        key
        for key, row in rows.items()
        if key[0] in TABLES_SHOWN and key[1] == qmgr != key[2] and row[c.CLUSTER] in anew
    }


def _full_in(channels: Iterable[Values], qmgr: str) -> set[str]:
    """The clusters of which a queue manager is a full repository, by its own channels' rows."""
    kinds: dict[tuple[str, str], str] = {}
    for row in sorted((x for x in channels if x[c.QMGR] == qmgr), key=is_displayed):
        if row[c.OBSERVER] in (EVERYBODY, qmgr) and row[c.QMTYPE] is not None:
            kinds[row[c.CHANNEL], row[c.CLUSTER]] = row[c.QMTYPE]
    return {cluster for (_, cluster), kind in kinds.items() if kind == QmType.REPOS.value}
