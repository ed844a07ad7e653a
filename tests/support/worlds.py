"""Random clusters of many cases in one lake, routed by the package and by the reference."""

import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from lakes import lake_with
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructField, StructType
from random_clusters import Case, merged_tables, random_case
from reference import Reference

from clwl_spark.algorithm.semantics import Semantics
from clwl_spark.delta.lake import Lake
from clwl_spark.mq.vocabulary import Algorithm, Edition, NullOpenId
from clwl_spark.routing.run import RouteOptions, route
from clwl_spark.spark.frames import frame_from_rows
from clwl_spark.tables import OUTCOMES, TABLES

Row = dict[str, Any]
COMPARED: Final = [name for name in OUTCOMES.names if name != "plan_id"]
CANDIDATE: Final = (
    "dest_qmgr",
    "dest_object",
    "channel",
    "instance_cluster",
    "channel_cluster",
    "is_local",
    "is_alias",
    "status_tier",
    "eliminated_by",
)


def random_cases(seed: int, cases: int, edition: int = 1) -> list[Case]:
    """As many random cases, told apart by the prefix of their names."""
    return [
        random_case(random.Random(seed * 100_000 + at), f"C{at:03d}.", edition=edition)
        for at in range(cases)
    ]


class World:
    """Cases in one lake, and a reference for each, by one edition of SEMANTICS."""

    edition: int = 1
    null_open_id: str = "own"

    def __init__(
        self, lake: Lake, cases: Sequence[Case] = (), algorithm: str = "v9", edition: int = 1
    ) -> None:
        self.lake = lake
        self.spark = lake.spark
        self.cases = cases
        self.algorithm = algorithm
        self.edition = edition
        self.references = [
            Reference(case.tables, algorithm=algorithm, edition=edition) for case in cases
        ]

    @classmethod
    def made(
        cls,
        spark: SparkSession,
        folder: Path,
        cases: list[Case],
        algorithm: str,
        edition: int = 1,
    ) -> "World":
        """The cases in a new lake."""
        world = cls(lake_with(spark, folder), cases, algorithm, edition)
        for name, rows in merged_tables(cases).items():
            put_rows(world.lake, name, rows)
        return world

    @classmethod
    def random(
        cls,
        spark: SparkSession,
        folder: Path,
        seed: int,
        cases: int,
        algorithm: str,
        edition: int = 1,
    ) -> "World":
        return cls.made(spark, folder, random_cases(seed, cases, edition), algorithm, edition)

    def sharing_null_opens(self) -> "World":
        """The same world, whose messages without an open_id share one open."""
        self.null_open_id = "shared"
        for reference in self.references:
            reference.null_open_id = "shared"
        return self

    def append(self, name: str, rows: list[Row], files: int = 1) -> None:
        self.lake.append(name, frame(self.spark, name, rows).repartition(files))

    def batch(self, at: int) -> list[Row]:
        return [x for case in self.cases if at < len(case.batches) for x in case.batches[at]]

    def batches(self) -> range:
        return range(max(len(case.batches) for case in self.cases))

    def expected(self, at: int) -> list[Row]:
        return [
            outcome
            for case, reference in zip(self.cases, self.references, strict=True)
            if at < len(case.batches)
            for outcome in reference.route(case.batches[at])
        ]

    def route(self, **options: Any) -> Any:
        wanted = Semantics(
            Algorithm(self.algorithm), Edition(self.edition), NullOpenId(self.null_open_id)
        ).wanted
        settings = {"wanted": wanted, "state_partitions": 3} | options
        return route(self.lake, RouteOptions(**settings))

    def outcomes(self) -> Counter[tuple[Any, ...]]:
        return Counter(comparable(row.asDict()) for row in self.lake.read("outcomes").collect())

    def history(self) -> list[tuple[Any, ...]]:
        return sorted(tuple(row) for row in self.lake.read("balance_history").collect())

    def rejected(self) -> Counter[tuple[Any, ...]]:
        rows = self.lake.read("rejected_messages").collect()
        return Counter((row.qmgr, row.put_seq, row.error) for row in rows)


def put_rows(lake: Lake, name: str, rows: Sequence[Row]) -> None:
    """Append rows of a table without Spark, whose first writes take a second each."""
    names = TABLES[name].names
    lake.append(name, lake.arrow_rows(name, ([row.get(x) for x in names] for row in rows)))


def frame(spark: SparkSession, name: str, rows: list[Row]) -> DataFrame:
    """Rows of a table that a writer still gives their snapshot: keys may be null."""
    fields = [StructField(x.name, x.dataType) for x in TABLES[name].schema]
    return frame_from_rows(spark, rows, StructType(fields))


def comparable(row: Row) -> tuple[Any, ...]:
    values = (row.get(name) for name in COMPARED)
    return tuple(
        bytes(x)
        if isinstance(x, bytearray)
        else x.replace(tzinfo=None)
        if hasattr(x, "tzinfo")
        else x
        for x in values
    )
