"""A routed lake that a platform reads, and what `clwl`'s own view of it says."""

from deltalake import DeltaTable
from questions.asking import comparable, duck, rows_of, select_all, with_views

from clwl_spark.cli import main

SIZES = ("--qmgrs", "6", "--instances", "3", "--on-open", "0.2", "--unknown", "0.05")


def routed_lake(folder, messages=500):
    """A lake of generated traffic, routed and judged."""
    at = ("--lake", str(folder), "--quiet")
    assert main(["generate", *SIZES, "--messages", str(messages), *at]) == 0
    assert main(["route", *at]) == 0
    assert main(["validate", *at]) == 0
    return folder


def view_of(lake, view):
    """The rows of a view, in DuckDB."""
    read = {x.name: DeltaTable(x).to_pyarrow_dataset() for x in lake.iterdir() if is_table(x)}
    return in_order(rows_of(with_views(duck(read)), select_all(view)))


def is_table(folder):
    return (folder / "_delta_log").is_dir()


def in_order(rows):
    """Rows that compare, whoever read them."""
    return sorted(comparable(rows), key=repr)
