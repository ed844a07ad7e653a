"""Ingests in a process of its own, and kills it when a table was written.

Usage: killed_ingest.py LAKE FILE SNAPSHOT TABLE
"""

import os
import signal
import sys
from pathlib import Path
from typing import Any

from clwl_spark.delta.lake import Lake
from clwl_spark.snapshots.ingest import IngestOptions, ingest
from clwl_spark.spark.embedded import embedded_session


def die_after(name: str) -> None:
    """Leave no process of this group time for anything once the table was written."""
    for method in ("replace", "change"):
        original = getattr(Lake, method)

        def write(lake: Lake, table: str, *rest: Any, _write: Any = original) -> None:
            _write(lake, table, *rest)
            if table == name:
                os.killpg(os.getpgrp(), signal.SIGKILL)

        setattr(Lake, method, write)


def main(root: str, file: str, snapshot_id: str, table: str) -> None:
    """Ingest, and be killed."""
    die_after(table)
    with embedded_session() as spark:
        ingest(Lake(spark, root), [Path(file)], snapshot_id, IngestOptions(observer="QM1"))


if __name__ == "__main__":
    main(*sys.argv[1:])
