"""Where a lake is: a folder, or a schema of a catalog, and the names of its tables there.

A path lake is a folder (any URI that Spark can write) with a Delta table per folder; a catalog
lake is `catalog.schema` with tables of the same names (CONTRACT, first paragraph).
"""

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

import pyarrow as pa
from pyspark.sql import SparkSession

from clwl_spark.delta.protocol import (
    is_odd_place,
    odd_place,
)
from clwl_spark.errors import EngineError, LakeStateError, UsageError
from clwl_spark.spark.embedded import is_embedded
from clwl_spark.spark.files import keeps_files_here
from clwl_spark.storage.places import is_store, is_uri
from clwl_spark.tables import TABLES
from clwl_spark.tables.arrow import to_arrow_schema

CHECKPOINTS: Final = "_checkpoints"


@dataclass(frozen=True)
class LakePlace:
    """One place where tables of CONTRACT.md are.

    Attributes:
        spark: the caller's session; it is used as it is and never stopped.
        root: folder or URI of a path lake, or `catalog.schema`.
        in_catalog: whether `root` is a `catalog.schema`.
        checkpoints: folder of the routing's checkpoint.
    """

    spark: SparkSession
    root: str
    in_catalog: bool = False
    checkpoints: str = ""

    @property
    def checkpoint_root(self) -> str:
        """Where checkpoints are kept.

        Raises:
            LakeStateError: a catalog lake without the setting `checkpoints`.
        """
        if self.checkpoints:
            return self.checkpoints.rstrip("/")
        if self.in_catalog:
            raise LakeStateError(
                f'lake {self.root} is in a catalog: set checkpoints = "URI" to a folder for it'
            )
        return f"{self.root.rstrip('/')}/{CHECKPOINTS}"

    def path(self, table: str) -> str:
        """Folder of a table of a path lake."""
        return f"{self.root.rstrip('/')}/{table}"

    @cached_property
    def is_here(self) -> bool:
        """Whether this process reads and writes the tables itself, by delta-rs and Arrow.

        It does in folders that are of this machine for Spark, too; and in object stores where no
        Apache Spark is in use, whose writers to a log may not know of conditional puts.
        """
        if self.in_catalog:
            return False
        if is_store(self.root):
            return self.is_embedded
        return not is_uri(self.root) and keeps_files_here(self.spark)

    @property
    def is_embedded(self) -> bool:
        """Whether the session is one without Java, of this process."""
        return is_embedded(self.spark)

    @property
    def left_out(self) -> frozenset[str]:
        """Queue managers whose messages are not put, though they are in the table."""
        return frozenset()

    def sql_name(self, table: str) -> str:
        """The table's name within SQL."""
        if self.in_catalog:
            return name_in_catalog(self.root, table)
        return name_of_folder(self.path(table))

    def arrow_schema(self, table: str) -> pa.Schema:
        """The contract's columns of the table, in Arrow's types."""
        return to_arrow_schema(TABLES[table].schema)

    def _refuse_if_embedded(self, table: str) -> None:
        if self.is_embedded and is_odd_place(self.path(table)):
            why = odd_place(self.path(table))
            raise EngineError(f"engine embedded cannot write here: {why}; give --engine spark")
        if self.is_embedded:
            raise EngineError(
                f"table '{table}' in lake {self.root} has columns, properties or features that "
                "engine embedded does not write: give --engine spark"
            )

    def _refuse_if_blocked(self) -> None:
        """Refuse to make tables in a folder that cannot be made or written."""
        if is_uri(self.root):
            return
        try:
            Path(self.root).mkdir(parents=True, exist_ok=True)
            why = "" if os.access(self.root, os.W_OK) else "it is read-only for this user"
        except FileExistsError:
            why = "it is a file"
        except OSError as error:
            why = str(error.strerror or error)
        if why:
            raise UsageError(f"lake {self.root} cannot be written: {why}; give another folder")


def name_in_catalog(schema: str, table: str) -> str:
    """The name within SQL of a table of `catalog.schema`."""
    return ".".join(f"`{part}`" for part in (*schema.split("."), table))


def name_of_folder(folder: str) -> str:
    """The name within SQL of a table in a folder, or at a URI."""
    quoted = folder.replace("`", "``")
    return f"delta.`{quoted}`"
