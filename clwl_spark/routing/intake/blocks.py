"""Messages travel in blocks: one row per bucket and Arrow batch, columns as Arrow IPC.

A row at a time through `applyInPandasWithState`, pandas would pay for every cell; so the state
function sees a few hundred rows of bytes. `keys` is all that the choice needs, `payload` (the
message ids, or which rows of a `split` they are) is passed along unread, and both are plain Arrow
streams that any reader opens. A queue manager's first message in a task asks for its facts, by a
row of its own.

A bucket is the queue managers whose memory is one state. Each block costs half a millisecond,
whatever is in it, and each state some more: 10 million messages of 5,000 queue managers, each a
state of its own, are 40,000 blocks and took 94 s where buckets took 56.

Measured on 10 million messages, 2 cores: rows through pandas 121 s, blocks 54 s.
"""

import resource
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from clwl_spark.tables import columns as c

BUCKET: Final = "bucket"
KIND: Final = "kind"
MESSAGES: Final = "messages"
KEYS: Final = "keys"
PAYLOAD: Final = "payload"
SPLIT: Final = "split"
REJECT: Final = "reject"
DOCUMENT: Final = "document"
"""What becomes REJECT of a message that could be routed, if it turns out to be a duplicate."""

BIND_CODES: Final = {"AS_Q_DEF": 0, "ON_OPEN": 1, "NOT_FIXED": 2, "ON_GROUP": 3}
"""The codes of MQOO_BIND options in blocks."""

KIND_MESSAGES: Final = "MESSAGES"
KIND_REJECTS: Final = "REJECTS"
KIND_FACTS: Final = "FACTS"

BUCKETS: Final = 256
"""Buckets of a new lake: enough for the cores of a large cluster, and few enough for fat blocks."""

GATHERED_ROWS: Final = 400_000
"""Rows packed at a time: a block costs milliseconds whatever is in it, so few and fat ones."""
GATHERED_AT_MOST: Final = 1_600_000
"""Rows packed at a time where buckets or plans are many, so that blocks are not too lean."""
_WORTH: Final = 1_000
"""Rows of a bucket that make a block worth its cost."""
_WORTH_NAMING: Final = 50
"""Rows of a plan that make it worth saying its answers, as each block does anew."""
BLOCK_ROWS: Final = 100_000
"""The largest block, so that one hot queue manager's blocks spread over all cores again."""

BLOCK_SCHEMA: Final = (
    "bucket string, qmgr string, kind string, messages bigint, keys binary, payload binary, "
    "split string"
)
_BLOCK_ARROW: Final = pa.schema(
    [
        (BUCKET, pa.string()),
        (c.QMGR, pa.string()),
        (KIND, pa.string()),
        (MESSAGES, pa.int64()),
        (KEYS, pa.binary()),
        (PAYLOAD, pa.binary()),
        (SPLIT, pa.string()),
    ]
)
_KEY_COLUMNS: Final = (c.PUT_SEQ, c.PUT_TIME, c.PLAN_ID, c.BIND, c.OPEN_ID, c.GROUP_ID)
_DICTIONARIES: Final = (c.PLAN_ID, c.OPEN_ID, c.GROUP_ID)
_AS_IT_IS: Final = pa.ipc.IpcWriteOptions()
"""Given, so that the environment is not asked; compressed, small tables read 20 times slower."""


TOLD_TO_EXIT: Final = (c.LOGICAL_ORDER, c.VIA, c.PERSISTENT, c.MSG_LENGTH, c.SCOPE)
"""Columns of messages that nothing but a message exit asks for."""


def passed_in_payload(_split: str, payload: bytes, names: Sequence[str]) -> pa.Table:
    """Columns of a block's messages, where it carries them."""
    return from_ipc(payload).select([*names])


def documents_in_payload(payload: bytes, rows: NDArray[np.int32]) -> pa.Table | None:
    """(reject) The documents of some messages of a block; None = it does not have them all."""
    table = from_ipc(payload)
    if DOCUMENT not in table.column_names:
        return None
    documents = table[DOCUMENT].take(pa.array(rows))
    return None if documents.null_count else pa.table({REJECT: documents})


@dataclass(frozen=True, slots=True)
class BlockForm:
    """What the blocks of an engine carry beside their keys.

    Attributes:
        told: the columns that it wants to hear of each outcome; none = all.
        passed: finds columns of a block's messages by its split and payload.
        set_aside: what says of rows of a block that they are set aside, by its payload; None =
            what is needed for it was not sent along.
    """

    told: tuple[str, ...] = ()
    passed: Callable[[str, bytes, Sequence[str]], pa.Table] = passed_in_payload
    set_aside: Callable[[bytes, NDArray[np.int32]], pa.Table | None] = documents_in_payload


WITH_IDS: Final = BlockForm()
"""Blocks that carry the message ids, and TOLD_TO_EXIT for one; all is told of their outcomes."""


def bucket_of(qmgr: str, buckets: int) -> str:
    """The bucket that a queue manager is in.

    Args:
        qmgr: its name.
        buckets: how many there are; 0 = each queue manager is one of its own.
    """
    return str(zlib.crc32(qmgr.encode()) % buckets) if buckets else qmgr


def pack(
    batches: Iterator[pa.RecordBatch], buckets: int, rows_per_byte: float = 0.0
) -> Iterator[pa.RecordBatch]:
    """Pack messages into blocks; runs in `mapInArrow`.

    Grain: one row per message in, one row per (GATHERED_ROWS, bucket, routable or rejected) out,
    and the block's `empty_rows`. Within a block messages are in the order of put_seq.
    """
    met: set[str] = set()
    for table in gathered((pa.Table.from_batches([batch]) for batch in batches), buckets):
        routable, rejected = apart(table)
        blocks = [*message_blocks(routable, buckets, met, _carried(routable))]
        if rejected.num_rows:
            qmgr = rejected[c.QMGR][0].as_py() or ""
            blocks.append(reject_block(bucket_of(qmgr, buckets), rejected.select([REJECT])))
        yield from block_rows(blocks, rows_per_byte)


def _carried(table: pa.Table) -> list[str]:
    """The columns that blocks of messages that came through Spark pass along."""
    return [x for x in (c.MESSAGE_ID, DOCUMENT, *TOLD_TO_EXIT) if x in table.column_names]


def gathered(tables: Iterable[pa.Table], buckets: int) -> Iterator[pa.Table]:
    """Messages put together, in order, until their blocks are fat enough.

    Of 29,500 requests with eight routes each, answers were as many as messages with GATHERED_ROWS
    at a time.
    """
    waiting: list[pa.Table] = []
    rows = worth = 0
    for table in tables:
        waiting.append(table)
        rows += table.num_rows
        qmgrs = max(map(_distinct_words, table[c.QMGR].chunks), default=0)
        plans = pc.count_distinct(table[c.PLAN_ID]).as_py()
        worth = max(worth, _WORTH * min(qmgrs, buckets or qmgrs), _WORTH_NAMING * plans)
        if rows >= min(GATHERED_AT_MOST, max(GATHERED_ROWS, worth)):
            yield pa.concat_tables(waiting).unify_dictionaries()
            waiting, rows = [], 0
    if waiting:
        yield pa.concat_tables(waiting).unify_dictionaries()


def _distinct_words(column: pa.Array) -> int:
    """How many words a column has; at the most, where it is a dictionary of them."""
    if pa.types.is_dictionary(column.type):
        return len(column.dictionary)
    return int(pc.count_distinct(column).as_py())


def apart(table: pa.Table) -> tuple[pa.Table, pa.Table]:
    """The messages that can be routed, and those that cannot."""
    if table[REJECT].null_count == table.num_rows:
        return table, table.slice(0, 0)
    rejected = pc.is_valid(table[REJECT])
    return table.filter(pc.invert(rejected)), table.filter(rejected)


def block_rows(
    blocks: Sequence[dict[str, object]], rows_per_byte: float
) -> Iterator[pa.RecordBatch]:
    """The blocks as rows of BLOCK_SCHEMA, each with its `empty_rows`; nothing for none."""
    if blocks:
        empty = [{BUCKET: x[BUCKET]} for x in blocks for _ in _weighed(x, rows_per_byte)]
        yield pa.RecordBatch.from_pylist([*blocks, *empty], schema=_BLOCK_ARROW)


def empty_rows(size: int, rows_per_byte: float) -> int:
    """How many rows without a kind go with a block of so many bytes.

    Spark hands rows to a Python worker, and takes them from it, by their number, however large
    they are: 50,000 blocks would be gigabytes. So a block counts for as many rows as it is heavy.
    """
    return int(size * rows_per_byte)


def _weighed(block: dict[str, object], rows_per_byte: float) -> range:
    """One number for each empty row that the block takes with it."""
    size = sum(len(x) for x in block.values() if isinstance(x, bytes))
    return range(empty_rows(size, rows_per_byte))


def to_ipc(table: pa.Table) -> bytes:
    """A table as an Arrow IPC stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=_AS_IT_IS) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def from_ipc(data: bytes) -> pa.Table:
    """The table of an Arrow IPC stream."""
    return pa.ipc.open_stream(data).read_all()


def peak_mib() -> float:
    """The largest memory that this process ever had, MiB (Linux counts KiB)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def message_blocks(
    table: pa.Table, buckets: int, met: set[str], payload: Sequence[str], split: str = ""
) -> Iterator[dict[str, object]]:
    """Blocks of the table's messages, each of one bucket and in the order of put_seq.

    Args:
        table: messages that can be routed.
        buckets: as `bucket_of`.
        met: queue managers whose facts were asked for before; more are added.
        payload: the columns that are passed along unread.
        split: where the messages are, for a payload that says which of its rows.
    """
    if table.num_rows == 0:
        return
    qmgrs = table[c.QMGR].combine_chunks()
    if not pa.types.is_dictionary(qmgrs.type):
        qmgrs = qmgrs.dictionary_encode()
    of_word = [bucket_of(x, buckets) for x in qmgrs.dictionary.to_pylist()]
    yield from _asking(qmgrs, of_word, met)
    code_of_word, names = pd.factorize(np.array(of_word, dtype=object))
    codes = code_of_word.astype(np.int32)[qmgrs.indices.to_numpy()]
    order = _order(codes, table)
    if order is not None:
        table, codes = table.take(pa.array(order)), codes[order]
    starts = [0, *(np.nonzero(np.diff(codes))[0] + 1).tolist(), len(codes)]
    pieces = ((at, end) for start, end in pairwise(starts) for at, end in _cut(start, end))
    for start, end in pieces:
        part = table.slice(start, end - start)
        yield {
            BUCKET: names[codes[start]],
            KIND: KIND_MESSAGES,
            MESSAGES: end - start,
            KEYS: to_ipc(_keys(part)),
            PAYLOAD: to_ipc(part.select([*payload]).combine_chunks()),
            SPLIT: split,
        }


def _asking(
    qmgrs: pa.DictionaryArray, bucket_of_word: Sequence[str], met: set[str]
) -> Iterator[dict[str, object]]:
    """A row for each queue manager that was not met before, which its facts will join."""
    words = qmgrs.dictionary.to_pylist()
    for at in np.flatnonzero(np.bincount(qmgrs.indices.to_numpy())).tolist():
        if words[at] not in met:
            met.add(words[at])
            yield {BUCKET: bucket_of_word[at], c.QMGR: words[at], KIND: KIND_FACTS}


def _cut(start: int, end: int) -> Iterator[tuple[int, int]]:
    """The range in parts of at most BLOCK_ROWS."""
    for at in range(start, end, BLOCK_ROWS):
        yield at, min(at + BLOCK_ROWS, end)


def _keys(part: pa.Table) -> pa.Table:
    """The columns that the choice needs, those that repeat as dictionaries."""
    keys = part.select(_KEY_COLUMNS).combine_chunks()
    for name in _DICTIONARIES:
        at = keys.schema.get_field_index(name)
        keys = keys.set_column(at, name, pc.dictionary_encode(keys[name]))
    return keys


def reject_block(bucket: str, rejected: pa.Table) -> dict[str, object]:
    """Rejected messages as one block, in any one bucket."""
    return {
        BUCKET: bucket,
        KIND: KIND_REJECTS,
        MESSAGES: rejected.num_rows,
        KEYS: b"",
        PAYLOAD: to_ipc(rejected.combine_chunks()),
        SPLIT: "",
    }


def _order(codes: NDArray[np.int32], table: pa.Table) -> NDArray[np.int64] | None:
    """The order (bucket, put_seq); None where the rows are in it already."""
    put_seq = table[c.PUT_SEQ].to_numpy()
    same = codes[1:] == codes[:-1]
    if bool(np.all((codes[1:] > codes[:-1]) | (same & (put_seq[1:] > put_seq[:-1])))):
        return None
    return order_within(codes, put_seq)


def order_within(codes: NDArray[Any], put_seq: NDArray[np.int64]) -> NDArray[np.int64]:
    """The order (code, put_seq) of rows, equal ones as they came; codes are not negative.

    Few codes are sorted as 16 bits, which needs no comparisons: a million rows and 256 codes took
    half of `lexsort`'s time, and a third where put_seq ascends as it does in most files.
    """
    few = codes.astype(np.uint16) if codes.max(initial=0) < 1 << 16 else codes
    if bool(np.all(put_seq[1:] >= put_seq[:-1])):
        return np.argsort(few, kind="stable")
    order = np.argsort(put_seq, kind="stable")
    return order[np.argsort(few[order], kind="stable")] if few.any() else order


def message_order(message_ids: pa.ChunkedArray) -> NDArray[np.int64]:
    """The rank of each message id by its bytes, none first (SEMANTICS P25)."""
    ids = [x or b"" for x in message_ids.to_pylist()]
    rank = {value: at for at, value in enumerate(sorted(set(ids)))}
    return np.array([rank[x] for x in ids], dtype=np.int64)
