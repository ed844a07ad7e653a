"""What a run of Spark's knows of duplicates: asked for by a batch, and told when it is tried again.

The batch's keys are not looked at before it is routed: what buckets ask for (`duplicates`) is left
in a note, looked up, and the batch is routed once more, which nothing but duplicates and messages
that come late make it do.
"""

from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.routing.intake.duplicates import ASKED, IS_TWICE, by_qmgr, set_aside_of
from clwl_spark.routing.intake.routed_before import routed_before
from clwl_spark.routing.ledger.run_record import Run
from clwl_spark.routing.notes import Note
from clwl_spark.spark.frames import frame_from_arrow
from clwl_spark.tables import columns as c

TOLD: Final = "told"
_KEYS: Final = f"{c.QMGR} string, {c.PUT_SEQ} bigint, {c.MESSAGE_ID} binary, {IS_TWICE} boolean"
_TOLD: Final = pa.schema([(c.QMGR, pa.string()), (TOLD, pa.binary())])


class DuplicateNotes:
    """What is known of a batch's duplicates.

    Attributes:
        note: where the batch leaves what it asks for.
        set_aside: (duplicates.KEY) keys of which some message is a duplicate; None = none is
            known.
    """

    def __init__(self, lake: Lake, run: Run) -> None:
        """Nothing is known yet."""
        self.note = Note(lake, run, "duplicates", _KEYS)
        self.set_aside: DataFrame | None = None
        self._lake = lake
        self._run = run
        self._told: DataFrame | None = None

    def look_up(self) -> None:
        """Find out what the batch has asked for."""
        asked = self.note.read().toArrow().cast(ASKED)
        routed = routed_before(self._lake, self._run, asked)
        told = by_qmgr(asked, routed)
        spark = self._lake.spark
        table = pa.table([[*told], [*told.values()]], schema=_TOLD)
        self._told = frame_from_arrow(spark, table)
        self.set_aside = frame_from_arrow(spark, set_aside_of(asked, routed))

    def with_told(self, facts: DataFrame) -> DataFrame:
        """Facts, with what the bucket of each queue manager is told; null = it has not asked.

        Grain: one row per queue manager, before and after.
        """
        if self._told is None:
            return facts.withColumn(TOLD, F.lit(None).cast("binary"))
        return facts.join(self._told, c.QMGR, "left")
