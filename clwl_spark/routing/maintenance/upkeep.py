"""All tables of a lake maintained, beside whoever reads, appends or routes."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from deltalake.exceptions import DeltaError

from clwl_spark.delta.lake import Lake
from clwl_spark.delta.opening import has_log
from clwl_spark.delta.protocol import opened, unread_features, unwritten_features
from clwl_spark.delta.upkeep import Permission, TableUpkeep, maintain_folder
from clwl_spark.errors import InputError, MissingLakeError, UsageError
from clwl_spark.logs import OnProgress
from clwl_spark.routing.hops.lakes import lake_at
from clwl_spark.routing.maintenance.by_spark import maintain_by_spark
from clwl_spark.routing.maintenance.checkpoints import idle_plan_streams, old_checkpoints
from clwl_spark.routing.maintenance.followers import followers
from clwl_spark.routing.maintenance.permissions import is_running, permission
from clwl_spark.settings import duration
from clwl_spark.storage.places import is_store
from clwl_spark.tables import MESSAGES, TABLES

_LEAST: Final = timedelta(hours=1)
_FIRST_HOP: Final = 2


@dataclass(frozen=True, slots=True)
class Upkeep:
    """What was done to a lake, or would be.

    Attributes:
        tables: what was done to each.
        checkpoints: names of the folders of old checkpoints that were deleted.
        checkpoint_bytes: that those had.
    """

    tables: tuple[TableUpkeep, ...]
    checkpoints: tuple[str, ...]
    checkpoint_bytes: int

    @property
    def bytes_freed(self) -> int:
        """Bytes that were freed, as far as they are known."""
        return self.checkpoint_bytes + sum(x.bytes_freed or 0 for x in self.tables)

    def total(self, name: str) -> int:
        """The sum of a figure over the tables, as far as it is known."""
        return sum(getattr(x, name) or 0 for x in self.tables)

    def to_json(self) -> dict[str, Any]:
        """The document of `clwl maintain --json`, but for its words."""
        summed = ("files_before", "files_after", "files_deleted", "orphans", "log_files_deleted")
        return {
            "tables": [asdict(x) for x in self.tables],
            "checkpoints": list(self.checkpoints),
            "totals": {**{x: self.total(x) for x in summed}, "bytes_freed": self.bytes_freed},
        }


def read_keep(text: str) -> timedelta:
    """How long files stay that no table needs.

    Raises:
        UsageError: it is no duration, or less than an hour.
    """
    try:
        keep = duration(text)
    except UsageError as error:
        raise UsageError(f"--keep {error}") from error
    if keep < _LEAST:
        raise UsageError(
            f"--keep {text} is less than an hour: whoever reads or writes now may need files that "
            "old; give 1h or more, like --keep 7d"
        )
    return keep


def maintain(lake: Lake, keep: timedelta, *, dry_run: bool, tell: OnProgress) -> Upkeep:
    """Compact every table of a lake, and delete what nobody needs any more.

    What follows a table finds all that is still to come, and a run of routing that is in hand is
    left alone (`permissions`): before each table it is asked whether there is one. Rows stay what
    they are, and so do the versions of the last `keep`.

    Args:
        lake: whose tables they are; those of its hops are among them.
        keep: how long files stay that the newest version does not have, at least.
        dry_run: change nothing, and say what would be done.
        tell: told (stage, done, total).

    Raises:
        MissingLakeError: there is no table at all.
        InputError: a table is damaged.
    """
    lakes = [lake, *_hops(lake)]
    tables = [(here, name) for here in lakes for name in _tables_of(here, lake)]
    if not tables:
        raise MissingLakeError(MESSAGES.name, f"lake {lake.root}")
    found: list[TableUpkeep] = []
    running = _any_runs(lakes)
    for done, (here, name) in enumerate(tables):
        tell("tables", done, len(tables))
        if not dry_run:
            running = _any_runs(lakes)
        allowed = permission(here, name, followers(here), running=running)
        found.append(_maintained(here, name, allowed, keep, dry_run=dry_run))
    tell("tables", len(tables), len(tables))
    folders = [] if _any_runs(lakes) else _checkpoints(lakes, found, keep)
    freed = sum(x.stat().st_size for y in folders for x in y.rglob("*") if x.is_file())
    if not dry_run:
        for folder in folders:
            lake.remove_folder(str(folder))
    return Upkeep(tuple(found), tuple(x.name for x in folders), freed)


def _hops(lake: Lake) -> Iterator[Lake]:
    """The lakes of later hops that there are."""
    hop = _FIRST_HOP
    while _is_there(here := lake_at(lake, hop), MESSAGES.name):
        yield here
        hop += 1


def _tables_of(here: Lake, lake: Lake) -> list[str]:
    """The tables that a lake, or a hop, has of its own."""
    own = (x for x in TABLES if here is lake or here.path(x) != lake.path(x))
    return [x for x in own if _is_there(here, x)]


def _is_there(lake: Lake, table: str) -> bool:
    """Whether there is a table; one in a folder need not be whole."""
    return has_log(lake.path(table)) if lake.is_here else lake.exists(table)


def _any_runs(lakes: Sequence[Lake]) -> bool:
    return any(is_running(x) for x in lakes)


def _maintained(
    here: Lake, table: str, allowed: Permission, keep: timedelta, *, dry_run: bool
) -> TableUpkeep:
    """Maintain one table."""
    folder, lacks = here.path(table), _unknown_features(here, table)
    if here.is_here and not lacks and not is_store(folder):
        try:
            return maintain_folder(folder, allowed, keep, dry_run=dry_run)
        except DeltaError as error:
            said = " ".join(str(error).split())
            raise InputError(
                f"table '{Path(folder).name}' in lake {here.root} is damaged ({said}): restore "
                "its files, or delete it and have it written again"
            ) from error
    if here.is_embedded:
        what = f"it has {', '.join(lacks)}" if lacks else "it is in an object store"
        why = f"left alone: {what}, which Spark maintains: give --engine spark"
        return TableUpkeep(Path(folder).name, None, None, note=why)
    done = maintain_by_spark(here, table, allowed, keep, dry_run=dry_run)
    return replace(done, table=Path(folder).name)


def _unknown_features(lake: Lake, table: str) -> list[str]:
    """Features of a table in a folder that delta-rs does not know."""
    found = opened(lake.path(table)) if lake.is_here else None
    return [] if found is None else [*unread_features(found), *unwritten_features(found)]


def _checkpoints(
    lakes: Sequence[Lake], found: Sequence[TableUpkeep], keep: timedelta
) -> list[Path]:
    """Folders of checkpoints that may go."""
    routed = {x.table for x in found if not x.note}
    here = [x for x in lakes if x.is_here and Path(x.path(MESSAGES.name)).name in routed]
    idle = (y for x in here for y in idle_plan_streams(x, followers(x), keep))
    return sorted({*old_checkpoints(lakes, keep), *idle})
