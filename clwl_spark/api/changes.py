"""What a change to the cluster would move: the question `what_if` of the Python API."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from clwl_spark.api.answers import Moved
from clwl_spark.api.rules import Rules
from clwl_spark.errors import UsageError
from clwl_spark.routing.engines.batch import of_lake
from clwl_spark.snapshots.catalog import chosen_snapshot
from clwl_spark.studies.what_if.changed import changed_by_words, changed_to
from clwl_spark.studies.what_if.run import what_if
from clwl_spark.studies.what_if.words import Change as ChangeInWords
from clwl_spark.studies.what_if.words import understood


@dataclass(frozen=True, slots=True)
class Change:
    """A change to the cluster: words and scripts, or a whole other snapshot.

    Attributes:
        words: in the words of runmqsc, and where: ON QM1.
        understood: what the words say.
        scripts: files of MQSC that name their queue managers, applied first.
        to: the other snapshot.
    """

    words: Sequence[str]
    understood: Sequence[ChangeInWords]
    scripts: Sequence[Path]
    to: str | None


def change_of(
    words: Sequence[str], scripts: str | Path | Sequence[str | Path], to: str | None
) -> Change:
    """What is asked for, before anything is read.

    Raises:
        UsageError: neither words nor another snapshot, or both.
        UnknownChangeError: a change is not understood.
    """
    files = [scripts] if isinstance(scripts, str | Path) else scripts
    if bool(words or scripts) == (to is not None):
        raise UsageError("say what changes: words or scripts, or to=SNAPSHOT, one of the two")
    return Change(words, [understood(x) for x in words], [Path(x) for x in files], to)


def moved_by(
    rules: Rules, change: Change, snapshot: str | None, exit_function: str | None
) -> Moved:
    """Route the lake's messages as they are and with a change.

    Raises:
        NothingHitError: something that is not there, or nothing would change.
        MissingLakeError: there are no messages.
    """
    lake = rules.lake
    before = chosen_snapshot(lake, snapshot)
    if change.to is not None:
        said: tuple[str, ...] = (f"snapshot {change.to}",)
        sides = changed_to(lake, before, chosen_snapshot(lake, change.to))
    else:
        said = (*map(str, change.scripts), *change.words)
        sides = changed_by_words(lake, before, change.understood, change.scripts)
    options = of_lake(rules.options(exit_function), lake)
    return Moved(what_if(lake, before, said, sides, options))
