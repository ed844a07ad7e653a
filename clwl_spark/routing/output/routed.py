"""What is said of blocks whose messages are routed: outcomes in short, answers, figures."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from clwl_spark.routing.intake.blocks import BlockForm, peak_mib, to_ipc
from clwl_spark.routing.state.answers import Answers
from clwl_spark.routing.state.plan_steps import InForce
from clwl_spark.routing.state.spool import Spool
from clwl_spark.tables import columns as c

KIND_OUTCOMES: Final = "OUTCOMES"
KIND_HISTORY: Final = "HISTORY"
KIND_MEMORY: Final = "MEMORY"
KIND_MISSING: Final = "MISSING"
KIND_ASKED: Final = "ASKED"
ANSWER: Final = "answer"
ROW: Final = "row"
CHANNELS: Final = "channels"

_OUTCOME_SCHEMA: Final = pa.schema(
    [
        (c.PUT_SEQ, pa.int64()),
        (c.PUT_TIME, pa.int64()),
        (ROW, pa.int32()),
        (ANSWER, pa.int32()),
        (c.OUT_OF_ORDER, pa.bool_()),
    ]
)


@dataclass(frozen=True, slots=True)
class RoutedBlock:
    """What is said of one block's messages, or of the bucket.

    `data` is an Arrow stream of outcomes, history rows, memories or missing plan ids; `answers` one
    of the distinct answers; `payload` and `split` come from the block, unread; `figures` counts
    what is in it.
    """

    kind: str
    messages: int = 0
    data: bytes = b""
    answers: bytes = b""
    payload: bytes = b""
    figures: str = "{}"
    split: str = ""


class Pieces:
    """The outcomes of a bucket's batch by block, window after window."""

    def __init__(self, answers: Answers, form: BlockForm, in_force: InForce | None = None) -> None:
        """None yet.

        Args:
            answers: what the codes of outcomes mean.
            form: of the blocks.
            in_force: tells the snapshot of each outcome; None = its answer does.
        """
        self._in_force = in_force
        self._answers = answers
        self._form = form
        self._of_block: dict[int, list[tuple[NDArray[Any], ...]]] = {}

    def add(
        self,
        block: NDArray[np.int32],
        code: NDArray[np.int64],
        outcomes: Sequence[NDArray[Any]],
    ) -> None:
        """Give each block its outcomes of a window, in routed order.

        Args:
            block: (outcomes,) the block of each.
            code: (outcomes,) code of the answer.
            outcomes: (outcomes,) put_seq, put_time, row of the block, out_of_order.
        """
        if block[0] == block[-1] and bool(np.all(block == block[0])):
            self._of_block.setdefault(int(block[0]), []).append((*outcomes, code))
            return
        by_block = np.argsort(block, kind="stable")
        ends = np.nonzero(np.diff(block[by_block]))[0] + 1
        for part in np.split(by_block, ends):
            pieces = self._of_block.setdefault(int(block[part[0]]), [])
            pieces.append((*(x[part] for x in outcomes), code[part]))

    def routed(self, at: int, messages: int, spool: Spool, own_opens: int = 0) -> RoutedBlock:
        """All that is said of a block, whose last message is routed.

        Args:
            at: number of the block.
            messages: of it that were routed, one at least.
            spool: has the block.
            own_opens: messages put ON_OPEN that name no open.
        """
        pieces = self._of_block.pop(at)
        put_seq, put_time, row, late, code = (
            pieces[0]
            if len(pieces) == 1
            else (np.concatenate(x) for x in zip(*pieces, strict=True))
        )
        distinct, codes = pd.factorize(code)
        said = self._answers.said(codes)
        answer = said.row[distinct]
        figures = {
            "outcomes": len(answer),
            "out_of_order": int(late.sum()),
            "own_opens": own_opens,
            "by_reason": _by_reason(said.reason, answer),
            "peak_mib": peak_mib(),
        }
        data = pa.Table.from_arrays(
            [pa.array(x) for x in (put_seq, put_time, row, answer, late)], schema=_OUTCOME_SCHEMA
        )
        data = data.select(self._form.told or data.column_names)
        if self._in_force is not None:
            data = data.append_column(c.SNAPSHOT_ID, self._in_force.words(put_time))
        return RoutedBlock(
            KIND_OUTCOMES,
            messages,
            to_ipc(data),
            said.answers,
            spool.payload(at),
            json.dumps(figures),
            spool.blocks[at].split,
        )


def _by_reason(reason: NDArray[np.int32], answer: NDArray[np.int32]) -> dict[str, int]:
    """Outcomes by reason, of (outcomes,) answers whose (answers,) reasons are known."""
    counts = np.bincount(answer, minlength=len(reason))
    met = np.unique(reason[counts > 0])
    return {str(x): int(counts[reason == x].sum()) for x in met}
