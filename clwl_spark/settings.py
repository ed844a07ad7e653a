"""Settings: read from TOML, overridden by words of the command line, checked once.

`conf/default.toml` is complete and says what each setting means; this module says what each may be.
"""

import re
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
)

from clwl_spark.algorithm.semantics import Wanted
from clwl_spark.errors import SettingsError, UsageError, did_you_mean
from clwl_spark.mq.vocabulary import Algorithm, Edition, NullOpenId
from clwl_spark.small_files import read_toml
from clwl_spark.storage.access import Storage
from clwl_spark.storage.places import has_credentials

_UNITS: Final = {
    "ms": timedelta(milliseconds=1),
    "s": timedelta(seconds=1),
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
}
_PART: Final = r"(\d{1,6})(ms|s|m|h|d)"
_PREFIX: Final = "spark."
_STORAGE: Final = "storage"
_PLACES: Final = ("lake", "catalog")
_URIS: Final = ("lake", "checkpoints")
SERVERLESS: Final = "serverless"
"""The profile of a session that takes only what serverless compute does."""
_ANY_MODULE: Final = "*"
_ELSEWHERE: Final = (
    "credentials come from the environment (AWS_ACCESS_KEY_ID ...) or the machine's role"
)


def duration(text: str) -> timedelta:
    """Time that a text such as `24h`, `90m` or `1h30m` means.

    Raises:
        UsageError: the text is none.
    """
    if not re.fullmatch(f"({_PART})+", text):
        raise UsageError(
            f"{text!r} is no duration: give a number and a unit, like 5s, 90m, 24h, 7d"
        )
    return sum((int(n) * _UNITS[unit] for n, unit in re.findall(_PART, text)), timedelta())


def moment(text: str) -> datetime:
    """Moment that an ISO 8601 text with a zone means.

    Raises:
        UsageError: the text is none, or does not say its zone.
    """
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError as error:
        raise UsageError(
            f"{text!r} is no moment: give ISO 8601, like 2026-09-14T06:00:00Z"
        ) from error
    if parsed.tzinfo is None:
        raise UsageError(f"{text!r} has no time zone: add Z for UTC, or an offset, like +02:00")
    return parsed


def _duration_setting(value: object) -> timedelta:
    """A duration of a settings file, for pydantic, which wants its own kind of error."""
    try:
        read = duration(str(value))
    except UsageError as error:
        raise ValueError(str(error)) from error
    if not read:
        raise ValueError("give more than 0")
    return read


def _matching(pattern: str, advice: str) -> AfterValidator:
    """Accepts `''` and texts of that pattern; others get the advice."""

    def check(text: str) -> str:
        if text and not re.fullmatch(pattern, text):
            raise ValueError(advice)
        return text

    return AfterValidator(check)


def _spark_settings(table: Mapping[str, Any]) -> dict[str, str]:
    """Spark's settings by full name, from TOML tables of any depth."""
    flat = _flattened(table)
    return {name if name.startswith(_PREFIX) else _PREFIX + name: x for name, x in flat.items()}


def _flattened(table: Mapping[str, Any]) -> dict[str, str]:
    """The values of nested tables by dotted name, as Spark writes them."""
    flat: dict[str, str] = {}
    for name, value in table.items():
        if isinstance(value, Mapping):
            flat |= {f"{name}.{below}": x for below, x in _flattened(value).items()}
        else:
            flat[name] = str(value).lower() if isinstance(value, bool) else str(value)
    return flat


def _names(value: object) -> object:
    """Names of a text, with commas between them or as a list of TOML's, as --set gives them."""
    if isinstance(value, str):
        names = value.strip().removeprefix("[").removesuffix("]").split(",")
        return [name for x in names if (name := x.strip().strip("\"'"))]
    return value


_Names = Annotated[tuple[str, ...], BeforeValidator(_names)]
_Duration = Annotated[timedelta, BeforeValidator(_duration_setting)]
_CatalogName = Annotated[str, _matching(r"[^.`]+\.[^.`]+", "give CATALOG.SCHEMA")]
_FunctionName = Annotated[str, _matching(r"\w+(\.\w+)*:\w+(:.+)?", "give module:function")]
_EXITS: Final = ("exit", "message_exit")


class Settings(BaseModel):
    """Every setting; `conf/default.toml` has their meaning and defaults."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    lake: str
    catalog: _CatalogName
    checkpoints: str
    algorithm: Literal["", "v9", "v7"]
    edition: Literal["", "1", "2"]
    null_open_id: Literal["", "own", "shared"]
    binding_ttl: _Duration
    duplicates: Literal["keep", "reject"]
    allowed_modules: _Names
    exit: _FunctionName
    message_exit: _FunctionName
    worker_memory_mib: Annotated[int, Field(ge=64, le=1_048_576)]
    engine: Literal["auto", "embedded", "arrow", "spark"]
    profile: Literal["", "serverless"]
    stateful_operator: Literal["applyInPandasWithState", "transformWithState"]
    embedded_rows: Annotated[int, Field(ge=0)]
    embedded_messages: Annotated[int, Field(ge=0)]
    embedded_memory_mib: Annotated[int, Field(ge=0, le=16_777_216)]
    least_agreement: Annotated[float, Field(ge=0, le=1)]
    state_partitions: Annotated[int, Field(ge=1, le=4096)]
    poll: _Duration
    log: Literal["auto", "text", "json"]
    lineage: bool
    storage: Storage
    spark: dict[str, str]

    @property
    def wanted(self) -> Wanted:
        """The semantics that are asked for."""
        return Wanted(
            Algorithm(self.algorithm) if self.algorithm else None,
            Edition(int(self.edition)) if self.edition else None,
            NullOpenId(self.null_open_id) if self.null_open_id else None,
        )


@dataclass(frozen=True, slots=True)
class _Source:
    """One place that settings come from: its name, its text (to find lines in) and its values."""

    name: str
    values: Mapping[str, Any]
    text: str = ""

    def where(self, key: str) -> str:
        """The place of a key: the source, and the line where there is one."""
        found = re.search(rf"(?m)^[ \t]*[\"']?{re.escape(key)}[\"']?[ \t]*[=.\]]", self.text)
        if found is None:
            return self.name
        return f"{self.name}, line {self.text.count(chr(10), 0, found.start()) + 1}"


def read_settings(
    config: Path | None = None,
    assignments: Sequence[str] = (),
    options: Mapping[str, str | None] | None = None,
) -> Settings:
    """Read the defaults and what overrides them.

    Args:
        config: a TOML file with some of the settings.
        assignments: `KEY=VALUE` texts; they win over the file.
        options: settings by name that options of a command give, None = not given; they win.

    Raises:
        SettingsError: a file cannot be read, a name is unknown or a value unusable.
    """
    sources = [_Source("default.toml", tomllib.loads(_default_text()))]
    if config is not None:
        sources.append(_file(config))
    sources.extend(_assignment(text) for text in assignments)
    given = {name: value for name, value in (options or {}).items() if value is not None}
    sources.extend(_Source(_option(name), {name: value}) for name, value in given.items())
    return _merged(sources)


def _default_text() -> str:
    """The complete defaults: within the package, or beside it in a checkout."""
    packaged = resources.files("clwl_spark").joinpath("default.toml")
    if packaged.is_file():
        return packaged.read_text("utf-8")
    return (Path(__file__).parents[1] / "conf" / "default.toml").read_text("utf-8")


def _file(path: Path) -> _Source:
    """The settings of a TOML file."""
    try:
        values, text = read_toml(path)
    except UsageError as error:
        raise SettingsError(f"--config {error}") from error
    return _Source(str(path), values, text)


def _assignment(text: str) -> _Source:
    """The setting of a `KEY=VALUE` text; `spark.…` is a setting of Spark."""
    key, equals, value = text.partition("=")
    key = key.strip()
    if not equals:
        raise SettingsError(f"--set {text}: give KEY=VALUE, like --set poll=10s")
    if key.startswith(_PREFIX):
        return _Source(f"--set {text}", {"spark": {key: value}})
    table, dot, name = key.partition(".")
    if table == _STORAGE and dot:
        return _Source(f"--set {key}", {_STORAGE: {name: value}})
    return _Source(f"--set {text}", {key: value})


def _option(setting: str) -> str:
    """The option that gives a setting."""
    return f"--{setting.replace('_', '-')}"


def _merged(sources: Iterable[_Source]) -> Settings:
    """The settings that the later of the sources win, checked."""
    values: dict[str, Any] = {"spark": {}}
    origin: dict[str, str] = {}
    for source in sources:
        _refuse_unknown(source)
        _let_one_place_win(source, values)
        for key, value in source.values.items():
            origin[key] = source.where(key)
            values[key] = _put_over(values.get(key), key, value)
    try:
        settings = Settings.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        key, name = str(first["loc"][0]), ".".join(map(str, first["loc"]))
        raise SettingsError(
            f"{origin.get(key, 'default.toml')}: {name} is {first['input']!r}: {_advice(first)}"
        ) from error
    for name in _EXITS:
        _refuse_module(settings, name, origin[name])
    for name in _URIS:
        if has_credentials(getattr(settings, name)):
            raise SettingsError(f"{origin[name]}: {name} has credentials in its URI: {_ELSEWHERE}")
    return settings


def _put_over(before: Any, key: str, value: Any) -> Any:  # noqa: ANN401  (whatever TOML has)
    """A setting's value after a source has given it another; those of a table stay one by one."""
    if not isinstance(value, Mapping) or not isinstance(before, Mapping):
        return value
    return {**before, **(_spark_settings(value) if key == "spark" else value)}


def _refuse_module(settings: Settings, name: str, origin: str) -> None:
    """Refuse an exit whose module `allowed_modules` does not name."""
    module = str(getattr(settings, name)).partition(":")[0]
    allowed = settings.allowed_modules
    names = {module.rsplit(".", at)[0] for at in range(module.count(".") + 1)}
    free = _ANY_MODULE in allowed and module.partition(".")[0] not in sys.stdlib_module_names
    if module and not free and names.isdisjoint(allowed):
        raise SettingsError(
            f"{origin}: {name} is in module {module}, which the setting allowed_modules does not "
            f"name ({', '.join(allowed) or 'none'}; * = all but Python's own): add it there"
        )


def _refuse_unknown(source: _Source) -> None:
    """Refuse the first name that is no setting, and say which one is near."""
    for key in source.values:
        if key not in Settings.model_fields:
            names = did_you_mean(key, Settings.model_fields)
            raise SettingsError(f"{source.where(key)}: unknown setting {key!r}: {names}")
    given = source.values.get(_STORAGE)
    for key in given if isinstance(given, Mapping) else ():
        if key not in Storage.model_fields:
            names = did_you_mean(key, Storage.model_fields)
            raise SettingsError(
                f"{source.where(key)}: unknown setting '{_STORAGE}.{key}': {names}; {_ELSEWHERE}"
            )


def _let_one_place_win(source: _Source, values: dict[str, Any]) -> None:
    """A source that names a lake by one of its two ways takes back the other way."""
    named = [place for place in _PLACES if source.values.get(place)]
    if len(named) > 1:
        raise SettingsError(f"{source.name}: both lake and catalog are set: leave one out")
    values.update({place: "" for place in _PLACES if named and place in values})


def _advice(error: Mapping[str, Any]) -> str:
    """Pydantic's words without its lead-in."""
    words = str(error["msg"]).removeprefix("Value error, ")
    return words[:1].lower() + words[1:]
