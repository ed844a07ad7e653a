"""`clwl share-queue`: a queue-sharing group simulated."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from clwl_spark.cli.commands.share_queue import ShareQueueWords
from clwl_spark.cli.options import Common
from clwl_spark.cli.screen import Screen
from clwl_spark.cli.work import at_work, screen_of, settings_of
from clwl_spark.errors import UsageError
from clwl_spark.studies.shared_queue.group import SharingGroupError, make_group, read_entries
from clwl_spark.studies.shared_queue.lake import members_of
from clwl_spark.studies.shared_queue.rendering import render
from clwl_spark.studies.shared_queue.simulation import simulate_group

_TOP_LEVEL: Final = ("queue", "messages", "runs", "seed", "confidence")
_OF_PUTTERS: Final = ("persistent", "syncpoint")
_MEMBERS: Final = "queue_managers"
_PUTTERS: Final = "putters"
Entries = dict[str, Any]


def run(common: Common, options: ShareQueueWords) -> int:
    """Simulate the group that file, options and lake tell, and return the exit code."""
    entries = entries_of(options)
    if common.lake is None and common.catalog is None:
        if options.snapshot is not None:
            raise UsageError("--snapshot names a snapshot of a lake: give --lake DIR too")
        _simulate(screen_of(common, settings_of(common), "share-queue"), entries, options)
        return 0
    if not entries.get("name") or not entries.get("queue"):
        raise UsageError("--lake: name what to look up there with --group QSG and --queue Q")
    with at_work("share-queue", common, needs="snapshots") as work:
        found = members_of(work.lake, entries["name"], entries["queue"], options.snapshot)
        _simulate(work.screen, entries | {_MEMBERS: _those(found, entries)}, options)
    return 0


def entries_of(options: ShareQueueWords) -> Entries:
    """What the file tells, changed by the options; not checked yet.

    Raises:
        UsageError: there is neither a file nor an option that tells of getters, or an option
            cannot be read.
        SharingGroupError: the file cannot be read.
    """
    if options.scenario is None and not (options.get and options.put):
        raise UsageError(
            "who gets and who puts? give --scenario FILE, or --get QM=N and --put QM=RATE"
        )
    entries = read_entries(options.scenario) if options.scenario else {}
    given = {name: getattr(options, name) for name in _TOP_LEVEL} | {"name": options.group}
    entries |= {name: value for name, value in given.items() if value is not None}
    members = {str(x.get("name")): dict(x) for x in _tables(entries, _MEMBERS, options)}
    putters = [dict(x) for x in _tables(entries, _PUTTERS, options)]
    if options.put:
        putters = [
            {"queue_manager": qmgr, "rate": rate} for qmgr, rate in _pairs("--put", options.put)
        ]
    if len(members) == len(entries.get(_MEMBERS, ())):  # else names are there twice: refused later
        _change_members(members, putters, options)
        entries[_MEMBERS] = list(members.values())
    entries[_PUTTERS] = [x | _not_none(options, _OF_PUTTERS) for x in putters]
    return entries


def _simulate(screen: Screen, entries: Entries, options: ShareQueueWords) -> None:
    """Check what is told, simulate it and show the result."""
    where = str(options.scenario) if options.scenario else "share-queue"
    result = simulate_group(make_group(entries, where))
    screen.document(result.to_json())
    screen.show(render(result))


def _change_members(
    members: dict[str, Entries], putters: list[Entries], options: ShareQueueWords
) -> None:
    """Bring the options into the queue managers; those of --get and --put are added."""
    for qmgr, getters in _pairs("--get", options.get, int):
        members.setdefault(qmgr, {"name": qmgr})["getters"] = getters
    if options.put:
        for putter in putters:
            members.setdefault(putter["queue_manager"], {"name": putter["queue_manager"]})
    for qmgr, share in _pairs("--busy", options.busy):
        if qmgr not in members:
            raise UsageError(f"--busy {qmgr}={share:g}: nobody gets or puts on {qmgr}")
        members[qmgr]["busy"] = share
    for member in members.values():
        member.update(_not_none(options, ("service_ms",)))


def _those(found: Sequence[str], entries: Entries) -> list[Entries]:
    """The members that the lake has, with what is told of them."""
    known = {str(member.get("name")): member for member in entries[_MEMBERS]}
    strange = next((name for name in known if name not in found), None)
    if strange is not None:
        raise SharingGroupError(
            f"{strange} is no queue manager of {entries['name']} ({', '.join(found)}): "
            "leave it out or correct the name"
        )
    return [known.get(name, {"name": name}) for name in found]


def _tables(entries: Entries, key: str, options: ShareQueueWords) -> list[Entries]:
    """The file's tables of that name."""
    found = entries.get(key, [])
    if not isinstance(found, list) or not all(isinstance(x, dict) for x in found):
        raise SharingGroupError(f"{options.scenario}: {key}: write each as a table [[{key}]]")
    return found


def _pairs(
    option: str, texts: Sequence[str], kind: Callable[[str], float] = float
) -> list[tuple[str, float]]:
    """The `QM=NUMBER` texts of an option, read."""
    pairs = []
    for text in texts:
        qmgr, _, number = text.rpartition("=")
        try:
            value = kind(number)
        except ValueError:
            qmgr, value = "", 0
        if not qmgr:
            what = "a whole number" if kind is int else "a number"
            raise UsageError(f"{option} {text}: give QM={what}, like {option} QM1=1")
        pairs.append((qmgr, value))
    return pairs


def _not_none(options: ShareQueueWords, names: Sequence[str]) -> Entries:
    """The options of these names that were given."""
    values = {name: getattr(options, name) for name in names}
    return {name: value for name, value in values.items() if value is not None}
