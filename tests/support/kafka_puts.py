"""A broker, puts in two of its topics, and the recipe of the documentation that brings them in.

A program of spark-submit, since only its session has Kafka's JARs: `kafka_puts.py RECIPE FOLDER`
starts a broker of its own with the same JARs, runs the recipe twice for JSON and Avro, with more
puts before the second run, and ends the broker.
"""

import os
import runpy
import socket
import subprocess
import sys
import time
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import to_avro

PROPERTIES = """
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{broker},CONTROLLER://127.0.0.1:{controller}
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs={folder}/data
offsets.topic.replication.factor=1
num.partitions=2
"""
IDENTIFIER = "AAAAAAAAAAAAAAAAAAAAAQ"
WAIT_SECONDS = 60
FORMS = ("json", "avro")


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def begun(jars: list[str], folder: Path, port: int) -> subprocess.Popen[bytes]:
    """A broker that listens."""
    settings = folder / "server.properties"
    settings.write_text(PROPERTIES.format(broker=port, controller=free_port(), folder=folder))
    java = ["java", "-Xmx256m", "-cp", ":".join(jars)]
    form = ["format", "-t", IDENTIFIER, "-c", str(settings)]
    subprocess.run([*java, "kafka.tools.StorageTool", *form], check=True)
    log = (folder / "broker.log").open("wb")
    broker = subprocess.Popen([*java, "kafka.Kafka", str(settings)], stdout=log, stderr=log)
    ends = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < ends:
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return broker
        time.sleep(0.2)
    broker.kill()
    raise TimeoutError((folder / "broker.log").read_text())


def puts(spark: SparkSession, first: int, count: int) -> DataFrame:
    """Puts of two queue managers by turns, a second apart."""
    number = F.col("id")
    return (
        spark.range(first, first + count)
        .coalesce(1)
        .select(
            F.concat(F.lit("QM"), (number % 2 + 1).cast("string")).alias("qmgr"),
            F.timestamp_micros(F.lit(1789372800_000000) + number * 1_000_000).alias("put_time"),
            F.lit("ORDERS").alias("object_name"),
            F.when(number % 2 == 0, "NOT_FIXED").alias("bind"),
            F.hex(number.cast("string")).alias("message_id"),
        )
    )


def produce(rows: DataFrame, form: str, schema: str, servers: str) -> None:
    """Write puts to a topic, by queue manager, and after them a record that is none."""
    value = F.to_json(F.struct("*")) if form == "json" else to_avro(F.struct("*"), schema)
    records = rows.select(F.col("qmgr").alias("key"), value.alias("value"))
    wrong = rows.sparkSession.createDataFrame([("QM1", bytearray(b"{"))], records.schema)
    for some in (records, wrong):
        some.write.format("kafka").options(
            **{"kafka.bootstrap.servers": servers, "topic": f"puts.{form}"}
        ).save()


def main() -> None:
    """Do it, for each form in a lake of its own."""
    recipe, folder = sys.argv[1], Path(sys.argv[2])
    spark = SparkSession.builder.getOrCreate()
    jars = [x.removeprefix("file://") for x in spark.conf.get("spark.jars").split(",")]
    jars += map(str, (Path(os.environ["SPARK_HOME"]) / "jars").glob("scala-library-*.jar"))
    port = free_port()
    servers = f"127.0.0.1:{port}"
    schema = _avro_of(recipe)
    broker = begun(jars, folder, port)
    try:
        for first in (0, 40):
            for form in FORMS:
                produce(puts(spark, first, 40), form, schema, servers)
                lake, checkpoint = str(folder / form), str(folder / f"{form}.checkpoint")
                sys.argv = [recipe, servers, f"puts.{form}", form, lake, checkpoint]
                runpy.run_path(recipe, run_name="__main__")
    finally:
        broker.terminate()
        broker.wait()


def _avro_of(recipe: str) -> str:
    """The schema that the recipe has."""
    return Path(recipe).read_text().split('AVRO = """')[1].split('"""')[0]


if __name__ == "__main__":
    main()
