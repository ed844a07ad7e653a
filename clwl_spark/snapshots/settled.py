"""A snapshot's rows after some files: settled queue manager by queue manager, here or by workers.

Queue managers that no file is about keep their rows, which never leave Spark.
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import BooleanType, StructField

from clwl_spark.delta.lake import Lake
from clwl_spark.logs import OnProgress
from clwl_spark.mq.read import FileReading, PassedOver, Reject
from clwl_spark.mq.read.records import TextState
from clwl_spark.snapshots import reading as r
from clwl_spark.snapshots.for_everybody import (
    TABLES_SHOWN,
    TOLD,
    Disagreement,
    ForEverybody,
    for_everybody,
)
from clwl_spark.snapshots.inspection import CONTENT
from clwl_spark.snapshots.own_display import TABLES_DISPLAYED, filled
from clwl_spark.snapshots.owned import (
    EVERYBODY,
    OF,
    ROW,
    TEXT_OF,
    by_table,
    owned_rows,
    owner_column,
    rows_of_table,
)
from clwl_spark.snapshots.rows_changed import changes_of_tables
from clwl_spark.snapshots.settled_rows import (
    GIVEN,
    PASSED,
    REJECT,
    Piece,
    packed,
    rows_here,
    told_of,
)
from clwl_spark.snapshots.settling import Settled, settle
from clwl_spark.spark.files import sees_file
from clwl_spark.spark.frames import frame_from_rows
from clwl_spark.spark.materialize import checkpoint
from clwl_spark.tables import ADMINISTRATION, CLUSTER_CHANNELS, TABLES
from clwl_spark.tables import columns as c

Owners = Mapping[str, set[str]]
_RowsOf = Callable[[str, str, Sequence[StructField]], DataFrame]
"""A table's rows, by its name, those of a snapshot, with more fields."""

_WHERE_GIVEN: Final = frozenset(table.name for table in ADMINISTRATION)
_ROWS: Final = f"{OF} string, {ROW} string"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What files make of a snapshot.

    Attributes:
        frames: all rows of the snapshot, by table of the topology.
        given: rows that the files gave or changed, by table.
        rejects: the pieces that could not be used, in the order of the files.
        used: whether any piece could be used.
        passed: the files of which nothing is taken, in their order, and commands left out.
        changes: rows added, changed and removed, by table, where there was an earlier state.
        shown: everybody's rows that come of what full repositories show, by table.
        disagreements: what full repositories show differently.
    """

    frames: Mapping[str, DataFrame]
    given: dict[str, int]
    rejects: list[Reject]
    used: bool
    passed: list[PassedOver]
    changes: dict[str, dict[str, int]]
    shown: Mapping[str, int]
    disagreements: tuple[Disagreement, ...]


def settle_files(
    lake: Lake,
    sources: r.Sources,
    snapshot_id: str,
    earlier_id: str | None,
    tell: OnProgress,
    *,
    merging: bool = False,
) -> Outcome:
    """Read files, and bring the rows of a snapshot up to what they say.

    Args:
        lake: where the earlier rows are.
        sources: the files.
        snapshot_id: the snapshot that the rows are to be of.
        earlier_id: the snapshot whose rows the files are about; None = there are none.
        tell: told of the progress.
        merging: the files are added to those that the snapshot was made of; else they change it.

    Raises:
        IngestError: a file cannot be read, or is of no queue manager.
    """
    if not sources.are_many or not sees_file(lake.spark, sources.files[0]):
        readings = r.read_here(sources, tell)
        settled, names = _settled_here(lake, readings, earlier_id, merging=merging)
        told = [x for one in settled for x in told_of(one)]
        rows_of = partial(rows_here, lake.spark, settled)
    else:
        tell("reading", 0, sources.count)
        files = r.read_by_workers(lake.spark, sources)
        r.refuse_errors(files)
        tell("reading", sources.count, sources.count)
        tell("settling", 0, 1)
        names = [x[0] for x in files.select(r.QMGR).distinct().collect()]
        workers = _settled_by_workers(lake, files, names, earlier_id, merging=merging)
        pieces = checkpoint(workers)
        tell("settling", 1, 1)
        rows = pieces.where(F.col(OF).isin(REJECT, PASSED, GIVEN)).collect()
        told = [(row[OF], json.loads(row[ROW])) for row in rows]
        rows_of = partial(rows_of_table, pieces)
    about = _About(snapshot_id, earlier_id, names, merging or earlier_id is None)
    return _outcome(lake, rows_of, told, about)


@dataclass(frozen=True, slots=True)
class _About:
    """What is settled."""

    snapshot_id: str
    earlier_id: str | None
    names: Sequence[str]
    merging: bool


def _outcome(lake: Lake, rows_of: _RowsOf, told: Sequence[Piece], about: _About) -> Outcome:
    """Typed frames, and the sums of what the queue managers' texts told."""
    of: dict[str, list[dict[str, Any]]] = {REJECT: [], PASSED: [], GIVEN: []}
    for kind, piece in told:
        of[kind].append(piece)
    texts = of[GIVEN]
    given: Counter[str] = Counter()
    for text in texts:
        given.update(text["rows"])
    tables = [x for x in CONTENT if given[x] or x not in _WHERE_GIVEN or lake.exists(x)]
    everybody = _frames(lake, rows_of, about, tables, texts)
    return Outcome(
        frames=everybody.frames,
        given={x: given[x] for x in CONTENT if given[x] or x not in _WHERE_GIVEN},
        rejects=[Reject(**x) for x in of[REJECT]],
        used=any(x["used"] for x in texts),
        passed=[PassedOver(**x) for x in of[PASSED]],
        changes=_counted(lake, texts, everybody, about),
        shown=everybody.rows,
        disagreements=everybody.disagreements,
    )


def _counted(
    lake: Lake, texts: Sequence[dict[str, Any]], everybody: ForEverybody, about: _About
) -> dict[str, dict[str, int]]:
    """Rows added, changed and removed, by table; a table without a change is left out."""
    if about.earlier_id is None:
        return {}
    changes: dict[str, Counter[str]] = {}
    for text in texts:
        for table, counts in text["changes"].items():
            changes.setdefault(table, Counter()).update(counts)
    if everybody.rows or any(x["displays"] for x in texts):
        changes.update(changes_of_tables(lake, everybody.frames, about.earlier_id))
    return {x: dict(changes[x]) for x in CONTENT if any(changes.get(x, {}).values())}


def _frames(
    lake: Lake,
    rows_of: _RowsOf,
    about: _About,
    tables: Sequence[str],
    texts: Sequence[dict[str, Any]],
) -> ForEverybody:
    """All rows of the snapshot, by table, with what full repositories and owners show of them."""
    shows = any(x["shows"] for x in texts)
    also = [StructField(TOLD, BooleanType())]
    frames = {
        table: rows_of(table, about.snapshot_id, also if shows and table in TABLES_SHOWN else ())
        for table in tables
    }
    if about.earlier_id is not None:
        frames = {
            table: frame.unionByName(
                _untouched(lake, table, about), allowMissingColumns=TOLD in frame.columns
            )
            for table, frame in frames.items()
        }
    found = for_everybody(frames, merging=about.merging) if shows else ForEverybody(frames)
    if not shows and not any(x["displays"] for x in texts):
        return found
    there = [x for x in TABLES_DISPLAYED if x in found.frames]
    own = {x: checkpoint(filled(found.frames[x], x)) for x in there}
    return replace(found, frames={**found.frames, **own})


def _untouched(lake: Lake, table: str, about: _About) -> DataFrame:
    """The rows of queue managers that no file is about.

    Grain: one row per row of the table.
    """
    of_them = frame_from_rows(lake.spark, [(x,) for x in about.names], f"{TEXT_OF} string")
    rows = lake.read_or_empty(table).where(F.col(c.SNAPSHOT_ID) == F.lit(about.earlier_id))
    others = rows.withColumn(TEXT_OF, owner_column(TABLES[table])).join(
        F.broadcast(of_them), TEXT_OF, "left_anti"
    )
    return others.withColumn(c.SNAPSHOT_ID, F.lit(about.snapshot_id)).select(*TABLES[table].names)


def _settled_here(
    lake: Lake, readings: Sequence[FileReading], earlier_id: str | None, *, merging: bool
) -> tuple[list[Settled], list[str]]:
    """The rows of each queue manager that the files are about."""
    states: dict[str, list[TextState]] = {}
    rejects: list[Reject] = []
    owners: dict[str, set[str]] = {}
    for found in readings:
        rejects += found.rejects
        for state in found.states:
            states.setdefault(state.qmgr, []).append(state)
            for channel in r.receivers(state):
                owners.setdefault(channel, set()).add(state.qmgr)
    names = list(states)
    earlier: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    if earlier_id is not None:
        rows = owned_rows(lake, earlier_id).where(F.col(TEXT_OF).isin(names))
        for qmgr, table, row in rows.select(TEXT_OF, OF, ROW).collect():
            earlier.setdefault(qmgr, []).append((table, _whole(table, json.loads(row))))
        owners = _with_earlier(lake, owners, earlier_id)
    settled = [
        settle(name, of_it, by_table(earlier.get(name, [])), owners, merging=merging)
        for name, of_it in states.items()
    ]
    nobody = Settled({}, rejects=rejects, passed=r.passed_over(readings))
    return [nobody, *settled], names


def _settled_by_workers(
    lake: Lake, files: DataFrame, names: Sequence[str], earlier_id: str | None, *, merging: bool
) -> DataFrame:
    """The rows of each queue manager, as `settled_rows.packed` has them.

    Grain: one row per row of any table, reject, and count.
    """
    owners = r.owners_of(files)
    if earlier_id is None:
        return files.groupBy(r.QMGR).applyInPandas(_settling(owners), _ROWS)
    of_them = F.broadcast(frame_from_rows(lake.spark, [(x,) for x in names], f"{TEXT_OF} string"))
    earlier = owned_rows(lake, earlier_id).join(of_them, TEXT_OF, "left_semi")
    apply = _settling_on(_with_earlier(lake, owners, earlier_id), merging=merging)
    return files.groupBy(r.QMGR).cogroup(earlier.groupBy(TEXT_OF)).applyInPandas(apply, _ROWS)


def _settling(owners: Owners) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """What a worker does with the files of one queue manager."""

    def of_one(files: pd.DataFrame) -> pd.DataFrame:
        return _of_one(files, [], owners, merging=True)

    return of_one


def _settling_on(
    owners: Owners, *, merging: bool
) -> Callable[[pd.DataFrame, pd.DataFrame], pd.DataFrame]:
    """What a worker does with the files and the earlier rows of one queue manager."""

    def of_one(files: pd.DataFrame, earlier: pd.DataFrame) -> pd.DataFrame:
        pairs = zip(earlier[OF], earlier[ROW], strict=True)
        rows = [(of, _whole(of, json.loads(row))) for of, row in pairs]
        return _of_one(files, rows, owners, merging=merging)

    return of_one


def _of_one(
    files: pd.DataFrame,
    earlier: Sequence[tuple[str, dict[str, Any]]],
    owners: Owners,
    *,
    merging: bool,
) -> pd.DataFrame:
    """The rows of one queue manager, in a worker."""
    ordered = files.sort_values(r.POSITION)
    readings = r.unpacked(list(ordered[r.PAYLOAD]))
    states = [state for found in readings for state in found.states]
    rejects = [reject for found in readings for reject in found.rejects]
    settled = Settled({})
    if states:
        settled = settle(states[0].qmgr, states, by_table(earlier), owners, merging=merging)
    own = replace(settled, rejects=[*rejects, *settled.rejects], passed=r.passed_over(readings))
    return pd.DataFrame(packed(own), columns=[OF, ROW])


def _whole(table: str, row: dict[str, Any]) -> dict[str, Any]:
    """A row of which JSON left out the nulls."""
    return {name: row.get(name) for name in TABLES[table].names if name != c.SNAPSHOT_ID}


def _with_earlier(lake: Lake, owners: Owners, earlier_id: str) -> dict[str, set[str]]:
    """Owners of the CLUSRCVRs that files define or that the earlier snapshot has."""
    rows = lake.read_or_empty(CLUSTER_CHANNELS.name).where(
        (F.col(c.SNAPSHOT_ID) == earlier_id) & (F.col(c.OBSERVER) == EVERYBODY)
    )
    together = {channel: set(names) for channel, names in owners.items()}
    for channel, qmgr in rows.select(c.CHANNEL, c.QMGR).distinct().collect():
        together.setdefault(channel, set()).add(qmgr)
    return together
