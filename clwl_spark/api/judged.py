"""Facts that must hold, checked: the question `assertions` of the Python API."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pandas as pd

from clwl_spark.api.shown import frame_of
from clwl_spark.checks.assertions.answering import SnapshotAnswers
from clwl_spark.checks.assertions.files import load_assertions
from clwl_spark.checks.assertions.judge import judge
from clwl_spark.checks.assertions.rendering import headline
from clwl_spark.delta.lake import Lake
from clwl_spark.planning.plans import Ladder
from clwl_spark.spark.materialize import checkpoint
from clwl_spark.studies.trace.trace import network_of

Paths = str | Path | Sequence[str | Path]
_RESULT: Final = (
    "name", "assertion", "verdict", "said", "cases", "failing", "why", "file", "line",
)  # fmt: skip


def judged(lake: Lake, snapshot_id: str, paths: Paths, ladder: Ladder) -> pd.DataFrame:
    """One row per assertion, with its verdict; `attrs["summary"]` counts them.

    Args:
        lake: with topology.
        snapshot_id: one of its own.
        paths: a file of assertions, a folder of them, or several.
        ladder: the rules.

    Raises:
        AssertionFilesError: a file cannot be used.
    """
    several = [paths] if isinstance(paths, str | Path) else paths
    asserted = load_assertions([Path(x) for x in several])
    network = network_of(lake, snapshot_id, {}, checkpoint)
    report = judge(asserted, SnapshotAnswers(network, ladder))
    frame = frame_of([x.to_json() for x in report.results], _RESULT)
    frame.attrs["summary"] = headline(report)
    return frame
