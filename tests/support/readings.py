"""Texts of MQ to rows without Spark, in the way that `clwl ingest` goes: read, and settled."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from clwl_spark.errors import IngestError
from clwl_spark.mq.read import FileReading, Reject, read_states
from clwl_spark.mq.read.merge import KEYS
from clwl_spark.mq.read.records import TextState
from clwl_spark.snapshots.owned import owner
from clwl_spark.snapshots.reading import receivers
from clwl_spark.snapshots.settling import Settled, settle

Rows = dict[str, list[dict[str, Any]]]


@dataclass
class Reading:
    """What texts say: rows and stamps by table, in the same order."""

    rows: Rows
    rejects: list[Reject]
    qmgrs: tuple[str, ...]
    altered: dict[str, list[str]]


@dataclass
class Changes:
    """What texts make of earlier rows: those that are new or other, and keys of those gone."""

    rows: Rows = field(default_factory=dict)
    deleted: dict[str, list[tuple[Any, ...]]] = field(default_factory=dict)
    rejects: list[Reject] = field(default_factory=list)
    qmgrs: tuple[str, ...] = ()


def read_text(text: str, source: str, observer: str | None = None) -> Reading:
    return read_texts([(source, text)], observer)


def read_texts(sources: Iterable[tuple[str, str]], observer: str | None = None) -> Reading:
    return combine([read_states(text, source, observer) for source, text in sources])


def combine(files: Iterable[FileReading]) -> Reading:
    """What files say together; IngestError where one is of no queue manager."""
    settled, rejects = _settled(list(files), {})
    reading = Reading({x: [] for x in KEYS}, rejects, tuple(settled), {x: [] for x in KEYS})
    for one in settled.values():
        for (table, *_), row in one.rows.items():
            reading.rows[table].append({x: y for x, y in row.items() if x != "altered"})
            reading.altered[table].append(row["altered"] or "")
    for table, rows in reading.rows.items():
        defined = {_key(table, row): row for row in rows}
        for row in rows:
            if row.get("observer") == row.get("qmgr"):
                _fill(row, defined.get(_key(table, {**row, "observer": "*"}), {}))
    return reading


def _fill(row: dict[str, Any], defined: Mapping[str, Any]) -> None:
    """What a display of its own leaves open is as it is defined (texts 1)."""
    for name, value in row.items():
        unknown = value is None or (name == "rname" and value == row["queue"])
        if unknown and defined.get(name) is not None:
            row[name] = defined[name]


def apply_changes(
    before: Mapping[str, Iterable[Mapping[str, Any]]], text: str, source: str, observer: str
) -> Changes:
    """What a later text makes of rows."""
    earlier: dict[str, Rows] = {}
    for table, rows in before.items():
        for row in rows:
            known = {x: row.get(x) for x in (*row, "altered") if x != "snapshot_id"}
            earlier.setdefault(owner(row), {}).setdefault(table, []).append(known)
    settled, rejects = _settled([read_states(text, source, observer)], earlier, merging=False)
    changes = Changes(rejects=rejects, qmgrs=tuple(settled))
    for name, one in settled.items():
        old = {_key(table, x): x for table, rows in earlier.get(name, {}).items() for x in rows}
        for key, row in one.rows.items():
            if key not in old or any(row[x] != old[key].get(x) for x in _told(row)):
                changes.rows.setdefault(key[0], []).append(row)
        for table, *key in old.keys() - one.rows.keys():
            changes.deleted.setdefault(table, []).append(tuple(key))
    return changes


def _settled(
    files: list[FileReading], earlier: Mapping[str, Rows], *, merging: bool = True
) -> tuple[dict[str, Settled], list[Reject]]:
    """The rows of each queue manager, and what is refused, in the order of the files."""
    states: dict[str, list[TextState]] = {}
    owners: dict[str, set[str]] = {}
    for file in files:
        if file.error:
            raise IngestError(file.error)
        for state in file.states:
            states.setdefault(state.qmgr, []).append(state)
            for channel in receivers(state):
                owners.setdefault(channel, set()).add(state.qmgr)
    settled = {
        name: settle(name, own, earlier.get(name, {}), owners, merging=merging)
        for name, own in states.items()
    }
    order = {file.source: at for at, file in reversed(list(enumerate(files)))}
    rejects = [x for file in files for x in file.rejects]
    rejects += [x for one in settled.values() for x in one.rejects]
    return settled, sorted(rejects, key=lambda x: (order[x.file], x.line))


def _key(table: str, row: Mapping[str, Any]) -> tuple[Any, ...]:
    return (table, *(row.get(x, "*") for x in KEYS[table]))


def _told(row: Mapping[str, Any]) -> list[str]:
    return [x for x in row if x not in ("source", "altered")]
