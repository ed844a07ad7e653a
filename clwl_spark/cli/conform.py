"""`clwl conform`: how far predictions and what was seen agree, and why they do not where not."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from clwl_spark.cli.commands.conform import ConformWords
from clwl_spark.cli.moments import micros_if
from clwl_spark.cli.options import Common
from clwl_spark.cli.screen import note
from clwl_spark.cli.tables import listing
from clwl_spark.cli.work import at_work
from clwl_spark.cli.written import write_whole
from clwl_spark.present.conformity import page
from clwl_spark.present.report.words import percent
from clwl_spark.studies.conform.find import conform
from clwl_spark.studies.conform.match import Wanted
from clwl_spark.studies.conform.model import Conformity, Disagreement
from clwl_spark.studies.conform.wording import end, summary
from clwl_spark.tables import OBSERVED_ROUTES, OUTCOMES, SNAPSHOTS
from clwl_spark.tables import columns as c


def run(common: Common, options: ConformWords) -> int:
    """Compare, tell, and return the exit code."""
    since, until = micros_if("--since", options.since), micros_if("--until", options.until)
    wanted = Wanted(options.object_name, options.qmgr, since, until)
    reads = (OUTCOMES.name, OBSERVED_ROUTES.name)
    with at_work("conform", common, needs=SNAPSHOTS.name, reads=reads) as work:
        with work.screen.progress("conforming") as tell:
            tell("records", 0, 1)
            found = conform(work.lake, wanted, options.explained)
            tell("records", 1, 1)
        work.screen.document(found.to_json())
        work.screen.show(*_parts(found, options.limit))
        if options.html is not None:
            write_whole(options.html, page(found), "--html")
    return _judged(found, options.fail_under)


def _judged(found: Conformity, least: float | None) -> int:
    """The exit code: 1 where less agrees than has to, or nothing can be compared."""
    if least is None or (found.compared and found.agree / found.compared >= least):
        return 0
    share = f"{found.agree:,} of {found.compared:,} agree" if found.compared else "none is compared"
    note(f"clwl: --fail-under {least:g}: {share}")
    return 1


def _parts(found: Conformity, limit: int) -> list[RenderableType]:
    """What it comes to first, then where, then why."""
    parts: list[RenderableType] = [Text(summary(found), style="bold")]
    for name, rows in (
        ("queue manager", found.by_queue_manager),
        ("object", found.by_object),
    ):
        if rows:
            parts += [Text(), _agreeing(rows, f"By {name}", limit)]
    parts += _by_channel(found, limit)
    parts += _not_compared(found)
    for one in found.first_disagreements[:limit]:
        parts += [Text(), *_disagreement(one)]
    return [*parts, *_counts(found, limit)]


def _agreeing(rows: Sequence[Mapping[str, Any]], title: str, limit: int) -> RenderableType:
    names = [x for x in (c.QMGR, c.OBJECT_NAME) if x in rows[0]]
    words = {c.QMGR: "put on", c.OBJECT_NAME: "to"}
    numbers = ("compared", "agree", "share")
    cells = [
        (
            *(str(row[x] or "-") for x in names),
            f"{row['compared']:,}",
            f"{row['agree']:,}",
            percent(row["agree"] / row["compared"]),
        )
        for row in rows[:limit]
    ]
    return listing((*(words[x] for x in names), *numbers), cells, numbers, title)


def _by_channel(found: Conformity, limit: int) -> list[RenderableType]:
    if not found.by_channel:
        return []
    numbers = ("foretold", "seen", "agree")
    cells = [
        (row[c.QMGR], row[c.CHANNEL], *(f"{row[x]:,}" for x in ("predicted", "seen", "agree")))
        for row in found.by_channel[:limit]
    ]
    return [Text(), listing(("put on", "channel", *numbers), cells, numbers, "By channel")]


def _not_compared(found: Conformity) -> list[RenderableType]:
    if not found.not_compared:
        return []
    cells = [(row[c.REASON], f"{row['n']:,}") for row in found.not_compared]
    return [Text(), listing(("why", "records"), cells, ("records",), "Not compared")]


def _disagreement(one: Disagreement) -> list[RenderableType]:
    """A first disagreement for a reader."""
    when = f", put {one.put_time}" if one.put_time else ""
    title = f"{one.qmgr}:{one.put_seq}{when} to {one.object_name}: {one.cause or 'not looked into'}"
    lines = [
        f"  foretold {end(one.predicted)}, seen {end(one.seen)}",
        *([f"  {one.why}"] if one.why else []),
    ]
    if one.start:
        start = ", ".join(
            f"{x[c.CHANNEL]} {x[c.DEST_SEQ_NUMBER]}/{x[c.DEST_SEQ_FACTOR]}" for x in one.start
        )
        lines.append(f"  least start that fits (number/factor): {start}")
    lines += [f"  {x['at']} {x[c.CHANNEL]} {x[c.STATUS]}" for x in one.status_events[:3]]
    if one.settle:
        lines.append(f"  what would settle it: {one.settle}")
    return [Text(title, style="bold"), *map(Text, lines)]


def _counts(found: Conformity, limit: int) -> list[RenderableType]:
    if not found.counts:
        return []
    numbers = ("counted", "foretold")
    cells = [
        (x[c.QMGR], x[c.CHANNEL], x["from"], x["to"], f"{x['counted']:,}", f"{x['predicted']:,}")
        for x in found.counts[:limit]
    ]
    heads = ("put on", "channel", "from", "to", *numbers)
    return [Text(), listing(heads, cells, numbers, "Counts of channels")]
