"""The lake: Delta tables at a path, or in a catalog.

Only this module, those named `delta_*`, and `session` know Delta.

A path lake is a folder (any URI that Spark can write) with a Delta table per folder; a catalog
lake is `catalog.schema` with tables of the same names (CONTRACT, first paragraph).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Final, cast

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow.dataset import Dataset
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema

from clwl_spark.delta import files as delta_files
from clwl_spark.delta.commits import DataFile, commit_files, is_committed
from clwl_spark.delta.creation import (
    create_in_folder,
    create_statement,
    declared,
    old_checks,
    spark_one_of,
)
from clwl_spark.delta.protocol import (
    NO_TRANSACTION,
    is_odd_place,
    newest_transaction,
    odd_place,
    opened,
    unread_features,
)
from clwl_spark.delta.reads import frame_of, frame_of_files
from clwl_spark.delta.writes import (
    add_columns,
    append_rows,
    change_rows,
    clear_rows,
    columns_in,
    delete_rows,
    merge_rows,
    one_of,
    renew_checks,
    replace_rows,
)
from clwl_spark.errors import EngineError, LakeStateError, MissingLakeError
from clwl_spark.spark.conf import MOMENTS_AS_NUMBERS, with_settings
from clwl_spark.spark.embedded import is_embedded
from clwl_spark.spark.files import delete_folder, keeps_files_here
from clwl_spark.spark.frames import frame_from_arrow, frame_from_rows
from clwl_spark.spark.materialize import rows_in_files
from clwl_spark.spark.named import named_frame
from clwl_spark.spark.parallel import run_parallel
from clwl_spark.tables import TABLES, Table
from clwl_spark.tables.require import require

CHECKPOINTS: Final = "_checkpoints"
_NAMED: Final = 1_000
"""Values that a query names; more are joined with."""
_NOT_THERE: Final = (
    "PATH_NOT_FOUND",
    "DELTA_TABLE_NOT_FOUND",
    "DELTA_PATH_DOES_NOT_EXIST",
    "TABLE_OR_VIEW_NOT_FOUND",
    "DELTA_MISSING_DELTA_TABLE",
    "SCHEMA_NOT_FOUND",
    "DELTA_SCHEMA_NOT_SET",
)


@dataclass(frozen=True, slots=True)
class Transaction:
    """Makes an append idempotent: the same application and version is written once.

    The application comes from the routing's identity, never from a constant: after a lost
    checkpoint a constant would silently drop data.
    """

    application: str
    version: int


@dataclass(frozen=True, slots=True)
class Creation:
    """What `Lake.create` did for a table.

    Attributes:
        table: its name.
        is_new: it was not there before.
        added: optional columns that it lacked.
    """

    table: str
    is_new: bool
    added: tuple[str, ...] = ()


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

    @cached_property
    def is_here(self) -> bool:
        """Whether the tables are in folders of this machine, for Spark as for Python."""
        return (
            not self.in_catalog
            and not delta_files.is_uri(self.root)
            and keeps_files_here(self.spark)
        )

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

    def exists(self, table: str) -> bool:
        """Whether the table is there."""
        return self._load(table) is not None

    def read(
        self,
        table: str,
        column: str = "",
        values: Sequence[str] | Sequence[int] = (),
        *,
        like: Table | None = None,
    ) -> DataFrame:
        """The table's rows; columns that the contract names come first and are checked.

        Args:
            table: the table.
            column: name of a column; '' = all rows.
            values: the rows that have one of these values in it.
            like: the contract's table whose columns it has; None = that of its name.

        Raises:
            MissingLakeError: there is no such table.
            MissingColumnsError: it lacks columns, or they have other types.
        """
        frame = self._load(table)
        if frame is None:
            raise MissingLakeError(table, f"lake {self.root}")
        return _with_one_of(require(frame, like or TABLES[table]), column, values)

    def read_or_empty(
        self, table: str, column: str = "", values: Sequence[str] | Sequence[int] = ()
    ) -> DataFrame:
        """As `read`, but a table that is not there has no rows."""
        frame = self._load(table)
        if frame is None:
            return frame_from_rows(self.spark, [], TABLES[table].schema)
        return _with_one_of(require(frame, TABLES[table]), column, values)

    def rows(
        self, table: str, column: str = "", values: Sequence[str] = ()
    ) -> list[dict[str, Any]]:
        """The rows of `read` as values by column; moments are in UTC, a map is its pairs."""
        found = self.in_memory(table, column, values, or_empty=False)
        return cast("list[dict[str, Any]]", found.to_pylist())

    def in_memory(
        self,
        table: str,
        column: str = "",
        values: Sequence[str] | Sequence[int] = (),
        *,
        names: Sequence[str] = (),
        or_empty: bool = True,
    ) -> pa.Table:
        """The rows of `read` in memory, whoever reads them.

        Args:
            table: the table.
            column: name of the column; '' = all rows.
            values: of the column.
            names: of the columns wanted; () = all.
            or_empty: a table that is not there has no rows.
        """
        is_missed = not or_empty and self.is_here and delta_files.is_absent(self.path(table))
        found = None if is_missed else self.few_in_memory(table, column, values, names=names)
        if found is not None:
            return found
        wanted = self._arrow_columns(table, names)
        read = self.read_or_empty if or_empty else self.read
        return read(table, column, values).select(*wanted.names).toArrow().cast(wanted)

    def few_in_memory(
        self,
        table: str,
        column: str = "",
        values: Sequence[str] | Sequence[int] = (),
        most: int | None = None,
        *,
        names: Sequence[str] = (),
    ) -> pa.Table | None:
        """The rows of `read_or_empty`, read within this process.

        Args:
            table: the table.
            column: name of the column; '' = all rows.
            values: of the column.
            most: rows that are few; None = any number is.
            names: of the columns wanted; () = all.

        Returns:
            The rows; None where they are not few, or only Spark can tell.
        """
        found = self.dataset(table)
        if found is None:
            return None
        columns = self._arrow_columns(table, names).names
        kept = pc.field(column).isin(list(values)) if column else None
        try:
            if most is None:
                return found.to_table(columns, filter=kept)
            rows = found.head(most + 1, columns=columns, filter=kept)
        except (OSError, pa.ArrowException):
            return None
        return rows if rows.num_rows <= most else None

    def _arrow_columns(self, table: str, names: Sequence[str]) -> pa.Schema:
        return pa.schema([x for x in self.arrow_schema(table) if not names or x.name in names])

    def dataset(
        self, table: str, version: int | None = None, without: Transaction | None = None
    ) -> Dataset | None:
        """The rows of a table, to pass over within this process without holding them.

        Args:
            table: the table.
            version: of it; None = the newest.
            without: a transaction whose files are left out, as far as the log has them.

        Returns:
            The rows; without any where the table is not there; None where only Spark can tell.
        """
        wanted = self.arrow_schema(table)
        if not self.is_here:
            return None
        left_out: set[str] = set()
        if without is not None:
            brought = delta_files.transactions_of_files(self.path(table), without.application)
            left_out = {name for name, at in brought.items() if at == without.version}
        return delta_files.dataset_of(self.path(table), wanted, version, left_out)

    def read_files(self, table: str, files: Sequence[tuple[str, int]]) -> DataFrame:
        """The rows of some Parquet files, (path, rows) each, that a table in a folder here has."""
        return frame_of_files(self.spark, self.path(table), files, TABLES[table].schema)

    def greatest(self, table: str, column: str) -> list[dict[str, Any]]:
        """The rows of a table that have the greatest number in a column, as by `rows`.

        Raises:
            MissingLakeError: there is no such table.
            MissingColumnsError: it lacks columns, or they have other types.
        """
        found = delta_files.greatest_rows(self.path(table), column) if self.is_here else None
        wanted = self.arrow_schema(table)
        if found is None or found.schema.types != wanted.types:
            frame = self.read(table)
            greatest = frame.agg(F.max(column)).collect()[0][0]
            found = frame.where(F.col(column) == greatest).toArrow().cast(wanted)
        return cast("list[dict[str, Any]]", found.to_pylist())

    def stream(self, table: str, after: int | None = None) -> DataFrame:
        """All rows ever appended to the table, as a stream; other changes are passed over.

        Args:
            table: the table.
            after: a version; a stream that begins takes what came later. None = all.

        One micro-batch takes all that is there: messages are routed in the order of put_seq
        within a batch, so a batch must not be cut by file.

        A stream that begins with the table's present state makes Spark sort its files first: 3 s
        where Java is cold. One that was only appended to is read commit by commit.
        """
        self.read(table)
        reader = (
            self.spark.readStream.format("delta")
            .option("skipChangeCommits", "true")
            .option("maxFilesPerTrigger", str(2**31 - 1))
        )
        if after is not None and after >= 0:
            reader = reader.option("startingVersion", str(after + 1))
        elif self.is_here and delta_files.is_only_appended(self.path(table)):
            reader = reader.option("startingVersion", "0")
        frame = (
            reader.table(self.sql_name(table)) if self.in_catalog else reader.load(self.path(table))
        )
        return require(frame, TABLES[table])

    def rows_as_of(self, table: str, version: int) -> DataFrame | pa.Table:
        """The rows that a version of the table has; in memory where delta-rs reads the table."""
        here = opened(self.path(table), version) if self.is_here else None
        if here is not None and not unread_features(here):
            return here.to_pyarrow_dataset().to_table().cast(self.arrow_schema(table))
        self._refuse_if_embedded(table)
        name = self.sql_name(table)
        return self.spark.sql(f"SELECT * FROM {name} VERSION AS OF {version:d}")  # noqa: S608

    def version(self, table: str) -> int:
        """The table's newest version."""
        here = delta_files.newest_version(self.path(table)) if self.is_here else None
        if here is not None:
            return here
        newest = self.spark.sql(f"DESCRIBE HISTORY {self.sql_name(table)} LIMIT 1").collect()
        return int(newest[0]["version"])

    def create(self, tables: Iterable[Table]) -> list[Creation]:
        """Create the tables that are not there, with constraints and comments.

        One that is there gets the optional columns that it lacks.

        Returns:
            What was done for each, in order.
        """
        return run_parallel(self.spark, self._create, tables)

    def _create(self, table: Table) -> Creation:
        if self.is_here and create_in_folder(self.path(table.name), table):
            return Creation(table.name, is_new=True)
        found = self._columns(table.name)
        if found is not None:
            self._renew_checks(table)
        if found is None:
            self._refuse_if_embedded(table.name)
            self.spark.sql(create_statement(self.sql_name(table.name), table))
            return Creation(table.name, is_new=True)
        absent = [x for x in table.columns if x.optional and x.name not in found]
        if self.is_embedded:
            if not add_columns(self.path(table.name), table):
                self._refuse_if_embedded(table.name)
        elif absent:
            columns = ", ".join(map(declared, absent))
            self.spark.sql(f"ALTER TABLE {self.sql_name(table.name)} ADD COLUMNS ({columns})")
        return Creation(table.name, is_new=False, added=tuple(x.name for x in absent))

    def _renew_checks(self, table: Table) -> None:
        """A table of an earlier version gets the contract's CHECKs, which know more words."""
        if not any(x.check for x in table.columns):
            return
        if self.is_here and renew_checks(self.path(table.name), table):
            return
        if self.is_embedded:
            return
        name = self.sql_name(table.name)
        given = self.spark.sql(f"SHOW TBLPROPERTIES {name}").collect()
        for check, words in old_checks({x[0]: x[1] for x in given}, table).items():
            self.spark.sql(f"ALTER TABLE {name} DROP CONSTRAINT {check}")
            self.spark.sql(f"ALTER TABLE {name} ADD CONSTRAINT {check} CHECK ({words})")

    def _columns(self, table: str) -> list[str] | None:
        """Names of the table's columns; None = there is no such table."""
        here = columns_in(self.path(table)) if self.is_here else None
        if here is not None:
            return here
        frame = self._load(table)
        return None if frame is None else frame.columns

    def arrow_schema(self, table: str) -> pa.Schema:
        """The contract's columns of the table, in Arrow's types."""
        return to_arrow_schema(TABLES[table].schema, timezone="UTC")

    def arrow_rows(self, table: str, rows: Iterable[Sequence[Any]]) -> pa.Table:
        """Rows of the table in memory, made of the values of its columns in order."""
        named = [dict(zip(TABLES[table].names, row, strict=True)) for row in rows]
        return pa.Table.from_pylist(named, schema=self.arrow_schema(table))

    def append(
        self, table: str, rows: DataFrame | pa.Table, transaction: Transaction | None = None
    ) -> None:
        """Append rows; with a transaction, once.

        Rows in memory are written without Spark where that is certain to be right
        (`delta_writes`).
        """
        once = (transaction.application, transaction.version) if transaction else None
        append = partial(append_rows, once=once)
        if self.is_embedded and not isinstance(rows, pa.Table):
            with rows_in_files(rows, self.arrow_schema(table)) as found:
                self._by_arrow(table, found, append)
            return
        if self._by_arrow(table, rows, append):
            return
        rows = self._as_frame(table, rows)
        options = {}
        if transaction is not None:
            options = {
                "txnAppId": transaction.application,
                "txnVersion": str(transaction.version),
            }
        self._write(table, rows, "append", options)

    def replace(self, table: str, frame: DataFrame, column: str, values: Iterable[str]) -> None:
        """Replace the rows that have one of the values in a column of strings by the frame's."""
        which = sorted(values)
        replace = partial(replace_rows, condition=one_of(column, which))
        if self._by_arrow(table, frame, replace):
            return
        self._write(table, frame, "overwrite", {"replaceWhere": spark_one_of(column, which)})

    def add_files(self, table: str, files: Sequence[DataFile], transaction: Transaction) -> None:
        """Make Parquet files that are in the table's folder part of it, once."""
        commit_files(self.path(table), files, transaction.application, transaction.version)

    def has_transaction(self, table: str, transaction: Transaction) -> bool:
        """Whether a table in a folder of this machine has the transaction already."""
        return is_committed(self.path(table), transaction.application, transaction.version)

    def newest_transaction(self, table: str, application: str) -> int:
        """The newest transaction of an application in a table in a folder of this machine.

        Returns:
            Its version; NO_TRANSACTION where it has none, or there is no table.
        """
        found = opened(self.path(table))
        return NO_TRANSACTION if found is None else newest_transaction(found, application)

    def merge(
        self, table: str, rows: DataFrame | pa.Table, transaction: Transaction | None = None
    ) -> None:
        """Update the rows whose key is there, insert the others; doing it twice changes nothing.

        Rows in memory are written as by `append`, with the transaction, if one is given; Spark's
        SQL knows none.
        """
        once = (transaction.application, transaction.version) if transaction else None
        if self._by_arrow(table, rows, lambda x, y, z: merge_rows(x, y, z, once)):
            return
        rows = self._as_frame(table, rows)
        keys = " AND ".join(f"t.`{key}` <=> s.`{key}`" for key in TABLES[table].keys)
        with _writing(rows.sparkSession), named_frame(rows) as source:
            rows.sparkSession.sql(
                f"MERGE INTO {self.sql_name(table)} t USING {source} s ON {keys} "
                "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
            )

    def change(
        self, table: str, frame: DataFrame, gone: str, column: str, values: Iterable[str]
    ) -> None:
        """Write rows by their key: insert or replace them, delete those where `gone` is true.

        Args:
            table: a table with keys, which are not null.
            frame: the table's columns, and `gone`.
            gone: name of a boolean column.
            column: a column of strings.
            values: that all rows that may change have in it.
        """
        which = sorted(values)
        change = partial(change_rows, gone=gone, condition=one_of(f"t.{column}", which))
        if self._by_arrow(table, frame, change, gone):
            return
        condition = spark_one_of(f"t.{column}", which)
        names = TABLES[table].names
        keys = " AND ".join(f"t.`{key}` = s.`{key}`" for key in TABLES[table].keys)
        sets = ", ".join(f"t.`{name}` = s.`{name}`" for name in names)
        columns, values = (", ".join(f"{x}`{name}`" for name in names) for x in ("", "s."))
        with _writing(frame.sparkSession), named_frame(frame) as source:
            frame.sparkSession.sql(
                f"MERGE INTO {self.sql_name(table)} t USING {source} s "  # noqa: S608 (our own names)
                f"ON {keys} AND {condition} WHEN MATCHED AND s.`{gone}` THEN DELETE "
                f"WHEN MATCHED THEN UPDATE SET {sets} "
                f"WHEN NOT MATCHED AND NOT s.`{gone}` THEN INSERT ({columns}) VALUES ({values})"
            )

    def delete(self, table: str, column: str, *values: str | int) -> None:
        """Delete the rows that have one of the values, one at least, in a column."""
        which = one_of(column, values)
        if self.is_here and delete_rows(self.path(table), TABLES[table], which):
            return
        self._refuse_if_embedded(table)
        condition = spark_one_of(column, values)
        with _writing(self.spark):
            self.spark.sql(f"DELETE FROM {self.sql_name(table)} WHERE {condition}")  # noqa: S608

    def clear(self, table: str, column: str, which: Mapping[str, Sequence[str | int]]) -> None:
        """Set a column to null in the rows that have one of the values in each of some columns."""
        condition = " AND ".join(one_of(x, values) for x, values in which.items())
        if self.is_here and clear_rows(self.path(table), TABLES[table], column, condition):
            return
        self._refuse_if_embedded(table)
        condition = " AND ".join(spark_one_of(x, values) for x, values in which.items())
        name = self.sql_name(table)
        self.spark.sql(f"UPDATE {name} SET `{column}` = NULL WHERE {condition}")  # noqa: S608

    def remove_folder(self, folder: str) -> None:
        """Take a folder away, with all that is in it, wherever Spark can write."""
        delete_folder(self.spark, folder)

    def _by_arrow(
        self,
        table: str,
        rows: DataFrame | pa.Table | Dataset,
        write: Callable[[str, Table, Any], bool],
        *more: str,
    ) -> bool:
        """Write rows by delta-rs, where they are in memory or the engine is embedded.

        Sail has a writer of its own for Delta, which takes no notice of transactions and of other
        writers: no table of a lake is ever written by it.

        Args:
            table: the table.
            rows: its rows.
            write: does it; False = delta-rs cannot be sure what this table asks of a writer.
            more: names of columns that come after the table's.

        Returns:
            Whether that is done; False = Spark has to.
        """
        if isinstance(rows, DataFrame):
            if not self.is_embedded:
                return False
            rows = self._in_memory(table, rows, more)
        if self.is_here and write(self.path(table), TABLES[table], rows):
            return True
        self._refuse_if_embedded(table)
        return False

    def _in_memory(self, table: str, frame: DataFrame, more: Sequence[str]) -> pa.Table:
        """A frame's rows, in the contract's types."""
        schema = self.arrow_schema(table)
        rows = frame.select(*schema.names, *more).toArrow()
        types = [*schema.types, *(rows.schema.field(x).type for x in more)]
        columns = [x.cast(y) for x, y in zip(rows.columns, types, strict=True)]
        return pa.table(columns, names=rows.column_names)

    def _refuse_if_embedded(self, table: str) -> None:
        if self.is_embedded and is_odd_place(self.path(table)):
            why = odd_place(self.path(table))
            raise EngineError(f"engine embedded cannot write here: {why}; give --engine spark")
        if self.is_embedded:
            raise EngineError(
                f"table '{table}' in lake {self.root} has columns, properties or features that "
                "engine embedded does not write: give --engine spark"
            )

    def _load(self, table: str) -> DataFrame | None:
        """All rows; None where there is no such table.

        In a folder of this machine, few rows are read by delta-rs, whichever the engine: a table
        takes Spark 0.1 s, and 1 s where it is cold.
        """
        if self.is_here:
            folder = self.path(table)
            found = opened(folder)
            if found is None and (self.is_embedded or delta_files.is_absent(folder)):
                return None
            lacks = [] if found is None else unread_features(found)
            if found is not None and not lacks:
                frame = frame_of(self.spark, found, folder)
                if frame is not None:
                    return frame
            if self.is_embedded:
                raise EngineError(
                    f"table '{table}' in lake {self.root} needs a reader with {', '.join(lacks)}, "
                    "which engine embedded is not: give --engine spark"
                )
        try:
            if self.in_catalog:
                frame = self.spark.read.table(self.sql_name(table))
            else:
                frame = self.spark.read.format("delta").load(self.path(table))
            # With Spark Connect, this is what looks whether it is there.
            names = frame.columns
        except AnalysisException as error:
            if any(word in str(error.getCondition()) for word in _NOT_THERE):
                return None
            raise
        return frame if names else None

    def _as_frame(self, table: str, rows: DataFrame | pa.Table) -> DataFrame:
        """Rows as a frame."""
        if isinstance(rows, pa.Table):
            return frame_from_arrow(self.spark, rows, TABLES[table].schema)
        return rows

    def _write(self, table: str, frame: DataFrame, mode: str, options: Mapping[str, str]) -> None:
        writer = frame.select(*TABLES[table].names).write.format("delta").mode(mode)
        if any(column.optional for column in TABLES[table].columns):
            # A table of others may lack these; they become columns of it.
            writer = writer.option("mergeSchema", "true")
        if TABLES[table].change_feed:
            writer = writer.option("compression", "zstd")
        writer = writer.options(**options)
        with _writing(frame.sparkSession):
            if self.in_catalog:
                writer.saveAsTable(self.sql_name(table))
            else:
                writer.save(self.path(table))


def _writing(spark: SparkSession) -> AbstractContextManager[None]:
    """For the block, files get moments that every reader knows, unless the session sees to it."""
    given = {x: spark.conf.get(x, None) for x in MOMENTS_AS_NUMBERS}
    if given == MOMENTS_AS_NUMBERS:
        return nullcontext()
    return with_settings(spark, MOMENTS_AS_NUMBERS)


def name_in_catalog(schema: str, table: str) -> str:
    """The name within SQL of a table of `catalog.schema`."""
    return ".".join(f"`{part}`" for part in (*schema.split("."), table))


def name_of_folder(folder: str) -> str:
    """The name within SQL of a table in a folder, or at a URI."""
    quoted = folder.replace("`", "``")
    return f"delta.`{quoted}`"


def _with_one_of(frame: DataFrame, column: str, values: Sequence[str] | Sequence[int]) -> DataFrame:
    """The rows that have one of the values in a column; all rows where none is named."""
    if len(values) <= _NAMED:
        return frame.where(F.col(column).isin(list(values))) if column else frame
    kept = frame_from_rows(frame.sparkSession, ([x] for x in values), frame.select(column).schema)
    return frame.join(F.broadcast(kept), column, "left_semi")
