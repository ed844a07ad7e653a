"""The exit that is asked for each message: told what the algorithm chose, it may choose otherwise.

A function of an Arrow table returns which rows are taken. The table has a row for each destination
of each choice, choice by choice, with the message's columns, the destination's, the sequence number
and factor of its channel, and which row the algorithm chose.

Source: Hughson's deck, "Workload management features"; SEMANTICS 5 (DestSeqNumber, DestSeqFactor).
"""

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from clwl_spark.errors import ExitFunctionError
from clwl_spark.routing.intake.blocks import BIND_CODES, TOLD_TO_EXIT
from clwl_spark.routing.state.asking import Standing
from clwl_spark.routing.state.bucket_plans import BucketPlans
from clwl_spark.routing.state.spool import Slice
from clwl_spark.routing.state.window import Payloads, Window
from clwl_spark.rules.named import named_function
from clwl_spark.tables import columns as c

CHOICE: Final = "choice"
IS_DEFAULT: Final = "is_default"
DESTINATIONS: Final = pa.schema(
    [
        (CHOICE, pa.int64()),
        (c.QMGR, pa.string()),
        (c.PUT_SEQ, pa.int64()),
        (c.MESSAGE_ID, pa.binary()),
        (c.PUT_TIME, pa.timestamp("us", "UTC")),
        (c.OBJECT_TYPE, pa.string()),
        (c.OBJECT_NAME, pa.string()),
        (c.OBJECT_QMGR, pa.string()),
        (c.BIND, pa.string()),
        (c.OPEN_ID, pa.int64()),
        (c.GROUP_ID, pa.binary()),
        (c.LOGICAL_ORDER, pa.bool_()),
        (c.VIA, pa.string()),
        (c.PERSISTENT, pa.bool_()),
        (c.MSG_LENGTH, pa.int32()),
        (c.SCOPE, pa.string()),
        (c.SNAPSHOT_ID, pa.string()),
        (c.PLAN_ID, pa.int64()),
        (c.DEST_QMGR, pa.string()),
        (c.DEST_OBJECT, pa.string()),
        (c.CHANNEL, pa.string()),
        (c.CHANNEL_CLUSTER, pa.string()),
        (c.IS_LOCAL, pa.bool_()),
        (c.CLWLWGHT, pa.int64()),
        (c.DEST_SEQ_NUMBER, pa.int64()),
        (c.DEST_SEQ_FACTOR, pa.int64()),
        (IS_DEFAULT, pa.bool_()),
    ]
)
"""What an exit is given: a row per destination of a choice; choices count from 0 in each table."""

_PLAN: Final = "place of the plan"
_OF_MESSAGE: Final = (c.PUT_SEQ, c.PUT_TIME, c.MESSAGE_ID, c.OPEN_ID, c.GROUP_ID, *TOLD_TO_EXIT)
_OF_KEYS: Final = (c.BIND, c.OPEN_ID, c.GROUP_ID)
_OF_PLAN: Final = (c.OBJECT_TYPE, c.OBJECT_NAME, c.OBJECT_QMGR, c.SNAPSHOT_ID, c.PLAN_ID)
_OF_ROUTE: Final = (c.DEST_QMGR, c.DEST_OBJECT, c.CHANNEL, c.CHANNEL_CLUSTER, c.IS_LOCAL)
_WORDS: Final = {code: word for word, code in BIND_CODES.items()}


class Told:
    """What came with a window's messages, for an exit."""

    def __init__(self, slices: Sequence[Slice], payloads: Payloads) -> None:
        """Of these slices."""
        self._slices = {x.block: x for x in slices}
        self._payloads = payloads

    def of(self, window: Window) -> pa.Table:
        """Grain: one row per message of the window: what came with it, its plan and its keys."""
        order = np.argsort(window.block, kind="stable")
        starts = np.flatnonzero(np.diff(window.block[order], prepend=-1))
        parts = [self._keys(window, rows) for rows in np.split(order, starts[1:])]
        back = np.empty(len(order), dtype=np.int64)
        back[order] = np.arange(len(order))
        keys = pa.concat_tables(parts).take(pa.array(back))
        passed = self._payloads.passed_of(window, [c.MESSAGE_ID, *TOLD_TO_EXIT])
        times = pa.array(window.put_time).cast(pa.timestamp("us", "UTC"))
        put_seq = pa.array(window.put_seq)
        names = [c.PUT_SEQ, c.PUT_TIME, _PLAN, *passed.column_names, *_OF_KEYS]
        plan = pa.array(window.plan)
        return pa.table([put_seq, times, plan, *passed.columns, *keys.columns], names=names)

    def _keys(self, window: Window, rows: NDArray[np.int64]) -> pa.Table:
        """The keys of messages of one block."""
        block = self._slices[int(window.block[rows[0]])]
        keys = block.keys.select(_OF_KEYS).take(pa.array(window.row[rows] - block.start))
        types = [pa.int64(), pa.int64(), pa.binary()]
        columns = [
            x.combine_chunks().cast(kind) for x, kind in zip(keys.columns, types, strict=True)
        ]
        return pa.table(columns, names=list(_OF_KEYS))


class MessageExit:
    """A configured function, and what it was called."""

    def __init__(self, reference: str, function: Callable[[pa.Table], Any]) -> None:
        """Of a name and its function."""
        self._reference = reference
        self._function = function

    def of(self, plans: BucketPlans, sender: int, messages: pa.Table) -> "_Asked":
        """Who is asked about the messages of one queue manager."""
        return _Asked(self, plans, sender, messages)

    def answer(self, destinations: pa.Table) -> NDArray[np.bool_]:
        """Call the function.

        Raises:
            ExitFunctionError: it raises, or does not take one destination of each choice.
        """
        try:
            said = self._function(destinations)
        except KeyError as error:
            named = re.fullmatch(r"Field \"(.*)\" does not exist in schema", str(error.args[0]))
            raise ExitFunctionError(
                f"message exit '{self._reference}' asks for column "
                f"'{named[1] if named else error.args[0]}': there are {destinations.column_names}"
            ) from error
        except Exception as error:
            raise ExitFunctionError(
                f"message exit '{self._reference}' raised {type(error).__name__}: {error}"
            ) from error
        if said is None:
            return np.array(destinations[IS_DEFAULT], dtype=np.bool_)
        return self._checked(said, destinations)

    def _checked(self, said: Any, destinations: pa.Table) -> NDArray[np.bool_]:  # noqa: ANN401
        """The answer as flags."""
        column = said.combine_chunks() if isinstance(said, pa.ChunkedArray) else said
        try:
            taken = np.array(pc.fill_null(pa.array(column), False), dtype=np.bool_)
        except (pa.ArrowException, TypeError, ValueError) as error:
            raise self._wrong(f"returned {type(said).__name__}") from error
        if len(taken) != destinations.num_rows:
            raise self._wrong(f"returned {len(taken)} flags for {destinations.num_rows} rows")
        choice = destinations[CHOICE].to_numpy()
        counts = np.bincount(choice[taken], minlength=int(choice[-1]) + 1)
        if (counts != 1).any():
            at = int(np.flatnonzero(counts != 1)[0])
            raise self._wrong(f"takes {int(counts[at])} destinations for choice {at}")
        return taken

    def _wrong(self, what: str) -> ExitFunctionError:
        return ExitFunctionError(
            f"message exit '{self._reference}' {what}: return a flag for each row of the table, "
            "true for one row of each choice, or None to leave all as they are"
        )


class _Asked:
    """Asks an exit about the messages of one queue manager (`asking.Asks`)."""

    def __init__(
        self, exit_: MessageExit, plans: BucketPlans, sender: int, messages: pa.Table
    ) -> None:
        self._exit = exit_
        self._plans = plans
        self._sender = sender
        self._messages = messages

    def __call__(self, standing: Standing) -> NDArray[np.bool_]:
        """Which destinations are taken."""
        return self._exit.answer(self._destinations(standing))

    def _destinations(self, standing: Standing) -> pa.Table:
        """Grain: one row of DESTINATIONS per row of `standing`."""
        plans = self._plans
        messages = self._messages.take(pa.array(standing.message))
        of_plan = plans.plans.take(messages[_PLAN].combine_chunks())
        place = standing.route + int(plans.first_own_route[self._sender])
        routes = plans.routes.take(pa.array(place))
        begins = (np.diff(standing.message, prepend=-1) != 0) | (
            np.diff(standing.copy, prepend=-1) != 0
        )
        words = pa.array([_WORDS.get(x) for x in range(max(_WORDS) + 1)])
        columns = {
            CHOICE: pa.array(np.cumsum(begins) - 1),
            c.QMGR: pa.repeat(plans.qmgrs[self._sender], len(place)),
            **{x: messages[x] for x in _OF_MESSAGE},
            c.BIND: words.take(messages[c.BIND].combine_chunks()),
            **{x: of_plan[x] for x in _OF_PLAN},
            **{x: routes[x] for x in _OF_ROUTE},
            c.CLWLWGHT: pa.array(plans.weight[place]),
            c.DEST_SEQ_NUMBER: pa.array(standing.number),
            c.DEST_SEQ_FACTOR: pa.array(standing.factor),
            IS_DEFAULT: pa.array(standing.is_default),
        }
        return pa.table([columns[x] for x in DESTINATIONS.names], names=DESTINATIONS.names).cast(
            DESTINATIONS
        )


def load_message_exit(reference: str) -> MessageExit | None:
    """Import the function that `module:function` or `module:function:data` names; blank means none.

    Raises:
        ExitFunctionError: there is no such module or function, or it takes other arguments.
    """
    function = named_function(reference, "message exit", "a function of an Arrow table")
    return None if function is None else MessageExit(reference, function)
