"""The ways that messages can take: transmission queue, channel and queue manager at its end.

Looked at is what the configuration allows, in whatever state the channels are: a candidate that
lost by its status, or by a priority to one that may be down tomorrow, is a way too. The cluster
workload exit is not asked.

Source: SEMANTICS 3, 4, 7, P16.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from clwl_spark.algorithm.ladder import CONFIGURED
from clwl_spark.algorithm.transmit import after_next_start, now
from clwl_spark.mq.vocabulary import ObjectType, PlanKind
from clwl_spark.planning.facts import transmission_queues
from clwl_spark.planning.plans import Ladder, Plans, make_plans
from clwl_spark.snapshots.views import VIEWER
from clwl_spark.spark.materialize import checkpoint
from clwl_spark.studies.separation.alike import ASKER, Asked
from clwl_spark.tables import columns as c
from clwl_spark.tables.arrow import from_arrow_schema

UNIT: Final = "unit"
NEXT_XMITQ: Final = "next_xmitq"
WAY: Final = (c.XMITQ, c.CHANNEL, c.DEST_QMGR)
_CHANNELS: Final = "channels"
_SCHEMA: Final = pa.schema(
    [(x, pa.string()) for x in (ASKER, c.CHANNEL, c.DEST_QMGR, c.XMITQ, NEXT_XMITQ)]
)


@dataclass(frozen=True, slots=True)
class Found:
    """What was asked, and the ways.

    Attributes:
        asked: what was planned.
        ways: (asker, unit, *WAY, next_xmitq), distinct; `unit` is a kind of queues, or a queue that
            the asker asks for itself; `xmitq` is the present transmission queue, `next_xmitq` that
            after the channel's next start. `channel` is blank where a definition names the
            transmission queue.
    """

    asked: Asked
    ways: DataFrame


def find_ways(asked: Asked, ladder: Ladder) -> Found:
    """Plan what is asked, and find the ways."""
    made = make_plans(
        asked.requests,
        asked.topology,
        replace(ladder, exit_function=None),
        checkpoint,
        (ObjectType.QUEUE.value,),
    )
    return Found(asked, checkpoint(_ways(made, asked)))


def is_possible() -> Column:
    """True for candidates that are taken, or would be if others were down."""
    number = F.col(c.ELIMINATED_BY)
    return number.isNull() | ~number.isin(*CONFIGURED)


def _ways(made: Plans, asked: Asked) -> DataFrame:
    """The ways of all plans."""
    asker = F.col(c.QMGR).alias(ASKER)
    unit = F.col(c.OBJECT_NAME).alias(UNIT)
    of_plan = made.plans.select(c.PLAN_ID, asker, unit)
    rows = made.candidates.where(is_possible() & ~F.col(c.IS_LOCAL))
    taken = checkpoint(
        rows.join(of_plan, c.PLAN_ID).select(ASKER, UNIT, c.DEST_QMGR, c.CHANNEL).distinct()
    )
    named = made.plans.where(
        (F.col(c.KIND) == PlanKind.XMITQ.value) & (F.col(c.REASON) == 0)
    ).select(
        asker,
        unit,
        c.XMITQ,
        F.lit("").alias(c.CHANNEL),
        F.col(c.RESOLVED_QMGR).alias(c.DEST_QMGR),
        F.col(c.XMITQ).alias(NEXT_XMITQ),
    )
    channels = taken.select(ASKER, c.CHANNEL, c.DEST_QMGR).distinct()
    queues = _transmission_queues(channels, asked)
    over = taken.join(queues, [ASKER, c.CHANNEL, c.DEST_QMGR])
    columns = (ASKER, UNIT, *WAY, NEXT_XMITQ)
    return over.select(*columns).unionByName(named.select(*columns)).distinct()


def _transmission_queues(channels: DataFrame, asked: Asked) -> DataFrame:
    """The transmission queues of channels: (asker, channel, dest_qmgr, xmitq, next_xmitq).

    Args:
        channels: (asker, channel, dest_qmgr), distinct.
        asked: which queue managers an asker stands for: all of one layout.
    """
    stood_for = asked.askers.groupBy(ASKER).agg(F.min(VIEWER).alias(VIEWER))
    themselves = asked.askers.select(F.col(VIEWER).alias(ASKER), VIEWER)
    facts = asked.facts.join(stood_for.union(themselves).distinct(), VIEWER)
    listed = channels.groupBy(ASKER).agg(
        F.collect_list(F.struct(c.CHANNEL, c.DEST_QMGR)).alias(_CHANNELS)
    )
    return facts.join(listed, ASKER).mapInArrow(_xmitqs, from_arrow_schema(_SCHEMA))


def _xmitqs(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """One row per asker in, one row per channel out."""
    for batch in batches:
        rows = [row for facts in batch.to_pylist() for row in _xmitqs_of(facts)]
        yield pa.RecordBatch.from_pylist(rows, schema=_SCHEMA)


def _xmitqs_of(facts: dict[str, Any]) -> Iterator[dict[str, str]]:
    queues = transmission_queues(facts)
    for x in facts[_CHANNELS]:
        yield {
            ASKER: facts[ASKER],
            **x,
            c.XMITQ: now(x[c.CHANNEL], x[c.DEST_QMGR], queues),
            NEXT_XMITQ: after_next_start(x[c.CHANNEL], queues),
        }
