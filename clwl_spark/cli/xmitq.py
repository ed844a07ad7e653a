"""`clwl xmitq`: which transmission queue channels use, and the switch to another one."""

from datetime import datetime
from itertools import pairwise

from rich.table import Table

from clwl_spark import tables as schemas
from clwl_spark.cli.commands.xmitq import XmitqWords
from clwl_spark.cli.moments import moment_of
from clwl_spark.cli.options import Common
from clwl_spark.cli.tables import listing
from clwl_spark.cli.work import ROUTED, Work, at_work
from clwl_spark.errors import UsageError
from clwl_spark.planning.plans import Ladder
from clwl_spark.rules.exit import load_exit
from clwl_spark.snapshots.catalog import chosen_snapshot
from clwl_spark.snapshots.defined import UnknownQueueManagerError
from clwl_spark.snapshots.semantics import semantics_of
from clwl_spark.studies.reallocate.events import check_told
from clwl_spark.studies.switch.associations import Association, associations
from clwl_spark.studies.switch.beside import beside_told
from clwl_spark.studies.switch.playing import SwitchRequest
from clwl_spark.studies.switch.simulate import SwitchSummary, simulate
from clwl_spark.studies.switch.steps import Pace
from clwl_spark.studies.switch.telling import steps_told
from clwl_spark.tables.moments import micros


def run(common: Common, options: XmitqWords) -> int:
    """Show the channels, or play the switch of one, and return the exit code."""
    _check(options)
    with at_work("xmitq", common, needs=schemas.SNAPSHOTS.name, reads=ROUTED) as work:
        snapshot_id = chosen_snapshot(work.lake, options.snapshot)
        found = associations(work.lake, options.qmgr, snapshot_id)
        if options.channel is not None:
            found = _of_channel(found, options, snapshot_id)
        if options.start_at is None:
            work.screen.document([x.to_json() for x in found])
            told = [x.text for x in found if x.text is not None]
            told += beside_told((x.channel, x.beside) for x in found)
            work.screen.show(associations_table(options.qmgr, snapshot_id, found), *told)
        else:
            _play(work, options, snapshot_id, found)
    return 0


def associations_table(qmgr: str, snapshot_id: str, found: list[Association]) -> Table:
    """One line per channel and remote queue manager."""
    title = f"Transmission queues of {qmgr}'s cluster-sender channels, snapshot {snapshot_id}"
    headings = ("channel", "to", "now", "after the next start", "why")
    return listing(headings, [_cells(x) for x in found], title=title)


def _cells(x: Association) -> tuple[str, ...]:
    switch = f"{x.next} (switch pending)" if x.pending else x.next
    return x.channel, x.remote_qmgr, x.current or "(not known)", switch, x.why


def _play(work: Work, options: XmitqWords, snapshot_id: str, found: list[Association]) -> None:
    """Play the switch of the channel, if one is pending."""
    pending = [x for x in found if x.pending]
    if not pending:
        raise UsageError(
            f"no switch is pending for {options.channel} in snapshot {snapshot_id}: its next start "
            f"goes on with {found[0].current or found[0].next}; leave --start-at out"
        )
    request = _request(options, snapshot_id, pending[0])
    ladder = Ladder(semantics_of(work.lake), load_exit(work.settings.exit))
    summary = simulate(work.lake, request, ladder)
    told = [*([pending[0].text] if pending[0].text else []), *steps_told(summary)]
    told += beside_told([(pending[0].channel, pending[0].beside)])
    work.screen.document({**summary.to_json(), "steps": told})
    work.screen.show(*told, _counts(summary), *([summary.note] if summary.note else []))


def _counts(summary: SwitchSummary) -> Table:
    """Messages by what became of them."""
    names = ("waiting", "switched", "rebalanced", "put_on_new", "left_on_old")
    rows = [(name.replace("_", " "), f"{summary.figures[name]:,}") for name in names]
    return listing(("messages", "count"), rows, ("count",), f"Switch {summary.switch_id}")


def _check(options: XmitqWords) -> None:
    """Refuse words that do not go together."""
    if options.start_at is None and (options.stop_at or options.interrupt):
        raise UsageError("--stop-at and --interrupt belong to a switch: give --start-at too")
    if options.start_at is None and (options.since, options.backlog) != (None, None):
        raise UsageError("--since and --backlog belong to a switch: give --start-at too")
    if options.start_at is not None and options.channel is None:
        raise UsageError("--start-at starts one channel: name it with --channel")
    if min(options.moves, options.looks, options.batch) < 1:
        raise UsageError("--moves-per-second, --balanced-per-second and --batch begin at 1")


def _of_channel(
    found: list[Association], options: XmitqWords, snapshot_id: str
) -> list[Association]:
    """The associations of the channel that is asked for."""
    kept = [x for x in found if x.channel == options.channel]
    if not kept:
        there = ", ".join(sorted({x.channel for x in found})[:8]) or "none"
        raise UnknownQueueManagerError(
            f"{options.qmgr} sees no channel '{options.channel}' in snapshot {snapshot_id}: "
            f"name one of its own ({there})"
        )
    return kept


def _request(options: XmitqWords, snapshot_id: str, of: Association) -> SwitchRequest:
    """The switch that the options describe."""
    start = moment_of("--start-at", options.start_at or "")
    stop = moment_of("--stop-at", options.stop_at) if options.stop_at else None
    if stop is not None and stop > start:
        raise UsageError("--stop-at is after --start-at: the channel is stopped before it starts")
    since = micros(moment_of("--since", options.since)) if options.since else None
    check_told(micros(stop or start), since, options.backlog)
    return SwitchRequest(
        qmgr=options.qmgr,
        snapshot_id=snapshot_id,
        association=of,
        pace=Pace(micros(start), options.moves, options.batch),
        interruptions=_interruptions(options.interrupt, start),
        stopped_at=None if stop is None else micros(stop),
        rebalanced_per_second=options.looks,
        since=since,
        backlog=options.backlog,
    )


def _interruptions(texts: list[str], start: datetime) -> tuple[tuple[int, int | None], ...]:
    """Pairs of stop and start, in order."""
    pairs: list[tuple[int, int | None]] = []
    for text in texts:
        stop, slash, again = text.partition("/")
        begin = moment_of("--interrupt", stop)
        end = moment_of("--interrupt", again) if slash else None
        if begin < start or (end is not None and end <= begin):
            raise UsageError(
                f"--interrupt {text}: give a stop after --start-at, and a start after the stop"
            )
        pairs.append((micros(begin), None if end is None else micros(end)))
    pairs.sort(key=lambda pair: pair[0])
    for (_, earlier), (later, _) in pairwise(pairs):
        if earlier is None or earlier > later:
            raise UsageError("--interrupt: one begins before the one before it has ended")
    return tuple(pairs)
