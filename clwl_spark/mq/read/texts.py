"""Texts to rows: the entrances of this package.

Reading has two steps, so that many files can be read side by side: `read_states` reads one text
by itself, `combine` puts what texts say together.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Final

from clwl_spark.errors import IngestError
from clwl_spark.mq.read.asking import with_questions
from clwl_spark.mq.read.assemble import by_qmgr, rows_of, with_remote
from clwl_spark.mq.read.merge import KEYS, merge
from clwl_spark.mq.read.needless import actions, needless
from clwl_spark.mq.read.records import Reading, Reject, Row, RowDetail, TextState
from clwl_spark.mq.read.scan import scan
from clwl_spark.mq.read.sections import read_sections
from clwl_spark.mq.read.state import gather

TABLES: Final = tuple(KEYS)
"""Tables of every `Reading`, also where they are empty."""

STEM: Final = "{stem}"
FOLDER: Final = "{folder}"
"""In an observer: the file's name without its suffix, and the name of the folder it is in."""


@dataclass(frozen=True, slots=True)
class FileReading:
    """What one text says by itself: small, and fit to be pickled.

    Args:
        source: the text's name.
        states: what it says of each queue manager.
        rejects: the pieces that are of no queue manager.
        error: the text says something, but not of which queue manager; '' = it does.
        needless: what it holds, by kind, where nothing of it gives a row.
        actions: commands that act on a running queue manager, each with its first line; of a
            needless text they are in `needless`.
    """

    source: str
    states: tuple[TextState, ...]
    rejects: tuple[Reject, ...]
    error: str = ""
    needless: Mapping[str, int] = field(default_factory=dict)
    actions: Mapping[str, int] = field(default_factory=dict)

    @property
    def qmgrs(self) -> tuple[str, ...]:
        """The queue managers whose text it is, in order of appearance."""
        return tuple(state.qmgr for state in self.states)


def read_text(text: str, source: str, observer: str | None = None) -> Reading:
    """Read one text of any of MQ's formats.

    Args:
        text: MQSC commands, a dmpmqcfg dump, output of DISPLAY commands, answers of the REST
            interface, or several of them.
        source: its name, for `source` and rejects.
        observer: the queue manager of a text that names none; `{stem}` and `{folder}` in it stand
            for parts of `source`.

    Returns:
        Rows with the contract's columns but snapshot_id; an absent attribute is null.

    Raises:
        IngestError: the text says something, but not of which queue manager.

    Source: CONTRACT, "What MQ's texts become".
    """
    return read_texts([(source, text)], observer)


def read_texts(sources: Iterable[tuple[str, str]], observer: str | None = None) -> Reading:
    """Read many texts of many queue managers as one; name lists and topics count across texts.

    Args:
        sources: name and text of each.
        observer: the queue manager of texts that name none, as in `read_text`.

    Returns:
        One row per table key.

    Raises:
        IngestError: a text says something, but not of which queue manager.

    Source: CONTRACT, "What MQ's texts become".
    """
    return combine(read_states(text, source, observer) for source, text in sources)


def read_states(text: str, source: str, observer: str | None = None) -> FileReading:
    """Read one text by itself; nothing is raised, so that a bad file stops no other.

    Args:
        text: as in `read_text`.
        source: its name.
        observer: the queue manager of a text that names none, as in `read_text`.

    Returns:
        What `combine` needs of it: only attributes that rows are made of.

    Source: CONTRACT, "What MQ's texts become".
    """
    events = list(with_questions(scan(text)))
    held = needless(events)
    try:
        sections, rejects = read_sections(events, source, observer_of(observer, source))
    except IngestError as error:
        return FileReading(source, (), (), "" if held else str(error), held)
    states, nameless = gather(sections, source)
    acts = {} if held else actions(events)
    refused = (*rejects, *nameless)
    return FileReading(source, tuple(states), refused, needless=held, actions=acts)


def observer_of(observer: str | None, source: str) -> str | None:
    """The queue manager that a pattern makes of a file's path: `{stem}`, `MQ.{folder}`, QM1."""
    if observer is None:
        return None
    path = PurePath(source)
    return observer.replace(STEM, path.stem).replace(FOLDER, path.parent.name)


def combine(files: Iterable[FileReading]) -> Reading:
    """Put together what texts say.

    A command about an object that only an earlier text defines changes it there. Rows of one key
    become one: of contradicting ones the one changed last, by ALTDATE or CLUSDATE; where MQ does
    not tell, the later one is a reject.

    Args:
        files: in order; those of one queue manager in the order that they apply in.

    Returns:
        One row per table key, with how much of it the texts told.

    Raises:
        IngestError: a text says something, but not of which queue manager.

    Source: CONTRACT, "What MQ's texts become", 8 and 9.
    """
    states: list[TextState] = []
    rejects: list[Reject] = []
    order: dict[str, int] = {}
    for file in files:
        if file.error:
            raise IngestError(file.error)
        order.setdefault(file.source, len(order))
        states.extend(file.states)
        rejects.extend(file.rejects)
    rows: list[Row] = []
    grouped = by_qmgr(states)
    for own in grouped.values():
        found, refused = rows_of(own)
        rows.extend(found)
        rejects.extend(refused)
    merged, conflicts = merge(with_remote(rows))
    rejects.extend(conflicts)
    rejects.sort(key=lambda reject: (order[reject.file], reject.line))
    return reading_of(merged, rejects, tuple(grouped))


def reading_of(rows: Iterable[Row], rejects: list[Reject], qmgrs: tuple[str, ...]) -> Reading:
    """Rows by table, each with its source and how much of it is told."""
    tables: dict[str, list[dict[str, object]]] = {table: [] for table in TABLES}
    details: dict[str, list[RowDetail]] = {table: [] for table in TABLES}
    for row in rows:
        tables[row.table].append({**row.values, "source": f"{row.file}:{row.line}"})
        details[row.table].append(RowDetail(row.known(), row.stamp))
    return Reading(tables, rejects, qmgrs, details)
