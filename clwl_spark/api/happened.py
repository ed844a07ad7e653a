"""Questions of the Python API about what happened: incidents, single messages, records of MQ."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Final

import pandas as pd

from clwl_spark.api.asked import ConformOptions, LoadOptions, WhereOptions, check_names
from clwl_spark.api.rules import Rules
from clwl_spark.api.shown import frame_of
from clwl_spark.cli.incident import question_of
from clwl_spark.cli.load import bounds_of, timeline_of, zone_named
from clwl_spark.cli.moments import Moment, micros_if
from clwl_spark.cli.where import wanted_of
from clwl_spark.delta.lake import Lake
from clwl_spark.errors import UsageError
from clwl_spark.logs import tell_nobody
from clwl_spark.planning.plans import Ladder
from clwl_spark.snapshots.semantics import semantics_of
from clwl_spark.studies.conform import match
from clwl_spark.studies.conform.find import LOOKED_INTO, conform
from clwl_spark.studies.conform.model import Conformity
from clwl_spark.studies.explain.request import check_words
from clwl_spark.studies.incident.find import incident
from clwl_spark.studies.incident.model import Bound, Incident, Waiting, Way
from clwl_spark.studies.incident.seen import WhichPuts
from clwl_spark.studies.load import load_file
from clwl_spark.studies.load.cells import Reading
from clwl_spark.studies.load.run import load
from clwl_spark.studies.load.summary import LoadSummary
from clwl_spark.studies.load.timeline import begin_timeline
from clwl_spark.studies.separation.separation import SeparationQuestion, separation_of
from clwl_spark.studies.where.find import where_is
from clwl_spark.tables import columns as c

_HOP: Final = (
    c.MESSAGE_ID, "hop", c.QMGR, c.PUT_SEQ, c.OBJECT_NAME, c.OBJECT_QMGR, c.DEST_QMGR, c.CHANNEL,
    c.XMITQ, "way", "state", "why",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Happened:
    """What moved an object's messages since a moment.

    Attributes:
        incident: what `studies.incident.find` found.
    """

    incident: Incident

    @property
    def ways(self) -> pd.DataFrame:
        """One row per put and way of its messages, the most put to first, lost ways before others.

        Shares are 0 to 1; `verdict_after` is why a way is no route any more ('' = it is one).
        """
        named = (c.QMGR, c.OBJECT_TYPE, c.OBJECT_NAME, c.OBJECT_QMGR)
        rows = [
            {**{x: getattr(put, x) for x in named}, **asdict(way)}
            for put in self.incident.puts
            for way in put.ways
        ]
        return frame_of(rows, (*named, *_names(Way)))

    @property
    def waiting(self) -> pd.DataFrame:
        """One row per channel that is down and for which messages wait."""
        return frame_of(map(asdict, self.incident.waiting), _names(Waiting))

    @property
    def bound(self) -> pd.DataFrame:
        """One row per put and lost way that earlier choices bind messages to."""
        return frame_of(map(asdict, self.incident.bound), _names(Bound))

    @property
    def changes(self) -> pd.DataFrame:
        """One row per attribute of the topology that differs and concerns the object."""
        names = ("table", "key", "change", "attribute", "old", "new")
        return frame_of(self.incident.changes, names)

    @property
    def advice(self) -> Sequence[str]:
        """What to do, in order."""
        return self.incident.advice


def happened(rules: Rules, puts: WhichPuts, since: Moment, until: Moment | None) -> Happened:
    """Study an incident.

    Raises:
        UsageError: a moment that is none, or an unknown object_type.
    """
    if puts.object_type is not None:
        check_words({"object_type": puts.object_type})
    question = question_of(rules.lake, puts, since, until)
    return Happened(incident(rules.lake, question, rules.ladder(None)))


def whereabouts(lake: Lake, message: str, options: WhereOptions) -> pd.DataFrame:
    """How far a message has come: one row per hop of each message that has the identifier.

    Raises:
        UsageError: no message is named, both `since` and `backlog` are given, or an option that
            there is not.
    """
    check_names(options, WhereOptions)
    wanted = wanted_of(
        message,
        options.get("qmgr"),
        options.get("at"),
        options.get("since"),
        options.get("backlog"),
    )
    puts = where_is(lake, wanted, semantics_of(lake).edition)
    hops = ({**hop, c.MESSAGE_ID: put[c.MESSAGE_ID]} for put in puts for hop in put["hops"])
    frame = frame_of(hops, _HOP)
    frame.attrs = {"summary": [put["summary"] for put in puts]}
    return frame


def separated(
    lake: Lake, snapshot_id: str, qmgr: str, objects: str | Sequence[str], limit: int
) -> pd.DataFrame:
    """Channels with their transmission queues, and who is behind whom on them.

    Raises:
        UsageError: no rows are asked for, or objects of no queue manager.
    """
    if limit < 1:
        raise UsageError(f"limit {limit}: ask for at least one row")
    names = [objects] if isinstance(objects, str) else objects
    question = SeparationQuestion(snapshot_id, qmgr, names, limit)
    found = separation_of(lake, question, Ladder(semantics_of(lake)))
    frame = pd.DataFrame(found.lines)
    frame.attrs = {"lines": found.lines_total, "queues": list(found.queues)}
    return frame


def loaded(lake: Lake, paths: Sequence[str | Path], options: LoadOptions) -> LoadSummary:
    """Load files of puts and of what MQ records.

    Raises:
        UsageError: an option that there is not; nothing was loaded.
    """
    check_names(options, LoadOptions)
    how = load_file.LoadOptions(
        options.get("fields") or {},
        Reading(options.get("observer"), zone_named(options.get("time_zone"))),
        options.get("strict", False),
        options.get("dry_run", False),
        bounds_of(options.get("since"), options.get("until")),
        options.get("redact", False),
        options.get("seed"),
    )
    wanted = timeline_of(options.get("timeline"), options.get("step", "1m"))
    line = None if wanted is None else begin_timeline(lake, wanted)
    return load(lake, [Path(x) for x in paths], how, tell_nobody, line)


def conformed(lake: Lake, options: ConformOptions) -> Conformity:
    """Hold what was foretold against what was seen.

    Raises:
        InputError: nothing was seen, or nothing was routed.
        UsageError: an option that there is not.
    """
    check_names(options, ConformOptions)
    wanted = match.Wanted(
        options.get("object_name"),
        options.get("qmgr"),
        micros_if("--since", options.get("since")),
        micros_if("--until", options.get("until")),
    )
    return conform(lake, wanted, options.get("explain", LOOKED_INTO))


def _names(of: type) -> list[str]:
    """The attributes of a record."""
    return [x.name for x in fields(of)]
