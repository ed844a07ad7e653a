"""Routed blocks become rows again: outcomes, rejected messages, history; runs in `mapInArrow`."""

import json
from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa

from clwl_spark.routing.intake.blocks import PAYLOAD, REJECT, from_ipc
from clwl_spark.routing.output.routed import ANSWER, ROW
from clwl_spark.routing.state.answers import with_words
from clwl_spark.tables import BALANCE_HISTORY, OUTCOMES
from clwl_spark.tables import columns as c

DATA: Final = "data"
ANSWERS: Final = "answers"
_TIMESTAMP: Final = pa.timestamp("us", tz="UTC")


def unpack_outcomes(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """One row per block in, one row per outcome out (`schemas.OUTCOMES`)."""
    for batch in batches:
        for at in range(batch.num_rows):
            data, answers, payload = (
                from_ipc(batch.column(name)[at].as_buffer()) for name in (DATA, ANSWERS, PAYLOAD)
            )
            yield from _outcomes(data, answers, payload)


def unpack_history(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """One row per bucket in, one row per channel out (`schemas.BALANCE_HISTORY`)."""
    for batch in batches:
        for data in batch.column(DATA):
            yield from from_ipc(data.as_buffer()).select(BALANCE_HISTORY.names).to_batches()


def unpack_rejects(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """One row per block in, one row per rejected message out: a JSON document each."""
    for batch in batches:
        for payload in batch.column(PAYLOAD):
            yield from from_ipc(payload.as_buffer()).select([REJECT]).to_batches()


def missing_plan_ids(data: bytes) -> list[int]:
    """The plan ids of a block that says which plans are missing."""
    ids: list[int] = from_ipc(data)[c.PLAN_ID].to_pylist()
    return ids


def figures(text: str) -> dict[str, Any]:
    """The counts of a block."""
    counts: dict[str, Any] = json.loads(text)
    return counts


def _outcomes(data: pa.Table, answers: pa.Table, payload: pa.Table) -> Iterator[pa.RecordBatch]:
    """The outcomes of one block; rows are in routed order."""
    said = with_words(answers).take(data[ANSWER])
    ids = payload[c.MESSAGE_ID].take(data[ROW])
    columns = {
        **{name: said[name] for name in answers.column_names},
        c.PUT_SEQ: data[c.PUT_SEQ],
        c.MESSAGE_ID: ids,
        c.PUT_TIME: data[c.PUT_TIME].cast(_TIMESTAMP),
        c.OUT_OF_ORDER: data[c.OUT_OF_ORDER],
    }
    if c.SNAPSHOT_ID in data.column_names:
        columns[c.SNAPSHOT_ID] = data[c.SNAPSHOT_ID].cast(pa.string())
    yield from pa.table({name: columns[name] for name in OUTCOMES.names}).to_batches()
