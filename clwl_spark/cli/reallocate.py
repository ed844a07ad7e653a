"""`clwl reallocate`: channels stop, and their waiting messages choose anew."""

import structlog
from rich.table import Table

from clwl_spark import tables as schemas
from clwl_spark.cli.commands.reallocate import ReallocateWords
from clwl_spark.cli.moments import micros_if, micros_of
from clwl_spark.cli.options import Common
from clwl_spark.cli.tables import listing
from clwl_spark.cli.work import ROUTED, Work, at_work
from clwl_spark.errors import UsageError
from clwl_spark.planning.plans import Ladder
from clwl_spark.routing.ledger.own_opens import own_opens, own_opens_told
from clwl_spark.rules.exit import load_exit
from clwl_spark.snapshots.semantics import semantics_of
from clwl_spark.studies.reallocate.events import ChannelEvent, check_told, read_events
from clwl_spark.studies.reallocate.run import ReallocationSummary, reallocate
from clwl_spark.tables.moments import moment_at, moment_text

_SHOWN = 20


def run(common: Common, options: ReallocateWords) -> int:
    """Run the event, or the history of events, show the counts, and return the exit code."""
    single = _single(options)
    own = {"exit": options.exit}
    with at_work("reallocate", common, own, needs=schemas.OUTCOMES.name, reads=ROUTED) as work:
        events = [single] if single else read_events(work.lake, str(options.events))
        summary = reallocate(work.lake, events, _ladder(work))
        structlog.get_logger().info("reallocated", events=len(events), seconds=summary.seconds)
        work.screen.document(summary.to_json())
        told = own_opens_told(own_opens(work.lake))
        work.screen.show(events_table(summary), *notes(summary), *told)
    return 0


def events_table(summary: ReallocationSummary) -> Table:
    """One line per event, the last ones; the totals below."""
    counts = ("waiting", "moved", "still_favoured", "failed", "not_eligible")
    numbers = [name.replace("_", " ") for name in counts]
    rows = []
    for x in summary.events[-_SHOWN:]:
        what = x.event.what
        at = moment_text(moment_at(what.at))
        cells = (f"{x.counts[name]:,}" for name in counts)
        rows.append((at, what.qmgr, what.channel, what.status, *cells))
    if len(summary.events) > 1:
        totals = summary.to_json()
        cells = (f"{totals[name]:,}" for name in counts)
        rows.append((f"{len(summary.events):,} events", "", "", "", *cells))
    headings = ("at", "queue manager", "channel", "status", *numbers)
    return listing(headings, rows, numbers, "Waiting messages that chose anew")


def notes(summary: ReallocationSummary) -> list[str]:
    """What is to be said of events: where none waits, and where some are missing."""
    told = [x.note for x in summary.events if x.note]
    if len(told) > _SHOWN:
        told = [*told[:_SHOWN], f"and of {len(told) - _SHOWN:,} events more: see --json"]
    return ["", *told] if told else []


def _single(options: ReallocateWords) -> ChannelEvent | None:
    """The one event that the options describe; None where they name a table."""
    words = (options.qmgr, options.channel, options.status, options.at)
    if options.events is not None:
        if any(word is not None for word in words):
            raise UsageError("--events is a history: leave --qmgr, --channel, --status, --at out")
        if options.since is not None or options.backlog is not None:
            raise UsageError(
                "--since and --backlog say who waits at one event: in the table of --events, "
                "columns of these names do"
            )
        return None
    if None in words:
        raise UsageError(
            "name the event with --qmgr, --channel, --status and --at, or give --events"
        )
    qmgr, channel, status, at = (str(word) for word in words)
    when = micros_of("--at", at)
    since = micros_if("--since", options.since)
    event = ChannelEvent(qmgr, channel, status.upper(), when, since, options.backlog)
    check_told(event.at, event.since, event.backlog)
    return event


def _ladder(work: Work) -> Ladder:
    """The lake's rules."""
    return Ladder(semantics_of(work.lake), load_exit(work.settings.exit))
