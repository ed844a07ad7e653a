"""Candidate rows with defaults: a test states only what matters."""

from typing import Any

from pyspark.sql import DataFrame, SparkSession

from clwl_spark.tables import ROUTE_CANDIDATES

_DEFAULTS: dict[str, Any] = {
    "plan_id": 1,
    "choice": 0,
    "kind": "QUEUE",
    "dest_qmgr": "QM1",
    "dest_object": "Q",
    "channel": None,
    "instance_cluster": "K",
    "channel_cluster": "K",
    "is_local": False,
    "is_alias": False,
    "instance_shared": True,
    "channel_shared": True,
    "channel_rank": 0,
    "queue_rank": 0,
    "put_enabled": True,
    "uses_local": False,
    "suspended": False,
    "status": "RUNNING",
    "status_tier": 1,
    "netprty": 0,
    "channel_prty": 0,
    "queue_prty": 0,
    "clwlwght": 50,
}


def dest(qmgr: str, **attributes: Any) -> dict[str, Any]:
    """A candidate row on a queue manager, over its channel TO.<qmgr> unless named."""
    return _DEFAULTS | {"dest_qmgr": qmgr, "channel": f"TO.{qmgr}"} | attributes


def candidates(spark: SparkSession, *rows: dict[str, Any]) -> DataFrame:
    """The rows as a frame that the ladder takes."""
    names = [name for name in ROUTE_CANDIDATES.names if name != "eliminated_by"]
    schema = ROUTE_CANDIDATES.schema
    fields = schema.__class__([field for field in schema.fields if field.name in names])
    return spark.createDataFrame([tuple(row[name] for name in names) for row in rows], fields)
