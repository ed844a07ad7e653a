"""Ways to route the same messages: `clwl route` by each engine, the floor, and what else one does.

Each is a process of its own on a fresh lake, whose data files are links to the pristine one's.
"""

import json
import os
import shutil
import typing
from pathlib import Path

from processes import Run, timed_process

from clwl_spark import tables as schemas
from clwl_spark.settings import Settings

HERE = Path(__file__).parent
INPUTS = (schemas.SNAPSHOTS, *schemas.TOPOLOGY, schemas.MESSAGES)
EMBEDDED = "embedded"
FLOOR = "copy"
PLAIN_FLOOR = "copy, plain session"
EXPERT = "Polars, kernel, delta-rs"
OBVIOUS = "applyInPandasWithState, row by row"
FIRST_OUTCOME = "first_outcome_seconds"


def engines() -> list[str]:
    """The engines that routing has, in the order of its setting; "spark" where it has but one."""
    field = Settings.model_fields.get("engine")
    words = typing.get_args(field.annotation) if field else ()
    return [word for word in words if word != "auto"] or ["spark"]


def make_lake(lake: Path, messages: int, hot_sender: float, non_default: float, *more: str) -> None:
    """Make the pristine lake that every round starts from, unless a run before made it.

    Args:
        lake: folder.
        messages: how many.
        hot_sender: share of them that one queue manager puts.
        non_default: share of CLWL attributes.
        more: options of `make_lake.py`.
    """
    if (lake / schemas.MESSAGES.name / "_delta_log").exists():
        return
    sizes = ["--messages", str(messages), "--non-default", str(non_default)]
    script = str(HERE / "make_lake.py")
    timed_process([script, "--lake", str(lake), *sizes, "--hot-sender", str(hot_sender), *more])


def way(name: str, pristine: Path, lake: Path, planned: Path) -> Run:
    """Go one way on a fresh lake, which stays; a name is an engine's or one of this module's.

    Args:
        name: of the way.
        pristine: the lake that is copied.
        lake: the copy.
        planned: a lake that `clwl route` has routed; other ways take its plans.
    """
    fresh_lake(pristine, lake)
    copy = [str(HERE / "plain_copy.py"), "--lake", str(lake)]
    given = ["--lake", str(lake), "--planned", str(planned)]
    others = {
        FLOOR: copy,
        PLAIN_FLOOR: [*copy, "--plain"],
        EXPERT: [str(HERE / "expert.py"), *given],
        OBVIOUS: [str(HERE / "obvious.py"), *given],
    }
    run = timed_process(others[name]) if name in others else clwl_route(lake, name)
    run.output[FIRST_OUTCOME] = first_commit(lake) - run.began
    return run


def clwl_route(lake: Path, engine: str, *settings: str) -> Run:
    """Run `clwl route` on the lake, with this engine and other settings (`KEY=VALUE`)."""
    chosen = [f"engine={engine}"] if "engine" in Settings.model_fields else []
    words = [word for setting in (*chosen, *settings) for word in ("--set", setting)]
    return timed_process(["-m", "clwl_spark.cli", "route", "--lake", str(lake), "--json", *words])


def event_log(folder: Path) -> list[str]:
    """Settings with which `clwl route` writes Spark's event log into this folder."""
    folder.mkdir(parents=True)
    log = {"enabled": "true", "dir": folder.absolute().as_uri(), "compress": "false"}
    return [f"spark.eventLog.{name}={value}" for name, value in log.items()]


def first_commit(lake: Path) -> float:
    """When outcomes were first there to read, seconds since the epoch."""
    for commit in sorted((lake / schemas.OUTCOMES.name / "_delta_log").glob("*.json")):
        actions = [json.loads(line) for line in commit.read_text().splitlines()]
        if any("add" in action for action in actions):
            return commit.stat().st_mtime
    raise SystemExit(f"{lake} has no outcomes")


def fresh_lake(pristine: Path, lake: Path, also: tuple[schemas.Table, ...] = ()) -> Path:
    """The tables that routing reads, and nothing that it wrote; data files are hard links.

    Args:
        pristine: the lake that is copied.
        lake: the copy.
        also: more tables that are copied, where they are there.
    """
    shutil.rmtree(lake, ignore_errors=True)
    for table in (*INPUTS, *also):
        source = pristine / table.name
        if source.exists():
            shutil.copytree(source, lake / table.name, copy_function=_link)
    return lake


def _link(source: str, target: str) -> None:
    """Link a data file, which is never changed; copy what belongs to the log."""
    if "_delta_log" in Path(source).parts:
        shutil.copy2(source, target)
    else:
        os.link(source, target)
