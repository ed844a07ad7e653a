"""What a batch of a stream leaves for the process that has started the stream.

With Spark Connect the two are processes of different machines: all that goes from one to the other
is what is written where the lake's checkpoint is.
"""

from dataclasses import dataclass

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.routing.ledger.run_record import Run
from clwl_spark.spark.files import without_patterns
from clwl_spark.spark.frames import frame_from_rows
from clwl_spark.tables import columns as c


@dataclass(frozen=True, slots=True)
class Note:
    """Rows of the last batch that left some, in a folder beside the checkpoint.

    Attributes:
        lake: whose checkpoint it is.
        run: whose batch it is; what another run's has left is not seen.
        name: of the folder.
        schema: of the rows.
    """

    lake: Lake
    run: Run
    name: str
    schema: str

    def write(self, rows: DataFrame) -> None:
        """Leave rows instead of those that are there."""
        of_run = rows.withColumn(c.RUN_ID, F.lit(self.run.run_id))
        of_run.write.mode("overwrite").parquet(self._folder)

    def read(self) -> DataFrame:
        """What the run's batch has left; nothing, if there was none."""
        spark = self.lake.spark
        try:
            reader = spark.read.schema(f"{self.schema}, {c.RUN_ID} string")
            found = reader.parquet(without_patterns(self._folder))
            of_run = found.where(F.col(c.RUN_ID) == self.run.run_id).drop(c.RUN_ID)
            # With Spark Connect, this is what looks whether the folder is there.
            return of_run.select(of_run.columns)
        except AnalysisException as error:
            if error.getCondition() != "PATH_NOT_FOUND":
                raise
            return frame_from_rows(spark, [], self.schema)

    @property
    def _folder(self) -> str:
        return f"{self.lake.checkpoint_root}/{self.name}-{self.run.router_id}"
