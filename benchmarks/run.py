"""Measure routing, rules, kernel and start-up on this machine; see README.md beside this file."""

import argparse
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import choices
import routing
import sides
from page import page
from processes import timed_process
from stages import Log, longest

PARTS = ("sides", "small", "profile", "ladder", "kernel", "help", "hot")
NOT_BY_DEFAULT = ("hot",)
STAGES_SHOWN = 12
Document = dict[str, Any]
Part = Callable[[argparse.Namespace, Path], Document]


def measure_sides(options: argparse.Namespace, work: Path) -> Document:
    """All ways to route, on lakes of each size."""
    rows: list[dict[str, object]] = []
    for messages in options.messages:
        lake = pristine(options, work, messages, hot=False)
        names = [x for x in sides.ways(messages) if x not in options.without]
        found = sides.measure(lake, work / "sides", messages, options.rounds, names, hot=False)
        rows += found.rows()
    return {"sides": rows}


def measure_hot(options: argparse.Namespace, work: Path) -> Document:
    """The engines and the floor where one queue manager puts all messages."""
    messages = max(options.messages)
    lake = pristine(options, work, messages, hot=True)
    names = [*routing.engines(), routing.FLOOR]
    found = sides.measure(lake, work / "hot", messages, options.rounds, names, hot=True)
    return {"sides": found.rows()}


def measure_small(options: argparse.Namespace, work: Path) -> Document:
    """A micro-batch with nothing, and with 10,000 messages, in a session that has routed."""
    rows = []
    for engine in routing.engines():
        lake = routing.fresh_lake(
            pristine(options, work, min(options.messages), hot=False), work / "small"
        )
        chosen = ["--set", f"engine={engine}"] if len(routing.engines()) > 1 else []
        script = str(routing.HERE / "small_batches.py")
        run = timed_process([script, "--lake", str(lake), "--new", str(options.new), *chosen])
        rows.append({"engine": engine, "new": options.new, **run.output})
    return {"small": rows}


def measure_profile(options: argparse.Namespace, work: Path) -> Document:
    """Each engine of Spark once with an event log: its stages, and what it shuffles."""
    messages = max(options.messages)
    lake = pristine(options, work, messages, hot=False)
    engines = [x for x in routing.engines() if x != routing.EMBEDDED]
    logs = {engine: sides.profile(lake, work / "log", engine) for engine in engines}
    return {"profiles": [_profile(engine, messages, log) for engine, log in logs.items()]}


def _profile(engine: str, messages: int, log: Log) -> Document:
    sums = {name: getattr(log, name) for name in ("jobs", "shuffled", "python_rows", "to_driver")}
    stages = [asdict(stage) for stage in longest(log, STAGES_SHOWN)]
    return {"engine": engine, "messages": messages, **sums, "stages": stages}


def measure_ladder(options: argparse.Namespace, work: Path) -> Document:  # noqa: ARG001
    """The rules in Spark against DuckDB."""
    script = str(routing.HERE / "ladder.py")
    found = timed_process([script, "--rows", str(options.rows)]).output
    return {
        "figures": [
            figure("rules, Spark / DuckDB, warm", found["ratio"], "x"),
            figure("rules in Spark", found["spark_seconds"], "s"),
            figure("rules in DuckDB", found["duckdb_seconds"], "s"),
            figure("rules, rows judged differently", found["differing_rows"], "rows"),
        ]
    }


def measure_kernel(options: argparse.Namespace, work: Path) -> Document:  # noqa: ARG001
    """The kernel alone."""
    plain = choices.nanoseconds_per_choice(options.choices, weighted=False)
    weighted = choices.nanoseconds_per_choice(options.choices, weighted=True)
    return {
        "figures": [
            figure("kernel, 8 routes, default weights", plain, "ns/choice"),
            figure("kernel, 8 routes, other weights", weighted, "ns/choice"),
        ]
    }


def measure_help(options: argparse.Namespace, work: Path) -> Document:  # noqa: ARG001
    """Start-up of the command line."""
    words = ["-m", "clwl_spark.cli", "--help"]
    seconds = [timed_process(words, reads_json=False).seconds for _ in range(options.helps)]
    return {"figures": [figure("clwl --help", statistics.median(seconds), "s")]}


def figure(name: str, value: float, unit: str) -> Document:
    """One figure of the part that has others."""
    return {"name": name, "value": value, "unit": unit}


def pristine(options: argparse.Namespace, work: Path, messages: int, *, hot: bool) -> Path:
    """The lake with so many messages, made unless it is there."""
    lake = work / f"{'hot' if hot else 'pristine'}-{messages}"
    routing.make_lake(lake, messages, float(hot), options.non_default)
    return lake


MEASURED: dict[str, Part] = {
    "kernel": measure_kernel,
    "help": measure_help,
    "ladder": measure_ladder,
    "sides": measure_sides,
    "hot": measure_hot,
    "small": measure_small,
    "profile": measure_profile,
}


def machine() -> dict[str, object]:
    """What it runs on."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    packages = ("pyspark", "delta-spark", "duckdb", "polars", "deltalake", "numba", "pyarrow")
    return {
        "cores": len(os.sched_getaffinity(0)),
        "processor": _processor(),
        "memory_gib": round(memory, 1),
        "load_before": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        **{name: version(name) for name in packages},
    }


def _processor() -> str:
    """The processor's model, where the system says."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.machine()


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Options; quick ones where asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--rounds", type=int, default=3, help="of each way, interleaved")
    parser.add_argument("--without", nargs="+", default=[], help="ways that are not gone")
    parser.add_argument("--new", type=int, default=10_000, help="messages of a little batch")
    parser.add_argument("--rows", type=int, default=2_000_000, help="candidate rows of `ladder`")
    parser.add_argument("--choices", type=int, default=5_000_000, help="of `kernel`")
    parser.add_argument("--helps", type=int, default=5, help="runs of `clwl --help`")
    parser.add_argument("--non-default", type=float, default=0.0, help="share of CLWL attributes")
    parser.add_argument("--quick", action="store_true", help="small sizes, one round")
    parser.add_argument("--only", nargs="+", choices=PARTS, help="default: all but hot")
    parser.add_argument(
        "--work", type=Path, help="folder for lakes, which are kept; default: a temporary one"
    )
    parser.add_argument("--results", type=Path, default=Path("build/bench"), help="folder")
    options = parser.parse_args(arguments)
    if options.quick:
        options.messages, options.rounds, options.rows = [200_000], 1, 200_000
        options.choices, options.helps = 1_000_000, 1
    if not options.only:
        options.only = [part for part in PARTS if part not in NOT_BY_DEFAULT]
    return options


def measure(options: argparse.Namespace, work: Path) -> Document:
    """Run the parts that were asked for; `figures` of several parts become one list."""
    found: dict[str, list[object]] = {}
    for name, part in MEASURED.items():
        if name in options.only:
            for key, rows in part(options, work).items():
                found.setdefault(key, []).extend(rows)
    return dict(found)


def main() -> None:
    """Measure, write, and print the page."""
    options = parse()
    results: Document = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": " ".join(["python", "benchmarks/run.py", *_shared_arguments(sys.argv[1:])]),
        "machine": machine(),
    }
    start = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="clwl-bench-") as temporary:
        results |= measure(options, (options.work or Path(temporary)).absolute())
    results["seconds"] = round(time.perf_counter() - start)
    options.results.mkdir(parents=True, exist_ok=True)
    (options.results / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    (options.results / "results.md").write_text(page(results))
    print(page(results))


def _shared_arguments(arguments: list[str]) -> list[str]:
    """The arguments less the folders, which mean nothing on another machine."""
    kept: list[str] = []
    skip = False
    for argument in arguments:
        folder = argument.split("=")[0] in ("--work", "--results")
        if not skip and not folder:
            kept.append(argument)
        skip = folder and "=" not in argument
    return kept


if __name__ == "__main__":
    main()
