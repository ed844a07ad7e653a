"""An Iceberg reader: PyIceberg takes a version's files as they are, and copies none."""

import subprocess
import textwrap

from deltalake import DeltaTable
from platform_home import ICEBERG, platform_program
from platform_lake import routed_lake

READ = textwrap.dedent("""
    import sys

    import pyarrow.parquet as pq
    from pyiceberg.catalog.sql import SqlCatalog

    folder, *files = sys.argv[1:]
    catalog = SqlCatalog("clwl", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}")
    catalog.create_namespace("mq")
    table = catalog.create_table("mq.outcomes", schema=pq.read_schema(files[0]))
    table.add_files(files)
    rows = table.scan(row_filter="reason = 0", selected_fields=("qmgr", "put_seq")).to_arrow()
    print(sorted(zip(*rows.to_pydict().values())))
""")


def test_it_reads_outcomes_where_they_are(tmp_path):
    lake = routed_lake(tmp_path / "lake")
    outcomes = DeltaTable(lake / "outcomes")
    (tmp_path / "iceberg").mkdir()
    python = platform_program("python", ICEBERG)
    done = subprocess.run(
        [python, "-c", READ, tmp_path / "iceberg", *outcomes.file_uris()],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    rows = outcomes.to_pyarrow_table(columns=["qmgr", "put_seq", "reason"]).to_pylist()
    expected = sorted((x["qmgr"], x["put_seq"]) for x in rows if x["reason"] == 0)
    assert done.stdout.splitlines()[-1] == repr(expected)
    assert expected
