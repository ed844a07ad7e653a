"""Keeps Spark's Java classes in the cache, read and verified, so that each start only maps them.

Java calls it class data sharing. It takes an archive only if its own version and the class path
are those that the archive was made with; with any other it loads classes as ever. Measured on
2 cores: a session 4.9 -> 2.8 s, `clwl explain` from a cold start 25 -> 17 s.
"""

import hashlib
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pyspark

from clwl_spark.errors import SetupError
from clwl_spark.runtime.java import JavaHome

KEPT: Final = 3
"""Archives of other installations that stay in the cache; one has some 150 MB."""
_SECONDS: Final = 600
_LAUNCHED: Final = "Spark Command: "
_QUIET: Final = "-Xlog:disable -Xlog:all=error:stderr"
_FIRST_COMPILER: Final = "-XX:TieredStopAtLevel=1"
_SMALL: Final = ("--messages", "1000", "--qmgrs", "4", "--clusters", "1", "--instances", "2")
_BY_SPARK: Final = ("--engine", "spark", "--set")
_COMPILED: Final = ("--set", "spark.sql.codegen.wholeStage=true")
"""So that what compiles Spark's plans is among the classes; small work interprets them."""


def class_archive(cache: Path, java: JavaHome, jars: tuple[Path, ...]) -> Path:
    """Where the archive for this Java and these JARs is, or would be.

    Java takes an archive only with the very files that it was made of, by time and size.
    """
    own = sorted((Path(pyspark.__file__).parent / "jars").glob("*.jar"))
    files = [f"{jar} {_stamp(jar)}" for jar in (*own, *jars)]
    known_by = "\n".join((str(java.executable), java.version, pyspark.__version__, *files))
    return cache / "classes" / f"{hashlib.sha256(known_by.encode()).hexdigest()[:16]}.jsa"


def _stamp(file: Path) -> str:
    """Time of the last change and size; blank for no file."""
    try:
        found = file.stat()
    except OSError:
        return ""
    return f"{found.st_mtime_ns // 10**9} {found.st_size}"


def sharing_options(archive: Path) -> str:
    """Java's options that use the archive; none if it is not there.

    Java would say on standard output that an archive does not fit; results are printed there.
    """
    return f'-XX:SharedArchiveFile="{archive}" {_QUIET}' if archive.is_file() else ""


def make_class_archive(archive: Path, java: JavaHome, env: Mapping[str, str]) -> None:
    """Route a few messages, note which classes Spark loads, and write the archive; two minutes.

    Args:
        archive: what to write; it is there whole, or not at all.
        java: whose classes.
        env: the environment to work in.

    Raises:
        SetupError: a step failed, or took too long.
    """
    try:
        archive.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="make-", dir=archive.parent) as folder:
            work = Path(folder)
            lists = [work / "generate.lst", work / "route.lst"]
            said = [_run(_listing(x.stem, work / "lake", x), env) for x in lists]
            loaded = dict.fromkeys(line for x in lists for line in x.read_text().splitlines())
            (work / "all.lst").write_text("\n".join(loaded) + "\n")
            _run(_dumping(java, _class_path(said[-1]), work), env)
            (work / "all.jsa").replace(archive)
        _forget(archive)
    except OSError as error:
        raise SetupError(f"cannot write {archive}: {error}") from error


def _listing(command: str, lake: Path, classes: Path) -> list[str]:
    """The command that writes down which classes it loads."""
    options = f"-XX:DumpLoadedClassList={shlex.quote(str(classes))} {_QUIET} {_FIRST_COMPILER}"
    more: tuple[str, ...] = ()
    if command == "generate":
        more = (*_SMALL, *_COMPILED)
    setting = f"spark.driver.extraJavaOptions={options}"
    command_line = (command, "--lake", str(lake), *more, *_BY_SPARK, setting)
    return [sys.executable, "-m", "clwl_spark.cli", *command_line]


def _class_path(said: str) -> str:
    """The class path in what Spark's launcher says of itself: the archive's has to be the same."""
    for line in said.splitlines():
        if line.startswith(_LAUNCHED):
            words = shlex.split(line.removeprefix(_LAUNCHED))
            return words[words.index("-cp") + 1]
    raise SetupError("Spark's launcher did not say its class path")


def _dumping(java: JavaHome, class_path: str, work: Path) -> list[str]:
    """The command that reads and verifies the classes and writes them as an archive."""
    return [
        str(java.executable),
        "-Xshare:dump",
        *_QUIET.split(),
        f"-XX:SharedClassListFile={work / 'all.lst'}",
        f"-XX:SharedArchiveFile={work / 'all.jsa'}",
        *("-cp", class_path),
    ]


def _run(command: list[str], env: Mapping[str, str]) -> str:
    """Run the command; returns what it said on standard error."""
    telling = {**env, "SPARK_PRINT_LAUNCH_COMMAND": "1"}
    try:
        done = subprocess.run(  # noqa: S603
            command, env=telling, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise SetupError(f"{shlex.join(command[:4])} took more than {_SECONDS} seconds") from error
    if done.returncode:
        last = (done.stderr.strip() or done.stdout.strip() or "nothing was said").splitlines()[-1]
        raise SetupError(f"{shlex.join(command[:4])} ended with {done.returncode}: {last}")
    return done.stderr


def _forget(archive: Path) -> None:
    """Remove archives of installations that were made long ago."""
    others = [x for x in archive.parent.glob("*.jsa") if x != archive]
    for old in sorted(others, key=lambda x: x.stat().st_mtime)[:-KEPT]:
        old.unlink(missing_ok=True)
