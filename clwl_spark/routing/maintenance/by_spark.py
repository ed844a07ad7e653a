"""A table that only Spark can maintain: in a catalog, elsewhere, or with features of its own."""

import math
from datetime import timedelta
from typing import Final

from clwl_spark.delta.lake import Lake
from clwl_spark.delta.upkeep import Permission, TableUpkeep
from clwl_spark.spark.conf import with_settings

_ANY_RETENTION: Final = {"spark.databricks.delta.retentionDurationCheck.enabled": "false"}
_TASKS: Final = {
    "spark.sql.shuffle.partitions": 200,
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": 10_000,
}
"""Spark's own numbers of tasks in which VACUUM looks for files: of however few, half a minute on
two cores."""
_FILES_A_TASK: Final = 1_000
_IS_FILE: Final = r"path RLIKE '[.][a-z]+$'"
"""VACUUM lists a folder of change data, too, all of whose files are to stay."""


def maintain_by_spark(
    lake: Lake, table: str, permission: Permission, keep: timedelta, *, dry_run: bool
) -> TableUpkeep:
    """Compact a table and delete what no version of the last `keep` needs.

    Checkpoints of the log and its clean-up are what Delta does with each tenth commit. Spark tells
    neither what compaction would do nor the size of what it deletes.

    Args:
        lake: of the table.
        table: its name.
        permission: what may be done; nothing is deleted where the log has to stay, too.
        keep: how long deleted files stay.
        dry_run: change nothing.
    """
    name = lake.sql_name(table)
    before = _files(lake, name)
    after: int | None = before
    if permission.compact:
        after = None if dry_run else _optimized(lake, name)
    deleted: int | None = 0
    if permission.vacuum:
        hours = math.ceil(keep / timedelta(hours=1))
        tasks = {x: str(min(1 + before // _FILES_A_TASK, most)) for x, most in _TASKS.items()}
        with with_settings(lake.spark, _ANY_RETENTION | tasks):
            vacuum = f"VACUUM {name} RETAIN {hours} HOURS"
            deleted = lake.spark.sql(f"{vacuum} DRY RUN").where(_IS_FILE).count()
            if deleted and not dry_run:
                lake.spark.sql(vacuum).collect()
    bytes_freed = None if deleted else 0
    orphans = None if deleted else 0
    return TableUpkeep(
        table, before, after, deleted, orphans, None, bytes_freed, None, permission.why
    )


def _optimized(lake: Lake, name: str) -> int:
    """Compact; the data files then."""
    lake.spark.sql(f"OPTIMIZE {name}").collect()
    return _files(lake, name)


def _files(lake: Lake, name: str) -> int:
    """Data files of the newest version."""
    return int(lake.spark.sql(f"DESCRIBE DETAIL {name}").collect()[0]["numFiles"])
