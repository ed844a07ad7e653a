"""Temporary folders of this process; those that killed processes left behind are taken away.

Each is locked by its process, by the system: the lock is gone with the process, however that ends,
so a folder whose lock can be had is nobody's. Nothing is taken away where there are no locks.
"""

import fcntl
import os
import shutil
import stat
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

PREFIXES: Final = ("clwl-route-", "clwl-sail-", "clwl-spark-")
_YOUNG_SECONDS: Final = 60
"""A folder that was made so lately may be one that is going to be locked."""


class TemporaryFolder:
    """A folder of this process, until `close`.

    Attributes:
        path: of it.
    """

    def __init__(self, prefix: str) -> None:
        """Make it, and take away what others have left behind.

        Args:
            prefix: one of PREFIXES, which its name begins with.
        """
        sweep()
        self.path = Path(tempfile.mkdtemp(prefix=prefix))
        self._lock: int | None = _locked(self.path)

    def close(self) -> None:
        """Take it away, with all that is in it; done twice it does nothing."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
        self._lock = None


def sweep() -> None:
    """Take away the folders of this user's processes that are gone."""
    place = Path(tempfile.gettempdir())
    with suppress(OSError):
        for name in os.listdir(place):  # noqa: PTH208  (the system's folder may be large)
            if name.startswith(PREFIXES) and _is_left(place / name):
                _take_away(place / name)


def _is_left(folder: Path) -> bool:
    """Whether a folder may be one that was left behind: this user's, and not made just now."""
    try:
        found = folder.lstat()
    except OSError:
        return False
    is_ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
    return is_ours and time.time() - found.st_mtime > _YOUNG_SECONDS


def _take_away(folder: Path) -> None:
    lock = _locked(folder)
    if lock is not None:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _locked(folder: Path) -> int | None:
    """A lock on a folder, held until it is closed; None where another process has it."""
    try:
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(opened)
        return None
    return opened
