"""JARs that a platform brings and a laptop lacks, fetched from Maven Central once, for tests."""

import hashlib
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from clwl_spark.spark.runtime import cache_folder
from clwl_spark.spark.runtime.jars import ATTEMPTS, PAUSE_SECONDS, resolve
from clwl_spark.spark.runtime.java import java_home
from clwl_spark.spark.runtime.network import trust_options

SDK = "2.57.8"
S3A = (
    "org.apache.hadoop:hadoop-aws:3.5.0",
    *(
        f"software.amazon.awssdk:{x}:{SDK}"
        for x in ("s3", "s3-transfer-manager", "sts", "kms", "apache-client")
    ),
    "software.amazon.s3.analyticsaccelerator:analyticsaccelerator-s3:1.3.0",
)
"""What S3A needs of the SDK: 21 MB, where the SDK's bundle has some 600."""
S3A_EXCLUDED = (
    "software.amazon.awssdk:bundle,org.apache.hadoop:hadoop-c*,org.slf4j:*,org.wildfly*:*,"
    "com.google*:*,commons-*:*,org.jspecify:*"
)


def platform_jars(packages: Sequence[str], excluded: str) -> list[Path]:
    """The JARs of packages and of what they need, from a folder that keeps them.

    Raises:
        RuntimeError: they cannot be fetched.
    """
    cache = cache_folder(os.environ)
    name = hashlib.sha256("\n".join([*packages, excluded]).encode()).hexdigest()[:12]
    folder = cache / "platforms" / name
    if not folder.exists():
        _fetch(packages, excluded, folder)
    return sorted(folder.glob("*.jar"))


def _fetch(packages: Sequence[str], excluded: str, folder: Path) -> None:
    """Fetch into a folder, which is there when all of it is."""
    java = java_home(cache_folder(os.environ), os.environ)
    folder.parent.mkdir(parents=True, exist_ok=True)
    said = ""
    for attempt in range(ATTEMPTS):
        time.sleep(PAUSE_SECONDS * attempt)
        with tempfile.TemporaryDirectory(dir=folder.parent) as made:
            work = Path(made)
            trust = trust_options(work, os.environ) if attempt % 2 else ()
            said = resolve(packages, excluded, work, java, (os.environ, trust))
            if not said:
                (work / "ivy" / "jars").replace(folder)
                return
    raise RuntimeError(f"cannot fetch {', '.join(packages)}: {said}")
