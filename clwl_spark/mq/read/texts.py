"""The entrance of this package: `read_states` reads one text by itself.

So many files can be read side by side; what texts of a queue manager come to together is settled
afterwards (`snapshots.settling`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Final

from clwl_spark.errors import IngestError
from clwl_spark.mq.read.asking import with_questions
from clwl_spark.mq.read.needless import actions, needless
from clwl_spark.mq.read.records import Reject, TextState
from clwl_spark.mq.read.scan import scan
from clwl_spark.mq.read.sections import read_sections
from clwl_spark.mq.read.state import gather

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


def read_states(text: str, source: str, observer: str | None = None) -> FileReading:
    """Read one text by itself; nothing is raised, so that a bad file stops no other.

    Args:
        text: MQSC commands, a dmpmqcfg dump, output of DISPLAY commands, answers of the REST
            interface, or several of them.
        source: its name, for `source` and rejects.
        observer: the queue manager of a text that names none; `{stem}` and `{folder}` in it stand
            for parts of `source`.

    Returns:
        What it says of each queue manager: only attributes that rows are made of.

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
