"""Reads the folders of `scenarios/`: a cluster, puts, and the way that each takes.

A folder holds `scenario.md`, `way.toml`, and one `QMNAME.mqsc` per queue manager unless `cluster`
in `way.toml` names a folder of `tests/scenarios`.
"""

import tomllib
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from lakes import lake_with
from pyspark.sql import SparkSession
from pyspark.sql.types import StructField, StructType
from readings import read_text
from scenario_files import FOLDER as CLUSTERS
from scenario_files import START, read_scenario

from clwl_spark.delta.lake import Lake
from clwl_spark.snapshots.write import write_topology
from clwl_spark.tables import TABLES

Row = dict[str, Any]
FOLDER: Final = Path(__file__).parent / "scenarios"


def way_names() -> list[str]:
    return sorted(folder.name for folder in FOLDER.iterdir() if folder.is_dir())


def puts(name: str) -> list[Row]:
    """The puts of a scenario with what is expected of them."""
    text = (FOLDER / name / "way.toml").read_text(encoding="utf-8")
    return list(tomllib.loads(text)["put"])


def definitions(name: str) -> dict[str, list[Row]]:
    """Topology rows by table name, without a snapshot."""
    told = tomllib.loads((FOLDER / name / "way.toml").read_text(encoding="utf-8"))
    if "cluster" in told:
        assert (CLUSTERS / told["cluster"]).is_dir()
        tables = read_scenario(told["cluster"]).tables
        return {table: rows for table, rows in tables.items() if table != "snapshots"}
    tables: dict[str, list[Row]] = {}
    for path in sorted((FOLDER / name).glob("*.mqsc")):
        reading = read_text(path.read_text(encoding="utf-8"), path.name, path.stem)
        assert not reading.rejects
        for table, rows in reading.rows.items():
            tables.setdefault(table, []).extend(rows)
    return tables


def lake_of_all(spark: SparkSession, folder: Path) -> Lake:
    """Every scenario in one lake, each as the snapshot of its name, an hour after another."""
    named = {name: definitions(name) for name in way_names()}
    return lake_of(spark, folder, named)


def lake_of(spark: SparkSession, folder: Path, named: dict[str, dict[str, list[Row]]]) -> Lake:
    """A lake with these snapshots, an hour after one another."""
    rows: dict[str, list[Row]] = {"snapshots": []}
    for hours, (name, tables) in enumerate(named.items()):
        head = {"snapshot_id": name, "valid_from": START + timedelta(hours=hours)}
        rows["snapshots"].append(head | {"status": "VALID", "source": name, "loaded_at": START})
        for table, found in tables.items():
            rows.setdefault(table, []).extend({**row, "snapshot_id": name} for row in found)
    lake = lake_with(spark, folder)
    frames = {}
    for table, found in rows.items():
        fields = [StructField(x.name, x.dataType) for x in TABLES[table].schema]
        cells = [tuple(row.get(field.name) for field in fields) for row in found]
        frames[table] = spark.createDataFrame(cells, StructType(fields))
    write_topology(lake, frames)
    return lake
