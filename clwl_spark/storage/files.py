"""Files in folders of this machine and in object stores, read and written in the same words."""

import os
import re
import shutil
import uuid
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from clwl_spark.errors import StorageError
from clwl_spark.storage import access
from clwl_spark.storage.places import is_store, joined, name_of, parts_of
from clwl_spark.storage.secrets import without_secrets

_OF_STORE: Final = re.compile(
    r"AWS Error|Azure Error|google::cloud|Object [Ss]tore error|Error performing|"
    r"Generic (S3|GCS|MicrosoftAzure) error|lacked the necessary privileges"
)
"""What those say who are told by an object store that it will not, or by nobody that it does."""
_AT_ONCE: Final = 16
"""Requests for small files that are under way together."""


def fingerprint(file: str) -> tuple[object, ...] | None:
    """What changes when a file does; None = there is none, or none that can be seen.

    Raises:
        StorageError: the store does not answer, or refuses.
    """
    if not is_store(file):
        try:
            found = Path(file).stat()
        except OSError:
            return None
        return (found.st_ino, found.st_size, found.st_mtime_ns)
    store, path = _at(file)
    try:
        with answers(file):
            head = _obstore().head(store, path)
    except FileNotFoundError:
        return None
    return (head["e_tag"], head["size"], head["last_modified"])


def is_file(file: str) -> bool:
    """Whether there is such a file, asked for by its name; no folder is listed."""
    return fingerprint(file) is not None if is_store(file) else Path(file).is_file()


def first_missing(files: Sequence[str]) -> str | None:
    """The first of files that is not there; None = all are."""
    if not files or not is_store(files[0]):
        return next((x for x in files if not Path(x).is_file()), None)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        there = pool.map(is_file, files)
        return next((x for x, found in zip(files, there, strict=True) if not found), None)


def size_of(file: str) -> int:
    """Bytes of a file that is there.

    Raises:
        FileNotFoundError: it is not.
        StorageError: the store does not answer, or refuses.
    """
    if not is_store(file):
        return Path(file).stat().st_size
    store, path = _at(file)
    with answers(file):
        return int(_obstore().head(store, path)["size"])


def read_text(file: str) -> str:
    """The text of a small file.

    Raises:
        OSError: there is none, or it cannot be read.
        StorageError: the store does not answer, or refuses.
    """
    if not is_store(file):
        return Path(file).read_text(encoding="utf-8")
    store, path = _at(file)
    with answers(file):
        return bytes(_obstore().get(store, path).bytes()).decode("utf-8")


def names_in(folder: str) -> list[str]:
    """Names of the files in a folder, in order; none where there is no folder."""
    if not is_store(folder):
        return sorted(x.name for x in Path(folder).iterdir()) if Path(folder).is_dir() else []
    store, path = _at(folder)
    with answers(folder):
        found = _obstore().list_with_delimiter(store, f"{path}/")["objects"]
    return sorted(name_of(x["path"]) for x in found)


def write_new(file: str, text: str) -> bool:
    """Write a small file that is not there yet, in one step, whoever else does the same.

    In a folder of this machine by a link, in an object store by a conditional put.

    Returns:
        Whether the file is this one's; False = there was one already, which stays. After a lost
        answer it may be this one's all the same.

    Raises:
        OSError: the file system has no links, or no room; nothing of the file is left.
        StorageError: the store does not answer, or refuses.
    """
    if is_store(file):
        return _put_new(file, text.encode())
    waiting = Path(file).with_name(f".{uuid.uuid4().hex}.tmp")
    waiting.parent.mkdir(parents=True, exist_ok=True)
    try:
        waiting.write_text(text, encoding="utf-8")
        os.link(waiting, file)
    except FileExistsError:
        return False
    finally:
        waiting.unlink(missing_ok=True)
    return True


def _put_new(file: str, data: bytes) -> bool:
    from obstore.exceptions import AlreadyExistsError  # noqa: PLC0415

    store, path = _at(file)
    try:
        with answers(file):
            _obstore().put(store, path, data, mode="create")
    except AlreadyExistsError:
        return False
    except StorageError:
        # The answer may be lost, and the file be there all the same.
        if not is_file(file):
            raise
        return False
    return True


def delete_folder(folder: str) -> None:
    """Take a folder away, with all that is in it; nothing happens where there is none."""
    if not is_store(folder):
        shutil.rmtree(folder, ignore_errors=True)
        return
    store, path = _at(folder)
    with answers(folder):
        for found in _obstore().list(store, f"{path}/"):
            _obstore().delete(store, [x["path"] for x in found])


def parquet_source(file: str) -> Any:  # noqa: ANN401  (Arrow takes either)
    """What Arrow's readers of Parquet take for a file: its path here, or the open object."""
    if not is_store(file):
        return file
    store, path = access.within(file)
    return store.open_input_file(path)


def parquet_file(file: str, **given: Any) -> pq.ParquetFile:  # noqa: ANN401  (Arrow's own words)
    """A Parquet file to read; of an object store neighbouring parts are fetched together."""
    if not is_store(file):
        return pq.ParquetFile(file, memory_map=True, **given)
    return pq.ParquetFile(parquet_source(file), pre_buffer=True, **given)


@contextmanager
def parquet_sink(folder: str, name: str) -> Iterator[Any]:
    """For the block, what Arrow writes a file of Parquet to; it is there, whole, when it ends.

    What is there under the name is written over. Where the block fails, a folder of this machine
    stays as it was; of an object store, a file may be there that is not whole, and of no table.
    """
    if is_store(folder):
        store, path = access.within(joined(folder, name))
        sink = store.open_output_stream(path)
        yield sink
        sink.close()
        return
    waiting = Path(folder, f".{name}.{uuid.uuid4().hex}")
    try:
        yield waiting
        if waiting.exists():
            waiting.replace(Path(folder, name))
    except BaseException:
        waiting.unlink(missing_ok=True)
        raise


@contextmanager
def answers(place: str) -> Iterator[None]:
    """For the block, what an object store refuses becomes an error with its remedy.

    Raises:
        FileNotFoundError: there is no such file.
        StorageError: the store does not answer, or refuses.
    """
    try:
        yield
    except (FileNotFoundError, StorageError):
        raise
    except (OSError, pa.ArrowException, *_refusals()) as error:
        raise store_error(place, error) from None


def refusal(place: str, error: Exception) -> StorageError | None:
    """An error of delta-rs, Arrow or Sail as one of this package's; None = no store made it."""
    return store_error(place, error) if _OF_STORE.search(str(error)) else None


def store_error(place: str, error: Exception) -> StorageError:
    """An object store did not answer, or refused, in one sentence without secrets."""
    root, _ = parts_of(place)
    said = " ".join(without_secrets(_first_line(str(error))).split())
    return StorageError(
        f"object store {root} cannot be used ({said}): look at the settings [storage], and at the "
        "credentials in the environment"
    )


def _first_line(text: str) -> str:
    """What an error says, without the debug text and the document that stores add."""
    lines: Iterable[str] = text.partition("Debug source")[0].splitlines()
    said = [x.strip() for x in lines if x.strip() and "<" not in x]
    return " ".join(said[:4])[:700]


def _refusals() -> tuple[type[Exception], ...]:
    """What `obstore` raises, but for a file that is there already."""
    from obstore import exceptions as x  # noqa: PLC0415

    return (
        x.GenericError,
        x.InvalidPathError,
        x.JoinError,
        x.NotSupportedError,
        x.PreconditionError,
        x.NotModifiedError,
        x.PermissionDeniedError,
        x.UnauthenticatedError,
        x.UnknownConfigurationKeyError,
    )


def _at(place: str) -> tuple[Any, str]:
    root, below = parts_of(place)
    return access.object_store(root), below


def _obstore() -> Any:  # noqa: ANN401  (a module, loaded when it is first used)
    import obstore  # noqa: PLC0415

    return obstore
