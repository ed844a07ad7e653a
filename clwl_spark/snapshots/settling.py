"""What texts of one queue manager make of the rows that a snapshot has of it: pure Python.

A text tells a row whole (a DEFINE), in part (a DISPLAY) or changes it (an ALTER, a SUSPEND). What
it does not tell stays as it was; of two tellings the one with the newer ALTDATE or CLUSDATE
counts, and where MQ does not tell both, the one that is ingested later.

What a queue manager's DISPLAY shows of its own objects comes before their definitions (SEMANTICS,
S2), and often it shows a few attributes alone: what it leaves open has the definition's value, and
what a later text changes of the definition is changed there as well.

Source: CONTRACT, "What MQ's texts become", 1, 6, 8 and 9.
"""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Final

from clwl_spark.mq.read.assemble import rows_of, with_remote
from clwl_spark.mq.read.base import earlier_state
from clwl_spark.mq.read.merge import KEYS, merge
from clwl_spark.mq.read.mqsc import defined_name, parse
from clwl_spark.mq.read.records import (
    IN_PART,
    PassedOver,
    PieceRefusedError,
    Reject,
    Row,
    TextState,
)
from clwl_spark.snapshots.for_everybody import NOT_PLACED, is_shown
from clwl_spark.snapshots.memberships import say_memberships, seen_of_new_repository
from clwl_spark.snapshots.moving import is_newer, move
from clwl_spark.snapshots.namelists import without_use
from clwl_spark.snapshots.own_display import (
    Key,
    Tables,
    Values,
    as_displayed,
    is_displayed,
    key_of,
    own_key,
    own_objects,
    supersede,
)
from clwl_spark.snapshots.rows_changed import rows_changed
from clwl_spark.tables import columns as c

EVERYBODY: Final = "*"
_EARLIER: Final = "\0earlier"
"""Source of definitions that come of the snapshot's rows; no file can have this name."""

_REPOSITORY_KEYS: Final = frozenset({"REPOS", "REPOSNL"})
_KINDS: Final = {
    "queue_managers": "qmgr",
    "queues": "queue",
    "cluster_channels": "channel",
    "cluster_senders": "channel",
    "topics": "topic",
    "subscriptions": "sub",
    "message_channels": "channel",
}
_NAMES: Final = {
    "qmgr": c.QMGR,
    "queue": c.QUEUE,
    "channel": c.CHANNEL,
    "topic": c.TOPIC,
    "sub": c.SUB_NAME,
}


@dataclass(slots=True)
class Settled:
    """The rows of one queue manager after its texts.

    Attributes:
        rows: (table, key) -> row, with `source` and `altered`; those that stay included.
        given: rows that the texts gave or changed, by table.
        rejects: what could not be used.
        used: whether any part of the texts could be.
        passed: the files that give no row.
        changes: rows that were there before the texts and that are now, by table: added, removed,
            changed.
        told: keys of the rows that the texts tell, as a whole or in part.
    """

    rows: dict[Key, Values]
    given: dict[str, int] = field(default_factory=dict)
    rejects: list[Reject] = field(default_factory=list)
    used: bool = False
    passed: list[PassedOver] = field(default_factory=list)
    changes: dict[str, dict[str, int]] = field(default_factory=dict)
    told: set[Key] = field(default_factory=set)

    def count(self, table: str) -> None:
        """Note a row that the texts gave."""
        self.given[table] = self.given.get(table, 0) + 1
        self.used = True


def settle(
    qmgr: str,
    states: Sequence[TextState],
    earlier: Tables,
    owners: Mapping[str, Iterable[str]],
    *,
    merging: bool,
) -> Settled:
    """Bring the rows of one queue manager up to what its texts say.

    Args:
        qmgr: the queue manager.
        states: what each text says of it, in order.
        earlier: rows of the snapshot that its texts can be about (`owned.owner`), by table.
        owners: channel -> queue managers that have a CLUSRCVR of this name, in the whole cluster;
            they name the other end of a CLUSSDR whose status leaves it blank.
        merging: the texts are added to what the rows were made of; else they are later.
    """
    earlier = {t: [as_displayed(t, row) for row in rows] for t, rows in earlier.items()}
    settled = Settled({key_of(t, row): {**row} for t, rows in earlier.items() for row in rows})
    base = earlier_state(earlier, qmgr, _EARLIER)
    fresh, after, rejects = _told(base, states)
    _change(settled, _before(base), after, _places(states))
    if not merging:
        displayed = earlier_state(own_objects(earlier, qmgr), qmgr, _EARLIER)
        rejects = _change_displayed(settled, displayed, states, rejects)
    rejects += without_use(base, states)
    settled.rejects += rejects
    merged, conflicts = merge(_with_remote(fresh, settled, owners))
    settled.rejects += conflicts
    move(settled.rows, qmgr, merged, merging=merging)
    # Definitions first: what these texts display of the same objects is no older.
    for row in sorted(merged, key=lambda x: is_displayed(x.values)):
        settled.count(row.table)
        for key, values in _aimed_at(settled, row):
            told = _take(settled, row, key, values)
            own = own_key(key, qmgr)
            if not (merging or is_newer(settled.rows.get(own, {}), row.stamp)):
                supersede(settled.rows, key, told, own)
    say_memberships(settled.rows, states)
    if merging:
        settled.told |= seen_of_new_repository(settled.rows, earlier, qmgr)
    refused = {(x.file, x.line) for x in rejects}
    settled.used = settled.used or any(
        state.suspensions or any((state.source, x.line) not in refused for x in state.open)
        for state in states
    )
    settled.changes = rows_changed(earlier, settled.rows)
    there = {(_KINDS[key[0]], _named(key)) for key in settled.rows if key[0] in _KINDS}
    settled.rejects = [_with_consequence(x, there) for x in settled.rejects]
    return settled


def _with_consequence(reject: Reject, there: AbstractSet[tuple[str, str]]) -> Reject:
    """A rejected DEFINE with what that means for its object."""
    about = defined_name(reject.text) or defined_name(f"DEFINE {reject.text}")
    if about is None or about[0] not in _KINDS.values() or reject.reason.endswith(IN_PART):
        return reject
    means = "stays as it was" if about in there else "is not there"
    return replace(reject, reason=f"{reject.reason}; {about[0]} {about[1]} {means}")


def _named(key: Key) -> str:
    """The object's name in a key of a row."""
    return str(key[1 + KEYS[key[0]].index(_NAMES[_KINDS[key[0]]])])


def _told(
    base: TextState, states: Sequence[TextState]
) -> tuple[list[Row], dict[Key, Row], list[Reject]]:
    """Rows of the texts, earlier definitions after the texts' commands, and what was refused."""
    own = ("qmgr", base.qmgr)
    told = [state.objects[own].attributes for state in states if own in state.objects]
    if own in base.objects and any(not _REPOSITORY_KEYS.isdisjoint(x) for x in told):
        # Being a repository of one cluster is said anew, not added.
        old = base.objects[own]
        kept = {k: x for k, x in old.attributes.items() if k not in _REPOSITORY_KEYS}
        base = replace(base, objects={**base.objects, own: replace(old, attributes=kept)})
    rows, rejects = rows_of([base, *states])
    fresh = [row for row in rows if row.file != _EARLIER]
    after = {key_of(x.table, x.values): x for x in rows if x.file == _EARLIER}
    return fresh, after, [x for x in rejects if x.file != _EARLIER]


def _before(base: TextState) -> dict[Key, Row]:
    """Earlier definitions as they come back of their rows: what `after` is compared with."""
    rows, _ = rows_of([base])
    return {key_of(row.table, row.values): row for row in rows}


def _places(states: Sequence[TextState]) -> dict[tuple[str, str], str]:
    """Where a text changes an object that it does not define: (kind, name) -> file and line."""
    places: dict[tuple[str, str], str] = {}
    for state in states:
        for (_, name), (_, line) in state.suspensions.items():
            places["cluster", name] = f"{state.source}:{line}"
        for script in state.open:
            try:
                command = parse(script.text)
            except PieceRefusedError:
                continue
            places[command.kind, command.name] = f"{state.source}:{script.line}"
    return places


def _change(
    settled: Settled,
    before: Mapping[Key, Row],
    after: Mapping[Key, Row],
    places: Mapping[tuple[str, str], str],
) -> None:
    """Change the rows whose definitions the texts' commands changed, and drop deleted ones."""
    for key in before.keys() - after.keys():
        settled.rows.pop(key, None)
        settled.used = True
    for key, row in after.items():
        new = _new_of(before.get(key), row)
        if not new:
            continue
        known = settled.rows.get(key, {})
        source = _place(row, key, places) or known.get(c.SOURCE)
        settled.rows[key] = {**known, **new, c.SOURCE: source, c.ALTERED: None}
        settled.told.add(key)
        settled.count(row.table)


def _change_displayed(
    settled: Settled, base: TextState, states: Sequence[TextState], rejects: Sequence[Reject]
) -> list[Reject]:
    """Carry the texts' commands out on what was displayed of the queue manager's own as well.

    Args:
        settled: the rows.
        base: what was displayed, as definitions.
        states: the texts.
        rejects: the commands that no definition takes.

    Returns:
        Those of them that nothing that was displayed takes, either.
    """
    if not base.objects:
        return [*rejects]
    _, after, refused = _told(base, states)
    before = _before(base)
    for key in before.keys() - after.keys():
        settled.rows.pop(own_key(key, base.qmgr), None)
    places = _places(states)
    for key, row in after.items():
        new, own = _new_of(before.get(key), row), own_key(key, base.qmgr)
        supersede(settled.rows, key, new, own)
        if new and key not in settled.rows:
            # No definition is known: what is displayed is all there is.
            known = settled.rows.get(own, {**new, c.OBSERVER: base.qmgr})
            source = _place(row, key, places) or known.get(c.SOURCE)
            settled.rows[own] = {**known, c.SOURCE: source, c.ALTERED: None}
            settled.count(row.table)
    still = {(x.file, x.line) for x in refused}
    return [x for x in rejects if (x.file, x.line) in still]


def _new_of(before: Row | None, after: Row) -> Values:
    """The attributes that commands changed."""
    old = {} if before is None else before.values
    return {x: value for x, value in after.values.items() if x not in old or old[x] != value}


def _place(row: Row, key: Key, places: Mapping[tuple[str, str], str]) -> str | None:
    """Where a text changes a definition."""
    kind = _KINDS[row.table]
    name = str(key[1]) if kind == "qmgr" else _name(row)
    return places.get((kind, name)) or places.get(("cluster", str(row.values.get(c.CLUSTER))))


def _with_remote(
    fresh: Sequence[Row], settled: Settled, owners: Mapping[str, Iterable[str]]
) -> list[Row]:
    """The rows, a CLUSSDR's status with the queue manager that only other rows name."""
    blank = {
        str(row.values[c.CHANNEL])
        for row in fresh
        if row.table == "channel_status" and not row.values[c.REMOTE_QMGR]
    }
    if not blank:
        return list(fresh)
    table = "cluster_channels"
    known = [x for key, x in settled.rows.items() if key[0] == table and x[c.CHANNEL] in blank]
    known += [
        {c.OBSERVER: EVERYBODY, c.CHANNEL: channel, c.QMGR: qmgr}
        for channel in sorted(blank & owners.keys())
        for qmgr in owners[channel]
    ]
    helpers = [Row(table, dict(values), _EARLIER, 0) for values in known]
    return list(with_remote([*fresh, *helpers]))[: len(fresh)]


def _aimed_at(settled: Settled, row: Row) -> list[tuple[Key, Values]]:
    """The keys that a row is about, and its values with that key."""
    key = key_of(row.table, row.values)
    if row.values.get(c.CLUSTER) == "" and not row.knows(c.CLUSTER):
        found = [x for x in settled.rows if x[:-1] == key[:-1]]
        if found:
            return [(x, {**row.values, c.CLUSTER: x[-1]}) for x in found]
    if row.values.get(c.CHLTYPE) == "CLUSSDR" and row.values[c.REMOTE_QMGR]:
        # The end that was not known before.
        settled.rows.pop((*key[:-1], ""), None)
    return [(key, row.values)]


def _take(settled: Settled, row: Row, key: Key, values: Values) -> Values:
    """Take a row in: whole, or what it tells of one that is there; give what it told."""
    old = settled.rows.get(key)
    if old is not None and is_newer(old, row.stamp):
        return {}
    settled.told.add(key)
    known = _known(row, values)
    told = values if known is None else {x: values[x] for x in values if x in known}
    place = _read_from(row, values)
    if old is None:
        settled.rows[key] = {**values, c.SOURCE: place, c.ALTERED: row.stamp or None}
        return told
    kept = {} if known is None else old
    altered = row.stamp or kept.get(c.ALTERED)
    source = _source(old, told) or place
    settled.rows[key] = {**kept, **told, c.SOURCE: source, c.ALTERED: altered}
    return told


def _read_from(row: Row, values: Values) -> str:
    """The source of a row that a text tells."""
    is_placed = row.knows(c.CLUSTER) or values.get(c.CLUSTER) != ""
    return f"{row.file}:{row.line}" + ("" if is_placed else NOT_PLACED)


def _source(old: Values, told: Values) -> str | None:
    """Where a row was read from of which nothing new is told; else None."""
    same = all(old.get(column) == value for column, value in told.items())
    source: str | None = old.get(c.SOURCE)
    is_open = c.CLUSTER in told and (source or "").endswith(NOT_PLACED)
    return source if same and not is_shown(source) and not is_open else None


def _known(row: Row, values: Values) -> frozenset[str] | None:
    """The columns that a row tells; None = all.

    ALTER QMGR says what it changes, and DISPLAY CLUSQMGR the QMID alone.
    """
    if row.table != "queue_managers":
        return row.known()
    return frozenset(column for column, value in values.items() if value is not None)


def _name(row: Row) -> str:
    """The name of a row's object."""
    names = (c.QUEUE, c.CHANNEL, c.TOPIC, c.SUB_NAME)
    return next(str(row.values[x]) for x in names if x in row.values)
