"""The demo's cluster and messages, which changes are tried on."""

from datetime import UTC, datetime

import pytest
from lakes import lake_with

from clwl_spark.cli.samples import sample_messages, samples_folder
from clwl_spark.snapshots.ingest import IngestOptions, ingest
from clwl_spark.tables import MESSAGES

NEVER = datetime(2099, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="session")
def lake(spark, tmp_path_factory):
    """The demo's messages and its topology, which is not in force yet; nothing is routed."""
    found = lake_with(spark, tmp_path_factory.mktemp("demo") / "lake", ["messages"])
    ingest(found, [samples_folder() / "topology"], "demo", IngestOptions(valid_from=NEVER))
    rows = sample_messages(samples_folder() / "messages.csv")
    found.append("messages", spark.createDataFrame(rows, MESSAGES.schema).repartition(1))
    return found
