"""Files of assertions. Everything that is wrong in any of them is told at once."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError
from pydantic_core import ErrorDetails

from clwl_spark.checks.assertions.model import Assertion, Statement
from clwl_spark.checks.assertions.parse import FactError, parse
from clwl_spark.checks.assertions.source import Place, Problem, Spot, Written, read_written
from clwl_spark.checks.assertions.wording import statement_words
from clwl_spark.errors import InputError, did_you_mean
from clwl_spark.small_files import read_small_text

_SUFFIXES: Final = (".yml", ".yaml")
_LIST: Final = "assertions"
_HINT: Final = f"`{_LIST}:` with a list of facts, like `- reachable(ORDERS from APP1)`"

_Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class AssertionFilesError(InputError):
    """Files that are no files of assertions.

    Attributes:
        problems: everything that is wrong, in the order of the files.
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        """Tell all problems, a line each."""
        self.problems = tuple(problems)
        head = f"{len(problems)} errors in assertions:\n" if len(problems) > 1 else ""
        super().__init__(head + "\n".join(map(str, problems)))


class _Words(BaseModel):
    """An item of the list; one that is a text is a fact."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    fact: _Text
    name: _Text | None = None
    why: str = ""


def load_assertions(paths: Sequence[Path]) -> tuple[Assertion, ...]:
    """Read files of assertions.

    Args:
        paths: files, or folders of files `*.yml` and `*.yaml`.

    Returns:
        One per item, in the order of the files; files of a folder by name.

    Raises:
        AssertionFilesError: a file is missing, is no YAML, has no assertions, an unknown key, a
            text that is no fact, or two assertions of one name.
    """
    problems: list[Problem] = []
    found: list[Assertion] = []
    for path in _files(paths):
        try:
            text = read_small_text(path)
        except (OSError, UnicodeDecodeError) as error:
            said = error.strerror if isinstance(error, OSError) else str(error)
            problem = f"cannot be read: {said}: give a file in UTF-8, or a folder with *.yml"
            problems.append(Problem(str(path), Spot(1, 1), problem))
        else:
            found += _assertions(read_written(text, str(path)), problems)
    if problems:
        raise AssertionFilesError(problems)
    return tuple(found)


def _files(paths: Iterable[Path]) -> dict[Path, None]:
    """The files that paths name, each once; a folder without any is one that cannot be read."""
    files: dict[Path, None] = {}
    for path in paths:
        inside = path.iterdir() if path.is_dir() else ()
        named = sorted(x for x in inside if x.suffix in _SUFFIXES) or [path]
        files |= dict.fromkeys(named)
    return files


def _assertions(written: Written, problems: list[Problem]) -> list[Assertion]:
    """The assertions of a file; what is wrong is added to the problems."""
    problems += written.problems
    if written.content is None:
        if not written.problems:
            problems.append(Problem(written.name, Spot(1, 1), f"nothing in it: write {_HINT}"))
        return []
    items = _items(written, problems)
    found = {
        at: made
        for at, item in enumerate(items)
        if (made := _assertion(written, at, item, problems)) is not None
    }
    _refuse_doubles(written, found, problems)
    return list(found.values())


def _items(written: Written, problems: list[Problem]) -> list[Any]:
    """The list of a file."""
    content = written.content
    if not isinstance(content, dict):
        problems.append(Problem(written.name, written.spot(()), f"expected {_HINT}"))
        return []
    for key in content:
        if key != _LIST:
            said = f"unknown key {key!r}: {did_you_mean(str(key), [_LIST])}"
            problems.append(Problem(written.name, written.spot((str(key), "")), said))
    items = content.get(_LIST, [])
    if isinstance(items, list) and items:
        return items
    if _LIST in content or len(content) == 0:
        problems.append(Problem(written.name, written.spot((_LIST,)), f"expected {_HINT}"))
    return []


def _assertion(
    written: Written, at: int, item: object, problems: list[Problem]
) -> Assertion | None:
    """One item; None where something is wrong with it."""
    place: Place = (_LIST, at)
    words = None
    try:
        words = _Words.model_validate({"fact": item} if isinstance(item, str) else item)
    except ValidationError as error:
        problems += [_unusable(written, place, x) for x in error.errors()]
    if isinstance(item, dict):
        statement = _statement(written, (*place, "fact"), item.get("fact"), problems)
    else:
        statement = _statement(written, place, item, problems)
    if words is None or statement is None:
        return None
    return Assertion(
        name=words.name or statement_words(statement),
        statement=statement,
        why=words.why,
        file=written.name,
        line=written.spot(place).line,
    )


def _statement(
    written: Written, place: Place, text: object, problems: list[Problem]
) -> Statement | None:
    """What a fact says; None where it is no text, or cannot be read."""
    if not isinstance(text, str) or not text.strip():
        return None
    try:
        return parse(text)
    except FactError as error:
        spot = written.spot_within(place, error.offset)
        problems.append(Problem(written.name, spot, str(error)))
        return None


def _unusable(written: Written, item: Place, error: ErrorDetails) -> Problem:
    """What pydantic refuses of an item, in words."""
    place: Place = (*item, *error["loc"])
    key = str(place[-1])
    if error["type"] == "extra_forbidden":
        said = f"unknown key {key!r}: {did_you_mean(key, _Words.model_fields)}"
        if "(" in key:
            said = "a fact with ': ' in it: put it in double quotes"
        return Problem(written.name, written.spot((*place, "")), said)
    if error["type"] == "missing":
        return Problem(written.name, written.spot(item), f"the key {key!r} is missing: add it")
    if error["loc"]:
        said = f"{key}: expected a text: put it in quotes"
        return Problem(written.name, written.spot(place), said)
    return Problem(written.name, written.spot(item), "expected a fact, or fact, name and why")


def _refuse_doubles(
    written: Written, found: Mapping[int, Assertion], problems: list[Problem]
) -> None:
    """Two of one name could not be told apart in what CI shows."""
    first: dict[str, Assertion] = {}
    for at, assertion in found.items():
        other = first.setdefault(assertion.name, assertion)
        if other is not assertion:
            said = f"{assertion.name!r} is there already (line {other.line}): give it a name"
            problems.append(Problem(written.name, written.spot((_LIST, at)), said))
