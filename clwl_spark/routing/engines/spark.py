"""Messages become blocks and blocks become outcomes by Spark: whatever it can read and write."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.delta.protocol import Transaction
from clwl_spark.routing.intake.blocks import (
    BLOCK_SCHEMA,
    PAYLOAD,
    REJECT,
    WITH_IDS,
    BlockForm,
    pack,
)
from clwl_spark.routing.intake.by_spark import JSON_OPTIONS, distinct_requests, for_blocks
from clwl_spark.routing.ledger.run_record import Run
from clwl_spark.routing.output.unpack import ANSWERS, DATA, unpack_outcomes, unpack_rejects
from clwl_spark.snapshots.catalog import Pin
from clwl_spark.tables import OUTCOMES, REJECTED_MESSAGES


def _packed(
    buckets: int, rows_per_byte: float, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Messages that came through Spark, in blocks."""
    return pack(batches, buckets, rows_per_byte)


@dataclass(frozen=True, slots=True)
class SparkEngine:
    """Rows travel through Spark; any table that Spark can read and write will do.

    Attributes:
        partitions: in which outcomes are written.
        name: of the engine, for summaries.
        form: what its blocks carry beside their keys.
    """

    partitions: int
    name: ClassVar[str] = "spark"
    form: ClassVar[BlockForm] = WITH_IDS

    def asking(self, messages: DataFrame, pins: Sequence[Pin]) -> DataFrame:  # noqa: ARG002
        """The stream of messages as far as `requests` wants to see it."""
        return messages

    def requests(self, asking: DataFrame, pins: Sequence[Pin]) -> DataFrame:
        """The distinct requests of a batch of `asking`: one row per (plan_id, *REQUEST)."""
        return distinct_requests(asking, pins)

    def blocks(
        self,
        messages: DataFrame,
        run: Run,
        rows_per_byte: float,
        set_aside: DataFrame | None = None,
        carried: Sequence[str] = (),
    ) -> DataFrame:
        """The stream of messages in blocks (BLOCK_SCHEMA), each with its `empty_rows`.

        Args:
            messages: rows of `messages`.
            run: whose snapshots and buckets they are.
            rows_per_byte: as for `empty_rows`.
            set_aside: keys (`duplicates.KEY`) of which some message is a duplicate.
            carried: columns that the choice asks for beside keys and message ids.
        """
        packed = partial(_packed, run.buckets, rows_per_byte)
        found = for_blocks(messages, run.pins, set_aside, carried)
        return found.mapInArrow(packed, BLOCK_SCHEMA)

    def write_outcomes(
        self,
        lake: Lake,
        blocks: DataFrame,
        splits: Iterable[str],  # noqa: ARG002
        once: Transaction,
    ) -> None:
        """Append the outcomes of routed blocks to the lake, once."""
        outcomes = (
            blocks.select(DATA, ANSWERS, PAYLOAD)
            .repartition(self.partitions)
            .mapInArrow(unpack_outcomes, OUTCOMES.schema)
        )
        lake.append(OUTCOMES.name, outcomes, once)

    def rejected(self, blocks: DataFrame) -> DataFrame:
        """Rejected messages of reject blocks, with all their columns but `rejected_at`."""
        documents = blocks.select(PAYLOAD).mapInArrow(unpack_rejects, f"{REJECT} string")
        parsed = F.from_json(REJECT, REJECTED_MESSAGES.schema, JSON_OPTIONS).alias("row")
        return documents.select(parsed).select("row.*")
