"""The rules over many candidate rows: Spark against DuckDB, on the same Parquet files.

The SQL is the ladder of SEMANTICS section 4 (`v9`) once more, one CTE per rule, so it is also a
second opinion: the verdict of every row is compared.
"""

# ruff: noqa: S608  (the SQL is made of this module's own words and of folders it made)

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from clwl_spark.mq import vocabulary as v
from clwl_spark.rules import eliminate
from clwl_spark.spark.local import spark_session
from clwl_spark.spark.parallel import cores
from clwl_spark.tables import columns as c

ROW_ID = "row_id"
PER_PLAN = 8
STATUSES = tuple(v.STATUS_TIERS.items())

BEST = "max({0}) FILTER (WHERE eliminated_by IS NULL) OVER choice"
LEAST = "min({0}) FILTER (WHERE eliminated_by IS NULL) OVER choice"
ANY = "coalesce(bool_or({0}) FILTER (WHERE eliminated_by IS NULL) OVER choice, false)"
SEVERAL = f"{BEST.format('dest_qmgr')} <> {LEAST.format('dest_qmgr')}"
BEST_OF_QMGR = "max(netprty) FILTER (WHERE eliminated_by IS NULL) OVER of_qmgr"
FIRST_OF_ROUTE = "min(channel_cluster) FILTER (WHERE eliminated_by IS NULL) OVER of_route"
WINDOWS = (
    "choice AS (PARTITION BY plan_id, choice), "
    "of_qmgr AS (PARTITION BY plan_id, choice, dest_qmgr), "
    "of_route AS (PARTITION BY plan_id, choice, dest_qmgr, dest_object, channel, is_alias)"
)
RULES = (
    ("1", "NOT (instance_shared AND channel_shared)"),
    ("2", "channel_cluster <> instance_cluster"),
    ("3", f"channel_rank < {BEST.format('channel_rank')}"),
    ("4", f"queue_rank < {BEST.format('queue_rank')}"),
    ("5", "NOT put_enabled"),
    ("6", f"NOT is_local AND {ANY.format('uses_local')}"),
    ("7", f"suspended AND {ANY.format('NOT suspended')} AND {SEVERAL}"),
    (f"7 + {LEAST.format('status_tier')}", f"status_tier > {LEAST.format('status_tier')}"),
    ("12", f"NOT is_local AND netprty < {BEST_OF_QMGR}"),
    ("13", f"channel_prty < {BEST.format('channel_prty')}"),
    ("14", f"queue_prty < {BEST.format('queue_prty')}"),
    ("0", f"channel_cluster > {FIRST_OF_ROUTE}"),
)


def ladder_sql(files: str) -> str:
    """SQL of the rules over these Parquet files: row_id and eliminated_by of every row."""
    steps = [f"r0 AS (SELECT *, NULL::INT AS eliminated_by FROM read_parquet('{files}'))"]
    for step, (number, losing) in enumerate(RULES):
        steps.append(
            f"r{step + 1} AS (SELECT * REPLACE (CASE WHEN eliminated_by IS NULL AND {losing} "
            f"THEN {number} ELSE eliminated_by END AS eliminated_by) FROM r{step} "
            f"WINDOW {WINDOWS})"
        )
    return f"WITH {', '.join(steps)} SELECT row_id, eliminated_by FROM r{len(RULES)}"


def candidates(spark: SparkSession, rows: int) -> DataFrame:
    """Candidate rows of made-up plans, eight each, so that every rule finds somebody to eliminate.

    Grain: one row per candidate, numbered by row_id.
    """
    drawn = {
        c.PLAN_ID: F.call_function("div", F.col("id"), F.lit(PER_PLAN)),
        c.CHOICE: F.lit(0),
        c.KIND: F.when(_draw("kind", 4) == 0, "QMGR").otherwise("QUEUE"),
        c.DEST_QMGR: F.concat(F.lit("QM"), _draw("qmgr", 6).cast("string")),
        c.DEST_OBJECT: F.lit("Q1"),
        c.CHANNEL: F.concat(F.lit("TO."), _draw("channel", 2).cast("string")),
        c.INSTANCE_CLUSTER: F.concat(F.lit("C"), _draw("both", 2).cast("string")),
        c.CHANNEL_CLUSTER: F.concat(F.lit("C"), _rarely("other", _draw("both", 2))),
        c.IS_LOCAL: _draw("qmgr", 6) == 0,
        c.IS_ALIAS: F.lit(False),
        c.INSTANCE_SHARED: _draw("instance", 20) > 0,
        c.CHANNEL_SHARED: _draw("shared", 20) > 0,
        c.CHANNEL_RANK: _draw("channel rank", 30).cast("int") % 2,
        c.QUEUE_RANK: F.when(_draw("queue rank", 20) == 0, 0).otherwise(1),
        c.PUT_ENABLED: _draw("put", 10) > 0,
        c.USES_LOCAL: (_draw("qmgr", 6) == 0) & (_draw("uses", 3) == 0),
        c.SUSPENDED: _draw("suspended", 10) == 0,
        c.NETPRTY: _draw("netprty", 3).cast("int"),
        c.CHANNEL_PRTY: F.when(_draw("channel prty", 5) == 0, 0).otherwise(1),
        c.QUEUE_PRTY: F.when(_draw("queue prty", 5) == 0, 0).otherwise(1),
        c.CLWLWGHT: F.lit(50),
    }
    words = F.array(*(F.lit(word) for word, _ in STATUSES))
    tiers = F.array(*(F.lit(tier) for _, tier in STATUSES))
    status = _draw("status", len(STATUSES)).cast("int")
    drawn |= {c.STATUS: F.get(words, status), c.STATUS_TIER: F.get(tiers, status)}
    columns = [column.alias(name) for name, column in drawn.items()]
    return spark.range(rows).select(F.col("id").alias(ROW_ID), *columns)


def _draw(what: str, limit: int) -> Column:
    """A number 0..limit-1 drawn for the row."""
    return F.pmod(F.xxhash64(F.lit(what), F.col("id")), F.lit(limit))


def _rarely(what: str, value: Column) -> Column:
    """The number 0 or 1, or in one row of ten the other one."""
    return F.when(_draw(what, 10) == 0, 1 - value).otherwise(value).cast("string")


def verdicts(spark: SparkSession, files: str) -> DataFrame:
    """row_id and eliminated_by of every row; a new plan each time.

    A frame that is collected twice would reuse the first time's exchange and measure nothing.
    """
    judged = eliminate(spark.read.parquet(files), v.Algorithm.V9)
    return judged.select(ROW_ID, c.ELIMINATED_BY)


def _summed(judged: DataFrame) -> list[Row]:
    """Rows and sum of row_ids of each verdict."""
    return judged.groupBy(c.ELIMINATED_BY).agg(F.count("*"), F.sum(ROW_ID)).collect()


def compare(spark: SparkSession, work: Path, rows: int, rounds: int) -> dict[str, float]:
    """As `compare_on`, on made-up candidates."""
    files = str(work / "candidates.parquet")
    candidates(spark, rows).write.mode("overwrite").parquet(files)
    return {"rows": rows} | compare_on(spark, files, work, rounds)


def compare_on(spark: SparkSession, files: str, work: Path, rounds: int) -> dict[str, float]:
    """Time both, in turns and warm, and compare every row's verdict once.

    Args:
        spark: the session.
        files: folder of Parquet files with candidate rows, numbered by row_id.
        work: folder for verdicts.
        rounds: of each.

    Returns:
        Median seconds of each, their ratio, and the number of rows whose verdicts differ.
    """
    judged = str(work / "verdicts.parquet")
    verdicts(spark, files).write.mode("overwrite").parquet(judged)
    database = duckdb.connect()
    database.execute(f"SET threads = {cores(spark)}")
    sql = ladder_sql(f"{files}/*.parquet")
    differing = _differing(database, sql, f"{judged}/*.parquet")
    summed = f"SELECT eliminated_by, count(*), sum(row_id) FROM ({sql}) GROUP BY 1"
    pairs = [
        (
            _seconds(lambda: _summed(verdicts(spark, files))),
            _seconds(lambda: database.execute(summed).fetchall()),
        )
        for _ in range(rounds)
    ]
    database.close()
    in_spark, in_duckdb = (sorted(side)[rounds // 2] for side in zip(*pairs, strict=True))
    return {
        "spark_seconds": in_spark,
        "duckdb_seconds": in_duckdb,
        "ratio": in_spark / in_duckdb,
        "differing_rows": differing,
    }


def _differing(database: duckdb.DuckDBPyConnection, sql: str, verdicts: str) -> int:
    """How many rows the SQL judges otherwise, or only one side has."""
    found = database.execute(
        f"SELECT count(*) FROM ({sql}) a FULL JOIN read_parquet('{verdicts}') b USING (row_id) "
        "WHERE a.eliminated_by IS DISTINCT FROM b.eliminated_by "
        "OR (a.row_id IS NULL) OR (b.row_id IS NULL)"
    ).fetchone()
    return int(found[0]) if found else -1


def _seconds(action: Callable[[], object]) -> float:
    """Wall-clock seconds of one call."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def main() -> None:
    """Compare on made-up candidates, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000, help="candidate rows")
    parser.add_argument("--rounds", type=int, default=3, help="of each, in turns")
    options = parser.parse_args()
    with TemporaryDirectory(prefix="clwl-ladder-") as work, spark_session() as spark:
        print(json.dumps(compare(spark, Path(work), options.rows, options.rounds)))


if __name__ == "__main__":
    main()
