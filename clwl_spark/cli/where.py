"""`clwl where`: how far a message has come, and why that is thought."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from clwl_spark import tables as schemas
from clwl_spark.cli.commands.where import WhereWords
from clwl_spark.cli.moments import Moment, micros_if, micros_of
from clwl_spark.cli.options import Common
from clwl_spark.cli.work import ROUTED, at_work
from clwl_spark.errors import UsageError
from clwl_spark.snapshots.semantics import semantics_of
from clwl_spark.studies.where.find import Wanted, wanted_message, where_is
from clwl_spark.tables.moments import micros


def run(common: Common, options: WhereWords) -> int:
    """Tell where the message is, and return the exit code."""
    wanted = wanted_of(options.message, options.qmgr, options.at, options.since, options.backlog)
    with at_work("where", common, needs=schemas.SNAPSHOTS.name, reads=ROUTED) as work:
        found = where_is(work.lake, wanted, semantics_of(work.lake).edition)
        work.screen.document(found)
        work.screen.show(*(_message(x) for x in found))
    return 0


def wanted_of(
    message: str,
    qmgr: str | None,
    at: Moment | None,
    since: Moment | None,
    backlog: int | None,
) -> Wanted:
    """What is asked for.

    Raises:
        UsageError: no message is named, a moment is none, or both `since` and `backlog` are given.
    """
    if since is not None and backlog is not None:
        raise UsageError("--since and --backlog exclude each other: give one of them")
    asked = micros(datetime.now(UTC)) if at is None else micros_of("--at", at)
    found = wanted_message(message, asked, qmgr)
    begin = micros_if("--since", since)
    return Wanted(asked, found.message_id, found.qmgr, found.put_seq, begin, backlog)


def _message(found: Mapping[str, Any]) -> RenderableType:
    """A message for a reader."""
    put = f"{found['qmgr']}:{found['put_seq']}, put {found['put_time']} to {found['object_name']}"
    parts: list[RenderableType] = [Text(f"{put}: {found['summary']}", style="bold")]
    for hop in found["hops"]:
        on = f" on {hop['object_qmgr']}" if hop["object_qmgr"] else ""
        parts.append(Text(f"  {hop['hop']}  {hop['qmgr']}  {hop['object_name']}{on}: {hop['way']}"))
        parts.append(Text(f"     {hop['state']}: {hop['why']}", style="dim"))
    return Group(*parts)
