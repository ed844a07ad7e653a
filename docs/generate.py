"""The reference pages, made from the code when the site is built: a hook of mkdocs.

`python docs/generate.py FOLDER` writes them into a folder instead. What is not declared in the
code, the meaning of MQ's reason codes, is here, and has to be complete.
"""

import re
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

import typer

from clwl_spark import settings
from clwl_spark.algorithm.ladder import BY_NUMBER, ORDER
from clwl_spark.checks.quality.results import Scope
from clwl_spark.checks.quality.suites import Gates, load_gates
from clwl_spark.cli.entry import PANELS, app
from clwl_spark.cli.options import Common
from clwl_spark.mq import vocabulary
from clwl_spark.present.questions.texts import all_questions, all_views, tables_of
from clwl_spark.present.report.surprises import why_rejected
from clwl_spark.storage.access import Storage
from clwl_spark.tables import TABLES, TOPOLOGY, Table
from clwl_spark.tables.declare import Column

COMMON: Final = frozenset(x.name for x in fields(Common))
REASONS: Final = {
    0: "The put succeeds.",
    2001: "An alias leads to another alias.",
    2051: "The queue that the name leads to, or an alias or remote queue on the way, has "
    "PUT(DISABLED).",
    2082: "An alias names a queue that the queue manager neither defines nor sees in a cluster.",
    2085: "The queue manager neither defines the queue nor sees it in a cluster.",
    2087: "The named queue manager is neither in a cluster that the putting one sees nor has it a "
    "transmission queue or an alias, and there is no DEFXMITQ.",
    2184: "A remote queue definition that leads on cannot be used: it names no remote queue, or "
    "leads to another one.",
    2189: "The name leads in a circle, or over more definitions than MQ follows.",
    2268: "Every instance of the cluster queue has PUT(DISABLED).",
    2270: "No host of the object has a channel in its cluster that the putting queue manager sees.",
}
_COMMANDS: Final = """\
{} commands. `clwl COMMAND --help` says the same. Options that every command has are [at
the end](#every-command), and so are [exit codes](#exit-codes)."""
_SETTINGS: Final = """\
A file given with `--config` overrides some of the defaults, `--set KEY=VALUE` overrides the file,
and a command's own option wins. An unknown name is refused with its file, its line and the
nearest name. Durations are a number and a unit: `500ms`, `5s`, `90m`, `24h`, `7d`; also put
together, as in `1h30m`."""
_TABLES: Final = """\
A lake is a folder with one Delta table per folder, or a schema of a catalog. Types are Spark's.
The same comments are in the tables themselves; `clwl init` makes all of them, empty, and `clwl
init --ddl` prints them as SQL."""
_VIEWS: Final = """\
The same SQL runs in Spark and in DuckDB. `clwl ask NAME` answers a question, `--sql` prints it
with the views it needs, `--page FILE` answers all on one HTML page, and `--create-views` makes
the views permanent in a catalog."""
_GATES: Final = """\
Files of `conf/gates`. An `error` quarantines a snapshot, a `warn` is advice. [How to use and add
gates](../how-to/gates.md)."""
_RULES: Final = """\
A candidate that a rule takes away keeps its row in `route_candidates`, with the rule's number in
`eliminated_by`; null = a route. [How MQ chooses](../concepts/how-mq-chooses.md) says what each
rule does."""


def pages() -> dict[str, str]:
    """The generated pages by their path within the site."""
    made = {
        "commands": commands(),
        "settings": all_settings(),
        "tables": tables(),
        "views": views(),
        "gates": gates(),
        "rules": rules(),
        "reasons": reasons(),
    }
    return {f"reference/{name}.md": text for name, text in made.items()}


def on_files(files: Any, config: Any) -> Any:  # noqa: ANN401  (mkdocs is not imported here)
    """Add the pages to those of the folder; mkdocs calls this."""
    from mkdocs.structure.files import File  # noqa: PLC0415  (the tests go without it)

    for path, text in pages().items():
        files.append(File.generated(config, path, content=text))
    return files


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, x))} |" for x in lines)


def commands() -> str:
    """Every command: what it does, its options and examples, as `--help` has them."""
    known = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    parts = [
        "# Commands",
        _COMMANDS.format(len(known)),
    ]
    for panel, members in PANELS.items():
        names = [x.__name__.strip("_").replace("_", "-") for x in members]
        parts.append(f"## {panel}")
        parts += [x for name in names for x in _command(name, known[name])]
    shared = [x for x in _options(known["route"], "route") if x.name in COMMON]
    parts += ["## Every command", _option_table(shared), _ENDS]
    return _page(parts)


_ENDS: Final = """\
With `--json` one JSON document is on standard output and nothing else. Progress on a terminal, log
lines and errors are on standard error; log lines are JSON unless that is a terminal. A moment is
ISO 8601 with `Z` or an offset: `2026-09-14T06:00:00Z`.

## Exit codes

| code | means |
|---|---|
| 0 | done |
| 1 | a quality gate said no, or an asserted fact does not hold |
| 2 | wrong usage or bad input |
| 3 | anything else |
| 130, 143 | stopped by Ctrl-C, by SIGTERM |

An error is one sentence, `clwl: ...`, which says what to do; `--verbose` adds the traceback."""


def _command(name: str, command: Any) -> list[str]:  # noqa: ANN401  (typer exports no type)
    """The section of a command."""
    text, _, after = command.help.partition("[bold]Examples[/bold]")
    examples = [_plain(x).strip() for x in after.split("\n\n") if x.strip()]
    words = [_prose(x) for x in text.split("\n\n") if x.strip()]
    own = [x for x in _options(command, name) if x.name not in COMMON and x.name != "help"]
    shown = [_option_table(own)] if own else []
    code = ["```sh", *examples, "```"] if examples else []
    arguments = "".join(f" {x.metavar}" for x in own if not x.opts[0].startswith("-"))
    title = f"### clwl {name} {{ #{name} }}"
    usage = f"`clwl {name}{arguments} [OPTIONS]`"
    return [title, usage, *words, *(["\n".join(code)] if code else []), *shown]


def _options(command: Any, name: str) -> list[Any]:  # noqa: ANN401
    """Parameters of a command, as its help has them."""
    return list(command.get_params(command.context_class(command, info_name=name)))


def _option_table(options: Iterable[Any]) -> str:
    rows = []
    for option in options:
        names = ", ".join(f"`{x}`" for x in option.opts if x.startswith("-"))
        metavar = f"`{option.metavar}`" if option.metavar else ""
        required = " Required." if option.required else ""
        rows.append(
            (" ".join(filter(None, (names, metavar))), _prose(option.help or "") + required)
        )
    return table(("option", "means"), rows)


def all_settings() -> str:
    """Every setting: its default, and what `conf/default.toml` says of it."""
    text = settings._default_text()  # noqa: SLF001  (the one reader of that file)
    defaults = tomllib.loads(text)
    said = dict(_commented(text))
    known = {*settings.Settings.model_fields, *(f"storage.{x}" for x in Storage.model_fields)}
    if different := set(said) ^ known:
        raise ValueError(f"conf/default.toml and the settings differ in {sorted(different)}")
    parts = [
        "# Settings",
        _SETTINGS,
        "```sh\nclwl route --lake lake --config local.toml --set spark.driver.memory=3g\n```",
        (
            "The defaults are `conf/default.toml`; `conf/local.toml` and `conf/cluster.toml` are "
            "files to start from."
        ),
    ]
    for name, comment in said.items():
        table_name, dot, key = name.partition(".")
        default = defaults[table_name][key] if dot else defaults[name]
        shown = "a table" if isinstance(default, Mapping) else f"`{_toml(default)}`"
        parts += [f"## {name} {{ #{name} }}", f"Default: {shown}", _prose(comment)]
    return _page(parts)


def _commented(text: str) -> Iterable[tuple[str, str]]:
    """Each key of a TOML file, those of a table behind its name, and the comment above it."""
    above: list[str] = []
    within = ""
    for line in text.splitlines():
        if line.startswith("#"):
            above.append(line.removeprefix("#").strip())
        elif found := re.match(r"(\[?)(\w+)", line):
            within = "" if found[1] else within
            yield f"{within}{found[2]}", " ".join(above)
            within = f"{found[2]}." if found[1] else within
            above = []
        else:
            above = []


def _toml(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


def tables() -> str:
    """Every table of a lake and its columns."""
    topology = {x.name for x in TOPOLOGY}
    listed = [(f"[`{x.name}`](#{x.name})", _prose(x.comment)) for x in TABLES.values()]
    parts = [
        "# Tables",
        _TABLES,
        table(("table", "a row is"), listed),
    ]
    for known in TABLES.values():
        parts += [f"## {known.name} {{ #{known.name} }}", _prose(known.comment) + "."]
        parts += [x for x in (_notes(known, topology),) if x]
        rows = [(f"`{x.name}`", x.type, _flags(x, known), _prose(x.comment)) for x in known.columns]
        parts.append(table(("column", "type", "", "means"), rows))
    return _page(parts)


def _notes(known: Table, topology: set[str]) -> str:
    notes = (
        (known.name in topology, "Part of a snapshot of the topology."),
        (known.by_anyone, ("Written by programs of others: see [load your traffic]"
         "(../how-to/traffic.md).")),
        (known.change_feed, "Delta's change data feed is on."),
    )  # fmt: skip
    return " ".join(text for holds, text in notes if holds)


def _flags(column: Column, known: Table) -> str:
    """Key, and whether the column may be missing or null."""
    flags = [x for x, holds in (("key", column.key), ("optional", column.optional)) if holds]
    if column.check and not known.by_anyone:
        flags.append("checked")
    return ", ".join(flags)


def views() -> str:
    """The views and the questions."""
    parts = [
        "# Views and questions",
        _VIEWS,
        "## Questions",
        table(
            ("name", "question", "reads"),
            (
                (f"[`{x.name}`](#{x.name})", _prose(x.question), ", ".join(tables_of(x.sql)))
                for x in all_questions().values()
            ),
        ),
    ]
    for question in all_questions().values():
        parts += [f"### {question.name} {{ #{question.name} }}", f"*{_prose(question.question)}*"]
        parts.append(_prose(question.answers))
    parts.append("## Views")
    for view in all_views().values():
        parts += [f"### {view.name} {{ #{view.name} }}", f"{_prose(view.title)}."]
        parts.append(f"A row is {_prose(view.row)}.")
        parts.append(
            table(("column", "means"), ((f"`{x}`", _prose(y)) for x, y in view.columns.items()))
        )
    return _page(parts)


_SCOPES: Final = {
    Scope.TOPOLOGY: ("Of a snapshot", "`clwl validate --snapshot ID`; design advice: `clwl lint`"),
    Scope.OUTCOMES: ("Of what was routed", "`clwl validate --outcomes`"),
    Scope.OBSERVED: ("Of what MQ counted and recorded", "`clwl validate --observed`"),
}


def gates() -> str:
    """Every gate, by what it judges and in which file it is."""
    parts = [
        "# Gates",
        _GATES,
    ]
    for scope, (title, command) in _SCOPES.items():
        found = load_gates(scope)
        parts += [f"## {title}", f"{command}. {len(found.ids)} gates."]
        for suite in dict.fromkeys(x.suite for x in (*found.expectations, *found.rules)):
            parts += [f"### {suite}", *_gates_of(found, suite)]
    return _page(parts)


def _gates_of(found: Gates, suite: str) -> list[str]:
    rows = [
        (
            f"`{x.words.id}`",
            f"{x.severity.value}{', lint' if getattr(x.words, 'kind', '') == 'lint' else ''}",
            _prose(x.words.title),
            _prose(x.words.why),
            _prose(x.words.remedy),
        )
        for x in (*found.expectations, *found.rules)
        if x.suite == suite
    ]
    return [table(("gate", "severity", "must hold", "why", "remedy"), rows)]


def rules() -> str:
    """The rules in both orders."""
    parts = [
        "# Rules",
        _RULES,
    ]
    for algorithm, order in ORDER.items():
        rows = [
            (str(place), str(x), BY_NUMBER[x].title, BY_NUMBER[x].eliminates)
            for place, numbers in enumerate(order, 1)
            for x in numbers
        ]
        parts += [
            f"## `--algorithm {algorithm.value}`",
            table(("", "number", "looks at", "eliminates"), rows),
        ]
    return _page(parts)


def reasons() -> str:
    """MQ's reason codes, reasons to set a message aside, and MQ's words."""
    names = vocabulary.REASON_TEXTS
    if different := set(REASONS) ^ set(names):
        raise ValueError(f"REASONS and vocabulary.REASON_TEXTS differ in {sorted(different)}")
    parts = [
        "# Reasons and words",
        "## Reason codes",
        "Column `reason` of `outcomes`, `route_plans` and `hops`.",
        table(("reason", "name", "when"), ((str(x), f"`{names[x]}`", REASONS[x]) for x in names)),
        "## Messages that are set aside",
        "Column `error` of `rejected_messages`: the first of these that holds.",
        table(("error", "why"), ((f"`{x}`", why_rejected(x)) for x in vocabulary.RejectError)),
        "## Channel status",
        "The best status that is present stays in play (rules 8 to 11).",
        table(
            ("status", "tier"),
            ((f"`{x}`", str(y)) for x, y in vocabulary.STATUS_TIERS.items()),
        ),
        "## Words",
        table(
            ("of", "are"),
            ((_prose(x.__doc__ or ""), ", ".join(f"`{y.value}`" for y in x)) for x in _words()),
        ),
    ]
    return _page(parts)


def _words() -> list[type[StrEnum]]:
    """The enumerations of `vocabulary`, but for those that have a section of their own."""
    kinds = [x for x in vars(vocabulary).values() if isinstance(x, type) and issubclass(x, StrEnum)]
    return [x for x in kinds if x not in (StrEnum, vocabulary.RejectError)]


def _page(parts: Iterable[str]) -> str:
    return "\n\n".join(parts) + "\n"


def _plain(text: str) -> str:
    """A paragraph of help without rich's markup."""
    return re.sub(r"\[/?(?:bold|dim|italic)\]", "", text)


def _prose(text: str) -> str:
    """A text of the code as Markdown: what Markdown would take for its own is escaped."""
    marked = re.sub(r"\[/?bold\]", "**", re.sub(r"\[/?dim\]", "", " ".join(text.split())))
    parts = re.split(r"(`[^`]*`)", marked)
    return "".join(x if x.startswith("`") else _escaped(x) for x in parts)


def _escaped(text: str) -> str:
    """Text outside of code; `**` is left as it is."""
    return re.sub(r"(?<!\*)\*(?!\*)|[_\[]", r"\\\g<0>", text).replace("<", "&lt;")


def _cell(text: str) -> str:
    """A cell of a table."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(x if x.startswith("`") else x.replace("|", r"\|") for x in parts)


def main(folder: Path) -> None:
    """Write the pages into a folder."""
    for path, text in pages().items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
