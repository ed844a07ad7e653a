"""Whether a lake is routed without Spark, told before anything of an engine is loaded.

Every command asks, and most route nothing.
"""

from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from clwl_spark.delta.commits import unreadable, unwritable
from clwl_spark.delta.files import greatest_rows, is_absent, is_uri
from clwl_spark.delta.protocol import is_odd_place, odd_place, opened
from clwl_spark.routing.ledger.runs import DONE, RUNNING
from clwl_spark.settings import Settings
from clwl_spark.tables import MESSAGES, OUTCOMES, RUNS

IN_CHECKPOINT: Final = (
    "what was routed and what its queue managers remember is known to a checkpoint of Spark's alone"
)
_ASKED: Final = (MESSAGES, OUTCOMES, RUNS)
_KNOWN_BY: Final = {DONE: "messages_version", RUNNING: "messages_from"}
"""Columns of `runs` that say what is taken, by the status of the last run."""


def why_spark_routes(settings: Settings) -> str:
    """Why Spark has to route a lake in a folder of this machine; '' = it need not, or is not one.

    Args:
        settings: say where the lake is, and `embedded_messages`.
    """
    if settings.catalog or is_uri(settings.lake):
        return ""
    messages, outcomes, runs = (str(Path(settings.lake, x.name)) for x in _ASKED)
    if is_absent(messages):
        return ""
    last = greatest_rows(runs, "batch_id")
    row = last.to_pylist()[0] if last is not None and last.num_rows else None
    if row is not None and row.get(_KNOWN_BY[row["status"]]) is None:
        return IN_CHECKPOINT
    count = count_waiting(messages, runs)
    if count > settings.embedded_messages:
        most = f"embedded_messages = {settings.embedded_messages:,}"
        return f"{count:,} messages are to be routed, more than {most}"
    return unfit_here(messages, outcomes)


def count_waiting(messages: str, runs: str) -> int:
    """About how many messages are not routed yet, as Delta's log and the runs count them."""
    table, done = opened(messages), opened(runs)
    if table is None:
        return 0
    rows = pa.table(table.get_add_actions())["num_records"].to_pylist()
    routed = 0
    if done is not None:
        counts = done.to_pyarrow_dataset().to_table(["messages"])
        routed = pc.sum(counts["messages"]).as_py() or 0
    return max(sum(x or 0 for x in rows) - routed, 0)


def unfit_here(messages: str, outcomes: str) -> str:
    """Why this process cannot read messages from one folder, or write outcomes to another."""
    if is_odd_place(messages):
        return odd_place(messages)
    return unreadable(messages, MESSAGES) or (
        unwritable(outcomes, OUTCOMES) if Path(outcomes).exists() else ""
    )
