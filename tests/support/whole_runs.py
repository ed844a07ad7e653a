"""Runs of `clwl` to which something happens, and what has to come of it."""

import subprocess
import sys
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from killed_lakes import Killed, environment
from worlds import World

from clwl_spark.cli import main

SCRIPT = Path(__file__).parents[1] / "routing" / "faulty_run.py"


def clwl(
    *words: str,
    env: Mapping[str, str] | None = None,
    before: str = "",
    fault: str = "",
    alone: bool = False,
) -> subprocess.CompletedProcess[str]:
    """Run `clwl`; in a process of its own where that is another one than this.

    Args:
        words: of the command.
        env: variables, beside this process's.
        before: of a shell, in a space of mounts of its own; '' = no shell.
        fault: that `faulty_run` lets happen; '' = none.
        alone: in a process of its own, which makes its session, all the same.
    """
    if not (env or before or fault or alone):
        return _here(*words)
    program = [str(SCRIPT), fault] if fault else ["-m", "clwl_spark.cli"]
    command = [sys.executable, *program, *words]
    if before:
        command = ["unshare", "-m", "sh", "-c", f'{before} && exec "$@"', "sh", *command]
    return subprocess.run(
        command,
        env={**environment(), **(env or {})},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def _here(*words: str) -> subprocess.CompletedProcess[str]:
    """Run `clwl` in this process, with its session."""
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main(words)
    return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())


def route(world: World, **how: object) -> subprocess.CompletedProcess[str]:
    """Route a lake, with a summary for programs."""
    words = ("route", "--lake", world.lake.root, "--engine", "embedded", "--json", "--quiet")
    return clwl(*words, **how)  # type: ignore[arg-type]


def complains(done: subprocess.CompletedProcess[str], exit_code: int, *words: str) -> None:
    """The command ended with one sentence, which has these words, and with this exit code."""
    assert done.returncode == exit_code, (done.returncode, done.stderr)
    assert done.stderr.startswith("clwl: ")
    assert done.stderr.count("\n") == 1, done.stderr
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in done.stderr


def goes_on(killed: Killed, world: World, **how: object) -> None:
    """The next run is done, and the tables are those of a lake that nothing happened to."""
    done = route(world, **how)
    assert (done.returncode, done.stderr) == (0, "")
    killed.check(world)


def can_mount(place: Path, *words: str) -> None:
    """Mount something, or skip the test where that is not allowed."""
    done = subprocess.run(["mount", *words, str(place)], capture_output=True, check=False)
    if done.returncode:
        pytest.skip(f"mounting is not allowed here: {done.stderr.decode().strip()}")
