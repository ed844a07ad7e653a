"""The results as a page of Markdown."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]
Cells = Mapping[str, Callable[[Row], str]]


def page(results: Row) -> str:
    """The page of one document of `run.py`."""
    machine = ", ".join(f"{name} {value}" for name, value in results["machine"].items())
    parts = ["# clwl benchmarks", f"{results['date']}, `{results['command']}`", machine]
    for messages, hot, rows in _by_lake(results.get("sides", [])):
        sender = ", all put by one queue manager" if hot else ""
        parts += [f"## {messages:,} messages{sender}", _table(_SIDES, rows)]
    if "small" in results:
        parts += [
            "## Micro-batches in one session",
            _table(_SMALL, results["small"]),
        ]
    for profile in results.get("profiles", []):
        parts += [
            f"## Stages, engine {profile['engine']}, {profile['messages']:,} messages",
            _counted(profile),
            _table(_STAGES, profile["stages"]),
        ]
    if results.get("figures"):
        parts += ["## Others", _table(_FIGURES, results["figures"])]
    return "\n\n".join(parts) + "\n"


def _by_lake(rows: Iterable[Row]) -> Iterable[tuple[int, bool, list[Row]]]:
    """The rows of each lake."""
    lakes: dict[tuple[int, bool], list[Row]] = {}
    for row in rows:
        lakes.setdefault((row["messages"], row["hot"]), []).append(row)
    return [(*lake, of) for lake, of in lakes.items()]


def _counted(profile: Row) -> str:
    """The profile's sums in a sentence."""
    messages = profile["messages"]
    return (
        f"{profile['jobs']} jobs, {profile['shuffled'] / messages:,.1f} bytes shuffled, "
        f"{profile['python_rows'] / messages:,.2f} rows through Python and "
        f"{profile['to_driver'] / messages:,.2f} bytes to the driver per message."
    )


def _table(cells: Cells, rows: Sequence[Row]) -> str:
    """A table with a column for each of these cells, numbers to the right."""
    lines = [" | ".join(cells), "---" + " | ---:" * (len(cells) - 1)]
    lines += [" | ".join(show(row) for show in cells.values()) for row in rows]
    return "\n".join(f"| {line} |" for line in lines)


def _number(name: str, digits: int = 1) -> Callable[[Row], str]:
    """A cell with the row's number of that name; none = a dash."""
    return lambda row: "-" if row[name] is None else f"{row[name]:,.{digits}f}"


def _text(name: str) -> Callable[[Row], str]:
    """A cell with the row's text of that name."""
    return lambda row: str(row[name])


_SIDES: Cells = {
    "way": _text("way"),
    "seconds, median": _number("median"),
    "least": _number("min"),
    "most": _number("max"),
    "x floor": _number("ratio", 2),
    "x floor, without start": _number("work_ratio", 2),
    "messages/s": _number("per_second", 0),
    "first outcome after, s": _number("first_outcome"),
    "Java, MiB": _number("java_mib", 0),
    "largest Python, MiB": _number("python_mib", 0),
    "all together, MiB": _number("tree_mib", 0),
    "outcomes that differ": _number("differing", 0),
}
_SMALL: Cells = {
    "engine": _text("engine"),
    "nothing new, s": _number("nothing_new", 2),
    "new messages": _number("new", 0),
    "by `route`, s": _number("little_new", 2),
    "by `follow`, s": _number("followed", 2),
}
_STAGES: Cells = {
    "stage": lambda row: " > ".join(row["steps"]),
    "seconds": _number("seconds"),
    "of all tasks": _number("task_seconds"),
    "tasks": _number("tasks", 0),
    "bytes shuffled": _number("shuffled", 0),
}
_FIGURES: Cells = {
    "figure": _text("name"),
    "value": _number("value", 2),
    "unit": _text("unit"),
}
