"""Whether a lake is routed without Spark, told before anything of an engine is loaded.

Every command asks, and most route nothing.
"""

from dataclasses import dataclass
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from clwl_spark.delta.commits import unreadable, unwritable
from clwl_spark.delta.files import greatest_rows, is_absent
from clwl_spark.delta.protocol import is_odd_place, odd_place, opened, rows_of
from clwl_spark.routing.ledger.runs import DONE, RUNNING
from clwl_spark.settings import Settings
from clwl_spark.storage.places import is_store, is_uri, joined
from clwl_spark.tables import MESSAGES, OUTCOMES, RUNS

IN_CHECKPOINT: Final = (
    "what was routed and what its queue managers remember is known to a checkpoint of Spark's alone"
)
_ASKED: Final = (MESSAGES, OUTCOMES, RUNS)
_KNOWN_BY: Final = {DONE: "messages_version", RUNNING: "messages_from"}
"""Columns of `runs` that say what is taken, by the status of the last run."""


HERE_ROWS: Final = 2_000_000
"""Up to so many messages are routed within the process: workers take longer to start."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """What is known of a lake's messages before anything of an engine is loaded.

    Attributes:
        only_spark: why Spark has to route them; '' = it need not.
        messages: about how many are not routed yet; 0 where that is not known.
    """

    only_spark: str = ""
    messages: int = 0

    @property
    def is_for_workers(self) -> bool:
        """Whether there are so many that worker processes route them."""
        return self.messages > HERE_ROWS


def waiting_messages(settings: Settings) -> Waiting:
    """What waits in a lake; nothing is known of one that is in no folder of this machine.

    Args:
        settings: say where the lake is, and `embedded_messages`.
    """
    if settings.catalog or (is_uri(settings.lake) and not is_store(settings.lake)):
        return Waiting()
    messages, outcomes, runs = (joined(settings.lake, x.name) for x in _ASKED)
    if is_absent(messages):
        return Waiting()
    last = greatest_rows(runs, "batch_id")
    row = last.to_pylist()[0] if last is not None and last.num_rows else None
    if row is not None and row.get(_KNOWN_BY[row["status"]]) is None:
        return Waiting(IN_CHECKPOINT)
    count = count_waiting(messages, runs)
    if count > settings.embedded_messages:
        most = f"embedded_messages = {settings.embedded_messages:,}"
        return Waiting(f"{count:,} messages are to be routed, more than {most}", count)
    return Waiting(unfit_here(messages, outcomes), count)


def count_waiting(messages: str, runs: str) -> int:
    """About how many messages are not routed yet, as Delta's log and the runs count them."""
    table, done = opened(messages), opened(runs)
    if table is None:
        return 0
    rows = pa.table(table.get_add_actions())["num_records"].to_pylist()
    routed = 0
    if done is not None:
        counts = rows_of(done).to_table(["messages"])
        routed = pc.sum(counts["messages"]).as_py() or 0
    return max(sum(x or 0 for x in rows) - routed, 0)


def unfit_here(messages: str, outcomes: str) -> str:
    """Why this process cannot read messages from one folder, or write outcomes to another."""
    if is_odd_place(messages):
        return odd_place(messages)
    return unreadable(messages, MESSAGES) or (
        "" if is_absent(outcomes) else unwritable(outcomes, OUTCOMES)
    )
