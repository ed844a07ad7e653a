"""Says what on this machine would keep the package from working, and what to do about it."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Final

from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import Version
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from clwl_spark.errors import SetupError
from clwl_spark.spark.embedded import (
    SAIL,
    embedded_session,
    machine_memory_mib,
    why_not_here,
)
from clwl_spark.spark.local import spark_session
from clwl_spark.spark.runtime import cache_folder
from clwl_spark.spark.runtime.jars import jar_faults, jars_folder, pyspark_fault
from clwl_spark.spark.runtime.java import REMEDY, JavaMissing, java_home

OLDEST_PYTHON: Final = (3, 11)
LIBRARIES: Final[Mapping[str, str]] = {
    "pyspark": ">=4.0.5,!=4.1.0,!=4.1.1,!=4.1.2,!=4.1.3,<=4.2.0",
    "pysail": f"=={SAIL}",
    "delta-spark": "==4.4.0",
    "pandas": ">=2.2,<3",
    "pyarrow": ">=18",
}
FREE_GIGABYTES: Final = 2
PYTHON_SECONDS: Final = 30
TRIAL_ROWS: Final = 3
INSTALL: Final = "run `make setup`, or install clwl-spark anew"

_LOCK: Final = Path(__file__).parents[3] / "requirements.txt"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at.

    Attributes:
        name: what was looked at.
        ok: whether it fits.
        found: what is there.
        remedy: what to do if it does not fit; else `''`.
    """

    name: str
    ok: bool
    found: str
    remedy: str = ""


def checks(env: Mapping[str, str] = os.environ, lock: Path = _LOCK) -> list[Check]:
    """Look at everything that can be judged without starting Spark.

    Args:
        env: the environment that Spark would be started from.
        lock: the versions that were tested together; need not exist.
    """
    return [
        check_python(sys.version_info[:3]),
        check_java(env),
        *(check_library(name, wanted) for name, wanted in LIBRARIES.items()),
        check_jars(env),
        check_workers(env),
        check_space(),
        check_lock(lock),
    ]


def doctor_report(found: Sequence[Check], *, as_json: bool = False) -> str:
    """Write checks as lines for a reader, or as one JSON document."""
    if as_json:
        document = {"ok": healthy(found), "checks": [asdict(check) for check in found]}
        return json.dumps(document, indent=2)
    width = max((len(check.name) for check in found), default=0)
    return "\n".join(_line(check, width) for check in found)


def healthy(found: Sequence[Check]) -> bool:
    """True where every check is well."""
    return all(check.ok for check in found)


def check_python(version: tuple[int, ...]) -> Check:
    """Python is new enough."""
    words = ".".join(map(str, version))
    return _verdict("python", words, version >= OLDEST_PYTHON, "install Python 3.11 or newer")


def check_java(env: Mapping[str, str]) -> Check:
    """A Java for Spark is there; says where it came from."""
    try:
        java = java_home(cache_folder(env), env)
    except JavaMissing as error:
        return Check("java", ok=False, found="; ".join(error.tried), remedy=REMEDY)
    except SetupError as error:
        remedy = "set CLWL_CACHE to a folder you can write"
        return Check("java", ok=False, found=str(error), remedy=remedy)
    return Check("java", ok=True, found=f"{java.version} from {java.origin}: {java.executable}")


def check_library(name: str, wanted: str) -> Check:
    """A library has a version that this package works with."""
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return Check(name, ok=False, found="missing", remedy=INSTALL)
    fits = Requirement(name + wanted).specifier.contains(Version(version), prereleases=True)
    return _verdict(name, version, fits, f"{name}{wanted} is needed: {INSTALL}")


def check_jars(env: Mapping[str, str]) -> Check:
    """The Delta JARs are in the cache, whole and unchanged."""
    cache = cache_folder(env)
    faults = jar_faults(cache)
    found = "; ".join(faults) or f"both whole, in {jars_folder(cache)}"
    remedy = "run `python -m clwl_spark.spark.runtime` with access to Maven Central"
    remedy = INSTALL if pyspark_fault() else remedy
    return _verdict("delta jars", found, not faults, remedy)


def check_workers(env: Mapping[str, str]) -> Check:
    """`PYSPARK_PYTHON`, if set, starts the Python that runs here."""
    chosen = env.get("PYSPARK_PYTHON")
    if not chosen:
        return Check("worker python", ok=True, found=f"{sys.executable} (as the driver's)")
    prefix = _prefix(chosen, env)
    same = prefix == sys.prefix
    where = prefix or "which does not start"
    remedy = f"unset PYSPARK_PYTHON, or set it to {sys.executable}"
    return _verdict("worker python", f"PYSPARK_PYTHON={chosen}: {where}", same, remedy)


def check_space() -> Check:
    """The folder for temporary files has room for a shuffle."""
    folder = tempfile.gettempdir()
    free = shutil.disk_usage(folder).free / 2**30
    remedy = f"free {FREE_GIGABYTES} GB in {folder}, or set TMPDIR to another disk"
    return _verdict("disk space", f"{free:.1f} GB in {folder}", free >= FREE_GIGABYTES, remedy)


def check_lock(lock: Path) -> Check:
    """What is installed is what the lock names."""
    if not lock.is_file():
        return Check("lock", ok=True, found="none here: installed as a package")
    drift = [fault for line in lock.read_text().splitlines() if (fault := _drift(line))]
    found = "; ".join(drift) or "every library as locked"
    return _verdict("lock", found, not drift, "run `make setup`")


def check_embedded() -> Check:
    """The engine embedded starts, and works something out."""
    if lacking := why_not_here():
        return Check("engine embedded", ok=False, found=lacking, remedy=INSTALL)
    try:
        with embedded_session() as session:
            rows = session.range(TRIAL_ROWS).count()
    except (PySparkException, OSError, RuntimeError) as error:
        return Check("engine embedded", ok=False, found=_first(error), remedy=INSTALL)
    found = f"Sail {SAIL}, without Java; up to {machine_memory_mib() // 2:,} MiB"
    return Check("engine embedded", ok=rows == TRIAL_ROWS, found=found)


def check_spark() -> Check:
    """A session starts, and a Delta table comes back as it was written."""
    try:
        with tempfile.TemporaryDirectory() as folder, spark_session(app_name="doctor") as spark:
            spark.range(TRIAL_ROWS).write.format("delta").save(f"{folder}/table")
            rows = spark.read.format("delta").load(f"{folder}/table").count()
            version = spark.version
    except (SetupError, PySparkException, Py4JError, OSError) as error:
        remedy = "mend what the other checks name first; then the first line of the error"
        return Check("engine spark", ok=False, found=_first(error), remedy=remedy)
    found = f"{version}: wrote a Delta table of {TRIAL_ROWS} rows and read {rows}"
    return Check("engine spark", ok=rows == TRIAL_ROWS, found=found)


def _first(error: Exception) -> str:
    """The first line of what an error says."""
    return next(iter(str(error).splitlines()), type(error).__name__)


def _verdict(name: str, found: str, ok: bool, remedy: str) -> Check:  # noqa: FBT001
    """A check whose remedy shows only where it is needed."""
    return Check(name, ok=ok, found=found, remedy="" if ok else remedy)


def _line(check: Check, width: int) -> str:
    """One check as a line."""
    advice = f" -> {check.remedy}" if check.remedy else ""
    verdict = "ok  " if check.ok else "FAIL"
    return f"{verdict} {check.name:<{width}} {check.found}{advice}"


def _prefix(python: str, env: Mapping[str, str]) -> str:
    """The environment that a Python program runs in; `''` if it does not start."""
    program = shutil.which(python, path=env.get("PATH"))
    if program is None:
        return ""
    command = [program, "-c", "import sys; print(sys.prefix)"]
    try:
        done = subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, timeout=PYTHON_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip()


def _drift(line: str) -> str:
    """How the installed library differs from a line of the lock; `''` if it does not."""
    try:
        locked = Requirement(line.removesuffix("\\").strip())
    except InvalidRequirement:
        return ""
    if locked.marker and not locked.marker.evaluate():
        return ""
    try:
        version = metadata.version(locked.name)
    except metadata.PackageNotFoundError:
        return f"{locked.name} missing"
    fits = locked.specifier.contains(version, prereleases=True)
    return "" if fits else f"{locked.name} {version}, locked {locked.specifier}"
