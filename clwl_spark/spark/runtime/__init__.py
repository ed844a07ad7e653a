"""What the package needs from the machine: Java, the Delta JARs, and a check of both."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

CACHE_VARIABLE: Final = "CLWL_CACHE"


def cache_folder(env: Mapping[str, str]) -> Path:
    """Return the folder that keeps the JARs and the Java launcher between runs.

    Args:
        env: the process's environment; `CLWL_CACHE` replaces the default below the home folder.

    Returns:
        An absolute path; the folder need not exist yet.
    """
    chosen = env.get(CACHE_VARIABLE)
    return Path(chosen).absolute() if chosen else Path.home() / ".cache" / "clwl_spark"
