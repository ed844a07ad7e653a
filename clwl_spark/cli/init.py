"""`clwl init`: every table of a lake, empty."""

from collections.abc import Sequence

from rich.table import Table

from clwl_spark.cli.commands.init import InitWords
from clwl_spark.cli.options import Common
from clwl_spark.cli.tables import listing
from clwl_spark.cli.work import absolute, at_work, check_place, screen_of, settings_of
from clwl_spark.delta.catalogs import create_schema
from clwl_spark.delta.lake import Creation
from clwl_spark.delta.place import name_in_catalog
from clwl_spark.present.questions.running import view_statements
from clwl_spark.routing.maintenance.creation import create_statements, create_tables, to_json
from clwl_spark.tables import TABLES


def run(common: Common, options: InitWords) -> int:
    """Make the tables, or print the SQL that makes them, and return the exit code."""
    return _printed(common) if options.ddl else _made(common)


def _made(common: Common) -> int:
    with at_work("init", common, reads=()) as work:
        made = create_tables(work.lake)
        work.screen.document({"lake": work.lake.root, **to_json(made)})
        work.screen.show(_table(work.lake.root, made))
    return 0


def _printed(common: Common) -> int:
    """Print the SQL as it is, to be piped; no session starts."""
    settings = settings_of(common)
    check_place(settings)
    place = settings.catalog or absolute(settings.lake)
    found = create_statements(place, in_catalog=bool(settings.catalog))
    screen = screen_of(common, settings, "init")
    made = create_schema(place) if settings.catalog else ""
    views = view_statements(place) if settings.catalog else {}
    more = {"schema": made, "views": views} if settings.catalog else {}
    screen.document({"lake": place, "ddl": found, **more})
    if not screen.as_json:
        uses = [made, f"USE {name_in_catalog(*place.split('.'))}"] if made else []
        texts = (*uses, *found.values(), *views.values())
        screen.out.write("".join(f"{sql};\n\n" for sql in texts))
    return 0


def _table(root: str, made: Sequence[Creation]) -> Table:
    """A line per table: whether it was made, and what it is for."""
    rows = [(x.table, _done(x), TABLES[x.table].comment) for x in made]
    new = sum(x.is_new for x in made)
    title = f"{new} tables made in {root}, {len(made) - new} were there"
    return listing(("Table", "", "What a row is"), rows, title=title)


def _done(creation: Creation) -> str:
    if creation.is_new:
        return "made"
    return f"was there, gets {', '.join(creation.added)}" if creation.added else "was there"
