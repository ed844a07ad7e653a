"""The tables of a lake as they are read: as frames, in memory, as a stream, at a version."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow.dataset import Dataset
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.delta import files as delta_files
from clwl_spark.delta.commits import is_committed
from clwl_spark.delta.place import LakePlace
from clwl_spark.delta.protocol import (
    NO_TRANSACTION,
    Transaction,
    newest_transaction,
    opened,
    rows_of,
    types_of,
    unread_features,
)
from clwl_spark.delta.reads import frame_of, frame_of_files
from clwl_spark.delta.stored_changes import Step, steps_among, with_steps
from clwl_spark.errors import EngineError, MissingLakeError
from clwl_spark.spark.frames import frame_from_rows, to_arrow
from clwl_spark.tables import SNAPSHOT_CHANGES, SNAPSHOT_CONTENT, SNAPSHOTS, TABLES, Table
from clwl_spark.tables import columns as c
from clwl_spark.tables.require import refuse_wrong, require

_CONTENT: Final = frozenset(x.name for x in SNAPSHOT_CONTENT)
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


@dataclass(frozen=True)
class LakeReader(LakePlace):
    """The tables of a lake, to read."""

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
        return self._whole(table, require(frame, like or TABLES[table]), column, values)

    def expect(self, table: str) -> None:
        """Raise what `read` would; where its log is read here, none of the table's files is opened.

        Raises:
            MissingLakeError: there is no such table.
            MissingColumnsError: it lacks columns, or they have other types.
        """
        found = opened(self.path(table)) if self.is_here else None
        if found is None or unread_features(found):
            self.read(table)
            return
        refuse_wrong(types_of(found), TABLES[table])

    def read_or_empty(
        self, table: str, column: str = "", values: Sequence[str] | Sequence[int] = ()
    ) -> DataFrame:
        """As `read`, but a table that is not there has no rows."""
        frame = self._load(table)
        if frame is None:
            return frame_from_rows(self.spark, [], TABLES[table].schema)
        return self._whole(table, require(frame, TABLES[table]), column, values)

    def stored(self, table: str) -> DataFrame:
        """As `read_or_empty`, without the rows of snapshots that are stored as changes."""
        frame = self._load(table)
        if frame is None:
            return frame_from_rows(self.spark, [], TABLES[table].schema)
        return require(frame, TABLES[table])

    def steps(self) -> dict[str, Step]:
        """The snapshots that are stored as changes, by name, in the order of their lines."""
        if self.is_here and delta_files.is_absent(self.path(SNAPSHOT_CHANGES.name)):
            return {}
        if not self.exists(SNAPSHOT_CHANGES.name):
            return {}
        return steps_among(self.in_memory(SNAPSHOTS.name).to_pylist())

    def _steps_among(self, table: str, column: str, values: Sequence[Any]) -> list[Step]:
        """The snapshots stored as changes whose rows of a table are asked for."""
        if table not in _CONTENT:
            return []
        steps = self.steps()
        if steps and column == c.SNAPSHOT_ID:
            return [steps[x] for x in dict.fromkeys(values) if x in steps]
        return [*steps.values()]

    def _whole(
        self, table: str, frame: DataFrame, column: str, values: Sequence[str] | Sequence[int]
    ) -> DataFrame:
        """The rows that have one of the values in a column, all snapshots whole."""
        wanted = self._steps_among(table, column, values)
        if wanted:
            last = {x.root: 0 for x in wanted}
            for x in wanted:
                last[x.root] = max(last[x.root], x.place)
            line = [x for x in self.steps().values() if x.place <= last.get(x.root, 0)]
            names = [x.snapshot_id for x in line]
            changes = self.in_memory(SNAPSHOT_CHANGES.name, c.SNAPSHOT_ID, names)
            frame = with_steps(frame, TABLES[table], wanted, changes, line)
        return _with_one_of(frame, column, values)

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
        return to_arrow(read(table, column, values).select(*wanted.names)).cast(wanted)

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
        found = self.dataset(table, column, values)
        if found is None:
            return None
        columns = self._arrow_columns(table, names).names
        kept = pc.field(column).isin(self._set_of(table, column, values)) if column else None
        try:
            if most is None:
                return found.to_table(columns, filter=kept)
            rows = found.head(most + 1, columns=columns, filter=kept)
        except (OSError, pa.ArrowException):
            return None
        return rows if rows.num_rows <= most else None

    def _set_of(self, table: str, column: str, values: Sequence[str] | Sequence[int]) -> pa.Array:
        """Values with their type, which Arrow could not tell where there are none."""
        return pa.array(values, self.arrow_schema(table).field(column).type)

    def _arrow_columns(self, table: str, names: Sequence[str]) -> pa.Schema:
        return pa.schema([x for x in self.arrow_schema(table) if not names or x.name in names])

    def dataset(
        self,
        table: str,
        column: str = "",
        values: Sequence[str] | Sequence[int] = (),
        *,
        version: int | None = None,
        without: Transaction | None = None,
    ) -> Dataset | None:
        """The rows of a table, to pass over within this process without holding them.

        Args:
            table: the table.
            column: a column that the reader will ask values of.
            values: these; rows with others may be among the dataset's.
            version: of the table; None = the newest.
            without: a transaction whose files are left out, as far as the log has them.

        Returns:
            The rows; without any where the table is not there; None where only Spark can tell.
        """
        wanted = self.arrow_schema(table)
        if not self.is_here or self._steps_among(table, column, values):
            return None
        left_out: set[str] = set()
        if without is not None:
            brought = delta_files.transactions_of_files(self.path(table), without.application)
            left_out = {name for name, at in brought.items() if at == without.version}
        optional = {x.name for x in TABLES[table].columns if x.optional}
        return delta_files.dataset_of(self.path(table), wanted, version, left_out, optional)

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
            return rows_of(here).to_table().cast(self.arrow_schema(table))
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
        return self._load_by_spark(table)

    def _load_by_spark(self, table: str) -> DataFrame | None:
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


def _with_one_of(frame: DataFrame, column: str, values: Sequence[str] | Sequence[int]) -> DataFrame:
    """The rows that have one of the values in a column; all rows where none is named."""
    if len(values) <= _NAMED:
        return frame.where(F.col(column).isin(list(values))) if column else frame
    kept = frame_from_rows(frame.sparkSession, ([x] for x in values), frame.select(column).schema)
    return frame.join(F.broadcast(kept), column, "left_semi")
