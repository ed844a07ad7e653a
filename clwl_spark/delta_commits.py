"""Data files that were written without Spark become part of a Delta table, all in one commit."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from deltalake import CommitProperties, DeltaTable, Transaction
from deltalake.exceptions import DeltaError
from deltalake.transaction import AddAction

from clwl_spark.schemas import Table

_READER_FEATURES: Final = frozenset({"timestampNtz", "v2Checkpoint", "vacuumProtocolCheck"})
_WRITER_FEATURES: Final = _READER_FEATURES | {
    "appendOnly",
    "changeDataFeed",
    "checkConstraints",
    "invariants",
}
_FEATURES_FROM: Final = {"reader": 3, "writer": 7}
_OLD_READER: Final = 1
_OLD_WRITER: Final = 4
_CONSTRAINT: Final = "delta.constraints."


@dataclass(frozen=True, slots=True)
class DataFile:
    """A Parquet file in a table's folder.

    Attributes:
        name: of the file.
        size: bytes.
        statistics: Delta's, of its rows: numRecords, minValues, maxValues, nullCount.
    """

    name: str
    size: int
    statistics: dict[str, Any]


def unreadable(folder: str, table: Table) -> str:
    """Why the files of a table cannot be read without Delta's help; '' = they can be."""
    return _unfit(folder, table, _read_protocol)


def unwritable(folder: str, table: Table) -> str:
    """Why files cannot be added to a table without Delta's help; '' = they can be."""
    return _unfit(folder, table, _write_protocol)


def is_committed(folder: str, application: str, version: int) -> bool:
    """Whether the table has this transaction already."""
    newest = DeltaTable(folder).transaction_version(application)
    return newest is not None and newest >= version


def commit_files(folder: str, files: Sequence[DataFile], application: str, version: int) -> None:
    """Append files to a table, all or none; the application's transaction goes with them."""
    table = DeltaTable(folder)
    now = int(time.time() * 1000)
    table.create_write_transaction(
        [AddAction(x.name, x.size, {}, now, True, json.dumps(x.statistics)) for x in files],
        mode="append",
        schema=table.schema(),
        commit_properties=CommitProperties(app_transactions=[Transaction(application, version)]),
    )


def _unfit(folder: str, table: Table, protocol: Any) -> str:  # noqa: ANN401  (a function)
    """The first thing in the table that only Delta's own reader or writer knows."""
    if not (Path(folder) / "_delta_log").is_dir():
        return f"{folder} is no folder of this machine"
    try:
        found = DeltaTable(folder)
        metadata, columns = found.metadata(), json.loads(found.schema().to_json())["fields"]
    except (DeltaError, OSError) as error:
        return f"{folder} cannot be opened: {error}"
    types = {x["name"]: x["type"] for x in columns}
    wrong = [x.name for x in table.columns if types.get(x.name) != _delta_type(x.type)]
    added = [x["name"] for x in columns if x["name"] not in table.names and not x["nullable"]]
    reasons = (
        (bool(metadata.partition_columns), "is partitioned"),
        (bool(wrong), f"has other types in {', '.join(wrong)}"),
        (bool(added), f"has more columns that may not be null: {', '.join(added)}"),
    )
    said = [words for holds, words in reasons if holds] + protocol(found)
    return f"{table.name} {said[0]}" if said else ""


def _read_protocol(table: DeltaTable) -> list[str]:
    found = table.protocol()
    if found.min_reader_version <= _OLD_READER:
        return []
    features = set(found.reader_features or ()) if _has_features(found, "reader") else {"a mapping"}
    return [f"needs a reader with {x}" for x in sorted(features - _READER_FEATURES)]


def _write_protocol(table: DeltaTable) -> list[str]:
    found = table.protocol()
    configuration = table.metadata().configuration
    constraints = [f"has the constraint {x}" for x in configuration if x.startswith(_CONSTRAINT)]
    if found.min_writer_version <= _OLD_WRITER:
        return constraints
    features = set(found.writer_features or ()) if _has_features(found, "writer") else {"a mapping"}
    return [
        *constraints,
        *(f"needs a writer with {x}" for x in sorted(features - _WRITER_FEATURES)),
    ]


def _has_features(protocol: Any, of: str) -> bool:  # noqa: ANN401  (its type is not exported)
    return int(getattr(protocol, f"min_{of}_version")) >= _FEATURES_FROM[of]


def _delta_type(spark_type: str) -> str:
    """A column's type as Delta writes it."""
    return {"bigint": "long", "int": "integer"}.get(spark_type, spark_type)
