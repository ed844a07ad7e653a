"""What a load did, as its command and Python tell it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from clwl_spark.mq.read import PassedOver
from clwl_spark.studies.load.load_file import LoadReject
from clwl_spark.studies.load.mapping import Mapped
from clwl_spark.studies.load.timeline import TimelineSummary
from clwl_spark.studies.load.traced_files import TraceNotes
from clwl_spark.tables.moments import moment_text


@dataclass(frozen=True, slots=True)
class LoadSummary:
    """What a load did.

    Attributes:
        files: files that gave something new.
        known: files that the lake has already.
        set_aside: pieces of these that were not usable when they were loaded.
        rows: rows that were written, or would be, by table.
        rejects: pieces that could not be used.
        passed: files that were not read, and why.
        mappings: by file, column -> field.
        first: put_time of the first message; None = there is none.
        last: of the last one.
        guessed: messages whose order among those of the same moment is the file's.
        late: messages put before one that the lake had.
        trace: what is to be told of activity trace.
        synthetic: messages made from counts.
        outside: rows that the bounds leave out.
        read_once: counters that were read once, so that nothing is known to have been counted.
        restarted: times that a counter began anew between two readings.
        written: whether anything was written.
        timeline: what became of the line of snapshots; None = there was none to grow.
    """

    files: int
    known: int
    set_aside: int
    rows: Mapping[str, int]
    rejects: tuple[LoadReject, ...]
    passed: tuple[PassedOver, ...]
    mappings: Mapping[str, Mapped]
    first: datetime | None
    last: datetime | None
    guessed: int
    late: int
    trace: TraceNotes
    synthetic: int
    outside: int
    read_once: int
    restarted: int
    written: bool
    timeline: TimelineSummary | None = None

    def to_json(self) -> dict[str, Any]:
        """The document of `clwl load --json`."""
        return {
            "files": self.files,
            "known": self.known,
            "set_aside": self.set_aside,
            "rows": dict(self.rows),
            "rejects": [
                {"file": x.file, "line": x.line, "text": x.text, "reason": x.reason}
                for x in self.rejects
            ],
            "passed_over": [{"file": x.file, "why": x.why} for x in self.passed],
            "mappings": self.mappings,
            "from": self.first and moment_text(self.first),
            "to": self.last and moment_text(self.last),
            "order_guessed": self.guessed,
            "late": self.late,
            "repeated": self.trace.repeated,
            "unopened": self.trace.unopened,
            "set_back": dict(self.trace.set_back),
            "synthetic": self.synthetic,
            "outside": self.outside,
            "counters_read_once": self.read_once,
            "counters_restarted": self.restarted,
            "written": self.written,
            **({"timeline": self.timeline.to_json()} if self.timeline else {}),
        }
