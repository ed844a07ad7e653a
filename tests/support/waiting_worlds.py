"""Small routed lakes with messages that wait, for tests of re-allocation and switching."""

from pathlib import Path
from typing import Any

from lakes import lake_with, made_once
from pyspark.sql import SparkSession
from worlds import put_rows

from clwl_spark.algorithm.semantics import Semantics
from clwl_spark.delta.lake import Lake
from clwl_spark.mq.vocabulary import Edition
from clwl_spark.routing.run import RouteOptions, route

Row = dict[str, Any]
FIRST = Semantics(edition=Edition.FIRST)
SECOND = Semantics(edition=Edition.SECOND)


def routed_lake(
    spark: SparkSession,
    folder: Path,
    tables: dict[str, list[Row]],
    messages: list[Row],
    semantics: Semantics = FIRST,
) -> Lake:
    """A lake of these rows, routed; of the first edition, in which all that was put waits."""
    rows = {**tables, "messages": messages}

    def routed(made: Path) -> None:
        lake = lake_with(spark, made)
        for name, found in rows.items():
            put_rows(lake, name, found)
        route(lake, RouteOptions(state_partitions=2, wanted=semantics.wanted))

    return made_once(spark, folder, ("routed", rows, semantics), routed)
