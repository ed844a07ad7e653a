"""`clwl shares`: expected load, without a message."""

from collections import Counter
from typing import Any, Final

from pyspark.sql import functions as F
from rich.console import RenderableType

from clwl_spark.cli.commands.shares import SharesWords
from clwl_spark.cli.options import Common
from clwl_spark.cli.tables import listing
from clwl_spark.cli.work import ROUTED, Work, asked_snapshot, at_work
from clwl_spark.errors import UsageError
from clwl_spark.mq.vocabulary import REASON_TEXTS
from clwl_spark.planning.plans import Ladder
from clwl_spark.rules.exit import load_exit
from clwl_spark.snapshots.contradictions import consistent_topology
from clwl_spark.snapshots.defined import check_qmgr, names_defined
from clwl_spark.snapshots.semantics import semantics_of
from clwl_spark.spark.materialize import checkpoint
from clwl_spark.studies.explain.planned import EXPECTED_SHARE
from clwl_spark.studies.shares.balance import Balance, alike, balance
from clwl_spark.studies.shares.expected import SHARE, taken_channel
from clwl_spark.studies.shares.traffic import MESSAGES_OF, Puts, traffic_of_lake
from clwl_spark.studies.sweep.sweep import base_of
from clwl_spark.tables import SNAPSHOTS
from clwl_spark.tables import columns as c

_SHOWN: Final = 40
Row = dict[str, Any]


def run(common: Common, options: SharesWords) -> int:
    """Answer, and return the exit code."""
    puts = _puts(options)
    own = {"exit": options.exit}
    with at_work("shares", common, own, needs=SNAPSHOTS.name, reads=ROUTED) as work:
        snapshot_id = asked_snapshot(work.lake, options)
        ladder = Ladder(semantics_of(work.lake), load_exit(work.settings.exit))
        topology = consistent_topology(work.lake, [snapshot_id])
        if options.traffic:
            _show_traffic(work, snapshot_id, ladder)
            return 0
        known = names_defined(topology)
        check_qmgr(puts[0].qmgr, known, snapshot_id)
        found = balance(puts, snapshot_id, topology, ladder)
        work.screen.document({"snapshot_id": snapshot_id, **found.to_json()})
        work.screen.show(*_balance(found, puts[0].qmgr, snapshot_id))
    return 0


def _puts(options: SharesWords) -> list[Puts]:
    """What is put, each object once."""
    asked = bool(options.objects) and options.qmgr is not None
    if asked == options.traffic or (options.traffic and (options.objects or options.qmgr)):
        raise UsageError(
            "say whose shares: --from QM with --object O for each object, or --traffic for the "
            "messages of the lake"
        )
    counts: Counter[str] = Counter()
    for words in options.objects:
        name, messages = _object(words)
        counts[name] += messages
    return [Puts(options.qmgr or "", x, messages=float(n)) for x, n in counts.items()]


def _object(words: str) -> tuple[str, int]:
    """The name and the messages of NAME or NAME=MESSAGES."""
    name, equals, number = words.rpartition("=")
    name, count = (name, number) if equals else (words, "1")
    if not name or not count.isdecimal() or not int(count):
        raise UsageError(f"--object {words}: say NAME or NAME=MESSAGES, as in ORDERS=3")
    return name, int(count)


def _balance(found: Balance, qmgr: str, snapshot_id: str) -> list[RenderableType]:
    """Routes of each object, then the sums."""
    several = len(found.requests) > 1
    rows, parts = [], []
    for request in found.requests:
        name = str(request[c.OBJECT_NAME])
        if request[c.REASON] != 0:
            text = REASON_TEXTS.get(request[c.REASON], "")
            parts.append(f"{name} ends with {request[c.REASON]} {text}".rstrip())
        elif not request["routes"]:
            parts.append(f"{name} is not balanced: kind {request[c.KIND]}")
        rows += [_route(name, route, several=several) for route in request["routes"]]
    headings = ["object", "route", "channel", "weight", "step", "share"]
    headings += ["alone"] if several else []
    numbers = {"weight", "step", "share", "alone"}
    title = f"{qmgr}, snapshot {snapshot_id}: long-run shares, from an empty history"
    shown: list[RenderableType] = [title, *parts]
    if rows:
        shown += ["", listing(headings, rows, numbers)]
    if several:
        shown += ["", _sums(found.queue_managers, "queue manager")]
        shown += ["", _sums(found.channels, "channel")]
    return [*shown, *_notes(found)]


def _route(name: str, route: Row, *, several: bool) -> tuple[str, ...]:
    cells = (
        name,
        route[c.DEST_QMGR],
        "(local)" if route[c.IS_LOCAL] else route[c.CHANNEL],
        str(route[c.CLWLWGHT]),
        str(route["step"]),
        f"{route[SHARE]:.2%}",
    )
    return (*cells, f"{route[EXPECTED_SHARE]:.2%}") if several else cells


def _sums(rows: Any, of: str) -> RenderableType:  # noqa: ANN401  (rows of one shape or another)
    cells = [
        (row.get(c.CHANNEL) or row[c.DEST_QMGR], f"{row[SHARE]:.2%}")
        for row in sorted(rows, key=lambda row: -row[SHARE])
    ]
    return listing((f"all, by {of}", "share"), cells, {"share"})


def _notes(found: Balance) -> list[RenderableType]:
    """What is easily misread."""
    notes: list[RenderableType] = []
    weights = {
        f"{x[c.CHANNEL]} ({x[c.CLWLWGHT]})": x[c.CLWLWGHT]
        for request in found.requests
        for x in request["routes"]
    }
    notes += [
        f"{', '.join(names)} count alike: only the whole part of 1000 / CLWLWGHT counts"
        for names in alike(weights)
    ]
    if not found.is_exact:
        notes.append("the shares did not repeat within 50 million choices: they are counted")
    return notes


def _show_traffic(work: Work, snapshot_id: str, ladder: Ladder) -> None:
    """Expected load of the lake's messages."""
    topology = consistent_topology(work.lake, [snapshot_id], checkpoint)
    base = base_of(traffic_of_lake(work.lake, snapshot_id), topology, ladder)
    ends = base.ends.withColumn("expected", F.col(MESSAGES_OF) * F.col(SHARE))
    total = float(base.plans.groupBy().sum(MESSAGES_OF).collect()[0][0] or 0.0)
    ends = ends.withColumn(c.CHANNEL, taken_channel())
    goes = ends.where(F.col(c.REASON) == 0)
    remote = goes.where(F.col(c.CHANNEL).isNotNull())
    found = {
        "queue_managers": _expected(goes, (c.DEST_QMGR,)),
        "channels": _expected(remote, (c.DEST_QMGR, c.CHANNEL)),
        "requests": _expected(
            ends, (c.QMGR, c.OBJECT_NAME, c.OBJECT_QMGR, c.REASON, c.DEST_QMGR, c.CHANNEL)
        ),
    }
    work.screen.document({"snapshot_id": snapshot_id, "messages": total, **found})
    title = f"{total:,.0f} messages on snapshot {snapshot_id}, each object by itself"
    for key, heading in (("queue_managers", "queue manager"), ("channels", "channel")):
        rows = [
            (row.get(c.CHANNEL) or row[c.DEST_QMGR], f"{row['expected']:,.0f}", f"{row[SHARE]:.2%}")
            for row in found[key][:_SHOWN]
        ]
        headings = (heading, "expected messages", "share")
        work.screen.show(title, listing(headings, rows, headings[1:]))
        title = ""


def _expected(ends: Any, keys: tuple[str, ...]) -> list[Row]:  # noqa: ANN401  (a DataFrame)
    """Expected messages by some columns, most first, with their share."""
    rows = ends.groupBy(*keys).agg(F.sum("expected").alias("expected"))
    found = [row.asDict() for row in rows.orderBy(F.desc("expected"), *keys).collect()]
    whole = sum(row["expected"] for row in found) or 1.0
    return [{**row, SHARE: row["expected"] / whole} for row in found if row["expected"]]
