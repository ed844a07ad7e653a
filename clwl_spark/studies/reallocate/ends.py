"""What became of an event's messages, by distinct answer: millions of messages share a few.

Source: SEMANTICS 8 (outcomes), P22, P32.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from clwl_spark.tables import columns as c
from clwl_spark.tables import waiting as w

NOWHERE: Final = -1
_CHOSE_ANEW: Final = (w.Reallocation.MOVED, w.Reallocation.STILL_FAVOURED)
SAID: Final = pa.schema(
    [
        (w.OUTCOME, pa.string()),
        (w.DECIDING_RULE, pa.int32()),
        (w.INELIGIBLE_REASON, pa.string()),
        (c.REASON, pa.int32()),
        (w.TO_QMGR, pa.string()),
        (w.TO_OBJECT, pa.string()),
        (w.TO_CLUSTER, pa.string()),
    ]
)


@dataclass
class Names:
    """Channel or queue names as integers; `NOWHERE` stands for null."""

    names: list[str]

    def code(self, name: str | None) -> int:
        """The integer of a name."""
        if name is None:
            return NOWHERE
        if name not in self.names:
            self.names.append(name)
        return self.names.index(name)

    def codes(self, column: pa.ChunkedArray) -> NDArray[np.int32]:
        """The integers of a column."""
        encoded = column.combine_chunks().dictionary_encode()
        known = np.array([self.code(x) for x in encoded.dictionary.to_pylist()] or [0], np.int32)
        indices = encoded.indices.fill_null(0).to_numpy(zero_copy_only=False)
        null = column.is_null().to_numpy()
        return np.where(null, NOWHERE, known[indices]).astype(np.int32)

    def column(self, codes: NDArray[np.int32]) -> pa.Array:
        """The names of integers."""
        indices = pa.array(codes, mask=codes == NOWHERE)
        return pa.DictionaryArray.from_arrays(indices, pa.array(self.names, pa.string())).cast(
            pa.string()
        )


class ReallocationResult(NamedTuple):
    """What became of a message; the first columns are those of `SAID`."""

    outcome: str
    deciding_rule: int | None = None
    ineligible_reason: str | None = None
    reason: int | None = None
    to_qmgr: str | None = None
    to_object: str | None = None
    to_cluster: str | None = None
    to_channel: str | None = None
    to_xmitq: str | None = None


@dataclass(frozen=True, slots=True)
class Ends:
    """What became of the messages of an event, by distinct answer.

    Attributes:
        answer: (messages,) index into the rest.
        said: rows of `SAID`.
        moved: (answers,) the message goes elsewhere.
        put_again: (answers,) its put time becomes that of the event.
        channel: (answers,) code of the channel that it then waits for.
        xmitq: (answers,) code of the queue that it is then on.
    """

    answer: NDArray[np.int64]
    said: pa.Table
    moved: NDArray[np.bool_]
    put_again: NDArray[np.bool_]
    channel: NDArray[np.int32]
    xmitq: NDArray[np.int32]


def left_alone(reason: str) -> ReallocationResult:
    """What is told of a message that is not eligible."""
    return ReallocationResult(w.Reallocation.NOT_ELIGIBLE.value, ineligible_reason=reason)


def result_of(
    answer: Mapping[str, Any], stopped: str, deciding: Mapping[int, int | None]
) -> ReallocationResult:
    """What is told of a message that chose.

    Args:
        answer: of routing, a row of `ANSWER_SCHEMA`.
        stopped: name of the channel that it waited for.
        deciding: by plan, the rule that decides where that channel is chosen again.
    """
    if answer[c.REASON] != 0:
        return ReallocationResult(w.Reallocation.FAILED.value, reason=answer[c.REASON])
    if answer[c.CHANNEL] == stopped:
        rule = deciding.get(answer[c.PLAN_ID])
        return ReallocationResult(w.Reallocation.STILL_FAVOURED.value, deciding_rule=rule)
    return ReallocationResult(
        w.Reallocation.MOVED.value,
        to_qmgr=answer[c.DEST_QMGR],
        to_object=answer[c.DEST_OBJECT],
        to_cluster=answer[c.CLUSTER],
        to_channel=answer[c.CHANNEL],
        to_xmitq=answer[c.XMITQ],
    )


def gathered(
    answer: NDArray[np.int64], results: Sequence[ReallocationResult], channels: Names, queues: Names
) -> Ends:
    """The answers as columns.

    Args:
        answer: (messages,) index into `results`.
        results: the distinct answers.
        channels: codes of channels; new ones are added.
        queues: codes of transmission queues; new ones are added.
    """
    columns = list(zip(*results, strict=True))[: len(SAID)] or [()] * len(SAID)
    arrays = [pa.array(x, f.type) for x, f in zip(columns, SAID, strict=True)]
    return Ends(
        answer,
        pa.Table.from_arrays(arrays, schema=SAID),
        np.array([x.outcome == w.Reallocation.MOVED for x in results], dtype=np.bool_),
        np.array([x.outcome in _CHOSE_ANEW for x in results], dtype=np.bool_),
        np.array([channels.code(x.to_channel) for x in results], dtype=np.int32),
        np.array([queues.code(x.to_xmitq) for x in results], dtype=np.int32),
    )


def counts_of(ends: Ends) -> dict[str, Any]:
    """Messages by outcome, by reason, and by deciding rule."""
    each = np.bincount(ends.answer, minlength=ends.said.num_rows).tolist()
    found: dict[str, Any] = {w.WAITING: len(ends.answer), "reasons": {}, "rules": {}}
    found |= {x.value.lower(): 0 for x in w.Reallocation}
    for row, count in zip(ends.said.to_pylist(), each, strict=True):
        found[row[w.OUTCOME].lower()] += count
        for name, kind in (("reasons", w.INELIGIBLE_REASON), ("rules", w.DECIDING_RULE)):
            if row[kind] is not None:
                said = str(row[kind])
                found[name][said] = found[name].get(said, 0) + count
    return found
