"""What a Spark application did, by its event log: jobs, stages, plans with their metrics.

`clwl route --set spark.eventLog.enabled=true --set spark.eventLog.dir=DIR
--set spark.eventLog.compress=false` writes one; `python benchmarks/stages.py DIR` lists the stages.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

OUTPUT_ROWS = "number of output rows"
EXCHANGE = "Exchange"
PYTHON_NODES = ("MapInArrow", "FlatMapGroupsInPandasWithState")
"""Names of the plans' nodes through which rows go to Python and come back."""
_SHUFFLE_WRITTEN = "internal.metrics.shuffle.write.bytesWritten"
_RESULT_SIZE = "internal.metrics.resultSize"
_RUN_TIME = "internal.metrics.executorRunTime"
_SQL_START = "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart"
_SQL_END = "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd"


@dataclass(frozen=True, slots=True)
class Stage:
    """A completed stage.

    Attributes:
        steps: nodes of plans that it ran, those whose rows come first at first.
        seconds: from submission to completion.
        task_seconds: of all its tasks.
        shuffled: bytes that its tasks wrote for a shuffle.
        to_driver: bytes of what its tasks gave to the driver.
    """

    number: int
    steps: tuple[str, ...]
    tasks: int
    seconds: float
    task_seconds: float
    shuffled: int
    to_driver: int


@dataclass(frozen=True, slots=True)
class Node:
    """A node of a plan, and its metrics as Spark counted them by the application's end."""

    name: str
    metrics: Mapping[str, int]
    children: tuple["Node", ...] = ()

    def nodes(self) -> Iterator["Node"]:
        """This node and all below it."""
        yield self
        for child in self.children:
            yield from child.nodes()

    @property
    def output_rows(self) -> int:
        """Rows that it gave, or where it does not count them, that came to it."""
        if OUTPUT_ROWS in self.metrics:
            return self.metrics[OUTPUT_ROWS]
        return sum(child.output_rows for child in self.children)

    @property
    def input_rows(self) -> int:
        """Rows that came to it."""
        return sum(child.output_rows for child in self.children)


@dataclass(frozen=True, slots=True)
class Execution:
    """A SQL execution: its plan, and its seconds from start to end."""

    number: int
    plan: Node
    seconds: float

    def count(self, name: str) -> int:
        """How many nodes of that name its plan has."""
        return sum(node.name == name for node in self.plan.nodes())


@dataclass(frozen=True)
class Log:
    """One application."""

    jobs: int
    stages: list[Stage]
    executions: list[Execution] = field(default_factory=list)

    @property
    def shuffled(self) -> int:
        """Bytes written for shuffles."""
        return sum(stage.shuffled for stage in self.stages)

    @property
    def to_driver(self) -> int:
        """Bytes that tasks gave to the driver."""
        return sum(stage.to_driver for stage in self.stages)

    @property
    def python_rows(self) -> int:
        """Rows that went to Python and rows that came back."""
        nodes = (node for execution in self.executions for node in execution.plan.nodes())
        through = [node for node in nodes if node.name in PYTHON_NODES]
        return sum(node.input_rows + node.output_rows for node in through)

    def having(self, name: str) -> list[Execution]:
        """The executions whose plans have a node of that name."""
        return [x for x in self.executions if x.count(name)]


def read_log(folder: Path) -> Log:
    """Read the event log of the one application that wrote below the folder, uncompressed.

    Raises:
        SystemExit: there is none, or there are several.
    """
    files = sorted(x for x in folder.rglob("*") if x.is_file() and _is_log(x.name))
    if len({x.parent for x in files}) != 1:
        raise SystemExit(f"{folder} has not the log of one application")
    return _log([json.loads(line) for file in files for line in file.open()])


def _is_log(name: str) -> bool:
    """True for the files of a log: `events_1_local-17…` of a rolling one, or `local-17…`."""
    return not name.startswith((".", "appstatus"))


def _log(events: list[dict[str, Any]]) -> Log:
    """Join what the events say."""
    by_kind: dict[str, list[dict[str, Any]]] = {}
    for event in events:
        by_kind.setdefault(event["Event"], []).append(event)
    jobs = by_kind.get("SparkListenerJobStart", [])
    completed = [x["Stage Info"] for x in by_kind.get("SparkListenerStageCompleted", [])]
    values = {x["ID"]: _number(x.get("Value")) for info in completed for x in info["Accumulables"]}
    ends = {x["executionId"]: x["time"] for x in by_kind.get(_SQL_END, [])}
    return Log(
        len(jobs),
        [_stage(info) for info in completed],
        [
            Execution(
                x["executionId"],
                _node(x["sparkPlanInfo"], values),
                (ends.get(x["executionId"], x["time"]) - x["time"]) / 1000,
            )
            for x in by_kind.get(_SQL_START, [])
        ],
    )


def _stage(info: dict[str, Any]) -> Stage:
    by_id = sorted(info["RDD Info"], key=lambda rdd: rdd["RDD ID"])
    steps = [_short(json.loads(rdd["Scope"])["name"]) for rdd in by_id if "Scope" in rdd]
    counted = {x["Name"]: _number(x.get("Value")) for x in info["Accumulables"]}
    return Stage(
        info["Stage ID"],
        tuple(dict.fromkeys(steps)),
        info["Number of Tasks"],
        (info["Completion Time"] - info["Submission Time"]) / 1000,
        counted.get(_RUN_TIME, 0) / 1000,
        counted.get(_SHUFFLE_WRITTEN, 0),
        counted.get(_RESULT_SIZE, 0),
    )


def _short(name: str) -> str:
    """A node's name less the table that it reads."""
    return name.partition(" - ")[0].strip()


def _node(info: dict[str, Any], values: Mapping[int, int]) -> Node:
    counted = {x["name"]: values.get(x["accumulatorId"]) for x in info["metrics"]}
    metrics = {name: value for name, value in counted.items() if value is not None}
    children = tuple(_node(child, values) for child in info["children"])
    return Node(info["nodeName"].strip(), metrics, children)


def _number(value: object) -> int:
    """A metric's value, which the log writes as a number or as text; others count nothing."""
    text = str(value)
    return int(text) if text.lstrip("-").isdecimal() else 0


def longest(log: Log, stages: int) -> list[Stage]:
    """The stages that took longest, the longest first."""
    return sorted(log.stages, key=lambda stage: -stage.seconds)[:stages]


def main() -> int:
    """List the stages that took longest, and the sums."""
    log = read_log(Path(sys.argv[1]))
    print("seconds  task s  tasks      shuffled  stage")
    for stage in longest(log, 20):
        print(
            f"{stage.seconds:7.1f} {stage.task_seconds:7.1f} {stage.tasks:6} "
            f"{stage.shuffled:13,}  {' > '.join(stage.steps)}"
        )
    print(f"{log.jobs} jobs, {len(log.stages)} stages, {log.shuffled:,} bytes shuffled, "
          f"{log.python_rows:,} rows through Python")  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
