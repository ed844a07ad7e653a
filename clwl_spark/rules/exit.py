"""The cluster workload exit: a configured function takes rows away after rule 2.

What MQ hands to an exit are structures; the function gets a frame with a row per destination:

| of MQ | columns |
|---|---|
| MQWXP: QName, QMgrName | object_name, object_qmgr; resolved: resolved_object, resolved_qmgr |
| MQWXP: Flags (PUT_BY_CLUSTER_CHL), CLWLMRUChannels, ExitData | via, clwlmruc, second argument |
| MQWDR: QMgrName, QMgrIdentifier, QMgrFlags (repository) | dest_qmgr, qmid, qmtype |
| MQWDR: ChannelState, DestSeqNumber, DestSeqFactor | status, dest_seq_number, dest_seq_factor |
| MQWDR: the channel's MQCD | channel, conname, channel_rank, channel_prty, netprty, clwlwght |
| MQWQR: QName, QType, DefBind, InhibitPut | dest_object, qtype, defbind, put_enabled |
| MQWQR: QFlags (LOCAL_Q, CLWL_USEQ_ANY) | is_local, clwluseq |
| MQWQR: CLWLQueueRank, CLWLQueuePriority | queue_rank, queue_prty |
| MQWCR: ClusterName | instance_cluster, channel_cluster |

and snapshot_id, qmgr (who puts), object_type, kind, suspended, status_tier. In kinds other than
QUEUE those of MQWQR are null, as MQ passes no queues then. dest_seq_number and dest_seq_factor are
null: the exit is asked once per request, before any message of it is routed.

A row that it returns has to be one that it got, by the columns that tell destinations apart: else
it is refused. What it does to other columns changes nothing.

Source: SEMANTICS 4, row "exit"; P26; Hughson's deck, "Workload management features".
"""

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.algorithm.ladder import EXIT
from clwl_spark.errors import ExitFunctionError
from clwl_spark.mq.vocabulary import PlanKind
from clwl_spark.rules.marking import CHOICE_KEY, Rule, eliminate, in_play
from clwl_spark.rules.named import named_function
from clwl_spark.snapshots.views import EVERYBODY, VIEWER, Topology
from clwl_spark.spark.materialize import checkpoint
from clwl_spark.tables import columns as c

_ROW = (
    *CHOICE_KEY,
    c.DEST_QMGR,
    c.DEST_OBJECT,
    c.CHANNEL,
    c.IS_ALIAS,
    c.INSTANCE_CLUSTER,
    c.CHANNEL_CLUSTER,
)
_KEPT = "kept_by_exit"
_REQUEST: Final = (
    c.SNAPSHOT_ID,
    c.QMGR,
    c.OBJECT_TYPE,
    c.OBJECT_NAME,
    c.OBJECT_QMGR,
    c.VIA,
    c.RESOLVED_OBJECT,
    c.RESOLVED_QMGR,
)


def keep_what_exit_keeps(exit_function: Rule) -> Rule:
    """Make a rule of the exit, which gets the rows in play and returns those it keeps.

    Raises:
        ExitFunctionError: (of the rule) what it returned is no frame of rows that it got.
    """

    def rule(candidates: DataFrame) -> DataFrame:
        given = candidates.where(in_play())
        kept: object = exit_function(given)
        if not isinstance(kept, DataFrame) or not set(_ROW) <= set(kept.columns):
            raise ExitFunctionError(
                f"the exit must return a DataFrame with the columns {list(_ROW)}: "
                "return the rows it got, less those it takes away"
            )
        destinations = checkpoint(kept.select(*_ROW).distinct())
        _refuse_others(destinations, given)
        marked = destinations.withColumn(_KEPT, F.lit(True))
        joined = candidates.join(marked, on=list(_ROW), how="left")
        return eliminate(joined, F.col(_KEPT).isNull(), EXIT).drop(_KEPT)

    return rule


def _refuse_others(kept: DataFrame, given: DataFrame) -> None:
    """Refuse rows that the exit did not get: it can take destinations away, not change or add any.

    Raises:
        ExitFunctionError: there is one.
    """
    other = kept.join(given.select(*_ROW), list(_ROW), "left_anti").first()
    if other is not None:
        raise ExitFunctionError(
            f"the exit returned a destination that it did not get: {other[c.DEST_OBJECT]} on "
            f"{other[c.DEST_QMGR]} by {other[c.CHANNEL]} in {other[c.CHANNEL_CLUSTER]}: return the "
            "rows it got as they are, less those it takes away"
        )


def seeing_all(exit_function: Rule, plans: DataFrame, known: DataFrame, topology: Topology) -> Rule:
    """Give the exit what it may ask for beside the candidate's own columns.

    Args:
        exit_function: as configured.
        plans: the requests with resolved_object and resolved_qmgr, by plan_id.
        known: `views.viewers` of the senders.
        topology: the tables.

    Returns:
        A function of the candidate rows, as `keep_what_exit_keeps` takes it.
    """
    of_sender = known.select(c.SNAPSHOT_ID, F.col(VIEWER).alias(c.QMGR), c.CLWLMRUC)
    asked = plans.select(c.PLAN_ID, *_REQUEST).join(of_sender, [c.SNAPSHOT_ID, c.QMGR], "left")
    qmgrs = _attributes(topology.queue_managers, {c.QMGR: c.DEST_QMGR}, (c.QMID,))
    channels = _attributes(
        topology.cluster_channels,
        {c.QMGR: c.DEST_QMGR, c.CHANNEL: c.CHANNEL, c.CLUSTER: c.CHANNEL_CLUSTER},
        (c.CONNAME, c.QMTYPE),
    )
    queues = _attributes(
        topology.queues,
        {c.QMGR: c.DEST_QMGR, c.QUEUE: c.DEST_OBJECT, c.CLUSTER: c.INSTANCE_CLUSTER},
        (c.QTYPE, c.DEFBIND, c.CLWLUSEQ),
    ).withColumn(c.KIND, F.lit(PlanKind.QUEUE.value))

    def rule(candidates: DataFrame) -> DataFrame:
        frame = candidates.join(asked, c.PLAN_ID)
        for found in (qmgrs, channels, queues):
            shared = [x for x in found.columns if x in frame.columns]
            frame = frame.join(found, shared, "left")
        unknown = {x: F.lit(None).cast("bigint") for x in (c.DEST_SEQ_NUMBER, c.DEST_SEQ_FACTOR)}
        return exit_function(frame.withColumns(unknown))

    return rule


def load_exit(reference: str) -> Rule | None:
    """Import the exit that `module:function` or `module:function:data` names; blank means none.

    With data, as a queue manager's CLWLDATA, the function gets it as its second argument.

    Raises:
        ExitFunctionError: there is no such module or function, or it takes other arguments.
    """
    function = named_function(reference, "exit", "a function DataFrame -> DataFrame")
    return None if function is None else _naming_itself(reference, function)


def _naming_itself(reference: str, exit_function: Rule) -> Rule:
    """An exit whose errors are told as its own."""

    def rule(destinations: DataFrame) -> DataFrame:
        try:
            kept = exit_function(destinations)
            if isinstance(kept, DataFrame):
                # Connect looks for a column no sooner than this.
                kept.columns  # noqa: B018
        except Exception as error:
            raise ExitFunctionError(
                f"exit '{reference}' raised {type(error).__name__}: {error}"
            ) from error
        return kept

    return rule


def _attributes(table: DataFrame, key: dict[str, str], told: tuple[str, ...]) -> DataFrame:
    """Attributes of an object, as it is defined, else as somebody sees it.

    Grain: one row per (snapshot_id, key), the key's columns renamed.
    """
    best = F.max_by(F.struct(*told), F.struct(F.col(c.OBSERVER) == EVERYBODY, F.col(c.OBSERVER)))
    return (
        table.groupBy(c.SNAPSHOT_ID, *(F.col(x).alias(name) for x, name in key.items()))
        .agg(best.alias("told"))
        .select(c.SNAPSHOT_ID, *key.values(), "told.*")
    )
