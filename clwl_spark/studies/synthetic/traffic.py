"""Messages of a spec: sender, put_seq and time follow from a message's number alone."""

from typing import Final

import pyspark.sql.functions as F
from pyspark.sql import Column, DataFrame, SparkSession

from clwl_spark import tables as schemas
from clwl_spark.mq import vocabulary as v
from clwl_spark.studies.synthetic import draw as d
from clwl_spark.studies.synthetic.shaping import shaped
from clwl_spark.studies.synthetic.spec import GenerateSpec
from clwl_spark.tables import columns as c

_LANES: Final = 8
_HOT_STEPS: Final = 10_000
_QMGR_PART: Final = 12
_PERSISTENT: Final = 0.5
_LONGEST: Final = 10_000

_SENDER: Final = "sender"
_IS_TOPIC: Final = "is_topic"
_THING: Final = "thing"
_OPEN_DRAW: Final = "open_draw"


def messages(spark: SparkSession, spec: GenerateSpec) -> DataFrame:
    """Messages in put order; put_seq runs 1, 2, 3 … on each queue manager.

    Grain: one row per message; partitions, and so files, follow one another in time.
    """
    numbered = d.rows(spark, spec.messages)
    opened = _opened(_sent(numbered, spec), spec)
    return shaped(_addressed(opened, spec), schemas.MESSAGES, _columns(spec))


def _sent(numbered: DataFrame, spec: GenerateSpec) -> DataFrame:
    """Add the sender's number and put_seq: round robin, the hot sender's part spread evenly."""
    message = F.col(d.ID)
    hot_steps = round(spec.hot_sender * _HOT_STEPS)
    if hot_steps == 0 or spec.sending == 1:
        return _in_turn(numbered, spec.sending)
    if hot_steps == _HOT_STEPS:
        return _in_turn(numbered, 1)
    hot_before = d.whole(message * F.lit(hot_steps), _HOT_STEPS)
    hot_after = d.whole((message + F.lit(1)) * F.lit(hot_steps), _HOT_STEPS)
    is_hot = hot_after > hot_before
    others = spec.sending - 1
    rest = message - hot_before
    sender = F.when(is_hot, F.lit(0)).otherwise(F.lit(1) + rest % F.lit(others))
    sequence = F.when(is_hot, hot_before).otherwise(d.whole(rest, others)) + F.lit(1)
    return numbered.withColumns({_SENDER: sender, c.PUT_SEQ: sequence})


def _in_turn(numbered: DataFrame, senders: int) -> DataFrame:
    """Add sender and put_seq where all senders take equal turns."""
    message = F.col(d.ID)
    sequence = d.whole(message, senders) + F.lit(1)
    return numbered.withColumns({_SENDER: message % F.lit(senders), c.PUT_SEQ: sequence})


def _opened(sent: DataFrame, spec: GenerateSpec) -> DataFrame:
    """Add the open a message belongs to: eight opens at a time take turns."""
    before = F.col(c.PUT_SEQ) - F.lit(1)
    block = d.whole(before, _LANES * spec.messages_per_open)
    opens = block * F.lit(_LANES) + before % F.lit(_LANES) + F.lit(1)
    draw = d.draw(spec, "open", F.col(_SENDER), F.col(c.OPEN_ID))
    return sent.withColumn(c.OPEN_ID, opens).withColumn(_OPEN_DRAW, draw)


def _addressed(opened: DataFrame, spec: GenerateSpec) -> DataFrame:
    """Add whether it publishes and the number of the queue or topic, in a cluster of the sender."""
    sender = F.col(_SENDER)
    elsewhere = d.in_slot(spec, sender, F.lit(1)) & (_choice(spec, "slot", 2) == F.lit(1))
    slot = F.when(elsewhere, F.lit(1)).otherwise(F.lit(0))
    cluster = d.cluster_of(spec, sender, slot)
    is_topic = _open_hits(spec, "publish", spec.publications)
    count = F.when(is_topic, F.lit(spec.topics)).otherwise(F.lit(spec.queues))
    in_cluster = d.whole(count - cluster + F.lit(spec.clusters - 1), spec.clusters)
    thing = cluster + F.lit(spec.clusters) * _choice(spec, "thing", in_cluster)
    return opened.withColumns({_IS_TOPIC: is_topic, _THING: thing})


def _columns(spec: GenerateSpec) -> dict[str, Column]:
    """The messages table's columns, of sender, put_seq, open and thing."""
    body = d.draw(spec, "body", F.col(d.ID))
    micros = F.floor(F.col(d.ID) * F.lit(spec.put_interval_micros)).cast("long")
    object_type = F.when(F.col(_IS_TOPIC), v.ObjectType.TOPIC.value)
    return {
        c.QMGR: d.qmgr_name(spec, F.col(_SENDER)),
        c.PUT_SEQ: F.col(c.PUT_SEQ),
        c.MESSAGE_ID: _identifier(spec, "AMQ ", F.col(d.ID)),
        c.PUT_TIME: F.timestamp_micros(F.lit(spec.start_micros) + micros),
        c.OBJECT_TYPE: F.coalesce(object_type, F.lit(v.ObjectType.QUEUE.value)),
        c.OBJECT_NAME: _object_name(spec),
        c.OBJECT_QMGR: _object_qmgr(spec),
        c.BIND: _bind(spec),
        c.OPEN_ID: F.col(c.OPEN_ID),
        c.GROUP_ID: F.when(_is_group(spec), _identifier(spec, "GRP ", F.col(c.OPEN_ID))),
        c.LOGICAL_ORDER: _is_group(spec),
        c.VIA: F.lit(v.Via.LOCAL.value),
        c.PERSISTENT: d.hits(body, _PERSISTENT),
        c.MSG_LENGTH: d.draw_below(F.shiftright(body, 20), _LONGEST) + F.lit(1),
    }


def _object_name(spec: GenerateSpec) -> Column:
    """Queue, alias or unknown queue; or a topic string one level below the topic object's."""
    queue = d.queue_name(spec, F.col(_THING))
    by_alias = d.has_alias(spec, F.col(_THING)) & (_choice(spec, "alias", 2) == F.lit(1))
    if spec.aliases:
        queue = F.when(by_alias, d.alias_name(spec, F.col(_THING))).otherwise(queue)
    if spec.unknown:
        missing = _open_hits(spec, "unknown", spec.unknown)
        queue = F.when(missing, F.lit("NO.SUCH.QUEUE")).otherwise(queue)
    if not spec.publications:
        return queue
    level = F.concat(d.topic_string(spec, F.col(_THING)), F.lit("/price"))
    return F.when(F.col(_IS_TOPIC), level).otherwise(queue)


def _object_qmgr(spec: GenerateSpec) -> Column:
    """Blank; or, for the share that names one, a queue manager that hosts the queue."""
    if not spec.named_qmgr:
        return F.lit("")
    host = d.host(spec, F.col(_THING), _choice(spec, "instance", spec.instances))
    named = _open_hits(spec, "named", spec.named_qmgr) & ~F.col(_IS_TOPIC)
    return F.when(named, d.qmgr_name(spec, host)).otherwise("")


def _bind(spec: GenerateSpec) -> Column:
    """Bind option of the open."""
    rest = F.lit(str(spec.bind))
    opened = F.when(_is_group(spec), F.lit(v.Bind.ON_GROUP.value)).when(
        _open_hits(spec, "bind", spec.on_group + spec.on_open), F.lit(v.Bind.ON_OPEN.value)
    )
    return F.coalesce(opened, rest)


def _is_group(spec: GenerateSpec) -> Column:
    """True where the open puts a group: the first part of the bind draw."""
    return _open_hits(spec, "bind", spec.on_group)


def _open_hits(spec: GenerateSpec, what: str, share: float) -> Column:
    """True for that share of the opens; a literal where nothing has to be drawn."""
    if share in (0, 1):
        return F.lit(share == 1)
    return d.hits(d.draw(spec, what, F.col(_OPEN_DRAW)), share)


def _choice(spec: GenerateSpec, what: str, limit: Column | int) -> Column:
    """A number 0..limit-1 drawn for the open."""
    return d.draw_below(d.draw(spec, what, F.col(_OPEN_DRAW)), limit)


def _identifier(spec: GenerateSpec, prefix: str, number: Column) -> Column:
    """24 bytes like MQ's: prefix, the queue manager's first 12 characters, a counter."""
    qmgr = F.rpad(d.qmgr_name(spec, F.col(_SENDER)), _QMGR_PART, " ")
    text = F.concat(F.lit(prefix), qmgr)
    counter = F.unhex(F.lpad(F.hex(number), 16, "0"))
    return F.concat(F.encode(text, "UTF-8"), counter)
