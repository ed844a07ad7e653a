"""`clwl explain-reallocation`: why a waiting message stayed where it was, or where it went."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from clwl_spark import tables as schemas
from clwl_spark.cli.commands.explain_reallocation import ExplainReallocationWords
from clwl_spark.cli.options import Common
from clwl_spark.cli.tables import listing
from clwl_spark.cli.work import ROUTED, at_work
from clwl_spark.planning.plans import Ladder
from clwl_spark.rules.exit import load_exit
from clwl_spark.snapshots.semantics import semantics_of
from clwl_spark.studies.reallocate.explain import explain_message, message_id_of


def run(common: Common, options: ExplainReallocationWords) -> int:
    """Tell what happened to the message, and return the exit code."""
    message_id = message_id_of(options.message_id)
    own = {"exit": options.exit}
    needs = schemas.OUTCOMES.name
    with at_work("explain-reallocation", common, own, needs=needs, reads=ROUTED) as work:
        ladder = Ladder(semantics_of(work.lake), load_exit(work.settings.exit))
        stories = explain_message(work.lake, message_id, options.qmgr, ladder)
        work.screen.document(stories)
        work.screen.show(*(_story_text(story) for story in stories))
    return 0


def _story_text(story: Mapping[str, Any]) -> RenderableType:
    """A story for a reader."""
    head = f"{story['qmgr']}, put {story['put_seq']} to {story['object_name']}: {story['summary']}"
    parts: list[RenderableType] = [Text(head, style="bold")]
    for event in story["events"]:
        where = f"{event['at']}  {event['from_channel']} {event['status']}: {event['outcome']}"
        parts += [Text(""), Text(where), *(Text(f"  {words}") for words in event["words"])]
        if event["candidates"]:
            parts.append(_candidates(event["candidates"]))
    return Group(*parts)


def _candidates(rows: Sequence[Mapping[str, Any]]) -> RenderableType:
    """What it chose from."""
    cells = [(x["dest_qmgr"], x["channel"], x["status"], _verdict(x)) for x in rows]
    return Padding(listing(("to", "channel", "status", "verdict"), cells), (1, 0, 0, 2))


def _verdict(row: Mapping[str, Any]) -> str:
    if row["eliminated_by"] is None:
        return "route"
    return f"rule {row['eliminated_by']}: {row['why']}"
