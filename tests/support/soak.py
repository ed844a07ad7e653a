"""Kills runs of routing, goes on with another engine, and compares all tables with a quiet run.

Usage: soak.py [--kills 200] [--seed N] [--engines embedded,arrow,spark] [--lake K]

Copies of one lake, of which a batch waits, are killed one to three times each, at a named step or
at a random moment: the process, one of its workers, or all of its group. Then some engine goes on.
A seed and the number of a lake lead to the same kills; moments are as exact as the machine is.
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from killed_lakes import SCRIPT, STEPS, Killed, environment, world_in

from clwl_spark.spark.embedded import embedded_session

ENGINES = ("embedded", "arrow", "spark")
VICTIMS = ("group", "parent", "worker")
MOST_SECONDS = {"embedded": 2.0, "arrow": 12.0, "spark": 12.0}
"""In which an engine routes the lake, about."""
MOST_KILLS = 3
RUN_SECONDS = 600


@dataclass(frozen=True, slots=True)
class Kill:
    """A run and its end.

    Attributes:
        engine: that routes.
        point: as `killed_run` has it.
        victim: who is killed.
        workers: "workers" where worker processes route; "" = as the engine likes.
    """

    engine: str
    point: str
    victim: str
    workers: str = ""

    def __str__(self) -> str:
        at = self.point if self.point.startswith("after:") else f"after {self.point} s"
        return f"{self.engine}{' with workers' if self.workers else ''}, {self.victim} {at}"


@dataclass(frozen=True, slots=True)
class Story:
    """What happens to one copy of the lake.

    Attributes:
        number: of the copy.
        kills: one after the other.
        last: the engine that goes on then.
    """

    number: int
    kills: tuple[Kill, ...]
    last: str

    def __str__(self) -> str:
        return f"lake {self.number}: {'; '.join(map(str, self.kills))}; then {self.last}"


def stories(seed: int, kills: int, engines: Sequence[str]) -> Iterator[Story]:
    """Copies and their kills, so many kills in all."""
    number = 0
    while kills > 0:
        chance = random.Random(f"{seed}-{number}")
        size = min(chance.randint(1, MOST_KILLS), kills)
        drawn = tuple(_kill(chance, engines) for _ in range(size))
        yield Story(number, drawn, chance.choice(engines))
        kills, number = kills - size, number + 1


def _kill(chance: random.Random, engines: Sequence[str]) -> Kill:
    engine, victim = chance.choice(engines), chance.choice(VICTIMS)
    at_step = chance.random() < 0.5
    moment = f"{chance.uniform(0.05, MOST_SECONDS[engine]):.2f}"
    point = f"after:{chance.choice(STEPS)}" if at_step else moment
    is_here = engine == "embedded" and victim != "worker" and chance.random() < 0.5
    return Kill(engine, point, victim, "" if is_here or engine != "embedded" else "workers")


def play(killed: Killed, story: Story, folder: Path) -> str:
    """Let a story happen to a copy of the lake, and say what is wrong then; '' = nothing is."""
    world = killed.copy(folder)
    for kill in story.kills:
        run(folder, kill.point, kill.engine, kill.victim, kill.workers)
    done = run(folder, "never", story.last)
    if done.returncode:
        return f"exit {done.returncode}: {done.stderr.strip().splitlines()[-1:]}"
    try:
        killed.check(world_in(world.spark, folder))
    except AssertionError as error:
        return f"differs: {str(error).splitlines()[0][:200]}"
    return ""


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A run in a group of processes of its own, of which nothing is left."""
    command = [sys.executable, str(SCRIPT), str(folder), *words]
    with subprocess.Popen(
        command,
        start_new_session=True,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            process.wait(RUN_SECONDS)
        finally:
            _end_group(process.pid)
        error = process.stderr.read() if process.stderr else ""
    return subprocess.CompletedProcess(command, process.returncode, "", error)


def _end_group(group: int) -> None:
    """End what a killed process has left, as Java that has not seen it yet."""
    try:
        os.killpg(group, 9)
    except ProcessLookupError:
        return


def soak(told: Sequence[Story], folder: Path) -> int:
    """Play stories, print how they end, and return how many end badly; their lakes stay."""
    wrong: list[Story] = []
    counts: Counter[str] = Counter()
    started, kills = time.monotonic(), sum(len(x.kills) for x in told)
    with embedded_session() as spark:
        killed = Killed(spark, folder / "lake")
        for story in told:
            copy = folder / f"copy-{story.number}"
            said = play(killed, story, copy)
            counts.update(f"{x.engine} {x.victim}" for x in story.kills)
            print(f"{counts.total()}/{kills} {story}: {said or 'ok'}", flush=True)
            if said:
                wrong.append(story)
            else:
                shutil.rmtree(copy)
    by_kind = ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))
    print(f"{kills} kills of {len(told)} lakes in {time.monotonic() - started:.0f} s: {by_kind}")
    print(f"{len(wrong)} lakes differ from the one that was not killed")
    for story in wrong:
        print(f"  {story}, in {folder / f'copy-{story.number}'}")
    return len(wrong)


def main(words: Sequence[str] | None = None) -> int:
    """Read the words, soak, and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kills", type=int, default=200, help="how many, in all")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--engines", default=",".join(ENGINES), help="with commas between")
    parser.add_argument("--lake", type=int, help="only the lake of this number")
    given = parser.parse_args(words)
    told = [*stories(given.seed, given.kills, given.engines.split(","))]
    told = [x for x in told if given.lake in (None, x.number)]
    folder = Path(tempfile.mkdtemp(prefix="clwl-soak-"))
    print(f"seed {given.seed}, {len(told)} lakes in {folder}", flush=True)
    wrong = soak(told, folder)
    if not wrong:
        shutil.rmtree(folder)
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
