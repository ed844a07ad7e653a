"""Versions that commands of the documentation name are those that are installed."""

import re
from pathlib import Path

import pyspark

from clwl_spark.spark.runtime.jars import DELTA_JARS

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "traffic.md"


def test_the_recipe_for_kafka_names_those_of_spark_and_delta():
    packages = re.search(r"--packages (\S+?)\\\n(\S+) ", PAGE.read_text(encoding="utf-8"))
    named = packages[1] + packages[2]
    assert named.count(f":{pyspark.__version__}") == 2
    assert DELTA_JARS[0].coordinates in named
