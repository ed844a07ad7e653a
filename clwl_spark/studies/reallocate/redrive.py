"""The waiting messages of one queue manager meet its events, one event after the other; no Spark.

Events of one queue manager are sequential, as messages are: each begins with the history, and with
the messages where they are, that the one before it left. Choosing is routing's own kernel.

Memory: about 100 bytes for each waiting message of the queue manager, its message id included.

Source: SEMANTICS 8, P22, P27, P29 to P32.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from clwl_spark.algorithm.choose import NOT_CHOSEN
from clwl_spark.errors import LakeStateError
from clwl_spark.mq.vocabulary import LARGEST_STEP
from clwl_spark.planning.facts import FACTS, PLANS, read_document
from clwl_spark.routing.intake.blocks import to_ipc
from clwl_spark.routing.state.answers import Named
from clwl_spark.routing.state.bucket_plans import read_facts
from clwl_spark.studies.reallocate.choosing import choose
from clwl_spark.studies.reallocate.ends import (
    NOWHERE,
    Ends,
    Names,
    counts_of,
    gathered,
    left_alone,
    result_of,
)
from clwl_spark.studies.reallocate.waiting import (
    INELIGIBLE,
    IS_PUBLICATION,
    REASONS,
    REQUEST_KEY,
)
from clwl_spark.tables import columns as c
from clwl_spark.tables import waiting as w

ROWS_AT_A_TIME: Final = 100_000
NAMED_QMGR: Final = REASONS.index(w.IneligibleReason.NAMED_QMGR)


@dataclass(frozen=True, slots=True)
class EventBlock:
    """Rows of one event as an Arrow stream; the last block of each event has its figures."""

    data: bytes
    figures: str = ""


class Redrive:
    """One queue manager's waiting messages, and its history as it goes from event to event."""

    def __init__(self, qmgr: str, messages: pa.Table, documents: dict[str, str | None]) -> None:
        """Take the messages, in transmission queue order.

        Args:
            qmgr: the queue manager.
            messages: columns of `waiting.waiting_messages`, by (put_seq, message_id).
            documents: JSON of `facts`, `situations`, `events` and `past`.
        """
        self._messages = messages
        events = json.loads(documents["events"] or "[]")
        self._events: list[dict[str, Any]] = events
        self._past: dict[str, Any] = json.loads(documents["past"] or "{}")
        self._read_plans(qmgr, documents)
        self._channels, self._queues = Names([]), Names([])
        self._channel = self._channels.codes(messages[c.CHANNEL])
        self._xmitq = self._queues.codes(messages[c.XMITQ])
        self._put_time = messages[c.PUT_TIME].to_numpy().copy()
        self._ineligible = messages[INELIGIBLE].to_numpy()
        self._is_publication = messages[IS_PUBLICATION].to_numpy()
        self._keys, self._request = np.unique(messages[REQUEST_KEY].to_numpy(), return_inverse=True)

    def run(self) -> Iterator[EventBlock]:
        """Run the events in order."""
        for event in self._events:
            yield from self._run(event)

    def _read_plans(self, qmgr: str, documents: dict[str, str | None]) -> None:
        """Plans, the situations that they are for, and the history over their channels."""
        found = read_document(documents[FACTS])
        plans = read_facts({qmgr: found}, sorted(set(found[PLANS][c.SNAPSHOT_ID])))
        self._index = plans.index
        self._choices = plans.choices_of(0)
        self._to = plans.channels_of(0)
        self._named = Named(plans)
        self._plan_of: dict[tuple[str, str, str], dict[int, dict[str, Any]]] = {}
        for row in json.loads(documents["situations"] or "[]"):
            key = (row[c.SNAPSHOT_ID], row["stopped_channel"], row["stopped_status"])
            self._plan_of.setdefault(key, {})[row["request_key"]] = row
        known = {(to, channel): values for to, channel, *values in self._past.get("balance", [])}
        rows = [known.get(channel, [0, 0]) for channel in self._to]
        self._balance = np.array(rows, dtype=np.int64).reshape(len(rows), 2)
        self._counter = np.array([self._past.get("counter", 0)], dtype=np.int64)

    def _run(self, event: dict[str, Any]) -> Iterator[EventBlock]:
        """Run one event: who waits, who chooses, what they choose, where they then are."""
        if event[w.EVENT_ID] in self._past.get("resetting", []):
            self._balance[:, 1] = 0
        channel = self._channels.code(event[c.CHANNEL])
        waits = self._waiting(event, channel)
        rows = self._plan_of.get((event[c.SNAPSHOT_ID], event[c.CHANNEL], event[c.STATUS]), {})
        ineligible = self._why_not(waits, rows)
        choosing = waits[ineligible == 0]
        plan = self._plan_index(choosing, rows)
        before = int(self._counter[0])
        chosen = choose(plan, self._choices, self._counter, self._balance)
        ends = self._ends(ineligible, plan, chosen, event[c.CHANNEL], rows)
        from_xmitq = self._xmitq[waits]
        moved = ends.moved[ends.answer]
        self._channel[waits] = np.where(moved, ends.channel[ends.answer], channel)
        self._xmitq[waits] = np.where(moved, ends.xmitq[ends.answer], from_xmitq)
        self._put_time[waits[ends.put_again[ends.answer]]] = event[w.AT]
        figures = json.dumps(
            {w.EVENT_ID: event[w.EVENT_ID]}
            | counts_of(ends)
            | {"choices": self._added(chosen), w.CHOICES_MADE: int(self._counter[0]) - before}
        )
        starts = range(0, max(len(waits), 1), ROWS_AT_A_TIME)
        for start in starts:
            part = slice(start, start + ROWS_AT_A_TIME)
            rows_of = self._rows(event, waits[part], ends, ends.answer[part], from_xmitq[part])
            yield EventBlock(to_ipc(rows_of), figures if start == starts[-1] else "")

    def _waiting(self, event: dict[str, Any], channel: int) -> NDArray[np.int64]:
        """(waiting,) the channel's messages that wait at an event, in order (SEMANTICS 8)."""
        there = (self._channel == channel) & (self._put_time <= event[w.AT])
        if event.get(w.PUT_FROM) is not None:
            there &= self._put_time >= event[w.PUT_FROM]
        found: NDArray[np.int64] = np.nonzero(there)[0]
        last = event.get(c.BACKLOG)
        return found if last is None else found[max(len(found) - last, 0) :]

    def _why_not(
        self, waits: NDArray[np.int64], rows: dict[int, dict[str, Any]]
    ) -> NDArray[np.int8]:
        """(waiting,) code of `REASONS`; a topic that is DIRECT now names a queue manager (P31)."""
        said: NDArray[np.int8] = self._ineligible[waits].copy()
        is_direct = np.array([bool(rows.get(int(x), {}).get("is_direct")) for x in self._keys])
        if is_direct.any():
            names = self._is_publication[waits] & is_direct[self._request[waits]]
            said[names & ((said == 0) | (said > NAMED_QMGR))] = NAMED_QMGR
        return said

    def _plan_index(
        self, choosing: NDArray[np.int64], rows: dict[int, dict[str, Any]]
    ) -> NDArray[np.int32]:
        """(choosing,) index of each message's plan in this situation."""
        index = self._index
        ids = [rows.get(int(x), {}).get(c.PLAN_ID, 0) for x in self._keys]
        of_request = np.array([index.get(x, NOWHERE) for x in ids] or [0], dtype=np.int32)
        plan = of_request[self._request[choosing]]
        if (plan == NOWHERE).any():
            raise LakeStateError(
                "waiting messages ask for plans that were not made: was something routed or "
                "deleted meanwhile? run the command again"
            )
        return plan

    def _ends(
        self,
        ineligible: NDArray[np.int8],
        plan: NDArray[np.int32],
        chosen: NDArray[np.int64],
        stopped: str,
        rows: dict[int, dict[str, Any]],
    ) -> Ends:
        """What became of each waiting message, by distinct (reason, plan, route)."""
        code = -ineligible.astype(np.int64)
        free = np.zeros(len(plan), dtype=np.bool_)
        code[ineligible == 0] = self._named.codes(plan, None, chosen, free)
        answer, unique = pd.factorize(code)
        deciding = {row[c.PLAN_ID]: row.get(w.DECIDING_RULE) for row in rows.values()}
        answers = iter(self._named.answers(unique[unique >= 0]).to_pylist())
        results = [
            left_alone(REASONS[-value])
            if value < 0
            else result_of(next(answers), stopped, deciding)
            for value in unique.tolist()
        ]
        return gathered(answer, results, self._channels, self._queues)

    def _added(self, chosen: NDArray[np.int64]) -> list[list[Any]]:
        """[dest_qmgr, channel, chosen, last, factor] of each channel that the event chose."""
        made = chosen[chosen != NOT_CHOSEN]
        channel = self._choices.channel[made]
        size = len(self._to)
        count = np.bincount(channel, minlength=size)
        factor = np.bincount(
            channel, weights=LARGEST_STEP // self._choices.weight[made], minlength=size
        )
        last = np.zeros(size, dtype=np.int64)
        last[channel] = np.arange(1, len(made) + 1)
        return [
            [*self._to[at], int(count[at]), int(last[at]), int(factor[at])]
            for at in np.nonzero(count)[0].tolist()
        ]

    def _rows(
        self,
        event: dict[str, Any],
        waits: NDArray[np.int64],
        ends: Ends,
        answer: NDArray[np.int64],
        from_xmitq: NDArray[np.int32],
    ) -> pa.Table:
        """Rows of `reallocations` less what is the same for the whole event."""
        of_message = self._messages.select(
            [c.MESSAGE_ID, c.PUT_SEQ, c.PLAN_ID, w.MESSAGE_KEY, w.DUPLICATE]
        ).take(pa.array(waits))
        said = ends.said.take(pa.array(answer))
        same = {
            w.EVENT_ID: pa.repeat(event[w.EVENT_ID], len(waits)),
            w.FROM_CHANNEL: pa.repeat(event[c.CHANNEL], len(waits)),
            w.AT: pa.repeat(pa.scalar(event[w.AT], pa.int64()), len(waits)),
            w.EVENT_NUMBER: pa.repeat(pa.scalar(event["number"], pa.int64()), len(waits)),
        }
        placed = {
            w.TO_CHANNEL: self._channels.column(self._channel[waits]),
            w.FROM_XMITQ: self._queues.column(from_xmitq),
            w.TO_XMITQ: self._queues.column(self._xmitq[waits]),
        }
        columns = [{x: t[x] for x in t.column_names} for t in (of_message, said)]
        return pa.table({**columns[0], **columns[1], **same, **placed}).combine_chunks()
