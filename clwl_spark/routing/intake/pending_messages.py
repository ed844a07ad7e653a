"""The messages that no batch has taken yet: which files have them, told from Delta's log.

Rows that were appended are taken from the files that brought them. Where a commit also took rows
away (MERGE, overwrite), or the log or a file is gone, rows are told from those that were routed by
what identifies them: (qmgr, put_seq), and message_id. What was updated or deleted after it was
routed changes nothing.

Source: SEMANTICS C2, C3.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from clwl_spark.delta.files import active_files, new_files, newest_version
from clwl_spark.delta.lake import Lake
from clwl_spark.errors import LakeStateError
from clwl_spark.routing.intake.message_files import first_missing, gone
from clwl_spark.routing.intake.splits import Split, middle_of, read_split
from clwl_spark.routing.ledger.run_record import NOTHING, UNKNOWN, Run, Taken
from clwl_spark.routing.ledger.source_offsets import newest, taken_before, taken_by_batch
from clwl_spark.storage.files import parquet_file, parquet_source
from clwl_spark.tables import MESSAGES, OUTCOMES, REJECTED_MESSAGES
from clwl_spark.tables import columns as c

_KEY: Final = (c.QMGR, c.PUT_SEQ, c.MESSAGE_ID)
_KEY_COLUMNS: Final = MESSAGES.arrow(_KEY)
_READ_ROWS: Final = 200_000
_SPLIT_ROWS: Final = 2_000_000
"""Rows of a split at the most, in so far as a file has row groups of its own."""
Files = Sequence[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class Pending:
    """What a run has to route.

    Attributes:
        splits: of files, in the order in which they came.
        before: what was taken before.
        upto: what is taken then.
    """

    splits: tuple[Split, ...]
    before: Taken
    upto: Taken

    @property
    def rows(self) -> int:
        """How many messages there are."""
        return sum(x.rows for x in self.splits)


def pending_messages(lake: Lake, run: Run, scratch: Path) -> Pending | None:
    """The messages of a run's batch.

    Args:
        lake: in folders of this machine.
        run: that has begun, or that is gone on with.
        scratch: folder for rows that have to be taken from among others.

    Returns:
        They; None where only Spark can tell.

    Raises:
        LakeStateError: the table `messages` has lost versions, or files.
    """
    before = taken_before(lake, run)
    upto = run.upto or (taken_by_batch(lake, run) if run.resumed else None) or newest(lake)
    if before is None or upto is None:
        return None
    files = _files(_Asked(lake, run, scratch), before, upto)
    return None if files is None else Pending(tuple(_splits(files)), before, upto)


@dataclass(frozen=True, slots=True)
class _Asked:
    """Whose messages are asked for.

    Attributes:
        lake: the lake.
        run: of the batch.
        scratch: folder for rows that have to be taken from among others.
    """

    lake: Lake
    run: Run
    scratch: Path


def _files(asked: _Asked, before: Taken, upto: Taken) -> Files | None:
    """The files whose rows are new, the last of them of rows that were taken from others."""
    lake = asked.lake
    folder = lake.path(MESSAGES.name)
    if before.version == NOTHING:
        there = active_files(folder, upto.version)
        is_whole = there is None or first_missing(there) is None
        return there if is_whole else _unrouted_by_key(asked, upto)
    if before.table_id == upto.table_id and before.version > upto.version:
        raise LakeStateError(
            f"table messages of lake {lake.root} is at version {upto.version}, and version "
            f"{before.version} of it is routed: restore it, or route into another lake"
        )
    found = None
    if before.table_id == upto.table_id and before.version != UNKNOWN:
        found = new_files(folder, before.version, upto.version)
    if found is None or first_missing([*found.appended, *found.changed]):
        return _unrouted_by_key(asked, upto)
    return [*found.appended, *_unrouted(asked, found.changed, found.appended)]


def _unrouted_by_key(asked: _Asked, upto: Taken) -> Files | None:
    """The rows of a version of the table that were not routed, told from all that it has.

    Where the version's files were put together and deleted since, the rows are in newer ones.

    Raises:
        LostMessagesError: a file is gone, and its rows are nowhere else.
    """
    lake, folder = asked.lake, asked.lake.path(MESSAGES.name)
    there = active_files(folder, upto.version)
    missing = first_missing(there or [])
    if there is None or missing is None:
        return None if there is None else _unrouted(asked, there, [])
    now = newest_version(folder) or upto.version
    later, newest_files = new_files(folder, upto.version, now), active_files(folder, now)
    if later is None or newest_files is None or later.changed:
        raise gone(lake, missing)
    if lost := first_missing([*newest_files, *later.appended]):
        raise gone(lake, lost)
    return _unrouted(asked, newest_files, later.appended)


def _unrouted(asked: _Asked, among: Files, taken: Files) -> Files:
    """The rows of files that were not routed by a batch before, as a file of their own.

    Args:
        asked: whose messages are asked for.
        among: files with new rows and others.
        taken: files whose rows the batch takes already, or does not take.
    """
    if not among:
        return []
    keys = pa.concat_tables([_keys_of(x) for x in among])
    known = pa.concat_tables([*(_keys_of(x) for x in taken), *_routed_keys(asked, keys)])
    numbered = keys.append_column("row", pa.array(range(keys.num_rows), pa.int64()))
    new = numbered.join(known, [*_KEY], join_type="left anti")["row"].sort()
    rows = pa.concat_tables([_plain(x) for x, _ in among], promote_options="permissive")
    if not len(new):
        return []
    file = asked.scratch / f"{uuid.uuid4().hex}.parquet"
    pq.write_table(rows.take(new.combine_chunks()), file)
    return [(str(file), len(new))]


def _plain(path: str) -> pa.Table:
    """A file's rows; Arrow takes no rows from columns of views, which delta-rs writes."""
    rows = pq.read_table(parquet_source(path))
    plain = {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}
    fields = [x.with_type(plain.get(x.type, x.type)) for x in rows.schema]
    return rows.cast(pa.schema(fields))


def _keys_of(file: tuple[str, int]) -> pa.Table:
    path, rows = file
    split = Split(path, 0, rows)
    return _without_nulls(
        pa.Table.from_batches(read_split(split, _KEY_COLUMNS, _READ_ROWS), _KEY_COLUMNS)
    )


def _routed_keys(asked: _Asked, keys: pa.Table) -> list[pa.Table]:
    """What other batches have routed or rejected, as far as it may be among the keys.

    A batch that was killed may have written some of it, and is routed again as a whole.
    """
    found = pc.min_max(keys[c.PUT_SEQ])
    low, high = (found[x].as_py() for x in ("min", "max"))
    between = (pc.field(c.PUT_SEQ) >= low) & (pc.field(c.PUT_SEQ) <= high)
    tables = []
    for table in (OUTCOMES, REJECTED_MESSAGES):
        once = asked.run.once(table.name) if asked.run.resumed else None
        rows = asked.lake.dataset(table.name, without=once)
        if rows is not None:
            kept = rows.to_table([*_KEY], filter=between | pc.field(c.PUT_SEQ).is_null())
            tables.append(_without_nulls(kept.cast(_KEY_COLUMNS)))
    return tables


def _without_nulls(keys: pa.Table) -> pa.Table:
    """Keys that can be compared: a null is equal to no other one."""
    columns = {
        c.QMGR: pc.fill_null(keys[c.QMGR], ""),
        c.PUT_SEQ: pc.fill_null(keys[c.PUT_SEQ], -(2**63)),
        c.MESSAGE_ID: pc.fill_null(keys[c.MESSAGE_ID], b""),
    }
    return pa.table(columns)


def _splits(files: Files) -> list[Split]:
    """Files in parts that workers take."""
    splits: list[Split] = []
    for path, rows in files:
        splits += [Split(path, 0, rows)] if rows <= _SPLIT_ROWS else _parts(path, rows)
    return splits


def _parts(path: str, rows: int) -> list[Split]:
    """The parts of a large file: row groups that follow one another."""
    with parquet_file(path) as file:
        groups = [file.metadata.row_group(x) for x in range(file.metadata.num_row_groups)]
    if sum(x.num_rows for x in groups) != rows:
        return [Split(path, 0, rows)]
    parts: list[Split] = []
    for group in groups:
        last = parts[-1] if parts else None
        if last is not None and last.rows + group.num_rows <= _SPLIT_ROWS:
            parts[-1] = Split(path, last.start, last.rows + group.num_rows)
        else:
            parts.append(Split(path, middle_of(group) if parts else 0, group.num_rows))
    return parts
