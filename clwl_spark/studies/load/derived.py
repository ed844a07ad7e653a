"""What a load makes of the rows that files gave: counts of readings, and puts of counts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

from clwl_spark.delta.lake import Lake
from clwl_spark.errors import UsageError
from clwl_spark.spark.embedded import machine_memory_mib
from clwl_spark.studies.load.counting import Counted, counted
from clwl_spark.studies.load.known import Known
from clwl_spark.studies.load.load_file import LoadOptions
from clwl_spark.studies.load.synthetic import identity, is_usable, puts_of
from clwl_spark.tables import COUNTER_READINGS, MESSAGES, OBSERVED_COUNTS, TABLES

_PUTS_OF_A_MEBIBYTE: Final = 4_000
"""Messages that are made with a mebibyte of memory (4,900 were), written and sorted."""


@dataclass(frozen=True, slots=True)
class Made:
    """Messages made of counts.

    Attributes:
        puts: columns of `messages`.
        counts: what each count is known by, and how many messages it gave.
    """

    puts: pa.Table
    counts: Mapping[str, int]


def with_counts(lake: Lake, tables: Mapping[str, pa.Table]) -> tuple[dict[str, pa.Table], Counted]:
    """The rows of a load by table, with the counts that its readings of counters give."""
    found = dict(tables)
    if COUNTER_READINGS.name not in found:
        return found, Counted(OBSERVED_COUNTS.arrow(OBSERVED_COUNTS.names).empty_table())
    counts = counted(lake, found[COUNTER_READINGS.name])
    rows = [found[OBSERVED_COUNTS.name]] if OBSERVED_COUNTS.name in found else []
    found[OBSERVED_COUNTS.name] = pa.concat_tables([*rows, counts.rows])
    return found, counts


def made_of_counts(
    lake: Lake, tables: Mapping[str, pa.Table], known: Known, options: LoadOptions
) -> Made:
    """Puts of the counts of a load and of the lake, of each once.

    Args:
        lake: whose counts are used, too.
        tables: the rows of the load.
        known: what the lake has made puts of.
        options: whether any are made (`seed`), and of counts between which moments.

    Raises:
        UsageError: more than this machine has memory for.
    """
    if options.seed is None:
        return Made(MESSAGES.arrow(MESSAGES.names).empty_table(), {})
    there = lake.in_memory(OBSERVED_COUNTS.name)
    rows = options.bounds.within(OBSERVED_COUNTS.name, there).to_pylist()
    if OBSERVED_COUNTS.name in tables:
        rows += tables[OBSERVED_COUNTS.name].to_pylist()
    usable = {identity(x): x for x in rows if is_usable(x)}
    fresh = {name: x for name, x in usable.items() if not known.has(name, 0)}
    counts = {name: x["messages"] for name, x in fresh.items()}
    _refuse_too_many(sum(counts.values()))
    return Made(puts_of(fresh.values(), options.seed), counts)


def _refuse_too_many(puts: int) -> None:
    most = machine_memory_mib() // 2 * _PUTS_OF_A_MEBIBYTE
    if puts > most:
        raise UsageError(
            f"the counts come to {puts:,} messages, of which this machine's memory has room for "
            f"{most:,}; nothing was loaded: make them in parts with --since and --until"
        )


def last_of_keys(rows: pa.Table, name: str) -> pa.Table:
    """One row per key, the last one: records that say the same again are one."""
    keys = TABLES[name].keys
    found: dict[tuple[Any, ...], int] = {
        tuple(row[x] for x in keys): at for at, row in enumerate(rows.to_pylist())
    }
    return rows.take(pa.array(sorted(found.values()), pa.int64()))
