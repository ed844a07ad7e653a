"""What a micro-batch costs where nothing, or little, is new: in one session, as with --follow.

The lake gets rows of its own messages again, later in the order of put_seq, by delta-rs.
"""

import argparse
import json
import statistics
import time
from pathlib import Path

import polars as pl
from deltalake import write_deltalake
from simple_case import table

from clwl_spark import tables as schemas
from clwl_spark.cli.route import route_options
from clwl_spark.delta.lake import Lake
from clwl_spark.routing.run import RouteOptions, follow, route
from clwl_spark.settings import read_settings
from clwl_spark.spark.embedded import embedded_session
from clwl_spark.spark.local import spark_session
from clwl_spark.tables import columns as c

LATER = 1_000_000_000
POLL_SECONDS = 0.1


def main() -> None:
    """Route in one session, and print the median seconds of a run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lake", type=Path, required=True, help="with messages; it is changed")
    parser.add_argument("--new", type=int, default=10_000, help="messages of a little batch")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--set", action="append", default=[], help="settings of clwl, KEY=VALUE")
    options = parser.parse_args()
    again = table(options.lake, schemas.MESSAGES.name).sort(c.PUT_SEQ).head(options.new).collect()
    settings = read_settings(assignments=options.set)
    how = route_options(settings)
    nothing, little = [], []
    embedded = settings.engine == "embedded"
    session = embedded_session() if embedded else spark_session(settings.spark, "small batches")
    with session as spark:
        lake = Lake(spark, str(options.lake.absolute()))
        first = route(lake, how)
        for number in range(1, options.rounds + 1):
            nothing.append(route(lake, how).seconds)
            append(options.lake, again, number)
            summary = route(lake, how)
            if summary.messages != options.new:
                raise SystemExit(f"{summary.messages} messages were routed, not {options.new}")
            little.append(summary.seconds)
        following = followed(lake, how, options.lake, again, options.rounds)
    print(json.dumps({
        "seconds": first.seconds,
        "nothing_new": statistics.median(nothing),
        "little_new": statistics.median(little),
        "followed": statistics.median(following),
        "raw": {"nothing_new": nothing, "little_new": little, "followed": following},
    }))  # fmt: skip


def followed(
    lake: Lake, how: RouteOptions, folder: Path, rows: pl.DataFrame, rounds: int
) -> list[float]:
    """Seconds from the commit of little new messages to that of their outcomes, as by --follow.

    A first batch is not counted: it leaves its facts to those that come after.
    """
    seconds = []
    runs = follow(lake, how, POLL_SECONDS, stop=lambda: False)
    for number in range(rounds + 1, 2 * rounds + 2):
        append(folder, rows, number)
        started = time.perf_counter()
        next(runs)
        seconds.append(time.perf_counter() - started)
    return seconds[1:]


def append(lake: Path, rows: pl.DataFrame, number: int) -> None:
    """Append the rows, so many times `LATER` on in put_seq."""
    later = rows.with_columns(pl.col(c.PUT_SEQ) + number * LATER)
    write_deltalake(str(lake / schemas.MESSAGES.name), later.to_arrow(), mode="append")


if __name__ == "__main__":
    main()
