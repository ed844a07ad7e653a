"""Lakes in a catalog that outlives sessions: a Hive metastore in Derby, as pyspark brings it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hive_metastore import hive_settings
from lake_rows import differing

SAMPLES = Path(__file__).parents[2] / "data" / "samples" / "topology"
CLUSTER = ("--qmgrs", "6", "--instances", "3", "--on-open", "0.2", "--messages", "2000")


pytestmark = pytest.mark.timeout(2400)


@pytest.fixture
def config(tmp_path):
    """Settings that name the metastore."""
    return hive_settings(tmp_path)


def run(config, *words):
    """Run a command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "clwl_spark", *map(str, words), "--config", str(config)],
        capture_output=True,
        text=True,
        check=False,
    )


def do(config, *words):
    """Run a command that has to end well; its document."""
    done = run(config, *words, "--json", "--quiet")
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout) if done.stdout else {}


def test_its_tables_are_those_of_a_folder(config, tmp_path):
    catalog = ("--catalog", "spark_catalog.mq")
    folder = ("--lake", tmp_path / "lake", "--engine", "embedded")
    for at in (folder, catalog):
        do(config, "generate", *CLUSTER, *at)
        do(config, "route", *at)
    assert differing(tmp_path / "lake", tmp_path / "warehouse" / "mq.db") == set()
    asked = [
        do(config, "explain", "--from", "QM1", "--object", "Q1", *x) for x in (catalog, folder)
    ]
    assert asked[0]["candidates"] == asked[1]["candidates"]
    made = do(config, "ask", "--create-views", *catalog)["views"]
    assert "spark_catalog.mq.queue_manager_balance" in made


def test_a_schema_that_is_not_there_is_told_before_any_work(config):
    said = run(config, "ask", "failures", "--catalog", "spark_catalog.nowhere")
    assert said.returncode == 2
    assert "schema spark_catalog.nowhere is not there" in said.stderr
    assert "CREATE SCHEMA `spark_catalog`.`nowhere`" in said.stderr


def test_one_that_cannot_be_made_is_told_with_the_sql_before_a_file_is_read(config, tmp_path):
    (tmp_path / "warehouse").write_text("a file, below which no schema has a folder")
    said = run(config, "ingest", SAMPLES, "--snapshot", "S", "--catalog", "spark_catalog.mq")
    assert said.returncode == 2
    assert "cannot be made" in said.stderr
    assert "CREATE SCHEMA `spark_catalog`.`mq`" in said.stderr
    assert "reading" not in said.stderr
