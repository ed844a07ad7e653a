"""The lake: Delta tables at a place, read and written. No room but this one knows Delta."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa
from pyarrow.dataset import Dataset
from pyspark.sql import DataFrame

from clwl_spark.delta.catalogs import ddl_named
from clwl_spark.delta.commits import DataFile, commit_files
from clwl_spark.delta.creation import (
    create_in_folder,
    create_statement,
    declared,
    old_checks,
    spark_one_of,
)
from clwl_spark.delta.protocol import Transaction, opened
from clwl_spark.delta.reader import LakeReader
from clwl_spark.delta.spark_writes import (
    append_frame,
    change_frame,
    clear_by_spark,
    delete_by_spark,
    merge_frame,
    moments_as_numbers,
    replace_frame,
)
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
from clwl_spark.spark.files import delete_folder
from clwl_spark.spark.frames import frame_from_arrow, rows_at_hand, to_arrow
from clwl_spark.spark.materialize import ROWS_HERE, rows_in_files
from clwl_spark.spark.parallel import run_parallel
from clwl_spark.tables import TABLES, Table


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


@dataclass(frozen=True, slots=True)
class Behind:
    """What a table of an earlier version lacks.

    Attributes:
        table: its name.
        columns: optional columns that it has not.
        checks: CHECKs that it has otherwise than the contract, by name.
    """

    table: str
    columns: tuple[str, ...]
    checks: tuple[str, ...]


@dataclass(frozen=True)
class Lake(LakeReader):
    """The tables of CONTRACT.md at one place, to read and to write."""

    def create(self, tables: Iterable[Table]) -> list[Creation]:
        """Create the tables that are not there, with constraints and comments.

        One that is there gets the optional columns that it lacks.

        Returns:
            What was done for each, in order.
        """
        return run_parallel(self.spark, self._create, tables)

    def behind(self, table: Table) -> Behind | None:
        """What `create` would give a table that is there; None = it is not."""
        found = self._columns(table.name)
        if found is None:
            return None
        absent = tuple(x.name for x in table.columns if x.optional and x.name not in found)
        return Behind(table.name, absent, tuple(old_checks(self._properties(table.name), table)))

    def side_by_side(self, write: Callable[[str], None], tables: Iterable[str]) -> None:
        """Write several tables, in no order; a commit in a catalog or a store takes seconds.

        Args:
            write: does it, by methods of this lake.
            tables: names.
        """
        # Set for all of them: a setting that one thread takes back would be another's as well.
        with moments_as_numbers(self.spark):
            run_parallel(self.spark, write, tables)

    def _properties(self, table: str) -> Mapping[str, str]:
        """Properties of a table that is there."""
        here = opened(self.path(table)) if self.is_here else None
        if here is not None:
            return here.metadata().configuration
        self._refuse_if_embedded(table)
        given = self.spark.sql(f"SHOW TBLPROPERTIES {self.sql_name(table)}").collect()
        return {x[0]: x[1] for x in given}

    def _create(self, table: Table) -> Creation:
        if not self.in_catalog:
            return self._created(table)
        with ddl_named(self.root, table.name):
            return self._created(table)

    def _created(self, table: Table) -> Creation:
        if self.is_here and create_in_folder(self.path(table.name), table):
            return Creation(table.name, is_new=True)
        found = self._columns(table.name)
        if found is None:
            self._create_by_spark(table)
            return Creation(table.name, is_new=True)
        self._renew_checks(table)
        absent = [x for x in table.columns if x.optional and x.name not in found]
        if self.is_embedded:
            if not add_columns(self.path(table.name), table):
                self._refuse_if_embedded(table.name)
        elif absent:
            columns = ", ".join(map(declared, absent))
            self.spark.sql(f"ALTER TABLE {self.sql_name(table.name)} ADD COLUMNS ({columns})")
        return Creation(table.name, is_new=False, added=tuple(x.name for x in absent))

    def _create_by_spark(self, table: Table) -> None:
        if self.is_here:
            self._refuse_if_blocked()
        self._refuse_if_embedded(table.name)
        self.spark.sql(create_statement(self.sql_name(table.name), table))

    def _renew_checks(self, table: Table) -> None:
        """A table of an earlier version gets the contract's CHECKs, which know more words."""
        if not any(x.check for x in table.columns):
            return
        if self.is_here and renew_checks(self.path(table.name), table):
            return
        if self.is_embedded:
            return
        name = self.sql_name(table.name)
        for check, words in old_checks(self._properties(table.name), table).items():
            self.spark.sql(f"ALTER TABLE {name} DROP CONSTRAINT {check}")
            self.spark.sql(f"ALTER TABLE {name} ADD CONSTRAINT {check} CHECK ({words})")

    def _columns(self, table: str) -> list[str] | None:
        """Names of the table's columns; None = there is no such table."""
        here = columns_in(self.path(table)) if self.is_here else None
        if here is not None:
            return here
        frame = self._load(table)
        return None if frame is None else frame.columns

    def arrow_rows(self, table: str, rows: Iterable[Sequence[Any]]) -> pa.Table:
        """Rows of the table in memory, made of the values of its columns in order."""
        named = [dict(zip(TABLES[table].names, row, strict=True)) for row in rows]
        return pa.Table.from_pylist(named, schema=self.arrow_schema(table))

    def append(
        self,
        table: str,
        rows: DataFrame | pa.Table,
        transaction: Transaction | None = None,
        most: int | None = None,
    ) -> None:
        """Append rows; with a transaction, once. Where there are none, nothing is committed.

        Rows in memory are written without Spark where that is certain to be right
        (`delta.writes`), and so are those of a frame that is known to have few.

        Args:
            table: the table.
            rows: its rows.
            transaction: which append this is.
            most: rows that a frame has at the most; None = nobody knows.
        """
        if isinstance(rows, pa.Table) and not rows.num_rows:
            return
        once = (transaction.application, transaction.version) if transaction else None
        append = partial(append_rows, once=once)
        if self.is_embedded and isinstance(rows, DataFrame) and not _are_few(rows, most):
            with rows_in_files(rows, self.arrow_schema(table)) as found:
                self._by_arrow(table, found, append)
        elif not self._by_arrow(table, rows, append, most):
            append_frame(self, TABLES[table], self._as_frame(table, rows), transaction)

    def replace(
        self,
        table: str,
        rows: DataFrame | pa.Table,
        column: str,
        values: Iterable[str],
        most: int | None = None,
    ) -> None:
        """Replace the rows that have one of the values in a column of strings by these.

        Args:
            table: the table.
            rows: its new rows.
            column: a column of strings.
            values: of the rows that go, and of the new ones.
            most: as for `append`.
        """
        which = sorted(values)
        replace = partial(replace_rows, condition=one_of(column, which))
        if not self._by_arrow(table, rows, replace, most):
            frame = self._as_frame(table, rows)
            replace_frame(self, TABLES[table], frame, spark_one_of(column, which))

    def add_files(self, table: str, files: Sequence[DataFile], transaction: Transaction) -> None:
        """Make Parquet files that are in the table's folder part of it, once."""
        commit_files(self.path(table), files, transaction.application, transaction.version)

    def merge(
        self, table: str, rows: DataFrame | pa.Table, transaction: Transaction | None = None
    ) -> None:
        """Update the rows whose key is there, insert the others; doing it twice changes nothing.

        Rows in memory are written as by `append`, with the transaction, if one is given; Spark's
        SQL knows none.
        """
        once = (transaction.application, transaction.version) if transaction else None
        if not self._by_arrow(table, rows, lambda x, y, z: merge_rows(x, y, z, once)):
            merge_frame(self, TABLES[table], self._as_frame(table, rows))

    def change(
        self,
        table: str,
        frame: DataFrame,
        gone: str,
        column: str,
        values: Iterable[str],
        most: int | None = None,
    ) -> None:
        """Write rows by their key: insert or replace them, delete those where `gone` is true.

        Args:
            table: a table with keys, which are not null.
            frame: the table's columns, and `gone`.
            gone: name of a boolean column.
            column: a column of strings.
            values: that all rows that may change have in it.
            most: as for `append`.
        """
        which = sorted(values)
        change = partial(change_rows, gone=gone, condition=one_of(f"t.{column}", which))
        if not self._by_arrow(table, frame, change, most, gone):
            change_frame(self, TABLES[table], frame, gone, spark_one_of(f"t.{column}", which))

    def delete(self, table: str, column: str, *values: str | int) -> None:
        """Delete the rows that have one of the values, one at least, in a column."""
        which = one_of(column, values)
        if self.is_here and delete_rows(self.path(table), TABLES[table], which):
            return
        self._refuse_if_embedded(table)
        delete_by_spark(self, TABLES[table], spark_one_of(column, values))

    def clear(self, table: str, column: str, which: Mapping[str, Sequence[str | int]]) -> None:
        """Set a column to null in the rows that have one of the values in each of some columns."""
        condition = " AND ".join(one_of(x, values) for x, values in which.items())
        if self.is_here and clear_rows(self.path(table), TABLES[table], column, condition):
            return
        self._refuse_if_embedded(table)
        condition = " AND ".join(spark_one_of(x, values) for x, values in which.items())
        clear_by_spark(self, TABLES[table], column, condition)

    def remove_folder(self, folder: str) -> None:
        """Take a folder away, with all that is in it, wherever Spark can write."""
        delete_folder(self.spark, folder)

    def _by_arrow(
        self,
        table: str,
        rows: DataFrame | pa.Table | Dataset,
        write: Callable[[str, Table, Any], bool],
        most: int | None = None,
        *more: str,
    ) -> bool:
        """Write rows by delta-rs, where they are in memory or few, or the engine is embedded.

        Few rows take Spark a second. Sail has a writer of its own for Delta, which takes no notice
        of transactions and of other writers: no table of a lake is ever written by it.

        Args:
            table: the table.
            rows: its rows.
            write: does it; False = delta-rs cannot be sure what this table asks of a writer.
            most: as for `append`.
            more: names of columns that come after the table's.

        Returns:
            Whether that is done; False = Spark has to.
        """
        if isinstance(rows, DataFrame):
            if not (self.is_embedded or (self.is_here and _are_few(rows, most))):
                return False
            rows = self._in_memory(table, rows, more)
        if self.is_here and write(self.path(table), TABLES[table], rows):
            return True
        self._refuse_if_embedded(table)
        return False

    def _in_memory(self, table: str, frame: DataFrame, more: Sequence[str]) -> pa.Table:
        """A frame's rows, in the contract's types."""
        schema = self.arrow_schema(table)
        names, held = [*schema.names, *more], rows_at_hand(frame)
        rows = to_arrow(frame.select(*names)) if held is None else held.select(names)
        types = [*schema.types, *(rows.schema.field(x).type for x in more)]
        columns = [x.cast(y) for x, y in zip(rows.columns, types, strict=True)]
        return pa.table(columns, names=rows.column_names)

    def _as_frame(self, table: str, rows: DataFrame | pa.Table) -> DataFrame:
        """Rows as a frame."""
        if isinstance(rows, pa.Table):
            return frame_from_arrow(self.spark, rows, TABLES[table].schema)
        return rows


def _are_few(rows: DataFrame, most: int | None) -> bool:
    """Whether a frame's rows are known to be so few that this process can hold them."""
    return rows_at_hand(rows) is not None or (most is not None and most <= ROWS_HERE)
