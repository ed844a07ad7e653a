"""What a queue manager's DISPLAY shows of its own objects, beside their definitions.

Such a row comes before the definition (SEMANTICS, S2), and often a display shows a few attributes
alone: DISPLAY CLUSQMGR tells the QMID of its queue manager and nothing else of it. What it leaves
open has the definition's value (`filled`), which its source says, so that the row can be filled
anew when the definition changes; what a later text tells of the object is displayed no more.

Source: CONTRACT, "What MQ's texts become", 1.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from clwl_spark.mq.read.merge import KEYS
from clwl_spark.mq.vocabulary import QueueType
from clwl_spark.snapshots.owned import EVERYBODY
from clwl_spark.tables import CLUSTER_CHANNELS, QUEUE_MANAGERS, QUEUES, TABLES, TOPICS
from clwl_spark.tables import columns as c

Values = dict[str, Any]
Key = tuple[Any, ...]
Tables = Mapping[str, Sequence[Values]]

TABLES_DISPLAYED: Final = (QUEUE_MANAGERS.name, CLUSTER_CHANNELS.name, QUEUES.name, TOPICS.name)
"""The tables with rows of what queue managers display of their own."""

_FILLED: Final = ", as defined: "
"""In the source of a displayed row, before the columns that the definition fills."""

_UNDEFINED: Final = frozenset({c.SUSPENDED, c.QMTYPE})
"""Attributes that a channel's own definition does not tell."""

_PLACES: Final = frozenset({c.SOURCE, c.ALTERED})
_BEFORE: Final = "_filled_before"


def key_of(table: str, row: Mapping[str, Any]) -> Key:
    """(table, key) of a row; without an observer it is everybody's."""
    return (table, *(row.get(column, EVERYBODY) for column in KEYS[table]))


def own_key(key: Key, qmgr: str) -> Key:
    """The key of the row that a queue manager displays of an object that it defines; () = none.

    Args:
        key: (table, key) of the definition.
        qmgr: the queue manager.
    """
    of_both = KEYS[key[0]][:2] == (c.OBSERVER, c.QMGR)
    return (key[0], qmgr, *key[2:]) if of_both and key[1:3] == (EVERYBODY, qmgr) else ()


def is_displayed(row: Mapping[str, Any]) -> bool:
    """Whether a row is what one queue manager sees, rather than a definition."""
    return bool(row.get(c.OBSERVER, EVERYBODY) != EVERYBODY)


def is_own(row: Mapping[str, Any]) -> bool:
    """Whether a row is what a queue manager displays of its own."""
    return is_displayed(row) and row[c.OBSERVER] == row.get(c.QMGR)


def as_displayed(table: str, row: Values) -> Values:
    """A row without what a definition filled."""
    place, is_filled, columns = str(row.get(c.SOURCE) or "").partition(_FILLED)
    if not is_filled:
        return row
    displayed = {**row, **dict.fromkeys(columns.split(", ")), c.SOURCE: place}
    is_remote = table == QUEUES.name and displayed[c.QTYPE] == QueueType.QREMOTE
    if is_remote and displayed[c.RNAME] is None:
        # No display of the cluster shows it, and the queue's own name stands there.
        displayed[c.RNAME] = row[c.QUEUE]
    return displayed


def own_objects(tables: Tables, qmgr: str) -> dict[str, list[Values]]:
    """What a queue manager displays of its own, as if that were the definitions.

    Grain: one row per such row, with observer `*`; a table without one is left out.
    """
    found = {
        table: [
            {**row, c.OBSERVER: EVERYBODY}
            for row in tables.get(table, ())
            if is_own(row) and row[c.QMGR] == qmgr
        ]
        for table in TABLES_DISPLAYED
    }
    return {table: rows for table, rows in found.items() if rows}


def supersede(rows: dict[Key, Values], key: Key, told: Values, own: Key) -> None:
    """Let what a later text tells of an object count against what was displayed of it.

    Args:
        rows: (table, key) -> row of a queue manager.
        key: of the definition.
        told: what the text tells.
        own: key of what is displayed; where it is not there, nothing happens.
    """
    if own not in rows:
        return
    left = {*KEYS[own[0]], *_PLACES} | {x for x in _UNDEFINED if told.get(x) is None}
    new = {x: value for x, value in told.items() if x not in left}
    shown = rows[own]
    if key not in rows:
        rows[own] = {**shown, **new}
        return
    if c.QTYPE in new and _has_no_rname(shown):
        new[c.RNAME] = None
    # The definition tells the value from now on.
    rows[own] = {**shown, **dict.fromkeys(new)}


def _has_no_rname(displayed: Values) -> bool:
    """Whether a QREMOTE's own name stands for its RNAME, which no display of the cluster shows."""
    is_remote = displayed.get(c.QTYPE) == QueueType.QREMOTE
    return is_remote and displayed[c.RNAME] == displayed[c.QUEUE]


def filled(rows: DataFrame, table: str) -> DataFrame:
    """Give what queue managers' displays of their own leave open the definitions' values.

    Args:
        rows: of the table, of one snapshot; rows that were filled before are filled anew.
        table: one of `TABLES_DISPLAYED`.

    Grain: one row per row. The source of a row says what the definition fills.
    """
    keys = [x for x in TABLES[table].keys if x != c.OBSERVER]
    attributes = [x.name for x in TABLES[table].columns if not x.key and x.name not in _PLACES]
    defined = rows.where(F.col(c.OBSERVER) == EVERYBODY).select(
        *keys, *(F.col(x).alias(_defined(x)) for x in attributes)
    )
    is_own = F.col(c.OBSERVER) == F.col(c.QMGR)
    place = F.split_part(c.SOURCE, F.lit(_FILLED), F.lit(1))
    before = F.split(F.split_part(c.SOURCE, F.lit(_FILLED), F.lit(2)), ", ")
    own = rows.where(is_own).withColumn(_BEFORE, before).join(defined, keys, "left")
    is_open = {x: _is_open(x, table) for x in attributes}
    takes = (F.when(x & F.col(_defined(name)).isNotNull(), name) for name, x in is_open.items())
    columns = F.concat_ws(", ", *takes)
    values = {
        x: F.when(is_open[x], F.coalesce(_defined(x), _nothing(x, table))).otherwise(F.col(x))
        for x in attributes
    }
    values[c.SOURCE] = F.when(columns == "", place).otherwise(
        F.concat(place, F.lit(_FILLED), columns)
    )
    names = TABLES[table].names
    of_own = own.select(*(values.get(x, F.col(x)).alias(x) for x in names))
    return rows.where(~is_own).select(*names).unionAll(of_own)


def _defined(column: str) -> str:
    return f"_defined_{column}"


def _is_open(column: str, table: str) -> Column:
    """Whether a display leaves an attribute open."""
    was_filled = F.coalesce(F.array_contains(_BEFORE, F.lit(column)), F.lit(False))
    is_open = F.col(column).isNull() | was_filled
    if (table, column) == (QUEUES.name, c.RNAME):
        is_open |= _is_remote() & F.col(c.RNAME).eqNullSafe(F.col(c.QUEUE))
    return is_open


def _is_remote() -> Column:
    """Whether a queue is displayed as a QREMOTE, whose RNAME no display of the cluster shows."""
    was_filled = F.coalesce(F.array_contains(_BEFORE, F.lit(c.QTYPE)), F.lit(False))
    return F.col(c.QTYPE).eqNullSafe(QueueType.QREMOTE.value) & ~was_filled


def _nothing(column: str, table: str) -> Column:
    """What a row has of an attribute that is open and defined nowhere."""
    if (table, column) == (QUEUES.name, c.RNAME):
        return F.when(_is_remote(), F.col(c.QUEUE))
    return F.lit(None).cast(TABLES[table].schema[column].dataType)
