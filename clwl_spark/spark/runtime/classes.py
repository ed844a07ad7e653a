"""Classes as one Java has loaded them, kept for the next: Spark starts and answers sooner.

Java reads, checks and links some 20,000 classes before Spark's first answer. An archive of them
(class-data sharing) takes 190 MB of disk and 5 of the 12 s of CPU that a session takes which
writes and reads one small table. A Java that an archive does not fit goes without it.
"""

import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

import pyspark

from clwl_spark.spark.runtime.jars import DELTA_JARS, jars_folder
from clwl_spark.spark.runtime.java import JavaHome

ARCHIVE_VARIABLE: Final = "CLWL_CLASS_ARCHIVE"
"""In the environment of the session that an archive is made of: the file to be made."""
_QUIET: Final = "-Xlog:cds*=off -Xlog:class+path=off"
"""What Java says of an archive would stand among what commands print."""
_SESSION: Final = """
import sys
from clwl_spark.spark.local import spark_session
from clwl_spark.spark.local_settings import SMALL_WORK

with spark_session({**SMALL_WORK, "spark.master": "local[2]"}) as spark:
    rows = spark.range(1000).selectExpr("id", "cast(id % 7 AS string) AS name")
    rows.write.format("delta").save(sys.argv[1])
    read = spark.read.format("delta").load(sys.argv[1])
    read.join(rows, "name").groupBy("name").count().toArrow()
"""
_SECONDS: Final = 600


def archive(cache: Path, java: JavaHome) -> Path | None:
    """The archive of a Java and its JARs; None = there is none that is whole.

    Java checks whether it fits, but comes down where a part of it is gone.

    Args:
        cache: the project's cache.
        java: whose classes they are.
    """
    stem = _stem(cache, java)
    found = stem.parent.glob(f"{stem.name}.*.jsa")
    return next((x for x in found if x.name == _named(stem, x.stat().st_size).name), None)


def _stem(cache: Path, java: JavaHome) -> Path:
    """Its path, less the size."""
    home = Path(pyspark.__file__).parent
    found = [(x.name, x.stat()) for x in sorted((home / "jars").glob("*.jar"))]
    told = [(name, is_.st_size, is_.st_mtime_ns) for name, is_ in found]
    of = (told, java.version, str(java.executable), str(jars_folder(cache)), DELTA_JARS)
    folder = hashlib.sha256(str(home).encode()).hexdigest()[:16]
    return cache / "classes" / folder / hashlib.sha256(repr(of).encode()).hexdigest()[:16]


def _named(stem: Path, size: int) -> Path:
    return stem.with_name(f"{stem.name}.{size}.jsa")


def archive_options(cache: Path, java: JavaHome) -> str:
    """Options of Java's to use the archive, or to make it; '' = there is none."""
    if made := os.environ.get(ARCHIVE_VARIABLE):
        return f'-XX:ArchiveClassesAtExit="{made}" {_QUIET}'
    there = archive(cache, java)
    return f'-XX:SharedArchiveFile="{there}" -Xshare:auto {_QUIET}' if there else ""


def make_archive(cache: Path, java: JavaHome) -> bool:
    """Make the archive unless it is there, in the place of an older one; 20 s, once.

    Returns:
        Whether there is one; without it everything works as well, and later.
    """
    if archive(cache, java):
        return True
    stem = _stem(cache, java)
    try:
        stem.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="making-", dir=stem.parent) as work:
            made = Path(work) / "classes.jsa"
            subprocess.run(  # noqa: S603
                [sys.executable, "-c", _SESSION, str(Path(work) / "table")],
                env={**os.environ, ARCHIVE_VARIABLE: str(made)},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_SECONDS,
                check=True,
            )
            for older in stem.parent.glob("*.jsa"):
                older.unlink()
            made.replace(_named(stem, made.stat().st_size))
    except (OSError, subprocess.SubprocessError):
        return False
    return True
