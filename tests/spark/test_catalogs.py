"""A catalog that would forget what it is given is refused before Java starts."""

import subprocess
import sys

import pytest

from clwl_spark.delta.catalogs import refuse_forgotten
from clwl_spark.errors import MissingSchemaError, UsageError

KEPT = {
    "spark.sql.catalogImplementation": "hive",
    "spark.sql.warehouse.dir": "/data/warehouse",
    "spark.hadoop.hive.metastore.uris": "thrift://metastore:9083",
}


def test_a_session_of_its_own_refuses_what_it_would_forget(tmp_path):
    words = [sys.executable, "-m", "clwl_spark", "init", "--catalog", "spark_catalog.mq"]
    env = {"PATH": "/usr/bin:/bin", "JAVA_HOME": str(tmp_path)}
    done = subprocess.run(words, env=env, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "spark_catalog of a session that clwl starts ends with it" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("lacking", KEPT)
def test_the_built_in_catalog_needs_a_metastore_and_a_folder(monkeypatch, lacking):
    monkeypatch.delenv("SPARK_CONF_DIR", raising=False)
    refuse_forgotten("spark_catalog.mq", KEPT)
    with pytest.raises(UsageError, match=r"sql\.warehouse\.dir"):
        refuse_forgotten("spark_catalog.mq", {x: y for x, y in KEPT.items() if x != lacking})


def test_another_catalog_has_to_be_known(monkeypatch):
    monkeypatch.delenv("SPARK_CONF_DIR", raising=False)
    with pytest.raises(UsageError, match=r"knows no catalog main: set sql\.catalog\.main"):
        refuse_forgotten("main.mq", KEPT)
    refuse_forgotten("main.mq", {"spark.sql.catalog.main": "org.example.Catalog"})
    refuse_forgotten("", {})
    monkeypatch.setenv("SPARK_CONF_DIR", "/etc/spark")
    refuse_forgotten("main.mq", {})


def test_a_schema_that_is_not_there_is_told_with_its_sql():
    said = str(MissingSchemaError("main.mq", "no right"))
    assert "cannot be made (no right)" in said
    assert said.endswith("CREATE SCHEMA `main`.`mq`")
