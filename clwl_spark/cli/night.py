"""The demo's last part: a change with a mistake in it, which a gate keeps away from routing."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from rich.console import RenderableType
from rich.text import Text

from clwl_spark.checks.quality.page import sentence
from clwl_spark.checks.quality.rendering import explained
from clwl_spark.checks.quality.results import Report, Severity, Verdict
from clwl_spark.checks.quality.validate import validate_snapshot
from clwl_spark.delta.lake import Lake
from clwl_spark.mq.vocabulary import SnapshotStatus
from clwl_spark.snapshots.catalog import snapshot_catalog
from clwl_spark.snapshots.ingest import IngestOptions, ingest

NIGHT: Final = "night"
SCRIPT: Final = "night.mqsc"
_VALID_FROM: Final = datetime(2026, 9, 14, 22, tzinfo=UTC)
_WHOSE: Final = "SHOP3"


@dataclass(frozen=True, slots=True)
class Night:
    """What became of the change; `report` is None where an earlier demo judged it."""

    report: Report | None

    def to_json(self) -> dict[str, Any]:
        """Its part of the document of `clwl demo --json`."""
        failed = _refusing(self.report) if self.report else None
        return {
            "snapshot_id": NIGHT,
            "status": SnapshotStatus.QUARANTINED.value,
            "used": failed.used if failed else None,
            "failed": [x.to_json() for x in failed.results] if failed else [],
        }

    def shown(self) -> list[RenderableType]:
        """The gate that said no, with its remedy."""
        if self.report is None:
            return [f"Snapshot {NIGHT} was quarantined by an earlier demo; routing went without it"]
        head = f"May {SCRIPT} be run on {_WHOSE} tonight? Its gates say: "
        return [Text(head + sentence(self.report)), *explained(_refusing(self.report))]


def change_for_tonight(lake: Lake, script: Path, base: str) -> Night:
    """Ingest the change as a snapshot of its own, from after the last message on, and judge it.

    A snapshot of that name that is quarantined already stays as it is.
    """
    known = {x.snapshot_id: x.status for x in snapshot_catalog(lake).ordered}
    if known.get(NIGHT) == SnapshotStatus.QUARANTINED.value:
        return Night(None)
    ingest(lake, [script], NIGHT, IngestOptions(_VALID_FROM, _WHOSE, base))
    return Night(validate_snapshot(lake, NIGHT))


def _refusing(report: Report) -> Report:
    """Only what keeps the snapshot away."""
    return replace(report, results=tuple(report.having(Verdict.FAILED, Severity.ERROR)))
