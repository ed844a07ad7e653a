"""Apache Spark with Hadoop's S3A: a lake in a bucket has the rows of one on the disk."""

import json
import os
import subprocess
import sys

import pytest
from lake_rows import differing, rows_of
from object_stores import BUCKET, SECRET, WEED, s3_server
from platform_jars import S3A, S3A_EXCLUDED, platform_jars

from clwl_spark.storage import access
from clwl_spark.storage.access import Storage

pytestmark = pytest.mark.timeout(2400)
CLUSTER = ("--qmgrs", "6", "--instances", "3", "--on-open", "0.2", "--unknown", "0.01")
MESSAGES = 3_000


@pytest.fixture
def store(tmp_path, monkeypatch):
    """An S3 server, and this process let in by it."""
    assert WEED.is_file(), "make platforms installs the S3 server"
    for name in [x for x in os.environ if x.startswith("AWS_")]:
        monkeypatch.delenv(name)
    with s3_server(tmp_path) as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("AWS_ENDPOINT_URL", server.endpoint)
        access.use(Storage())
        yield server


@pytest.fixture
def config(tmp_path):
    """Settings that name the JARs, as the page on object stores has them."""
    jars = ",".join(map(str, platform_jars(S3A, S3A_EXCLUDED)))
    found = tmp_path / "spark.toml"
    found.write_text(f'[spark]\njars = "{jars}"\nmaster = "local[2]"\n')
    return found


def do(config, *words):
    """Run a command in a process of its own; what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "clwl_spark", *map(str, words), "--config", str(config), "--quiet"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert SECRET not in done.stderr + done.stdout
    return done.stdout


def test_spark_writes_there_what_it_writes_on_the_disk(store, config, tmp_path):
    assert store.endpoint
    places = {str(tmp_path / "lake"): "embedded", f"s3a://{BUCKET}/lake": "spark"}
    answers = []
    for lake, engine in places.items():
        at = ("--lake", lake, "--engine", engine)
        do(config, "generate", "--messages", MESSAGES, *CLUSTER, *at)
        do(config, "route", *at)
        said = do(config, "explain", "--from", "QM1", "--object", "Q1", "--json", *at)
        answers.append(json.loads(said))
    here, there = answers
    assert there["candidates"] == here["candidates"]
    assert differing(*places) == set()
    assert len(rows_of(f"s3a://{BUCKET}/lake", "outcomes")) > 0
