"""`clwl state`: what the queue managers remember, listed, verified, repaired and moved."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from rich.table import Table
from rich.text import Text

from clwl_spark.cli.commands.state import StateAction, StateWords
from clwl_spark.cli.options import Common
from clwl_spark.cli.route import route_options
from clwl_spark.cli.tables import listing
from clwl_spark.cli.work import Work, at_work
from clwl_spark.errors import UsageError
from clwl_spark.routing.ledger.repair import repair
from clwl_spark.routing.ledger.verify import verify
from clwl_spark.routing.state.memory_file import Moved, export_memory, import_memory
from clwl_spark.routing.state.remembered import Remembered, list_memories
from clwl_spark.tables import MESSAGES

_NUMBERS: Final = (
    "Choices",
    "Channels",
    "Bindings",
    "Highest put_seq",
    "Snapshots",
    "Bytes",
    "Batch",
)
_WITH_FILE: Final = (StateAction.EXPORT, StateAction.IMPORT)


def run(common: Common, options: StateWords) -> int:
    """Do what is asked for, and return the exit code."""
    _refuse_misfits(options)
    own = {"exit": options.exit}
    with at_work("state", common, own, needs=MESSAGES.name, reads=()) as work:
        return _ACTIONS[options.action](work, options)


def _refuse_misfits(options: StateWords) -> None:
    """Refuse arguments that do not belong together.

    Raises:
        UsageError: a file is missing, or there is one too many.
    """
    wants_file = options.action in _WITH_FILE
    if wants_file and options.file is None:
        raise UsageError(f"clwl state {options.action} needs a file: give its name behind it")
    if options.file is not None and not wants_file:
        raise UsageError(f"clwl state {options.action} takes no file: leave {options.file} out")


def _list(work: Work, options: StateWords) -> int:
    found = list_memories(work.lake, options.qmgr)
    if not found:
        # Nothing was routed; or the folder is no lake.
        work.lake.expect(MESSAGES.name)
    work.screen.document({"lake": work.lake.root, "queue_managers": [x.to_json() for x in found]})
    work.screen.show(_memories_table(found))
    return 0


def _verify(work: Work, _options: StateWords) -> int:
    """Verify the memory; 1 = it is not what the outcomes lead to."""
    found = verify(work.lake)
    work.screen.document({"lake": work.lake.root, **found.to_json()})
    rows = [[x.qmgr, x.what, x.remembered, x.replayed] for x in found.differences]
    headings = ("Queue manager", "What", "Remembered", "Outcomes lead to")
    compared = f"{found.queue_managers} queue manager(s), {found.outcomes:,} outcomes"
    title = f"{len(rows)} difference(s); compared: {compared}, {found.bindings:,} bindings"
    untold = [Text(f"{qmgr}: cannot be told, {why}") for qmgr, why in found.untold.items()]
    work.screen.show(listing(headings, rows, title=title) if rows else Text(title), *untold)
    return 1 if rows else 0


def _repair(work: Work, _options: StateWords) -> int:
    with work.screen.progress("repair") as tell:
        found = repair(work.lake, route_options(work.settings), tell)
    work.screen.document({"lake": work.lake.root, "repaired": [x.to_json() for x in found]})
    rows = [[f"{x.batch_id}", f"{x.messages:,}", ", ".join(x.tables)] for x in found]
    headings, title = ("Batch", "Messages", "Tables"), f"{len(found)} batch(es) routed again"
    work.screen.show(listing(headings, rows, headings[:2], title))
    return 0


def _export(work: Work, options: StateWords) -> int:
    moved = export_memory(work.lake, _file(options))
    return _tell(work, moved, f"{moved.queue_managers} queue manager(s) written to {moved.file}")


def _import(work: Work, options: StateWords) -> int:
    settings = route_options(work.settings)
    moved = import_memory(
        work.lake, _file(options), replace=options.replace, wanted=settings.wanted
    )
    said = f"{moved.queue_managers} queue manager(s) remember what {moved.file} says"
    gone = f"; what {moved.replaced} remembered before is given up" if moved.replaced else ""
    return _tell(work, moved, said + gone)


def _tell(work: Work, moved: Moved, said: str) -> int:
    work.screen.document({"lake": work.lake.root, **moved.to_json()})
    work.screen.show(Text(said))
    return 0


def _file(options: StateWords) -> Path:
    """The file that is named; `_refuse_misfits` has seen to it that there is one."""
    return Path(options.file or "")


def _memories_table(found: Sequence[Remembered]) -> Table:
    """A line per queue manager."""
    rows = []
    for one in found:
        told = one.to_json()
        rows.append(
            [
                one.qmgr,
                f"{one.choices:,}",
                f"{one.channels:,}",
                f"{one.bindings:,}",
                told["oldest"] or "",
                told["newest"] or "",
                "" if one.highest_put_seq is None else f"{one.highest_put_seq}",
                f"{len(one.brought):,}",
                f"{one.bytes:,}",
                f"{one.batch_id}",
            ]
        )
    headings = ("Queue manager", *_NUMBERS[:3], "Oldest binding", "Newest binding", *_NUMBERS[3:])
    title = f"{len(found)} queue manager(s) remember"
    return listing(headings, rows, _NUMBERS, title)


_ACTIONS: Final[Mapping[StateAction, Callable[[Work, StateWords], int]]] = {
    StateAction.LIST: _list,
    StateAction.VERIFY: _verify,
    StateAction.REPAIR: _repair,
    StateAction.EXPORT: _export,
    StateAction.IMPORT: _import,
}
