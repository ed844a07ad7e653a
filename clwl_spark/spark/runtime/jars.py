"""Keeps the two Delta JARs in the project's cache: fetched once, checked at each use.

Spark's own resolver fetches them, told to take nothing else: the other libraries that Delta asks
for come with pyspark already, some of them newer.
"""

import hashlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyspark

from clwl_spark.errors import SetupError
from clwl_spark.spark.runtime.java import JavaHome
from clwl_spark.spark.runtime.network import proxy_options, trust_options

ATTEMPTS: Final = 4
ATTEMPT_SECONDS: Final = 300
PAUSE_SECONDS: Final = 3

_COMES_WITH_PYSPARK: Final = (
    "com.fasterxml*:*,org.apache*:*,com.github.luben:*,com.google.code.findbugs:*,commons-*:*,"
    "io.airlift:*,io.unitycatalog:*,io.delta:delta-kernel*,javax.annotation:*,org.locationtech*:*,"
    "org.roaringbitmap:*,org.slf4j:*,org.xerial*:*"
)
_RESOLVER: Final = (
    '<ivysettings><settings defaultResolver="central"/><resolvers>'
    '<ibiblio name="central" m2compatible="true" usepoms="true"/></resolvers></ivysettings>'
)

_TELLING: Final = ("Server access error", " not found. url=", "rror", "xception")


@dataclass(frozen=True, slots=True)
class Jar:
    """One JAR of one release, known by its content."""

    artifact: str
    version: str
    size: int
    sha256: str

    @property
    def file_name(self) -> str:
        """Name of the file in the cache."""
        return f"{self.artifact}-{self.version}.jar"

    @property
    def coordinates(self) -> str:
        """Group, artifact and version, as the resolver wants them."""
        return f"io.delta:{self.artifact}:{self.version}"

    def fault(self, file: Path) -> str:
        """Say what is wrong with `file` as a copy of this JAR; `''` if nothing is."""
        try:
            size = file.stat().st_size
            if size != self.size:
                return f"{file.name}: {size} bytes instead of {self.size}"
            with file.open("rb") as content:
                digest = hashlib.file_digest(content, "sha256").hexdigest()
        except OSError as error:
            return f"{file.name}: {error.strerror}"
        return "" if digest == self.sha256 else f"{file.name}: the SHA-256 is {digest}"


DELTA: Final = "4.4.0"
_FOR_SPARK: Final[Mapping[str, tuple[int, str]]] = {
    "4.0": (9_469_662, "49e899667168b9412f83cbe894ce264107d7b896d6c5e12edca4e216845c1104"),
    "4.1": (9_471_929, "75a9400986853c061f5109f012547de2545a5759e5e752e5ef633dabe16a4f10"),
    "4.2": (9_515_916, "27d4fd8b1f879535c573ed1c718177d6a27f24d3e626ba02e216369725721ead"),
}
"""Size and SHA-256 of Delta's JAR for a release of Spark."""


def jars_for(pyspark_version: str) -> tuple[Jar, ...]:
    """The JARs that go with a PySpark; none for one whose Spark Delta has none for."""
    spark = ".".join(pyspark_version.split(".")[:2])
    if spark not in _FOR_SPARK:
        return ()
    storage = "c46735481fa8e326b0957be02b4420cbcab4b325bb08009b7f2045a95133f1cc"
    return (
        Jar(f"delta-spark_{spark}_2.13", DELTA, *_FOR_SPARK[spark]),
        Jar("delta-storage", DELTA, 113_863, storage),
    )


DELTA_JARS: Final = jars_for(pyspark.__version__)


def pyspark_fault() -> str:
    """Say what is wrong with the PySpark that is installed; `''` if nothing is."""
    if DELTA_JARS:
        return ""
    return (
        f"pyspark is {pyspark.__version__}, this version works with "
        f"{', '.join(_FOR_SPARK)}: pip install 'pyspark[connect]==4.2.0'"
    )


class JarsMissing(SetupError):
    """The Delta JARs are not in the cache and could not be fetched."""

    def __init__(self, folder: Path, reason: str) -> None:
        """Say why, and the two ways out."""
        self.folder = folder
        self.reason = reason
        names = " and ".join(jar.file_name for jar in DELTA_JARS)
        super().__init__(
            f"cannot fetch the Delta JARs: {reason}; run `python -m clwl_spark.spark.runtime` once "
            f"with access to Maven Central, or copy {names} to {folder}"
        )


def jars_folder(cache: Path) -> Path:
    """Return the folder of the JARs of this release of Delta."""
    return cache / "jars" / f"delta-{DELTA}"


def jar_files(cache: Path) -> tuple[Path, ...]:
    """Return where the JARs are, or would be."""
    return tuple(jars_folder(cache) / jar.file_name for jar in DELTA_JARS)


def jar_faults(cache: Path) -> tuple[str, ...]:
    """Return what is wrong with the JARs in the cache, a sentence each; nothing if all is well."""
    if fault := pyspark_fault():
        return (fault,)
    folder = jars_folder(cache)
    return tuple(fault for jar in DELTA_JARS if (fault := jar.fault(folder / jar.file_name)))


def delta_jars(cache: Path, java: JavaHome, env: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the paths of the Delta JARs, fetching them if the cache has no sound copy.

    Args:
        cache: the project's cache.
        java: runs the resolver.
        env: the environment, for proxies and certificates.

    Raises:
        SetupError: there are none for the PySpark that is installed.
        JarsMissing: no sound copy, and the resolver did not bring one.
    """
    if fault := pyspark_fault():
        raise SetupError(fault)
    if jar_faults(cache):
        _fetch(jars_folder(cache), java, env)
    return jar_files(cache)


def _fetch(folder: Path, java: JavaHome, env: Mapping[str, str]) -> None:
    """Bring the JARs into `folder`; each appears there whole and checked, or not at all."""
    reason = ""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for attempt in range(ATTEMPTS):
            time.sleep(PAUSE_SECONDS * attempt)
            with tempfile.TemporaryDirectory(prefix="fetch-", dir=folder) as work:
                trust = trust_options(Path(work), env) if attempt % 2 else ()
                reason = _resolve(Path(work), java, env, trust)
                reason = _take(Path(work).rglob("*.jar"), folder) or reason
            if not jar_faults(folder.parent.parent):
                return
    except OSError as error:
        reason = f"{error}; set CLWL_CACHE to a folder you can write"
    raise JarsMissing(folder, reason)


def _resolve(work: Path, java: JavaHome, env: Mapping[str, str], trust: Iterable[str]) -> str:
    """Let Spark's resolver fetch the JARs below `work`; return its complaint, or `''`."""
    packages = [jar.coordinates for jar in DELTA_JARS]
    return resolve(packages, _COMES_WITH_PYSPARK, work, java, (env, trust))


def resolve(
    packages: Iterable[str],
    excluded: str,
    work: Path,
    java: JavaHome,
    reached: tuple[Mapping[str, str], Iterable[str]],
) -> str:
    """Let Spark's resolver fetch packages of Maven Central, and what they need, below a folder.

    Args:
        packages: `group:artifact:version` of each.
        excluded: `group:artifact` of what is not fetched, with `*`, between commas.
        work: the folder; the JARs are in `ivy/jars` of it then.
        java: runs the resolver.
        reached: the environment, for proxies, and Java options for certificates.

    Returns:
        The resolver's complaint, or `''`.
    """
    env, trust = reached
    settings, program = work / "ivysettings.xml", work / "nothing.py"
    settings.write_text(_RESOLVER)
    program.write_text("")
    spark_home = Path(pyspark.__file__).parent
    options = " ".join(f'"{option}"' for option in (*proxy_options(env), *trust))
    command = [
        str(spark_home / "bin" / "spark-submit"),
        *("--packages", ",".join(packages)),
        *(("--exclude-packages", excluded) if excluded else ()),
        *("--conf", f"spark.jars.ivySettings={settings}"),
        *("--conf", f"spark.jars.ivy={work / 'ivy'}"),
        *(("--driver-java-options", options) if options else ()),
        str(program),
    ]
    bare = {name: value for name, value in env.items() if not name.startswith(("PYSPARK", "SPARK"))}
    bare |= {
        "JAVA_HOME": str(java.path),
        "SPARK_HOME": str(spark_home),
        "SPARK_CONF_DIR": str(work),
        "PYSPARK_PYTHON": sys.executable,
    }
    try:
        done = subprocess.run(  # noqa: S603
            command,
            env=bare,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=ATTEMPT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"the resolver took more than {ATTEMPT_SECONDS} seconds"
    return _complaint(done.stderr) if done.returncode else ""


def _complaint(output: str) -> str:
    """The line of the resolver's output that says most."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    for word in _TELLING:
        for line in lines:
            if word in line:
                return line
    return lines[-1] if lines else "the resolver said nothing"


def _take(found: Iterable[Path], folder: Path) -> str:
    """Move the sound copies among `found` to `folder`; return what was wrong with the others."""
    faults = []
    for file in found:
        for jar in DELTA_JARS:
            if not file.name.endswith(jar.file_name):
                continue
            if fault := jar.fault(file):
                faults.append(fault)
            else:
                file.replace(folder / jar.file_name)
    return "; ".join(faults)
