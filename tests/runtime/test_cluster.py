"""On a real cluster, `clwl route` gives what it gives on one machine."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from standalone import standalone_cluster

from clwl_spark.delta.lake import Lake
from clwl_spark.routing.run import RouteOptions, route
from clwl_spark.studies.synthetic import GenerateSpec, messages, topology
from clwl_spark.tables import (
    BALANCE_HISTORY,
    MESSAGES,
    OUTCOMES,
    REJECTED_MESSAGES,
    ROUTE_CANDIDATES,
    ROUTE_PLANS,
    SNAPSHOTS,
    TOPOLOGY,
    Table,
)
from clwl_spark.tables import columns as c

pytestmark = pytest.mark.spark


PROGRAM = Path(__file__).with_name("on_cluster.py")
SPEC = GenerateSpec(
    messages=5_000,
    qmgrs=5,
    queues=6,
    instances=2,
    snapshots=2,
    changed=0.5,
    non_default=0.1,
    on_open=0.2,
    on_group=0.1,
    topics=4,
    publications=0.1,
)
COMPARED = (OUTCOMES, REJECTED_MESSAGES, BALANCE_HISTORY, ROUTE_PLANS, ROUTE_CANDIDATES)
OF_THE_RUN = {c.REJECTED_AT}


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A master with two workers of a core each."""
    with standalone_cluster(tmp_path_factory.mktemp("cluster"), workers=2) as url:
        yield url


@pytest.fixture(scope="module")
def unrouted(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake with every kind of put, one in five hundred of them without an object."""
    lake = Lake(spark, str(tmp_path_factory.mktemp("unrouted") / "lake"))
    lake.create([SNAPSHOTS, *TOPOLOGY, MESSAGES])
    for name, frame in topology(spark, SPEC).items():
        lake.append(name, frame)
    nameless = F.when(F.col(c.PUT_SEQ) % 500 != 0, F.col(c.OBJECT_NAME))
    put = messages(spark, SPEC).withColumn(c.OBJECT_NAME, nameless)
    lake.append(MESSAGES.name, put.repartition(4))
    return Path(lake.root)


def test_two_workers_write_the_tables_that_one_process_writes(
    spark: SparkSession, unrouted: Path, master: str, tmp_path: Path
) -> None:
    alone = tmp_path / "alone"
    shutil.copytree(unrouted, alone)
    route(Lake(spark, str(alone)), RouteOptions(engine="embedded"))
    wide = {engine: tmp_path / engine for engine in ("spark", "arrow")}
    for lake in wide.values():
        shutil.copytree(unrouted, lake)
    asked = [f"{engine}={lake}" for engine, lake in wide.items()]
    done = subprocess.run(
        [sys.executable, str(PROGRAM), master, *asked], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
    rejected = SPEC.messages // 500
    assert json.loads(done.stdout) == [{"engine": x, "rejected": rejected} for x in wide]
    for table in COMPARED:
        for engine, lake in wide.items():
            assert _rows(lake, table) == _rows(alone, table), (engine, table.name)


def _rows(lake: Path, table: Table) -> pa.Table:
    """All rows of a table in one order, less the moment of the run."""
    rows = (
        DeltaTable(str(lake / table.name))
        .to_pyarrow_table()
        .drop_columns([name for name in table.names if name in OF_THE_RUN])
    )
    simple = [f.name for f in rows.schema if not pa.types.is_nested(f.type)]
    assert rows.num_rows
    return rows.sort_by([(name, "ascending") for name in simple])
