"""The lake: Delta tables at a path, or in a catalog.

Only this module, `delta_files`, `delta_versions` and `session` know Delta.

A path lake is a folder (any URI that Spark can write) with a Delta table per folder; a catalog
lake is `catalog.schema` with tables of the same names (CONTRACT, first paragraph).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import pyarrow as pa
from pyspark import inheritable_thread_target
from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema

from clwl_spark.delta_files import FEW_ROWS, few_rows, is_absent
from clwl_spark.errors import LakeStateError, MissingColumnsError, MissingLakeError
from clwl_spark.schemas import TABLES, Table
from clwl_spark.schemas import Column as TableColumn

Given = TypeVar("Given")
Made = TypeVar("Made")

_SIDE_BY_SIDE: Final = 4
CHECKPOINTS: Final = "_checkpoints"
_NOT_THERE: Final = (
    "PATH_NOT_FOUND",
    "DELTA_TABLE_NOT_FOUND",
    "DELTA_PATH_DOES_NOT_EXIST",
    "TABLE_OR_VIEW_NOT_FOUND",
    "DELTA_MISSING_DELTA_TABLE",
    "SCHEMA_NOT_FOUND",
    "DELTA_SCHEMA_NOT_SET",
)
_KINDRED: Final = (
    ("tinyint", "smallint", "int", "bigint"),
    ("timestamp", "timestamp_ntz"),
)


@dataclass(frozen=True, slots=True)
class Transaction:
    """Makes an append idempotent: the same application and version is written once.

    The application comes from the routing's identity, never from a constant: after a lost
    checkpoint a constant would silently drop data.
    """

    application: str
    version: int


@dataclass(frozen=True)
class Lake:
    """The tables of CONTRACT.md at one place.

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

    def sql_name(self, table: str) -> str:
        """The table's name within SQL."""
        if self.in_catalog:
            parts = [*self.root.split("."), table]
            return ".".join(f"`{part}`" for part in parts)
        return f"delta.`{self.path(table)}`"

    def exists(self, table: str) -> bool:
        """Whether the table is there."""
        return self._load(table) is not None

    def read(self, table: str) -> DataFrame:
        """The table's rows; columns that the contract names come first and are checked.

        Raises:
            MissingLakeError: there is no such table.
            MissingColumnsError: it lacks columns, or they have other types.
        """
        frame = self._load(table)
        if frame is None:
            raise MissingLakeError(table, f"lake {self.root}")
        return require(frame, TABLES[table])

    def read_or_empty(self, table: str) -> DataFrame:
        """As `read`, but a table that is not there has no rows."""
        frame = self._load(table)
        if frame is None:
            return self.spark.createDataFrame([], TABLES[table].schema)
        return require(frame, TABLES[table])

    def read_few(
        self,
        table: str,
        column: str = "",
        values: Sequence[str] = (),
        *,
        or_empty: bool = True,
    ) -> DataFrame:
        """As `read_or_empty`, or `read`: the rows in which a string column has one of these values.

        Little is read without Spark, which takes 0.1 s a table, and 1 s where it is cold.

        Args:
            table: the table.
            column: name of the column; '' = all rows.
            values: of the column.
            or_empty: a table that is not there has no rows.

        Raises:
            MissingLakeError: there is no such table, unless `or_empty`.
            MissingColumnsError: it lacks columns, or they have other types.
        """
        found = self.few_in_memory(table, column, values, or_empty=or_empty)
        schema = TABLES[table].schema
        if found is not None:
            return self.spark.createDataFrame(found if found.num_rows else [], schema)
        frame = self.read_or_empty(table) if or_empty else self.read(table)
        return frame.where(F.col(column).isin(list(values))) if column else frame

    def few_in_memory(
        self,
        table: str,
        column: str = "",
        values: Sequence[str] = (),
        most: int = FEW_ROWS,
        *,
        or_empty: bool = True,
    ) -> pa.Table | None:
        """The rows of `read_few` in memory; None where they are not few, or only Spark can tell.

        Args:
            table: the table.
            column: name of the column; '' = all rows.
            values: of the column.
            most: rows that are few.
            or_empty: a table that is not there has no rows.
        """
        wanted = to_arrow_schema(TABLES[table].schema, timezone="UTC")
        if self.in_catalog:
            return None
        if or_empty and is_absent(self.path(table)):
            return wanted.empty_table()
        found = few_rows(self.path(table), column, values, most)
        if found is None or not set(wanted.names) <= set(found.column_names):
            return None
        found = found.select(wanted.names)
        return found if found.schema.types == wanted.types else None

    def stream(self, table: str) -> DataFrame:
        """All rows ever appended to the table, as a stream; other changes are passed over.

        One micro-batch takes all that is there: messages are routed in the order of put_seq
        within a batch, so a batch must not be cut by file.
        """
        self.read(table)
        reader = (
            self.spark.readStream.format("delta")
            .option("skipChangeCommits", "true")
            .option("maxFilesPerTrigger", str(2**31 - 1))
        )
        frame = (
            reader.table(self.sql_name(table)) if self.in_catalog else reader.load(self.path(table))
        )
        return require(frame, TABLES[table])

    def version(self, table: str) -> int:
        """The table's newest version."""
        newest = self.spark.sql(f"DESCRIBE HISTORY {self.sql_name(table)} LIMIT 1").collect()
        return int(newest[0]["version"])

    def create(self, tables: Iterable[Table]) -> None:
        """Create the tables that are not there, with constraints and comments.

        One that is there gets the optional columns that it lacks.
        """
        together(self.spark, self._create, tables)

    def _create(self, table: Table) -> None:
        frame = self._load(table.name)
        if frame is None:
            self.spark.sql(self._create_statement(table))
            return
        absent = [x for x in table.columns if x.optional and x.name not in frame.columns]
        if absent:
            columns = ", ".join(map(_declared, absent))
            self.spark.sql(f"ALTER TABLE {self.sql_name(table.name)} ADD COLUMNS ({columns})")

    def append(self, table: str, frame: DataFrame, transaction: Transaction | None = None) -> None:
        """Append rows; with a transaction, once."""
        options = {}
        if transaction is not None:
            options = {
                "txnAppId": transaction.application,
                "txnVersion": str(transaction.version),
            }
        self._write(table, frame, "append", options)

    def replace(self, table: str, frame: DataFrame, condition: str) -> None:
        """Replace the rows for which the SQL `condition` holds by the frame's rows."""
        self._write(table, frame, "overwrite", {"replaceWhere": condition})

    def merge(self, table: str, frame: DataFrame) -> None:
        """Update the rows whose key is there, insert the others; doing it twice changes nothing."""
        keys = " AND ".join(f"t.`{key}` <=> s.`{key}`" for key in TABLES[table].keys)
        frame.createOrReplaceTempView("clwl_merge_source")
        frame.sparkSession.sql(
            f"MERGE INTO {self.sql_name(table)} t USING clwl_merge_source s ON {keys} "
            "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
        )

    def change(self, table: str, frame: DataFrame, gone: str, condition: str) -> None:
        """Write rows by their key: insert or replace them, delete those where `gone` is true.

        Args:
            table: a table with keys, which are not null.
            frame: the table's columns, and `gone`.
            gone: name of a boolean column.
            condition: SQL that is true for all rows of the table, called t, that may change.
        """
        names = TABLES[table].names
        keys = " AND ".join(f"t.`{key}` = s.`{key}`" for key in TABLES[table].keys)
        sets = ", ".join(f"t.`{name}` = s.`{name}`" for name in names)
        columns, values = (", ".join(f"{x}`{name}`" for name in names) for x in ("", "s."))
        frame.createOrReplaceTempView("clwl_changes")
        frame.sparkSession.sql(
            f"MERGE INTO {self.sql_name(table)} t USING clwl_changes s "  # noqa: S608 (our own names)
            f"ON {keys} AND {condition} WHEN MATCHED AND s.`{gone}` THEN DELETE "
            f"WHEN MATCHED THEN UPDATE SET {sets} "
            f"WHEN NOT MATCHED AND NOT s.`{gone}` THEN INSERT ({columns}) VALUES ({values})"
        )

    def remove_folder(self, folder: str) -> None:
        """Take a folder away, with all that is in it, wherever Spark can write."""
        java: Any = self.spark._jvm  # noqa: SLF001  (Spark has no other way to its files)
        conf = self.spark._jsparkSession.sessionState().newHadoopConf()  # noqa: SLF001
        path = java.org.apache.hadoop.fs.Path(folder)
        path.getFileSystem(conf).delete(path, True)

    def _load(self, table: str) -> DataFrame | None:
        reader = self.spark.read
        try:
            if self.in_catalog:
                frame = reader.table(self.sql_name(table))
            else:
                frame = reader.format("delta").load(self.path(table))
        except AnalysisException as error:
            if any(word in str(error.getCondition()) for word in _NOT_THERE):
                return None
            raise
        return frame if frame.columns else None

    def _write(self, table: str, frame: DataFrame, mode: str, options: Mapping[str, str]) -> None:
        writer = frame.select(*TABLES[table].names).write.format("delta").mode(mode)
        if any(column.optional for column in TABLES[table].columns):
            # A table of others may lack these; they become columns of it.
            writer = writer.option("mergeSchema", "true")
        if TABLES[table].change_feed:
            writer = writer.option("compression", "zstd")
        writer = writer.options(**options)
        if self.in_catalog:
            writer.saveAsTable(self.sql_name(table))
        else:
            writer.save(self.path(table))

    def _create_statement(self, table: Table) -> str:
        columns = ",\n  ".join(map(_declared, table.columns))
        checks = [(x.name, x.check) for x in table.columns if x.check is not None]
        named = {f"delta.constraints.{name}_in_range": _quoted(check) for name, check in checks}
        if table.change_feed:
            named["delta.enableChangeDataFeed"] = "true"
        if table.skipped_by:
            named["delta.dataSkippingStatsColumns"] = ",".join(table.skipped_by)
        properties = ", ".join(f"'{name}' = '{value}'" for name, value in named.items())
        return (
            f"CREATE TABLE IF NOT EXISTS {self.sql_name(table.name)} (\n  {columns}\n) USING DELTA "
            f"COMMENT '{_quoted(table.comment)}'"
            + (f" TBLPROPERTIES ({properties})" if properties else "")
        )


def together(spark: SparkSession, do: Callable[[Given], Made], many: Iterable[Given]) -> list[Made]:
    """Do small work for each side by side: while one waits for the driver, another one runs."""
    with ThreadPoolExecutor(_SIDE_BY_SIDE) as pool:
        return list(pool.map(inheritable_thread_target(spark)(do), many))


def require(frame: DataFrame, table: Table) -> DataFrame:
    """The table's columns, in order and in the contract's types; absent optional ones are null.

    Other writers' integers and timestamps may be wider or without a zone: those are cast.

    Raises:
        MissingColumnsError: columns are missing or have types that cannot mean the same.
    """
    found = dict(frame.dtypes)
    absent = {x.name for x in table.columns if x.optional and x.name not in found}
    there = [x for x in table.columns if x.name not in absent]
    wrong = [x.name for x in there if not _means(found.get(x.name), x.type)]
    if wrong:
        raise MissingColumnsError(table.name, wrong, [f"{n} {t}" for n, t in found.items()])
    return frame.select(
        *(_typed(x, None if x.name in absent else found[x.name]) for x in table.columns)
    )


def _typed(column: TableColumn, found: str | None) -> Column:
    """A column that is there with the type `found`, or null where it is not there."""
    if found == column.type:
        return F.col(column.name)
    value = F.lit(None) if found is None else F.col(column.name)
    return value.cast(column.type).alias(column.name)


def _declared(column: TableColumn) -> str:
    """A column as SQL declares it."""
    null = " NOT NULL" if column.required else ""
    return f"`{column.name}` {column.type}{null} COMMENT '{_quoted(column.comment)}'"


def _means(found: str | None, wanted: str) -> bool:
    """Whether a column of type `found` can be read as `wanted`."""
    return found == wanted or any(found in kin and wanted in kin for kin in _KINDRED)


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")
