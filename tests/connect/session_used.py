"""A session that is given, before and after somebody works on a lake with it.

Usage: session_used.py LAKE, where SPARK_REMOTE says what session.
"""

import io
import json
import sys
from contextlib import redirect_stdout
from typing import Any

from connect.sides import INGEST, messages
from pyspark.sql import SparkSession

import clwl_spark as cw
from clwl_spark.cli import main
from clwl_spark.tables import MESSAGES

OF_OTHERS = ("Delta Table State", "Spark Connect")
"""In the names of what Delta keeps in memory of the tables that it has read, and of what other
sessions of the same Java keep, until it notices that they have ended."""


def here(words: list[str]) -> Any:
    """A command with the session that is running in this process."""
    with redirect_stdout(io.StringIO()) as out:
        assert main([*words, "--json"]) == 0
    return json.loads(out.getvalue())


def state_of(spark: SparkSession) -> dict[str, Any]:
    """What somebody would find changed."""
    views = [x.name for x in spark.catalog.listTables() if x.isTemporary]
    return {
        "settings": _settings(spark),
        "views": sorted(views),
        "schema": [spark.catalog.currentCatalog(), spark.catalog.currentDatabase()],
        "is active": SparkSession.getActiveSession() is spark,
        "kept": _kept(spark),
    }


def _settings(spark: SparkSession) -> dict[str, str]:
    """The settings, without that in which Delta counts the session's commits."""
    found = {row.key: row.value for row in spark.sql("SET").collect()}
    found.pop("spark.databricks.delta.lastCommitVersionInSession", None)
    return found


def _kept(spark: SparkSession) -> list[str]:
    """Rows that Spark holds in memory for somebody, where that can be asked."""
    if not hasattr(spark, "_jsc"):
        return []
    held = spark.sparkContext._jsc.getPersistentRDDs().values()
    names = {str(x): str(x.name()) for x in held}
    return sorted(x for x, name in names.items() if not any(y in name + x for y in OF_OTHERS))


def use(spark: SparkSession, place: dict[str, str], checkpoints: str = "") -> int:
    """Ingest, explain, route, ask; how many messages were routed.

    Args:
        spark: the session.
        place: a lake, or a catalog.
        checkpoints: for the lake of a catalog.
    """
    (option, where), *_ = place.items()
    here([*INGEST, f"--{option}", where])
    named = {"place" if option == "lake" else option: where}
    settings = {"checkpoints": checkpoints} if checkpoints else {}
    lake = cw.lake(**named, spark=spark, settings=settings)
    lake.tables.create([MESSAGES])
    lake.tables.append(MESSAGES.name, messages(0, 300))
    lake.explain("SHOP1", "PARCEL.IN")
    routed = lake.route()
    lake.ask("busiest-channels")
    return routed.messages


if __name__ == "__main__":
    session = SparkSession.builder.getOrCreate()
    session.range(1).createOrReplaceTempView("of_the_user")
    before = state_of(session)
    count = use(session, {"lake": sys.argv[1]})
    sys.stdout.write(json.dumps([before, count, state_of(session)]))
