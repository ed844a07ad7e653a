"""Snapshots of which only the changes are stored, as whole ones: every reader of a lake sees those.

A snapshot of a timeline names its base, and `snapshot_changes` has the rows in which it differs
from it. The base may be such a snapshot itself; the first one, the root, is stored whole. Each base
has one snapshot of this kind at the most, so that all of a root's are a line.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.spark.frames import frame_from_arrow, frame_from_rows
from clwl_spark.tables import Table
from clwl_spark.tables import columns as c
from clwl_spark.tables.stored_changes import ROW_KEY, ROW_VALUES, parsed_row

_ROOT: Final = "root_"
_PLACE: Final = "place_"
_FIRST: Final = "first_"
_END: Final = "end_"
_GONE: Final = "gone_"
_STEPS: Final = f"{c.SNAPSHOT_ID} string, {_ROOT} string, {_PLACE} bigint"
_NEVER: Final = 2**62


@dataclass(frozen=True, slots=True)
class Step:
    """A snapshot that is stored as changes.

    Attributes:
        snapshot_id: its name.
        root: the whole snapshot that its line begins with.
        place: in the line, from 1.
    """

    snapshot_id: str
    root: str
    place: int


def steps_among(snapshots: Iterable[Mapping[str, Any]]) -> dict[str, Step]:
    """The snapshots that are stored as changes, by name, each behind its base.

    Args:
        snapshots: rows of `snapshots`.
    """
    following = {x[c.BASE]: x[c.SNAPSHOT_ID] for x in snapshots if x[c.CHANGED_TABLES] is not None}
    later = set(following.values())
    found: dict[str, Step] = {}
    for root in following.keys() - later:
        name, place = following.get(root), 1
        while name is not None:
            found[name] = Step(name, root, place)
            name, place = following.get(name), place + 1
    return found


def with_steps(
    stored: DataFrame, table: Table, wanted: Iterable[Step], changes: pa.Table, line: Iterable[Step]
) -> DataFrame:
    """The rows of a table with those of snapshots that are stored as changes.

    Args:
        stored: the rows that are there.
        table: which it is.
        wanted: the snapshots of which rows are added.
        changes: rows of `snapshot_changes` of `line`.
        line: the snapshots up to the last of these.

    Grain: as the table, before and after.
    """
    spark = stored.sparkSession
    asked = [(x.snapshot_id, x.root, x.place) for x in wanted]
    steps = F.broadcast(frame_from_rows(spark, asked, _STEPS))
    roots = sorted({root for _, root, _ in asked})
    of_roots = stored.where(F.col(c.SNAPSHOT_ID).isin(roots))
    rows = of_roots.withColumnRenamed(c.SNAPSHOT_ID, _ROOT).join(steps, _ROOT)
    own = _own(table, changes, line)
    if own.num_rows:
        in_force = (F.col(_PLACE) >= F.col(_FIRST)) & (F.col(_PLACE) < F.col(_END))
        changed = frame_from_arrow(spark, own).join(steps, _ROOT).where(in_force)
        rows = rows.join(changed.select(*table.keys), list(table.keys), "left_anti")
        there = changed.where(~F.col(_GONE))
        rows = rows.unionByName(there, allowMissingColumns=True)
    return stored.unionByName(rows.select(*stored.columns))


def _own(table: Table, changes: pa.Table, line: Iterable[Step]) -> pa.Table:
    """The changed rows of a table, with the places of the line at which each is so.

    Grain: one row per (root, key, change): the table's columns without snapshot_id, `_ROOT`,
    `_FIRST`, `_END` and `_GONE`.
    """
    steps = {x.snapshot_id: x for x in line}
    by_key: dict[tuple[str, str], list[tuple[int, dict[str, Any], bool]]] = defaultdict(list)
    names = (c.SNAPSHOT_ID, c.TABLE, ROW_KEY, ROW_VALUES)
    for snapshot_id, of, row_key, values in zip(
        *(changes[x].to_pylist() for x in names), strict=True
    ):
        if of != table.name or snapshot_id not in steps:
            continue
        step = steps[snapshot_id]
        row = parsed_row(table, row_key, values)
        by_key[step.root, row_key].append((step.place, row, values is None))
    rows = []
    for (root, _), found in by_key.items():
        found.sort(key=lambda x: x[0])
        ends = [*(place for place, _, _ in found[1:]), _NEVER]
        for (place, row, gone), end in zip(found, ends, strict=True):
            rows.append({**row, _ROOT: root, _FIRST: place, _END: end, _GONE: gone})
    content = table.arrow([x for x in table.names if x != c.SNAPSHOT_ID])
    places = [(_ROOT, pa.string()), (_FIRST, pa.int64()), (_END, pa.int64()), (_GONE, pa.bool_())]
    return pa.Table.from_pylist(rows, pa.schema([*content, *(pa.field(*x) for x in places)]))
