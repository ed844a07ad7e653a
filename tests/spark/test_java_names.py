"""Java is asked once what a class or a method of its is."""

from collections import Counter

import pytest
from py4j.clientserver import ClientServerConnection
from pyspark.sql import functions as F

from clwl_spark.spark.java_names import remember_java_names

pytestmark = pytest.mark.spark

LOOK_UP = "r"


@pytest.fixture
def asked(monkeypatch):
    """What Java is asked for, by kind of command."""
    kinds: Counter[str] = Counter()
    send = ClientServerConnection.send_command

    def counted(self, command, *more):
        kinds[command.partition("\n")[0]] += 1
        return send(self, command, *more)

    monkeypatch.setattr(ClientServerConnection, "send_command", counted)
    return kinds


def rows(spark):
    """Of a frame whose columns are made by a few functions."""
    frame = spark.range(3).select(F.col("id"), F.lit(1).alias("one"), F.upper(F.lit("a")))
    return frame.where(F.col("id").isin(1, 2)).count()


def test_names_are_looked_up_once(spark, asked):
    assert rows(spark) == 2
    assert asked
    asked.clear()
    remember_java_names()
    assert rows(spark) == 2
    assert LOOK_UP not in asked
