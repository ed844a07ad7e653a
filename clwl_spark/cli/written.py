"""Files that commands write beside their answers: whole, or not at all."""

import os
from contextlib import suppress
from pathlib import Path

from clwl_spark.errors import CannotWriteError, UsageError, is_full_disk


def write_whole(file: Path, text: str, option: str) -> None:
    """Put a whole file where it is wanted; until it is whole, an older one stays.

    Args:
        file: its folder is made; what is no file, such as a pipe, is written to as it is.
        text: its content.
        option: that named it, for errors.

    Raises:
        CannotWriteError: the disk is full.
        UsageError: the file cannot be written.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.exists() and not file.is_file():
            file.write_text(text, encoding="utf-8")
        else:
            _replace(file.resolve(), text)
    except OSError as error:
        named = f"{option} {file}: {error.strerror}"
        if is_full_disk(error):
            raise CannotWriteError(f"{named}; make room, and run the command again") from error
        raise UsageError(f"{named}; give another file") from error


def _replace(file: Path, text: str) -> None:
    new = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        new.write_text(text, encoding="utf-8")
        new.replace(file)
    finally:
        with suppress(OSError):
            new.unlink()
