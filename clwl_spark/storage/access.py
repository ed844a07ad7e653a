"""How this process reaches object stores: one set of settings for all who read and write there.

delta-rs and `obstore` take the same options; Arrow and Sail have words of their own for them.
Credentials are none of them: each takes these from the environment (`AWS_ACCESS_KEY_ID` …) or from
the role of the machine, so that no setting, table, log or plan has any.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field

from clwl_spark.storage.places import parts_of, store_kind

_REGIONS: Final = ("AWS_REGION", "AWS_DEFAULT_REGION")
_ENDPOINTS: Final = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
_S3A: Final = "spark.hadoop.fs.s3a"
_ALLOW_HTTP: Final = "AWS_ALLOW_HTTP"
_FIRST_WAIT: Final = timedelta(milliseconds=100)
_LONGEST_WAIT: Final = timedelta(seconds=5)


class Storage(BaseModel):
    """The settings of `[storage]`; `conf/default.toml` has their meaning and defaults."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    endpoint: Annotated[str, Field(pattern=r"^(https?://[\w.:\[\]-]+/?)?$")] = ""
    region: Annotated[str, Field(pattern=r"^[\w-]*$")] = ""
    timeout_seconds: Annotated[int, Field(ge=1, le=3600)] = 30
    retries: Annotated[int, Field(ge=0, le=100)] = 10


@dataclass(slots=True)
class _Process:
    """What this process was told; the stores that it reaches are those of one place."""

    storage: Storage


_PROCESS: Final = _Process(Storage())


_PREFIXES: Final = ("AWS_", "AZURE_", "GOOGLE_")


def variables() -> dict[str, str]:
    """The environment's variables that stores' libraries look at, credentials among them."""
    return {x: os.environ[x] for x in os.environ if x.startswith(_PREFIXES)}


def take_variables(given: Mapping[str, str]) -> None:
    """Have these of another process, and none but these."""
    for name in variables():
        del os.environ[name]
    os.environ.update(given)


def use(storage: Storage) -> None:
    """From now on, this process reaches object stores in this way.

    It is the process's, as the credentials in its environment are: Sail and the stores' own
    libraries know no other scope.
    """
    if storage != _PROCESS.storage:
        _PROCESS.storage = storage
        arrow_store.cache_clear()
        object_store.cache_clear()


def in_use() -> Storage:
    """How this process reaches object stores, for a process that it starts."""
    return _PROCESS.storage


def options(place: str) -> dict[str, str]:
    """The options of delta-rs for a place; none for a folder of this machine."""
    kind = store_kind(place)
    if not kind:
        return {}
    found = in_use()
    given = {
        "timeout": f"{found.timeout_seconds}s",
        "max_retries": str(found.retries),
        "retry_timeout": f"{int(_all_tries(found).total_seconds())}s",
    }
    return given | (_of_s3(found) if kind == "s3" else {})


def sail_variables() -> dict[str, str]:
    """What Sail takes from the environment, as long as its session lives."""
    return _of_s3(in_use())


def spark_settings() -> dict[str, str]:
    """Settings of a session of Spark by which Hadoop's S3A reaches the same store."""
    found = in_use()
    given = {f"{_S3A}.endpoint": _endpoint(found), f"{_S3A}.endpoint.region": _region(found)}
    if _endpoint(found):
        given[f"{_S3A}.path.style.access"] = "true"
    given["spark.hadoop.fs.s3.impl"] = "org.apache.hadoop.fs.s3a.S3AFileSystem"
    return {name: value for name, value in given.items() if value}


def _of_s3(storage: Storage) -> dict[str, str]:
    endpoint, region = _endpoint(storage), _region(storage)
    given = {"AWS_ENDPOINT_URL": endpoint, "AWS_REGION": region}
    if endpoint.startswith("http:"):
        given[_ALLOW_HTTP] = "true"
    return {name: value for name, value in given.items() if value}


def _endpoint(storage: Storage) -> str:
    return storage.endpoint.rstrip("/") or _first(_ENDPOINTS)


def _region(storage: Storage) -> str:
    return storage.region or _first(_REGIONS)


def _first(names: tuple[str, ...]) -> str:
    return next((os.environ[x] for x in names if os.environ.get(x)), "")


@lru_cache(maxsize=16)
def object_store(root: str) -> Any:  # noqa: ANN401  (obstore's stores have no common class)
    """The store at a root, such as s3://bucket, for small files.

    `obstore` is the library that delta-rs stands on, so that both mean the same by an option.
    """
    from obstore.store import from_url  # noqa: PLC0415  (20 ms that lakes in folders do without)

    found = in_use()
    given: dict[str, Any] = {
        "client_options": {
            "timeout": timedelta(seconds=found.timeout_seconds),
            "allow_http": _endpoint(found).startswith("http:"),
        },
        "retry_config": {
            "max_retries": found.retries,
            "retry_timeout": _all_tries(found),
            "backoff": {"init_backoff": _FIRST_WAIT, "max_backoff": _LONGEST_WAIT, "base": 2},
        },
    }
    if store_kind(root) == "s3":
        named = _of_s3(found)
        given["config"] = {x: y for x, y in named.items() if x != _ALLOW_HTTP}
    return from_url(root, **given)


def _all_tries(storage: Storage) -> timedelta:
    return timedelta(seconds=storage.timeout_seconds * (storage.retries + 1))


@lru_cache(maxsize=16)
def arrow_store(root: str) -> Any:  # noqa: ANN401  (Arrow's file systems are not typed)
    """Arrow's file system of the store at a root, for Parquet files."""
    from pyarrow import fs  # noqa: PLC0415  (lakes in folders do without)

    kind, found = store_kind(root), in_use()
    if kind == "s3":
        given = {"region": _region(found), "endpoint_override": _endpoint(found)}
        return fs.S3FileSystem(
            **{name: value for name, value in given.items() if value},
            request_timeout=found.timeout_seconds,
            connect_timeout=found.timeout_seconds,
            retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=found.retries + 1),
        )
    if kind == "gs":
        return fs.GcsFileSystem(retry_time_limit=_all_tries(found))
    account = root.partition("@")[2].partition(".")[0]
    return fs.AzureFileSystem(account or os.environ.get("AZURE_STORAGE_ACCOUNT_NAME", ""))


def within(place: str) -> tuple[Any, str]:
    """Arrow's file system for a place in an object store, and the place's path there."""
    root, below = parts_of(place)
    container = root.partition("://")[2].partition("@")[0]
    return arrow_store(root), f"{container}/{below}".rstrip("/")
