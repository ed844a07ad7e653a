"""Which engine answers, and the session of it: embedded, a local Apache Spark, or a given one."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

import pyarrow as pa
from pyspark.sql import SparkSession

from clwl_spark.delta.catalogs import refuse_forgotten
from clwl_spark.delta.opening import has_log
from clwl_spark.delta.protocol import is_odd_place, odd_place, opened, unread_features
from clwl_spark.errors import EngineError
from clwl_spark.settings import Settings
from clwl_spark.spark.embedded import embedded_session, is_embedded, why_not_here
from clwl_spark.storage.access import spark_settings
from clwl_spark.storage.places import is_store, is_uri, joined, name_of, store_kind

_LAUNCHED: Final = ("PYSPARK_GATEWAY_PORT", "SPARK_REMOTE")
"""Set where spark-submit, or a Connect server, has prepared a session."""


_EMBEDDED: Final = "embedded"


class Engine(StrEnum):
    """What runs the DataFrames of an answer."""

    EMBEDDED = "embedded"
    SPARK = "spark"


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """The engine that answers.

    Attributes:
        engine: it.
        why: why it is not `embedded`; '' where it is.
        rows: that the tables have by Delta's log; None = nobody counted them.
        is_lacking: the engine embedded would do, but is not installed as it has to be.
    """

    engine: Engine
    why: str = ""
    rows: int | None = None
    is_lacking: bool = False


def running_session() -> SparkSession | None:
    """The session that somebody else started in this process, if there is one."""
    return SparkSession.getActiveSession()


def is_given() -> bool:
    """Whether a session is there already, or prepared."""
    return not os.environ.keys().isdisjoint(_LAUNCHED) or running_session() is not None


def choose_engine(
    settings: Settings, tables: Iterable[str] | None, only_spark: str = ""
) -> EngineChoice:
    """The engine for work on a lake.

    Args:
        settings: say where the lake is, and `engine` and `embedded_rows`.
        tables: names of those whose rows the work reads; None = nobody knows how many come.
        only_spark: why Apache Spark alone can do the work; '' = it need not.

    Raises:
        EngineError: `embedded` is asked for and cannot do it.
    """
    asked = settings.engine
    if (running := running_session()) is not None:
        return _of_running(running, asked, only_spark)
    if asked in ("spark", "arrow"):
        return EngineChoice(Engine.SPARK, f"engine {asked} is asked for", _rows(settings, tables))
    if asked == "auto" and is_given():
        return EngineChoice(Engine.SPARK, "a session is given")
    embedded = _embedded(settings, tables, only_spark)
    if not embedded.why:
        return embedded
    if asked == _EMBEDDED:
        raise EngineError(f"engine embedded cannot do this: {embedded.why}; give --engine spark")
    return replace(embedded, engine=Engine.SPARK, rows=_rows(settings, tables))


def _embedded(settings: Settings, tables: Iterable[str] | None, only_spark: str) -> EngineChoice:
    """The engine embedded; `why` says why it cannot do the work."""
    reason = only_spark or _place_reason(settings)
    if reason:
        return EngineChoice(Engine.EMBEDDED, reason)
    if lacking := why_not_here():
        return EngineChoice(Engine.EMBEDDED, lacking, is_lacking=True)
    seen = _seen(settings, tables or ())
    reason = seen.reason
    if not reason and seen.rows > settings.embedded_rows:
        reason = (
            f"{seen.rows:,} rows are to be read, more than embedded_rows = "
            f"{settings.embedded_rows:,}"
        )
    return EngineChoice(Engine.EMBEDDED, reason, seen.rows)


@contextmanager
def session_for(
    choice: EngineChoice, settings: Settings, app_name: str, suited: Mapping[str, str]
) -> Iterator[SparkSession]:
    """Give the session that is running, or one of the chosen engine that ends with the block.

    Args:
        choice: the engine.
        settings: memory of the engine embedded, and Spark's settings, which win.
        app_name: what Spark shows for a session started here.
        suited: Spark's settings that suit the work.
    """
    if choice.engine is Engine.EMBEDDED and running_session() is None:
        with embedded_session(settings.embedded_memory_mib) as session:
            yield session
        return
    if not is_given():
        refuse_forgotten(settings.catalog, settings.spark)
    # Java's side of PySpark takes 0.2 s to import, which nobody waits for who does without it.
    from clwl_spark.spark.local import spark_session  # noqa: PLC0415

    reached = spark_settings() if store_kind(settings.lake) == "s3" else {}
    with spark_session({**suited, **reached, **settings.spark}, app_name) as session:
        yield session


@dataclass(frozen=True, slots=True)
class _Seen:
    """Of tables: rows by Delta's log, and why the engine embedded cannot read them."""

    rows: int = 0
    reason: str = ""


def _of_running(running: SparkSession, asked: str, only_spark: str) -> EngineChoice:
    if is_embedded(running):
        if only_spark:
            raise EngineError(
                f"{only_spark}: the session of this process is one of the engine embedded, end it"
            )
        return EngineChoice(Engine.EMBEDDED)
    if asked == _EMBEDDED:
        raise EngineError(
            "a session of Spark is running in this process, which holds one at a time: leave "
            "--engine embedded out, or stop that session"
        )
    return EngineChoice(Engine.SPARK, "a session is given")


def _place_reason(settings: Settings) -> str:
    """Why this process cannot read tables where they are; '' = it can."""
    if settings.catalog:
        return f"{settings.catalog} is a catalog's, which Spark alone knows"
    if settings.lake.startswith("file:"):
        return f"{settings.lake} is a URI, which Spark alone knows: name the folder by its path"
    if is_uri(settings.lake) and not is_store(settings.lake):
        return f"{settings.lake} is no folder of this machine"
    return ""


def _rows(settings: Settings, tables: Iterable[str] | None) -> int | None:
    """Rows by Delta's log; None where that cannot be told here."""
    if tables is None or is_given() or _place_reason(settings):
        return None
    seen = _seen(settings, tables)
    return None if seen.reason else seen.rows


def _seen(settings: Settings, tables: Iterable[str]) -> _Seen:
    """All tables in a lake's folder, looked at side by side."""
    folders = [joined(settings.lake, x) for x in dict.fromkeys(tables)]
    with ThreadPoolExecutor() as pool:
        seen: Sequence[_Seen] = list(pool.map(_seen_table, folders))
    return _Seen(sum(x.rows for x in seen), next((x.reason for x in seen if x.reason), ""))


def _seen_table(folder: str) -> _Seen:
    if not has_log(folder):
        return _Seen()
    table = opened(folder)
    if table is None and is_odd_place(folder):
        return _Seen(reason=odd_place(folder))
    if table is None:
        return _Seen(reason=f"delta-rs cannot read the log of table '{name_of(folder)}'")
    if lacks := unread_features(table):
        return _Seen(reason=f"table '{name_of(folder)}' needs a reader with {', '.join(lacks)}")
    counted = pa.table(table.get_add_actions())["num_records"].to_pylist()
    return _Seen(sum(x or 0 for x in counted))
