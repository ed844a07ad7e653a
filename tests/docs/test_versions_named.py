"""Versions that commands of the documentation name are those that are installed."""

import pyspark
from kafka_recipe import recipe

from clwl_spark.spark.runtime.jars import DELTA_JARS


def test_the_recipe_for_kafka_names_those_of_spark_and_delta():
    _, packages = recipe()
    assert packages.count(f":{pyspark.__version__}") == 2
    assert DELTA_JARS[0].coordinates in packages
