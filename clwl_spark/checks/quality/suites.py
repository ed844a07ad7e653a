"""Suites: files that say what must hold. Read and checked here, evaluated elsewhere; no Spark.

A file has expectations of Great Expectations about one table, and rules in SQL that return the
failing rows. `conf/gates` has the suites that the package brings; users' files may be anywhere.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from clwl_spark.checks.quality.positions import Document, Place, read_yaml
from clwl_spark.checks.quality.results import Scope, Severity
from clwl_spark.errors import SettingsError, did_you_mean
from clwl_spark.tables import TABLES

OWN_VIEWS: Final[dict[str, tuple[str, ...]]] = {
    "message_words": (
        "day",
        "qmgr",
        "object_type",
        "object_name",
        "bind",
        "via",
        "messages",
    ),
}
"""Views of a validation that a suite's `table` may name besides the lake's tables: columns."""

_COLUMN_WORDS: Final = ("column", "column_A", "column_B")
_COLUMN_LIST_WORDS: Final = ("column_list", "column_set")
_SUFFIXES: Final = ("*.yml", "*.yaml")
_AnyGate = TypeVar("_AnyGate", "Expectation", "Rule")


def _off(word: object) -> object:
    """YAML takes a bare `off` for a boolean."""
    return "off" if word is False else word


_SeverityWord = Annotated[Literal["error", "warn", "off"], BeforeValidator(_off)]


class _Words(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class _Gate(_Words):
    """What an expectation and a rule have in common."""

    id: str = Field(pattern=r"^[\w.-]+$")
    severity: Literal["error", "warn"] = "error"
    title: str = Field(min_length=1)
    why: str = ""
    remedy: str = ""


class ExpectationWords(_Gate):
    """An expectation of Great Expectations, by its name and arguments."""

    expect: str
    arguments: dict[str, Any] = Field(default_factory=dict, alias="with")


class RuleWords(_Gate):
    """SQL that returns the failing rows; the column `detail`, if any, says what is wrong.

    `runs_on: any` promises that the SQL means the same to SQLite and to Spark.
    """

    sql: str
    kind: Literal["gate", "lint"] = "gate"
    runs_on: Literal["any", "spark"] = "spark"


class SuiteWords(_Words):
    """A file."""

    suite: str = Field(min_length=1)
    scope: Literal["topology", "outcomes", "observed"] = "topology"
    table: str = ""
    expectations: list[ExpectationWords] = Field(default_factory=list)
    rules: list[RuleWords] = Field(default_factory=list)
    severities: dict[str, _SeverityWord] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Expectation:
    """An expectation and where it is written."""

    words: ExpectationWords
    suite: str
    table: str
    severity: Severity
    where: str


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule and where it is written."""

    words: RuleWords
    suite: str
    severity: Severity
    where: str


@dataclass(frozen=True, slots=True)
class Gates:
    """All that is to be evaluated."""

    expectations: tuple[Expectation, ...]
    rules: tuple[Rule, ...]

    @property
    def ids(self) -> list[str]:
        """Names of all gates, in order."""
        return [x.words.id for x in self.expectations] + [x.words.id for x in self.rules]

    def only_lint(self) -> "Gates":
        """The rules of design alone."""
        return Gates((), tuple(x for x in self.rules if x.words.kind == "lint"))


def gates_folder() -> Path:
    """The suites that the package brings: within it, or beside it in a checkout."""
    package = Path(__file__).parents[2]
    packaged = package / "gates"
    return packaged if packaged.is_dir() else package.parent / "conf" / "gates"


def load_gates(scope: Scope, added: Sequence[Path] = ()) -> Gates:
    """The package's suites and the users', those of one scope.

    Args:
        scope: what is validated.
        added: users' files, or folders of such.

    Raises:
        SettingsError: a file is missing or no suite, a key, table or column is unknown, or two
            gates have one name; with file and line.
    """
    documents = [_read(path) for path in _files([gates_folder(), *added])]
    suites = [(document, _suite(document)) for document in documents]
    severities: dict[str, str] = {}
    for document, words in suites:
        _check_severities(document, words, suites)
        severities |= words.severities
    here = [(document, words) for document, words in suites if words.scope == scope.value]
    expectations = [x for document, words in here for x in _expectations(document, words)]
    rules = [x for document, words in here for x in _rules(document, words)]
    _refuse_doubles([*expectations, *rules])
    return Gates(
        tuple(_weighed(x, severities) for x in expectations if _is_on(x, severities)),
        tuple(_weighed(x, severities) for x in rules if _is_on(x, severities)),
    )


def _files(paths: Iterable[Path]) -> list[Path]:
    """The files that paths name; those of a folder by name."""
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            found = sorted(x for suffix in _SUFFIXES for x in path.glob(suffix))
            if not found:
                raise SettingsError(f"{path}: no suites (*.yml) there: give another --gates")
            files += found
        elif path.is_file():
            files.append(path)
        else:
            raise SettingsError(f"{path}: no such file: give another --gates")
    return files


def _read(path: Path) -> Document:
    try:
        return read_yaml(path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: cannot be read: {error}") from error


def _suite(document: Document) -> SuiteWords:
    try:
        words = SuiteWords.model_validate(document.content)
    except ValidationError as error:
        raise _unusable(document, error) from error
    if words.table and words.table not in _tables():
        raise SettingsError(
            f"{document.where(('table',))}: unknown table {words.table!r}: "
            f"{did_you_mean(words.table, _tables())}"
        )
    if words.expectations and not words.table:
        raise SettingsError(f"{document.where(('expectations',))}: expectations need a `table:`")
    return words


def _unusable(document: Document, error: ValidationError) -> SettingsError:
    """The first thing that is wrong with a file, in words."""
    first = min(error.errors(), key=lambda x: x["type"] != "extra_forbidden")
    place: Place = first["loc"]
    where = document.where(place)
    if first["type"] == "extra_forbidden":
        names = _known_keys(place)
        return SettingsError(
            f"{where}: unknown key {place[-1]!r}: {did_you_mean(str(place[-1]), names)}"
        )
    named = ".".join(str(x) for x in place) or "the file"
    return SettingsError(f"{where}: {named}: {first['msg']}")


def _known_keys(place: Place) -> list[str]:
    """The keys that are allowed where an unknown one is."""
    kinds: Mapping[str, type[BaseModel]] = {"expectations": ExpectationWords, "rules": RuleWords}
    kind = kinds.get(str(place[0]), SuiteWords) if len(place) > 1 else SuiteWords
    return [field.alias or name for name, field in kind.model_fields.items()]


def _expectations(document: Document, words: SuiteWords) -> list[Expectation]:
    columns = _tables().get(words.table, ())
    found = []
    for at, gate in enumerate(words.expectations):
        place: Place = ("expectations", at)
        _check_columns(document, (*place, "with"), gate, words.table, columns)
        where = document.where(place)
        found.append(Expectation(gate, words.suite, words.table, Severity(gate.severity), where))
    return found


def _rules(document: Document, words: SuiteWords) -> list[Rule]:
    return [
        Rule(gate, words.suite, Severity(gate.severity), document.where(("rules", at)))
        for at, gate in enumerate(words.rules)
    ]


def _check_columns(
    document: Document,
    place: Place,
    gate: ExpectationWords,
    table: str,
    columns: Sequence[str],
) -> None:
    """Refuse a column that the table does not have."""
    for word in (*_COLUMN_WORDS, *_COLUMN_LIST_WORDS):
        value = gate.arguments.get(word, ())
        for name in [value] if isinstance(value, str) else value:
            if name not in columns:
                raise SettingsError(
                    f"{document.where((*place, word))}: {gate.id}: table '{table}' has no "
                    f"column {name!r}: {did_you_mean(str(name), columns)}"
                )


def _check_severities(
    document: Document, words: SuiteWords, suites: Sequence[tuple[Document, SuiteWords]]
) -> None:
    """Refuse a severity for a gate that nobody has."""
    known = [x.id for _, suite in suites for x in (*suite.expectations, *suite.rules)]
    for name in words.severities:
        if name not in known:
            where = document.where(("severities", name))
            raise SettingsError(f"{where}: unknown gate {name!r}: {did_you_mean(name, known)}")


def _refuse_doubles(gates: Sequence[Expectation | Rule]) -> None:
    counts = Counter(x.words.id for x in gates)
    for gate in reversed(gates):
        if counts[gate.words.id] > 1:
            first = next(x.where for x in gates if x.words.id == gate.words.id)
            raise SettingsError(
                f"{gate.where}: the gate {gate.words.id!r} is there already ({first}): "
                "give it another id, or change its severity under `severities:`"
            )


def _is_on(gate: Expectation | Rule, severities: Mapping[str, str]) -> bool:
    return severities.get(gate.words.id) != "off"


def _weighed(gate: _AnyGate, severities: Mapping[str, str]) -> _AnyGate:
    """The gate with the severity that users give it."""
    return replace(gate, severity=Severity(severities.get(gate.words.id, gate.severity)))


def _tables() -> dict[str, tuple[str, ...]]:
    """Columns by table."""
    return {name: tuple(table.names) for name, table in TABLES.items()} | OWN_VIEWS
