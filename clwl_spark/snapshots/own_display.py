"""What a queue manager's DISPLAY shows of its own objects, beside their definitions.

Such a row comes before the definition (SEMANTICS, S2), and often a display shows a few attributes
alone: DISPLAY CLUSQMGR tells the QMID of its queue manager and nothing else of it. What it leaves
open has the definition's value, and what a later text tells of the definition is so there as well.

Source: CONTRACT, "What MQ's texts become", 1.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.mq.read.merge import KEYS
from clwl_spark.snapshots.owned import EVERYBODY
from clwl_spark.tables import TABLES
from clwl_spark.tables import columns as c

Values = dict[str, Any]
Key = tuple[Any, ...]
Tables = Mapping[str, Sequence[Values]]

_UNDEFINED: Final = frozenset({c.SUSPENDED, c.QMTYPE})
"""Attributes that a channel's own definition does not tell."""

_PLACES: Final = frozenset({c.SOURCE, c.ALTERED})
_OWN: Final = "_is_own"


def own_key(key: Key, qmgr: str) -> Key:
    """The key of the row that a queue manager displays of an object that it defines; () = none.

    Args:
        key: (table, key) of the definition.
        qmgr: the queue manager.
    """
    of_both = KEYS[key[0]][:2] == (c.OBSERVER, c.QMGR)
    return (key[0], qmgr, *key[2:]) if of_both and key[1:3] == (EVERYBODY, qmgr) else ()


def follow(rows: dict[Key, Values], own: Key, told: Values) -> None:
    """Bring a displayed row up to what a later text tells of the definition."""
    if own not in rows:
        return
    left = {*KEYS[own[0]], *_PLACES} | {x for x in _UNDEFINED if told.get(x) is None}
    rows[own] = {**rows[own], **{x: value for x, value in told.items() if x not in left}}


def fill(rows: dict[Key, Values], qmgr: str) -> None:
    """Give what the queue manager's displays of its own leave open the definitions' values."""
    for key, defined in list(rows.items()):
        own = own_key(key, qmgr)
        if own in rows:
            rows[own] = _filled(rows[own], defined)


def as_seen(tables: Tables, qmgr: str) -> dict[str, list[Values]]:
    """The definitions of a queue manager, with what it displays of them.

    Args:
        tables: rows by table.
        qmgr: the queue manager.

    Grain: as `tables`; in the place of a definition and what is displayed of it, one row, which has
    observer `*`.
    """
    found: dict[Key, Values] = {}
    for table, rows in tables.items():
        for row in sorted(rows, key=is_displayed):
            is_own = row.get(c.OBSERVER) == row.get(c.QMGR) == qmgr
            seen = {**row, c.OBSERVER: EVERYBODY} if is_own else row
            key = key_of(table, seen)
            found[key] = _filled(seen, found[key]) if key in found else seen
    by_table: dict[str, list[Values]] = {}
    for key, row in found.items():
        by_table.setdefault(key[0], []).append(row)
    return by_table


def is_displayed(row: Mapping[str, Any]) -> bool:
    """Whether a row is what one queue manager sees, rather than a definition."""
    return bool(row.get(c.OBSERVER, EVERYBODY) != EVERYBODY)


def key_of(table: str, row: Mapping[str, Any]) -> Key:
    """(table, key) of a row; without an observer it is everybody's."""
    return (table, *(row.get(column, EVERYBODY) for column in KEYS[table]))


def _filled(row: Values, defined: Values) -> Values:
    """A displayed row, with the definition's values where it does not know them."""
    return {
        x: defined.get(x) if _is_open(x, row) and defined.get(x) is not None else value
        for x, value in row.items()
    }


def _is_open(column: str, row: Values) -> bool:
    # DISPLAY does not show RNAME of a cluster's QREMOTE, and its own name stands there.
    return row[column] is None or (column == c.RNAME and row[column] == row[c.QUEUE])


def own_filled(rows: DataFrame, table: str) -> DataFrame:
    """As `fill`, of a table's rows of all queue managers.

    Grain: one row per row.
    """
    keys = [x for x in TABLES[table].keys if x != c.OBSERVER]
    is_own = F.col(c.OBSERVER) == F.col(c.QMGR)
    attributes = [x.name for x in TABLES[table].columns if not x.key and x.name not in _PLACES]
    defined = rows.where(F.col(c.OBSERVER) == EVERYBODY).select(
        *keys, F.lit(True).alias(_OWN), *(F.col(x).alias(f"_{x}") for x in attributes)
    )
    joined = rows.withColumn(_OWN, is_own).join(defined, [*keys, _OWN], "left")
    values = {x: F.coalesce(x, f"_{x}").alias(x) for x in attributes}
    return joined.select(*(values.get(x, F.col(x)) for x in TABLES[table].names))
