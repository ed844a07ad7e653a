"""put_seq of messages whose files do not give it: in put order, on from where the lake ends."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.tables import MESSAGES
from clwl_spark.tables import columns as c


@dataclass(frozen=True, slots=True)
class Numbered:
    """Messages with their put_seq.

    Attributes:
        rows: by queue manager and put_seq.
        guessed: messages put at the same moment as the one before: their files' order was taken.
        late: messages put before one that the lake has; they come behind it.
        put_seq: (rows,) in the order that the rows were given in.
    """

    rows: pa.Table
    guessed: int
    late: int
    put_seq: NDArray[np.int64]


def last_of_lake(lake: Lake, qmgrs: list[str]) -> dict[str, tuple[int, int]]:
    """The greatest put_seq and put_time (microseconds) that the lake has, by queue manager."""
    rows = lake.read_or_empty(MESSAGES.name).where(F.col(c.QMGR).isin(qmgrs))
    found = rows.groupBy(c.QMGR).agg(F.max(c.PUT_SEQ), F.max(F.unix_micros(c.PUT_TIME)))
    return {row[0]: (row[1] or 0, row[2] or 0) for row in found.collect()}


def numbered(rows: pa.Table, last: Mapping[str, tuple[int, int]]) -> Numbered:
    """Number messages; those that have a put_seq keep it.

    Args:
        rows: columns of `messages`, in the order of the files.
        last: as `last_of_lake`.

    Grain: one row per row.
    """
    words = rows[c.QMGR].combine_chunks().dictionary_encode()
    names, sender = words.dictionary.to_pylist(), words.indices.to_numpy()
    time = rows[c.PUT_TIME].combine_chunks().view(pa.int64()).to_numpy()
    order = np.lexsort((time, sender))
    rows, sender, time = rows.take(pa.array(order)), sender[order], time[order]
    given = rows[c.PUT_SEQ].combine_chunks()
    is_given = given.is_valid().to_numpy(zero_copy_only=False)
    first = np.array([last.get(x, (0, 0))[0] for x in names], dtype=np.int64)
    if is_given.any():
        np.maximum.at(first, sender[is_given], given.filter(pc.is_valid(given)).to_numpy())
    own = ~is_given
    count = np.cumsum(own)
    begins = np.flatnonzero(np.diff(sender, prepend=-1))
    before = (
        np.repeat(np.concatenate([[0], count])[begins], np.diff([*begins, len(sender)]))
        if len(sender)
        else count
    )
    put_seq = np.where(is_given, given.fill_null(0).to_numpy(), first[sender] + count - before)
    newest = np.array([last.get(x, (0, 0))[1] for x in names], dtype=np.int64)
    alike = (np.diff(time, prepend=np.int64(-1)) == 0) & (np.diff(sender, prepend=-1) == 0)
    at = rows.schema.get_field_index(c.PUT_SEQ)
    done = rows.set_column(at, rows.schema.field(at), pa.array(put_seq, pa.int64()))
    late = own & (time < newest[sender]) if len(sender) else own
    as_given = np.empty_like(put_seq)
    as_given[order] = put_seq
    guessed, behind = (int(np.count_nonzero(x)) for x in (own & alike, late))
    return Numbered(done, guessed, behind, as_given)
