"""`clwl load`: tables of puts, in whatever form somebody has them, into the table of messages."""

from collections.abc import Mapping
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from rich.markup import escape
from rich.table import Table

from clwl_spark.cli.commands.load import LoadWords
from clwl_spark.cli.moments import Moment, moment_of
from clwl_spark.cli.options import Common
from clwl_spark.cli.screen import note
from clwl_spark.cli.work import at_work
from clwl_spark.errors import UsageError
from clwl_spark.settings import duration
from clwl_spark.studies.load.bounds import Bounds
from clwl_spark.studies.load.cells import Reading
from clwl_spark.studies.load.load_file import LoadOptions
from clwl_spark.studies.load.mapping import read_maps, save_map
from clwl_spark.studies.load.run import load
from clwl_spark.studies.load.summary import LoadSummary
from clwl_spark.studies.load.timeline import TimelineOptions, TimelineSummary, begin_timeline
from clwl_spark.studies.load.traced_files import TraceNotes

_SHOWN: Final = 20


def run(common: Common, options: LoadWords) -> int:
    """Load the files, name what was not usable, and return the exit code."""
    how = LoadOptions(
        read_maps(options.map),
        Reading(options.observer, zone_named(options.time_zone)),
        options.strict,
        options.dry_run,
        bounds_of(options.since, options.until),
        options.redact,
        options.seed if options.synthesize else None,
    )
    if not options.paths and options.timeline is None and not options.synthesize:
        raise UsageError("load what? give PATH: files of puts or of records, or folders of them")
    with at_work("load", common) as work:
        with work.screen.progress("loading") as tell:
            wanted = timeline_of(options.timeline, options.step)
            line = None if wanted is None else begin_timeline(work.lake, wanted)
            summary = load(work.lake, options.paths, how, tell, line)
        if options.save_map is not None:
            why = save_map(options.save_map, summary.mappings)
            note(f"--save-map {options.save_map}: {why}" if why else f"{options.save_map} written")
        _tell(summary)
        work.screen.document(summary.to_json())
        work.screen.show(_table(summary), *_mappings(summary.mappings))
    return 0


def bounds_of(since: Moment | None, until: Moment | None) -> Bounds:
    """The moments between which rows are loaded.

    Raises:
        UsageError: a moment that is none; nothing can be between the two.
    """
    bounds = Bounds(
        None if since is None else moment_of("--since", since),
        None if until is None else moment_of("--until", until),
    )
    if bounds.since is not None and bounds.until is not None and bounds.until <= bounds.since:
        raise UsageError("--until is not after --since: give a later moment")
    return bounds


def timeline_of(base: str | None, step: str) -> TimelineOptions | None:
    """How events become snapshots; None = they become none.

    Raises:
        UsageError: the step is no duration of whole seconds.
    """
    seconds = duration(step).total_seconds()
    if seconds < 1 or seconds != int(seconds):
        raise UsageError(f"--step {step}: give whole seconds, as 1s, 1m or 1h")
    return None if base is None else TimelineOptions(base, int(seconds))


def zone_named(name: str | None) -> ZoneInfo | None:
    """The time zone of a name."""
    if name is None:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise UsageError(
            f"--time-zone {name}: no such zone; give UTC, or one like Europe/Paris"
        ) from error


def _tell(summary: LoadSummary) -> None:
    """One line on standard error for each piece that was not usable; and what may surprise."""
    for reject in summary.rejects[:_SHOWN]:
        note(f"{reject.file}:{reject.line}: {reject.reason}: {reject.text}")
    if len(summary.rejects) > _SHOWN:
        note(f"and {len(summary.rejects) - _SHOWN:,} pieces more: see table load_rejects")
    for passed in summary.passed:
        note(f"{passed.file} is passed over: {passed.why}")
    if summary.set_aside:
        note(
            f"{summary.set_aside:,} piece(s) of files that the lake has already were set aside "
            "when they were loaded: the same files do not bring them again, whatever the options; "
            "give those lines, corrected, in a file of their own (table load_rejects has them)"
        )
    _tell_of_counters(summary)
    if summary.outside:
        note(f"{summary.outside:,} rows are not between the moments given: they are left out")
    if summary.guessed:
        note(
            f"{summary.guessed:,} messages were put in the same moment as the one before them: "
            "their order is that of the files"
        )
    if summary.late:
        note(
            f"{summary.late:,} messages were put before ones that the lake has: they come behind "
            "them"
        )
    _tell_trace(summary.trace)
    if summary.timeline is not None:
        _tell_timeline(summary.timeline)


def _tell_timeline(line: TimelineSummary) -> None:
    """What may surprise in a timeline."""
    if line.elsewhere:
        note(
            f"{line.elsewhere:,} events are of channels that are in no cluster of snapshot "
            f"{line.base}: they change nothing"
        )
    for x in line.clocks[:_SHOWN]:
        note(
            f"the clocks of {x.qmgr} and {x.other} differ: {x.pairs:,} starts of channels between "
            f"them are {x.seconds:+.0f} seconds apart; each event counts from its own moment on"
        )


def _tell_trace(notes: TraceNotes) -> None:
    """What may surprise in activity trace."""
    if notes.repeated:
        note(f"{notes.repeated:,} puts came again, in these files or after an earlier load: each "
             "counts once")  # fmt: skip
    if notes.unopened:
        note(
            f"{notes.unopened:,} puts have no MQOPEN with its options in these files: AS_Q_DEF is "
            "taken for their bind option"
        )
    for qmgr, count in notes.set_back.most_common(_SHOWN):
        note(
            f"{count:,} puts on {qmgr} are earlier than the one before in their connection: its "
            "clock was set back, and put_seq follows the clock"
        )


def _tell_of_counters(summary: LoadSummary) -> None:
    """Why counters that were read gave no count."""
    if summary.read_once:
        note(
            f"{summary.read_once:,} counters were read once: they give a count when they are read "
            "again"
        )
    if summary.restarted:
        note(
            f"a counter began anew between two readings ({summary.restarted:,} in all): what it "
            "counted before that is not known"
        )


def _table(summary: LoadSummary) -> Table:
    """What was loaded."""
    table = Table(title="Loaded" if summary.written else "Nothing written", title_justify="left")
    table.add_column("What")
    table.add_column("Count", justify="right")
    rows = {
        "files": summary.files,
        "files that the lake has already": summary.known,
        **summary.rows,
        **({"  of them synthetic": summary.synthetic} if summary.synthetic else {}),
        "rejected pieces": len(summary.rejects),
    }
    if summary.timeline is not None:
        rows["snapshots"] = summary.timeline.snapshots
        rows["  rows that change in them"] = summary.timeline.changes
    for name, number in rows.items():
        table.add_row(name, f"{number:,}")
    document = summary.to_json()
    for name in ("from", "to"):
        if document[name]:
            table.add_row(name, document[name])
    return table


def _mappings(found: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Which field was taken for which column, each mapping once."""
    by_mapping: dict[tuple[tuple[str, str], ...], str] = {}
    for file, fields in found.items():
        named = tuple((column, name) for column, name in fields.items() if column != name)
        by_mapping.setdefault(named, file)
    return [
        escape(f"{file}: " + ", ".join(f"{column} = {name}" for column, name in pairs))
        for pairs, file in list(by_mapping.items())[:_SHOWN]
        if pairs
    ]
