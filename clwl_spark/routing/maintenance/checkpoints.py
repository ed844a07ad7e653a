"""Checkpoints of routing that no run will use any more."""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from clwl_spark.delta.files import changes_after
from clwl_spark.delta.lake import Lake
from clwl_spark.routing.maintenance.followers import Follower
from clwl_spark.storage.places import is_uri
from clwl_spark.tables import MESSAGES, RUNS

_OF_ROUTER: Final = re.compile(r"(?:buckets|route|plan|asked|missing)-(.+?)(?:-from-\d+)?")
_OF_WHAT_IF: Final = re.compile(r"what-if-[0-9a-f]{32}")


def old_checkpoints(lakes: Sequence[Lake], keep: timedelta) -> list[Path]:
    """Folders beside the checkpoint that nothing has been written to for `keep`.

    Those of a router that no row of `runs` names, and what a killed what-if has left. They are
    looked for within the lake alone: a folder that the setting `checkpoints` names may be shared.

    Args:
        lakes: the lake, and those of its hops.
        keep: how long they stay.
    """
    lake = lakes[0]
    if not lake.is_here or lake.checkpoints:
        return []
    routers = {x for here in lakes for x in _routers(here)}
    found = (x for x in _folders(lake) if _is_nobodys(x.name, routers))
    return sorted(x for x in found if _is_old(x, keep))


def idle_plan_streams(lake: Lake, streams: Iterable[Follower], keep: timedelta) -> Iterator[Path]:
    """Checkpoints of the stream that plans, which was not needed for `keep` and is behind.

    All that it has not seen is routed. Where it is needed again, it begins anew.

    Args:
        lake: all of whose messages are routed.
        streams: that follow its tables.
        keep: how long they stay.
    """
    names = {f"plan-{x}" for x in _routers(lake)}
    for stream in streams:
        folder = Path(lake.checkpoint_root, stream.name)
        if stream.name in names and _is_old(folder, keep) and _is_behind(lake, stream):
            yield folder


def _is_behind(lake: Lake, stream: Follower) -> bool:
    if stream.version is None:
        return True
    return changes_after(lake.path(MESSAGES.name), stream.version) is not False


def _routers(lake: Lake) -> set[str]:
    """The routers that rows of `runs` name."""
    rows = lake.read_or_empty(RUNS.name).select("router_id").distinct().collect()
    return {row[0] for row in rows if row[0] is not None}


def _folders(lake: Lake) -> list[Path]:
    root = Path(lake.checkpoint_root)
    if is_uri(lake.checkpoint_root) or not root.is_dir():
        return []
    return [x for x in root.iterdir() if x.is_dir()]


def _is_nobodys(name: str, routers: set[str]) -> bool:
    router = _OF_ROUTER.fullmatch(name)
    if router is None:
        return _OF_WHAT_IF.fullmatch(name) is not None
    return router[1] not in routers


def _is_old(folder: Path, keep: timedelta) -> bool:
    """Whether nothing in a folder has changed for so long, nor changes now."""
    try:
        newest = max(x.stat().st_mtime for x in (folder, *folder.rglob("*")))
    except FileNotFoundError:
        return False
    return datetime.fromtimestamp(newest, UTC) <= datetime.now(UTC) - keep
