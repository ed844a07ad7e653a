"""Puts of Kafka's topics come into a lake by the documentation's recipe, from a real broker."""

import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest
from deltalake import DeltaTable
from kafka_recipe import recipe

from clwl_spark.cli import main

ROOT = Path(__file__).parents[2]
BROKER = "org.apache.kafka:kafka_2.13:3.9.2"


@pytest.mark.network
def test_puts_of_a_topic_come_once_each_in_put_order(tmp_path):
    program, packages = recipe()
    (tmp_path / "from_kafka.py").write_text(program, encoding="utf-8")
    for form in ("json", "avro"):
        assert main(["init", "--lake", str(tmp_path / form), "--quiet"]) == 0
    home = Path(pyspark.__file__).parent
    settings = {
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.shuffle.partitions": "1",
        "spark.ui.enabled": "false",
    }
    command = [
        str(home / "bin" / "spark-submit"),
        *("--master", "local[1]", "--packages", f"{packages},{BROKER}"),
        *(x for pair in settings.items() for x in ("--conf", "=".join(pair))),
        str(ROOT / "tests" / "support" / "kafka_puts.py"),
        *(str(tmp_path / "from_kafka.py"), str(tmp_path)),
    ]
    bare = {x: y for x, y in os.environ.items() if not x.startswith(("PYSPARK", "SPARK"))}
    bare |= {"SPARK_HOME": str(home), "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(
        command, env=bare, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]
    for form in ("json", "avro"):
        rows = DeltaTable(str(tmp_path / form / "messages")).to_pyarrow_table().to_pylist()
        good = [x for x in rows if x["qmgr"] is not None]
        assert len(rows) - len(good) == 2
        assert sorted(int(bytes(x["message_id"])) for x in good) == [*range(80)]
        for name in ("QM1", "QM2"):
            own = sorted((x for x in good if x["qmgr"] == name), key=lambda x: x["put_seq"])
            assert len({x["put_seq"] for x in own}) == 40
            assert [x["put_time"] for x in own] == sorted(x["put_time"] for x in own)
        assert {x["bind"] for x in good} == {"NOT_FIXED", None}
