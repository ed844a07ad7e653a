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
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import choices
import ladder
import routing
from rich.console import Console
from rich.table import Table

from clwl_spark.session import spark_session

PARTS = ("route", "hot", "large", "ladder", "kernel", "help")
RESULTS = Path(__file__).parent / "results.json"
LARGE = 4
Figure = tuple[str, float, str]


def measure_routing(options: argparse.Namespace, work: Path) -> tuple[list[Figure], object]:
    """Routing against the copy, and the hot and large lakes against the first, interleaved."""
    sizes = {"route": (options.messages, 0.0)}
    if "hot" in options.only:
        sizes["hot"] = (options.messages, 1.0)
    if "large" in options.only:
        sizes["large"] = (options.messages * LARGE, 0.0)
    for name, (messages, hot) in sizes.items():
        routing.make_lake(work / name, messages, hot, options.non_default)
    runs: dict[str, list[routing.Run]] = {name: [] for name in ("copy", "plain copy", *sizes)}
    for _ in range(options.rounds):
        runs["copy"].append(routing.plain_copy(work / "route", work))
        runs["plain copy"].append(routing.plain_copy(work / "route", work, "--plain"))
        for name in sizes:
            runs[name].append(routing.route(work / name, work))
    raw = {
        name: [{"process_seconds": run.seconds, **run.output} for run in of_name]
        for name, of_name in runs.items()
    }
    return _routing_figures(runs, options.messages), raw


def _routing_figures(runs: dict[str, list[routing.Run]], messages: int) -> list[Figure]:
    """Seconds, ratios of medians, and the largest Python worker of each kind of run."""
    whole = {name: statistics.median(r.seconds for r in of) for name, of in runs.items()}
    work = {name: statistics.median(r.work_seconds for r in of) for name, of in runs.items()}
    figures: list[Figure] = [
        ("route / copy, whole process", whole["route"] / whole["copy"], "x"),
        ("route / copy, without start-up", work["route"] / work["copy"], "x"),
        ("route / copy in a session as Spark comes", whole["route"] / whole["plain copy"], "x"),
        ("messages routed a second", messages / whole["route"], "1/s"),
    ]
    for name in ("hot", "large"):
        if name in runs:
            figures.append((f"{name} / route, whole process", whole[name] / whole["route"], "x"))
            figures.append((f"{name} / route, without start-up", work[name] / work["route"], "x"))
    figures += [(f"{name}, whole process", seconds, "s") for name, seconds in whole.items()]
    for name, of in runs.items():
        peaks = [float(str(peak)) for r in of if (peak := r.output.get("worker_peak_mib"))]
        if peaks:
            figures.append((f"{name}, largest Python worker", max(peaks), "MiB"))
    return figures


def measure_ladder(options: argparse.Namespace, work: Path) -> tuple[list[Figure], object]:
    """The rules in Spark against DuckDB."""
    with spark_session(app_name="ladder") as spark:
        found = ladder.compare(spark, work, options.rows, max(options.rounds, 3))
    return [
        ("rules, Spark / DuckDB, warm", found["ratio"], "x"),
        ("rules in Spark", found["spark_seconds"], "s"),
        ("rules in DuckDB", found["duckdb_seconds"], "s"),
        ("rules, rows judged differently", found["differing_rows"], "rows"),
    ], found


def measure_kernel(options: argparse.Namespace, work: Path) -> tuple[list[Figure], object]:  # noqa: ARG001
    """The kernel alone."""
    plain = choices.nanoseconds_per_choice(options.choices, weighted=False)
    weighted = choices.nanoseconds_per_choice(options.choices, weighted=True)
    return [
        ("kernel, 8 routes, default weights", plain, "ns/choice"),
        ("kernel, 8 routes, other weights", weighted, "ns/choice"),
    ], {"plain": plain, "weighted": weighted}


def measure_help(options: argparse.Namespace, work: Path) -> tuple[list[Figure], object]:  # noqa: ARG001
    """Start-up of the command line."""
    seconds = [help_seconds() for _ in range(options.helps)]
    return [("clwl --help", statistics.median(seconds), "s")], seconds


def help_seconds() -> float:
    """Seconds of one `clwl --help`."""
    return routing.timed_process(["-m", "clwl_spark.cli", "--help"], reads_json=False).seconds


def machine() -> dict[str, object]:
    """What it runs on."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    packages = ("pyspark", "delta-spark", "duckdb", "numba", "pyarrow")
    return {
        "cores": len(os.sched_getaffinity(0)),
        "processor": _processor(),
        "memory_gib": round(memory, 1),
        "load_before": os.getloadavg()[0],
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
    parser.add_argument("--messages", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=3, help="of each process, interleaved")
    parser.add_argument("--rows", type=int, default=2_000_000, help="candidate rows of `ladder`")
    parser.add_argument("--choices", type=int, default=5_000_000, help="of `kernel`")
    parser.add_argument("--helps", type=int, default=10, help="runs of `clwl --help`")
    parser.add_argument("--non-default", type=float, default=0.0, help="share of CLWL attributes")
    parser.add_argument("--quick", action="store_true", help="small sizes, one round")
    parser.add_argument("--large", action="store_true", help="also 4 times the messages")
    parser.add_argument("--only", nargs="+", choices=PARTS, help="default: all but large")
    parser.add_argument(
        "--work", type=Path, help="folder for lakes, which are kept; default: a temporary one"
    )
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args(arguments)
    if options.quick:
        options.messages, options.rounds, options.rows = 200_000, 1, 200_000
        options.choices, options.helps = 1_000_000, 3
    if not options.only:
        options.only = [part for part in PARTS if part != "large" or options.large]
    return options


def measure(options: argparse.Namespace, work: Path) -> dict[str, object]:
    """Run the parts that were asked for."""
    parts: dict[str, Callable[[argparse.Namespace, Path], tuple[list[Figure], object]]] = {
        "kernel": measure_kernel,
        "help": measure_help,
        "ladder": measure_ladder,
        "route": measure_routing,
    }
    wanted = {"route" if part in ("hot", "large") else part for part in options.only}
    figures: list[Figure] = []
    raw: dict[str, object] = {}
    for name, part in parts.items():
        if name in wanted:
            part_figures, raw[name] = part(options, work)
            figures += part_figures
    return {
        "figures": [dict(zip(("name", "value", "unit"), x, strict=True)) for x in figures],
        "raw": raw,
    }


def show(results: dict[str, object], console: Console) -> None:
    """Print the figures, and what they were measured on."""
    table = Table("figure", "value", "unit", title="clwl benchmarks")
    for figure in results["figures"]:  # type: ignore[attr-defined]
        table.add_row(figure["name"], f"{figure['value']:,.2f}", figure["unit"])
    console.print(table)
    console.print(results["machine"], results["date"], results["command"])


def main() -> None:
    """Measure, print, write."""
    options = parse()
    results: dict[str, object] = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": " ".join(["python", "benchmarks/run.py", *_shared_arguments(sys.argv[1:])]),
        "machine": machine(),
    }
    start = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="clwl-bench-") as temporary:
        results |= measure(options, options.work or Path(temporary))
    results["seconds"] = time.perf_counter() - start
    options.results.write_text(json.dumps(results, indent=1) + "\n")
    show(results, Console())


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
