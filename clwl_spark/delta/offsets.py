"""How far a stream of Spark's over a Delta table has come, told from its checkpoint.

Source: Spark's and Delta's own classes `OffsetSeqLog`, `CommitLog` and `DeltaSourceOffset`: the
last line of a batch's file in `offsets` says where it ends in the table's log, and its file in
`commits` that it is done.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Offsets:
    """A checkpoint on this machine.

    Attributes:
        folder: the checkpoint's.
    """

    folder: Path

    def batches(self) -> list[int]:
        """Numbers of the batches that have begun, ascending."""
        return self._numbers("offsets")

    def done(self) -> list[int]:
        """Numbers of the batches that are done, ascending."""
        return self._numbers("commits")

    def has_begun(self, batch: int) -> bool:
        """Whether a batch has begun."""
        return (self.folder / "offsets" / str(batch)).exists()

    def is_done(self, batch: int) -> bool:
        """Whether a batch is done, in the checkpoint's own words."""
        return (self.folder / "commits" / str(batch)).exists()

    def is_last(self, batch: int) -> bool:
        """Whether a batch is done and no other one has begun."""
        return self.is_done(batch) and not self.has_begun(batch + 1)

    def end(self, batch: int) -> dict[str, Any]:
        """Where a batch ends in the table's log; nothing where the checkpoint does not say it."""
        return _object((self.folder / "offsets" / str(batch)), -1)

    def whole_end(self, batch: int) -> tuple[str, int] | None:
        """Delta's id of the table, and its last version that was taken whole with a batch.

        Returns:
            None where the batch ended within a version, or the checkpoint does not say.
        """
        end = self.end(batch)
        version, index = end.get("reservoirVersion"), end.get("index")
        if not isinstance(version, int) or not isinstance(index, int):
            return None
        at_its_start = index < 0 and not end.get("isStartingVersion")
        return (str(end.get("reservoirId")), version - 1) if at_its_start else None

    def query_id(self) -> str:
        """The id that Spark gave the checkpoint before its first batch; '' = there is none."""
        return str(_object(self.folder / "metadata", 0).get("id", ""))

    def _numbers(self, part: str) -> list[int]:
        folder = self.folder / part
        names = [x.name for x in folder.iterdir()] if folder.is_dir() else []
        return sorted(int(x) for x in names if x.isdecimal())


def _object(file: Path, line: int) -> dict[str, Any]:
    """What a line of a file says in JSON; nothing where it says nothing."""
    try:
        found = json.loads(file.read_text().splitlines()[line])
    except (OSError, ValueError, IndexError):
        return {}
    return found if isinstance(found, dict) else {}
