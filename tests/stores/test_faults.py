"""What goes wrong between here and an object store costs time, and never a row."""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from deltalake import DeltaTable
from object_stores import BUCKET, SECRET
from pyarrow.fs import FileSelector, copy_files
from store_faults import Fault

from clwl_spark.cli import main
from clwl_spark.delta.creation import create_in_folder
from clwl_spark.delta.files import newest_version
from clwl_spark.delta.opening import delta_table
from clwl_spark.delta.protocol import opened, rows_of
from clwl_spark.delta.writes import append_rows, merge_rows
from clwl_spark.errors import StorageError
from clwl_spark.storage import access
from clwl_spark.storage.access import Storage
from clwl_spark.storage.files import delete_folder
from clwl_spark.tables import SNAPSHOTS

QUICK = ("--set", "storage.timeout_seconds=1", "--set", "storage.retries=5")
COMMIT = re.compile(r"/_delta_log/\d{20}\.json$")
DATA = re.compile(r"\.parquet$")


@pytest.fixture
def place(proxy, tmp_path):
    """A folder of the store."""
    access.use(Storage(timeout_seconds=1, retries=5))
    found = f"s3://{BUCKET}/{tmp_path.name}/lake"
    yield found
    proxy.faults.clear()
    delete_folder(found)


def of(method, pattern, table=""):
    """Whether a request is of a method, and its path matches, of a table."""
    return lambda x: (
        x.method == method and re.search(pattern, x.path) is not None and f"/{table}" in x.path
    )


def do(*words):
    assert main([*words, "--quiet", *QUICK]) == 0, words


def snapshots(name, count=1):
    rows = [{"snapshot_id": f"{name}-{x}", "status": "VALID"} for x in range(count)]
    return (
        SNAPSHOTS.arrow(SNAPSHOTS.names)
        .empty_table()
        .from_pylist(rows, schema=SNAPSHOTS.arrow(SNAPSHOTS.names))
    )


def ids(folder):
    return sorted(rows_of(opened(folder)).to_table()["snapshot_id"].to_pylist())


FAULTS = {
    "refused": [
        Fault(of("GET", COMMIT), "refused", 5),
        Fault(of("HEAD", COMMIT), "refused", 5),
        Fault(of("PUT", COMMIT), "refused", 5),
        Fault(of("PUT", DATA), "refused", 3),
        Fault(of("GET", DATA), "refused", 3),
        Fault(lambda x: bool(x.lists), "refused", 3),
    ],
    "slow": [
        Fault(of("GET", DATA), "slow", 2, seconds=2),
        Fault(of("HEAD", COMMIT), "slow", 1, seconds=2),
        Fault(of("PUT", DATA), "slow", 1, seconds=2),
    ],
    "lost": [
        Fault(of("PUT", COMMIT, x), "lost")
        for x in ("outcomes", "runs", "router_memory", "balance_history", "route_plans")
    ],
    "hidden": [
        Fault(
            lambda x: x.lists.endswith("runs/_delta_log/"), "hidden", seconds=4, hides=r"1\.json"
        ),
        Fault(lambda x: "router_memory" in x.lists, "hidden", seconds=4, hides=r"1\.json"),
    ],
}


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    """A lake on the disk with messages that are not routed."""
    lake = tmp_path_factory.mktemp("generated") / "lake"
    do("generate", "--lake", str(lake), "--qmgrs", "4", "--instances", "2", "--messages", "500")
    return lake


@pytest.mark.parametrize("kind", FAULTS)
def test_each_message_is_routed_once_whatever_goes_wrong(place, server, proxy, generated, kind):
    copy_files(str(generated), place.removeprefix("s3://"), destination_filesystem=server.files())
    proxy.faults += FAULTS[kind]
    for fault in FAULTS[kind]:
        fault.since = proxy.now()
    do("route", "--lake", place)
    assert any(x.met for x in proxy.faults)
    proxy.faults.clear()
    outcomes = rows_of(opened(f"{place}/outcomes")).to_table(["qmgr", "put_seq"])
    assert outcomes.num_rows == 500
    assert outcomes.group_by(["qmgr", "put_seq"]).aggregate([]).num_rows == 500
    runs = rows_of(opened(f"{place}/runs")).to_table()
    assert runs["messages"].to_pylist() == [500]
    assert runs["status"].to_pylist() == ["DONE"]
    assert newest_version(f"{place}/outcomes") == 1


@pytest.mark.parametrize("write", [append_rows, merge_rows])
def test_a_row_is_there_once_though_the_answer_to_its_commit_is_lost(place, proxy, write):
    folder = f"{place}/snapshots"
    create_in_folder(folder, SNAPSHOTS)
    proxy.faults.append(Fault(of("PUT", COMMIT), "lost"))
    assert write(folder, SNAPSHOTS, snapshots("A"), ("one", 1))
    assert write(folder, SNAPSHOTS, snapshots("A"), ("one", 1))
    assert proxy.faults[0].met == 1
    assert ids(folder) == ["A-0"]


def test_a_table_is_made_once_though_many_make_it(place, proxy):
    folder = f"{place}/snapshots"
    proxy.faults.append(Fault(of("PUT", COMMIT), "lost"))
    with ThreadPoolExecutor(8) as pool:
        assert any(pool.map(lambda _: create_in_folder(folder, SNAPSHOTS), range(8)))
    assert newest_version(folder) == 0
    puts = [x for x in proxy.seen if of("PUT", COMMIT)(x)]
    assert puts
    table = opened(folder)
    assert create_in_folder(folder, SNAPSHOTS) is False
    assert opened(folder).metadata().id == table.metadata().id


def test_no_row_is_lost_where_several_append_at_once(place):
    folder = f"{place}/snapshots"
    create_in_folder(folder, SNAPSHOTS)
    with ThreadPoolExecutor(3) as pool:
        done = pool.map(
            lambda x: append_rows(folder, SNAPSHOTS, snapshots(x, 2), (x, 1)), ["A", "B", "C"]
        )
        assert all(done)
    assert ids(folder) == ["A-0", "A-1", "B-0", "B-1", "C-0", "C-1"]


def test_a_commit_that_the_listing_lacks_is_waited_for(place, proxy):
    folder = f"{place}/snapshots"
    create_in_folder(folder, SNAPSHOTS)
    hidden = Fault(
        lambda x: bool(x.lists), "hidden", seconds=1, hides=r"1\.json", since=proxy.now()
    )
    other = DeltaTable(folder, storage_options=access.options(folder))
    append_rows(folder, SNAPSHOTS, snapshots("A"))
    access.use(Storage(timeout_seconds=3))
    assert other.version() == 0
    proxy.faults.append(hidden)
    hidden.since = proxy.now()
    assert opened(folder).version() == 1
    assert ids(folder) == ["A-0"]


def test_a_listing_that_never_has_it_is_an_error(place, proxy, monkeypatch):
    monkeypatch.setattr("clwl_spark.delta.opening._WAITS", (0.01, 0.01))
    folder = f"{place}/snapshots"
    create_in_folder(folder, SNAPSHOTS)
    append_rows(folder, SNAPSHOTS, snapshots("A"))
    proxy.faults.append(
        Fault(lambda x: bool(x.lists), "hidden", seconds=60, hides=r"1\.json", since=proxy.now())
    )
    with pytest.raises(StorageError, match="lacks commit 1"):
        delta_table(folder)


def test_a_store_that_does_not_answer_is_no_empty_lake(place, proxy, capsys):
    proxy.faults.append(Fault(lambda _: True, "refused", 10_000))
    words = ["route", "--lake", place, "--set", "storage.retries=1", "--verbose"]
    assert main(words) == 3
    said = capsys.readouterr().err
    assert f"object store s3://{BUCKET} cannot be used" in said
    assert SECRET not in said


def test_who_is_not_let_in_is_told_so_and_nothing_secret(place, capsys):
    words = ["explain", "--lake", place, "--from", "QM1", "--object", "Q1", "--verbose"]
    with pytest.MonkeyPatch.context() as planted:
        planted.setenv("AWS_SECRET_ACCESS_KEY", "planted/wrong+secret+access+key")
        planted.setenv("AWS_SESSION_TOKEN", "planted-session-token")
        assert main([*words, *QUICK]) == 3
    access.use(Storage())
    said = capsys.readouterr()
    assert "cannot be used" in said.err
    assert "403 Forbidden" in said.err
    assert "planted" not in said.err + said.out


PLANTED = {
    "AZURE_STORAGE_ACCOUNT_KEY": "planted+azure/key==",
    "GOOGLE_SERVICE_ACCOUNT_KEY": '{"private_key": "planted-google-key"}',
    "CLWL_PASSWORD": "planted password",
    "SERVICE_TOKEN": "planted.token.of.another",
}
"""What the environment of a command may have, beside the keys of its store."""


def test_secrets_are_in_nothing_that_is_said_or_written(place, server, tmp_path):
    said = []
    words = ["--lake", place, "--verbose", "--log", "json"]
    spread = {**os.environ, **PLANTED}
    commands = [
        ["generate", "--qmgrs", "4", "--instances", "2", "--messages", "50"],
        ["route"],
        ["explain", "--from", "QM1", "--object", "Q1", "--json"],
        ["report", "--out", str(tmp_path / "report")],
        ["explain", "--at", "planted password", "--from", "QM1", "--object", "Q1"],
        ["route", "--set", "checkpoints=s3://key:planted@bucket/x"],
        ["route", "--set", "storage.endpoint=http://127.0.0.1:1", "--set", "storage.retries=0"],
    ]
    for command in commands:
        done = subprocess.run(
            [sys.executable, "-m", "clwl_spark.cli", *command, *words],
            env=spread,
            capture_output=True,
            check=False,
        )
        said += [done.stdout, done.stderr]
        assert (done.returncode == 0) == (command in commands[:4]), done.stderr
    files = server.files()
    found = files.get_file_info(FileSelector(place.removeprefix("s3://"), recursive=True))
    written = [files.open_input_file(x.path).read() for x in found if x.is_file]
    written += [x.read_bytes() for x in tmp_path.rglob("*") if x.is_file()]
    assert len(written) > 30
    for secret in (SECRET, "planted@", *PLANTED.values()):
        assert not [x for x in (*said, *written) if secret.encode() in x], secret
