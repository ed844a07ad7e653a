"""Own views of a snapshot beside what owners define, by observer and table.

Source: SEMANTICS S2; Hughson's deck (views).
"""

from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.snapshots.views import EVERYBODY
from clwl_spark.studies.repository.objects import OBJECT_TABLES, attributes_of, differing
from clwl_spark.tables import columns as c

Row = dict[str, Any]

_SEEN: Final = "seen"
_DEFINED: Final = "defined"


def own_views(lake: Lake, snapshot_id: str) -> list[Row]:
    """Rows of own views that differ from the definition, by observer and table.

    Compared is what `clwl repository` compares: what a view shows at all. What is absent counts
    where the observer has a view of its own of that table, in its clusters.

    Grain: one row per observer and table where anything is wrong: (observer, table, differs,
    unknown, absent), the last three numbers of objects.
    """
    found = []
    clusters = _clusters(lake, snapshot_id)
    for name, kind, object_name, _ in OBJECT_TABLES:
        keys = (c.QMGR, object_name, c.CLUSTER)
        table = lake.read_or_empty(name, c.SNAPSHOT_ID, [snapshot_id])
        is_defined = F.col(c.OBSERVER) == EVERYBODY
        defined = table.where(is_defined).select(*keys, attributes_of(kind).alias(_DEFINED))
        seen = table.where(~is_defined & (F.col(c.OBSERVER) != F.col(c.QMGR)))
        joined = seen.select(c.OBSERVER, *keys, attributes_of(kind).alias(_SEEN)).join(
            defined, list(keys), "left"
        )
        is_unlike = F.size(differing(F.col(_SEEN), F.col(_DEFINED))) > 0
        counts = joined.groupBy(c.OBSERVER).agg(
            F.count_if(F.col(_DEFINED).isNotNull() & is_unlike).alias("differs"),
            F.count_if(F.col(_DEFINED).isNull()).alias("unknown"),
        )
        absent = _absent(seen.select(c.OBSERVER, *keys), defined.select(*keys), clusters)
        counts = counts.join(absent, c.OBSERVER, "left").fillna({"absent": 0})
        wrong = counts.where("differs + unknown + absent > 0").orderBy(c.OBSERVER)
        found += [{**row.asDict(), "table": name} for row in wrong.collect()]
    return found


def _clusters(lake: Lake, snapshot_id: str) -> DataFrame:
    """The clusters of each queue manager that has a CLUSRCVR: (observer, cluster), distinct."""
    rows = lake.read_or_empty("cluster_channels", c.SNAPSHOT_ID, [snapshot_id])
    shared = rows.where(F.col(c.CLUSTER) != "")
    return shared.select(F.col(c.QMGR).alias(c.OBSERVER), c.CLUSTER).distinct()


def _absent(seen: DataFrame, defined: DataFrame, clusters: DataFrame) -> DataFrame:
    """How many objects of others in its clusters each observer's own view does not have.

    What is defined there less what is seen of it: no observer meets every object.

    Grain: one row per observer that has a view of its own: (observer, absent).
    """
    observers = seen.select(c.OBSERVER).distinct().join(clusters, c.OBSERVER)
    sizes = defined.groupBy(c.CLUSTER).agg(F.count(F.lit(1)).alias("size"))
    own = defined.groupBy(F.col(c.QMGR).alias(c.OBSERVER), c.CLUSTER).agg(
        F.count(F.lit(1)).alias("own")
    )
    here = [c.OBSERVER, c.CLUSTER]
    defined_there = observers.join(sizes, c.CLUSTER).join(own, here, "left").fillna({"own": 0})
    expected = defined_there.groupBy(c.OBSERVER).agg(
        F.sum(F.col("size") - F.col("own")).alias("expected")
    )
    met = seen.join(defined, defined.columns, "left_semi").join(clusters, here, "left_semi")
    known = met.groupBy(c.OBSERVER).agg(F.count(F.lit(1)).alias("known"))
    found = expected.join(known, c.OBSERVER, "left").fillna({"known": 0})
    return found.select(c.OBSERVER, (F.col("expected") - F.col("known")).alias("absent"))
