"""Ways to route the same messages, side by side: rounds of all of them, interleaved."""

import shutil
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import routing
from processes import TREE, Run
from simple_case import differing
from stages import Log, read_log

MOST_ROW_BY_ROW = 4_000_000
"""Messages up to which the row-by-row way is gone."""
MOST_COMPARED = 20_000_000
"""Messages up to which outcomes are compared, which happens in memory."""
NOT_COMPARED = (routing.FLOOR, routing.PLAIN_FLOOR)


@dataclass(frozen=True)
class Sides:
    """What was measured on one lake.

    Attributes:
        messages: of the lake.
        hot: whether one queue manager puts all of them.
        runs: of each way, by its name.
        differing: outcomes that are not those of the first way, by the way's name.
    """

    messages: int
    hot: bool
    runs: dict[str, list[Run]]
    differing: dict[str, int] = field(default_factory=dict)

    def rows(self) -> list[dict[str, object]]:
        """One row per way: seconds of whole processes, ratios to the floor, memory.

        `ratio` divides medians of whole processes, `work_ratio` medians of what the processes
        themselves count, which leaves the start of Python and Java out.
        """
        return [self._row(name) for name in self.runs]

    def _row(self, name: str) -> dict[str, object]:
        runs, floor = self.runs[name], self.runs[routing.FLOOR]
        seconds = [run.seconds for run in runs]
        median = statistics.median(seconds)
        work, floor_work = (
            statistics.median(run.work_seconds for run in side) for side in (runs, floor)
        )
        first = statistics.median(float(str(run.output[routing.FIRST_OUTCOME])) for run in runs)
        return {
            "messages": self.messages,
            "hot": self.hot,
            "way": name,
            "median": median,
            "min": min(seconds),
            "max": max(seconds),
            "work": work,
            "ratio": median / statistics.median(run.seconds for run in floor),
            "work_ratio": work / floor_work,
            "per_second": self.messages / median,
            "first_outcome": first,
            "java_mib": max(run.java_mib or 0 for run in runs) or None,
            "python_mib": max(run.python_mib or 0 for run in runs),
            "tree_mib": max(run.memory[TREE] for run in runs),
            "differing": self.differing.get(name),
        }


def ways(messages: int) -> list[str]:
    """The ways that are gone with so many messages; engines are first, the others need plans."""
    row_by_row = [routing.OBVIOUS] if messages <= MOST_ROW_BY_ROW else []
    floors = [routing.FLOOR, routing.PLAIN_FLOOR]
    return [*routing.engines(), *floors, routing.EXPERT, *row_by_row]


def measure(
    pristine: Path, work: Path, messages: int, rounds: int, names: Sequence[str], *, hot: bool
) -> Sides:
    """Go each way once a round.

    Args:
        pristine: the lake with the messages.
        work: folder for the lakes that are routed.
        messages: in the lake.
        rounds: how often.
        names: of the ways; an engine first.
        hot: whether one queue manager puts all messages.
    """
    planned = work / "planned"
    sides = Sides(messages, hot, {name: [] for name in names})
    for number in range(rounds):
        for name in names:
            lake = work / "lake" if sides.runs[names[0]] else planned
            sides.runs[name].append(routing.way(name, pristine, lake, planned))
            is_comparable = lake != planned and name not in NOT_COMPARED
            if number == 0 and is_comparable and messages <= MOST_COMPARED:
                sides.differing[name] = differing(planned, lake)
    shutil.rmtree(work)
    return sides


def profile(pristine: Path, work: Path, engine: str) -> Log:
    """Route once more with Spark's event log, which is in no round, and read it."""
    lake = routing.fresh_lake(pristine, work / "lake")
    routing.clwl_route(lake, engine, *routing.event_log(work / "log"))
    log = read_log(work / "log")
    shutil.rmtree(work)
    return log
