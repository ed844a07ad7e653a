"""A world that was routed batch by batch, as it was after each of them."""

from pathlib import Path

from damaged_lakes import copied, routed_world, tables
from pyspark.sql import SparkSession


class Routed:
    """A world whose first batches are routed, each by a run of its own.

    Attributes:
        world: its lake goes on with tests.
        lake: after all of the batches.
        after: copies of it, after each batch but the last one.
        expected: the rows of its tables.
    """

    def __init__(self, spark: SparkSession, folder: Path, batches: int) -> None:
        self.world = routed_world(spark, folder / "lake", 1)
        self.lake = self.world.lake
        self.after = []
        for at in range(1, batches):
            self.after.append(copied(self.lake, folder / str(at)))
            self.world.append("messages", self.world.batch(at), files=2)
            self.world.route()
        self.expected = tables(self.lake)
