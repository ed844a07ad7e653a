"""Files that people write by hand: small, and no pipe or device, which may never end."""

import errno
import tomllib
from pathlib import Path
from typing import Any, Final

from clwl_spark.errors import UsageError

LONGEST: Final = 16 << 20
"""In bytes."""
_LONGEST_TOML: Final = 1 << 20
_DEEPEST: Final = 50


def read_small_text(path: Path, longest: int = LONGEST) -> str:
    """A text in UTF-8.

    Raises:
        OSError: it cannot be read, is no regular file, or is longer than so many bytes.
        UnicodeDecodeError: it is not UTF-8.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        raise OSError(errno.EINVAL, "a pipe or a device, not a file")
    with path.open("rb") as file:
        data = file.read(longest + 1)
    if len(data) > longest:
        raise OSError(errno.EFBIG, f"longer than {longest:,} bytes")
    return data.decode("utf-8")


def read_toml(path: Path) -> tuple[dict[str, Any], str]:
    """The values of a TOML file, and its text.

    Raises:
        UsageError: it cannot be read, is no regular file, is longer than a megabyte, or is not
            TOML.
    """
    try:
        text = read_small_text(path, _LONGEST_TOML)
        values = tomllib.loads(text)
        _depth(values)
    except OSError as error:
        why = "no file" if path.exists() and not path.is_file() else error.strerror
        raise UsageError(f"{path}: {why}; give a TOML file") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not TOML: {error}") from error
    except RecursionError as error:
        raise UsageError(f"{path} is not TOML: lists or tables too deep in one another") from error
    return values, text


def _depth(value: object, depth: int = 0) -> None:
    """Refuse lists and tables that are too deep in one another for those who walk them.

    Raises:
        RecursionError: they are.
    """
    if depth > _DEEPEST:
        raise RecursionError
    below = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for part in below:
        _depth(part, depth + 1)
