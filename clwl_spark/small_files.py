"""Files that people write by hand: small, and no pipe or device, which may never end."""

import errno
from pathlib import Path
from typing import Final

LONGEST: Final = 16 << 20
"""In bytes."""


def read_small_text(path: Path) -> str:
    """A text in UTF-8.

    Raises:
        OSError: it cannot be read, is no regular file, or is longer than LONGEST.
        UnicodeDecodeError: it is not UTF-8.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        raise OSError(errno.EINVAL, "a pipe or a device, not a file")
    with path.open("rb") as file:
        data = file.read(LONGEST + 1)
    if len(data) > LONGEST:
        raise OSError(errno.EFBIG, f"longer than {LONGEST:,} bytes")
    return data.decode("utf-8")
