"""Definitions of one cluster topic that contradict one another.

Queue managers of a cluster may define the same topic object, but should define it alike: where they
do not, each queue manager picks a definition of its own accord, and MQ writes AMQ9465 on the
definition that came later and AMQ9466 on those that were there (z/OS: CSQX465I, CSQX466I).

Source: Hughson's deck, "Cluster Topic Hosts".
"""

from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from clwl_spark.mq.vocabulary import ClusterRoute, ProxySub
from clwl_spark.snapshots.views import EVERYBODY
from clwl_spark.tables import TOPIC_CONFLICTS
from clwl_spark.tables import columns as c
from clwl_spark.tables.publishing import ATTRIBUTE, CODE, VALUE, ConflictCode

AS_PARENT: Final = "ASPARENT"
SCOPES: Final = {"PUBSCOPE": c.PUB_SCOPE, "SUBSCOPE": c.SUB_SCOPE}
"""MQ's name and column; a lake of an earlier version has no such columns."""


def cluster_definitions(topics: DataFrame) -> DataFrame:
    """The definitions of cluster topics after MQ's defaults.

    Args:
        topics: rows of `topics`; what an observer says counts only where nobody gave the
            definition itself.

    Grain: one row per (snapshot_id, cluster, topic, qmgr).
    """
    key = (c.SNAPSHOT_ID, c.CLUSTER, c.TOPIC, c.QMGR)
    defaults: dict[str, bool | float | int | str] = {
        c.TOPICSTR: "",
        c.CLROUTE: ClusterRoute.DIRECT.value,
        c.PUB_ENABLED: True,
        c.SUB_ENABLED: True,
        c.PROXYSUB: ProxySub.FIRSTUSE.value,
        c.ALTERED: "",
        **{scope: AS_PARENT for scope in SCOPES.values() if scope in topics.columns},
    }
    columns = [x for x in topics.columns if x not in (*key, c.OBSERVER, c.SOURCE)]
    best = F.max_by(F.struct(*columns), F.struct(F.col(c.OBSERVER) == EVERYBODY, c.OBSERVER))
    shared = topics.where(F.col(c.CLUSTER) != "")
    rows = shared.groupBy(*key).agg(best.alias("row")).select(*key, "row.*")
    return rows.fillna({name: value for name, value in defaults.items() if name in columns})


def conflicts(definitions: DataFrame) -> DataFrame:
    """The attributes in which definitions of one topic differ.

    Args:
        definitions: `cluster_definitions`.

    Grain: one row per definition and attribute that is not the same everywhere, columns of
    `schemas.TOPIC_CONFLICTS`. The earliest by ALTERED, then by queue manager, is the one that was
    there first; who agrees with it is told by AMQ9466, who does not by AMQ9465.
    """
    said = F.explode(F.map_from_arrays(*_attributes(definitions)))
    each = definitions.select("*", said.alias(ATTRIBUTE, VALUE))
    of_topic = Window.partitionBy(c.SNAPSHOT_ID, c.CLUSTER, c.TOPIC, ATTRIBUTE)
    altered = F.col(c.ALTERED) if c.ALTERED in definitions.columns else F.lit("")
    first = F.min_by(VALUE, F.struct(altered, F.col(c.QMGR))).over(of_topic)
    differing = each.select(
        "*",
        first.alias("first"),
        (F.min(VALUE).over(of_topic) != F.max(VALUE).over(of_topic)).alias("differs"),
    ).where("differs")
    agrees = F.col(VALUE) == F.col("first")
    code = F.when(agrees, ConflictCode.EARLIER.value).otherwise(ConflictCode.NEWER.value)
    return differing.withColumn(CODE, code).select(*TOPIC_CONFLICTS.names)


def _attributes(definitions: DataFrame) -> tuple[Column, Column]:
    """MQ's names of the attributes that have to agree, and their values as text."""
    values = {
        "TOPICSTR": F.col(c.TOPICSTR),
        "CLROUTE": F.col(c.CLROUTE),
        "PUB": _enabled(c.PUB_ENABLED),
        "SUB": _enabled(c.SUB_ENABLED),
        "PROXYSUB": F.col(c.PROXYSUB),
        **{name: F.col(x) for name, x in SCOPES.items() if x in definitions.columns},
    }
    return F.array(*map(F.lit, values)), F.array(*values.values())


def _enabled(flag: str) -> Column:
    return F.when(F.col(flag), "ENABLED").otherwise("DISABLED")
