"""Writes figures into `docs/performance.md`: what was measured is kept in `docs/measured.json`.

`python benchmarks/publish.py build/bench/results.json at_once.json` adds the documents of `run.py`
and of `at_once.py` as one entry, that of the day of the first one, and makes the page's tables
anew. Without a document it only makes the tables. Nobody writes a figure into the page by hand.
"""

import argparse
import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from routing import EMBEDDED, EXPERT, FLOOR

DOCS: Final = Path(__file__).parents[1] / "docs"
MEASURED: Final = DOCS / "measured.json"
PAGE: Final = DOCS / "performance.md"
KEPT: Final = ("machine", "sides", "small", "commands")
"""Parts of the documents that the page has tables of."""
WAYS: Final = {FLOOR: "Spark's copy, which decides nothing", EXPERT: EXPERT}
_BLOCK: Final = re.compile(r"(<!-- measured: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
Entry = Mapping[str, Any]


def main() -> None:
    """Add what was measured, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("documents", type=Path, nargs="*", help="JSON of run.py and at_once.py")
    options = parser.parse_args()
    entries: list[Entry] = json.loads(MEASURED.read_text())
    found = [json.loads(path.read_text()) for path in options.documents]
    if found:
        today = datetime.now(UTC).isoformat()
        day = next((x["date"] for x in found if "date" in x), today)[:10]
        new = {"date": day} | {x: y[x] for y in found for x in KEPT if x in y}
        same_day = next((x for x in entries if x["date"] == day), {})
        entries = [x for x in entries if x["date"] != day] + [{**same_day, **new}]
        MEASURED.write_text(json.dumps(entries, indent=1) + "\n")
    PAGE.write_text(with_tables(PAGE.read_text(), entries))


def with_tables(page: str, entries: Sequence[Entry]) -> str:
    """The page with the tables of the newest entry that has each part."""

    def block(found: re.Match[str]) -> str:
        return f"{found[1]}\n{TABLES[found[2]](entries)}\n\n{found[3]}"

    return _BLOCK.sub(block, page)


def _newest(entries: Sequence[Entry], part: str) -> Entry:
    return next(x for x in reversed(entries) if part in x)


def _commands(entries: Sequence[Entry]) -> str:
    entry = _newest(entries, "commands")
    told = (x for one in entries for x in one.get("commands", ()))
    before = {x["command"]: x["before"] for x in told if "before" in x}
    rows = [
        (x["command"], *map(_seconds, (before.get(x["command"]), x["now"], x["limit"])))
        for x in entry["commands"]
    ]
    return _table(("command", "with Java, before", "now", "goal"), rows) + _told(entry)


def _sides(entries: Sequence[Entry]) -> str:
    entry = _newest(entries, "sides")
    sizes = sorted({x["messages"] for x in entry["sides"]})
    ways = dict.fromkeys(x["way"] for x in entry["sides"])
    cells = {(x["way"], x["messages"]): _side(x) for x in entry["sides"]}
    rows = [
        (WAYS.get(way, f"`clwl route --engine {way}`"), *(cells.get((way, x), "") for x in sizes))
        for way in ways
    ]
    return _table(("way", *(f"{x:,} messages" for x in sizes)), rows) + _told(entry)


def _side(row: Mapping[str, Any]) -> str:
    spread = f"{row['median']:.1f} s ({row['min']:.1f} to {row['max']:.1f})"
    return f"{spread} = {row['ratio']:.2f}; {row['tree_mib']:,.0f} MiB"


def _small(entries: Sequence[Entry]) -> str:
    entry = _newest(entries, "small")
    names = ("followed", "little_new", "nothing_new")
    rows = [(x["engine"], *(f"{x[name]:.2f} s" for name in names)) for x in entry["small"]]
    head = ("engine", "by `follow`, from their commit to that of their outcomes", "by `route`")
    return _table((*head, "nothing new"), rows) + _told(entry)


def _history(entries: Sequence[Entry]) -> str:
    rows = []
    for entry in entries:
        found = {(x["way"], x["messages"]): x["median"] for x in entry.get("sides", ())}
        for messages in sorted({x for _, x in found}):
            own, floor, expert = (found.get((x, messages)) for x in (EMBEDDED, FLOOR, EXPERT))
            ratios = (f"{own / x:.2f}" if own and x else "" for x in (floor, expert))
            rows.append((entry["date"], f"{messages:,}", _seconds(own), *ratios))
    return _table(("day", "messages", "`embedded`", "/ Spark's copy", "/ Polars"), rows)


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.1f} s"


def _told(entry: Entry) -> str:
    """On which day and machine."""
    machine = entry.get("machine")
    where = f", {machine['cores']} cores, {machine['processor']}" if machine else ""
    return f"\n\n{entry['date']}{where}."


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


TABLES: Final[Mapping[str, Callable[[Sequence[Entry]], str]]] = {
    "commands": _commands,
    "sides": _sides,
    "small": _small,
    "history": _history,
}

if __name__ == "__main__":
    main()
