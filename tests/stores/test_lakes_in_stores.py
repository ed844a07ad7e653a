"""A lake in an object store has the rows of one on the disk, by the same commands."""

import subprocess
import sys

import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable, write_deltalake
from lake_rows import rows_of, same, tables_of
from object_stores import BUCKET

import clwl_spark as cw
from clwl_spark.cli import main
from clwl_spark.storage import access
from clwl_spark.storage.files import delete_folder, names_in

MESSAGES = 110_000
"""So many that worker processes route them."""
CLUSTER = ("--qmgrs", "6", "--instances", "3", "--on-open", "0.2", "--unknown", "0.01")


@pytest.fixture
def two(proxy, tmp_path):
    """A place on the disk and one in the store."""
    assert proxy.endpoint
    place = f"s3://{BUCKET}/{tmp_path.name}/lake"
    yield tmp_path / "lake", place
    delete_folder(place)


def do(*words):
    """Run a command."""
    assert main([*map(str, words), "--quiet"]) == 0, words


def append_more(lake):
    """A producer appends a few messages, by a writer of its own."""
    place = f"{lake}/messages"
    table = DeltaTable(place, storage_options=access.options(place))
    rows = table.to_pyarrow_table().sort_by([("qmgr", "ascending"), ("put_seq", "ascending")])
    later = pc.add(rows["put_seq"], 10**9).slice(0, 1_000)
    at = rows.column_names.index("put_seq")
    write_deltalake(table, rows.slice(0, 1_000).set_column(at, "put_seq", later), mode="append")


def test_its_tables_are_those_of_the_disk_row_for_row(two, proxy):
    for lake in two:
        do("generate", "--lake", lake, "--messages", MESSAGES, *CLUSTER)
        do("route", "--lake", lake)
        append_more(lake)
        do("route", "--lake", lake)
    here, there = two
    assert tables_of(there) == tables_of(here)
    assert {"outcomes", "router_memory", "balance_history", "runs"} <= tables_of(here)
    for table in tables_of(here):
        assert same(rows_of(str(here), table), rows_of(there, table)), table
    folders = {x.strip("/").rpartition("/")[2] for x in proxy.listings()}
    assert folders <= {"_delta_log"}


def test_a_question_lists_each_log_once_and_nothing_else(two, proxy, tmp_path):
    _, lake = two
    do("generate", "--lake", lake, "--messages", 100, *CLUSTER)
    do("route", "--lake", lake)
    asked = (
        ["explain", "--from", "QM1", "--object", "Q1"],
        ["report", "--out", str(tmp_path / "r")],
    )
    for words in asked:
        proxy.seen.clear()
        said = subprocess.run(
            [sys.executable, "-m", "clwl_spark.cli", *words, "--lake", lake],
            capture_output=True,
            text=True,
            check=True,
        )
        assert ("Q1" if words[0] == "explain" else "report.html") in said.stdout
        assert set(proxy.listings().values()) == {1}, words
        assert all(x.endswith("/_delta_log/") for x in proxy.listings())
        assert sum(x.method == "GET" for x in proxy.seen) < 200


def test_routing_where_nothing_is_new_lists_each_log_once(two, proxy):
    _, lake = two
    do("generate", "--lake", lake, "--messages", 100, *CLUSTER)
    do("route", "--lake", lake)
    words = [sys.executable, "-m", "clwl_spark.cli", "route", "--quiet", "--lake", lake]
    proxy.seen.clear()
    subprocess.run(words, check=True)
    assert set(proxy.listings().values()) == {1}


def test_python_asks_it(two):
    _, place = two
    do("generate", "--lake", place, "--messages", 100, *CLUSTER)
    with cw.lake(place) as lake:
        assert "Q1" in str(lake.explain("QM1", "Q1"))


def test_texts_are_ingested_and_upkeep_leaves_it_to_spark(two, tmp_path, capsys):
    _, lake = two
    (tmp_path / "QM1.mqsc").write_text(
        "DEFINE CHANNEL(TO.QM1) CHLTYPE(CLUSRCVR) CONNAME('qm1(1414)') CLUSTER(C)\n"
        "DEFINE QLOCAL(ORDERS) CLUSTER(C)\n"
    )
    do("ingest", tmp_path / "QM1.mqsc", "--lake", lake, "--snapshot", "S1", "--observer", "QM1")
    assert len(names_in(f"{lake}/queues/_delta_log")) >= 2
    do("generate", "--lake", f"{lake}2", "--messages", 100, *CLUSTER)
    assert main(["maintain", "--lake", f"{lake}2", "--dry-run"]) == 0
    assert "it is in an object store" in " ".join(capsys.readouterr().out.split())
    delete_folder(f"{lake}2")
    assert tables_of(f"{lake}2") == set()
