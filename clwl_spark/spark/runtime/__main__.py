"""`python -m clwl_spark.spark.runtime`: brings what Spark needs into the cache, ahead of use."""

import os
import sys

from clwl_spark.errors import ClwlError
from clwl_spark.spark.runtime import cache_folder
from clwl_spark.spark.runtime.classes import make_archive
from clwl_spark.spark.runtime.jars import delta_jars
from clwl_spark.spark.runtime.java import java_home


def main() -> int:
    """Find Java, fetch the Delta JARs and keep Java's classes."""
    cache = cache_folder(os.environ)
    try:
        java = java_home(cache, os.environ)
        jars = delta_jars(cache, java, os.environ)
    except ClwlError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    kept = " and an archive of classes" if make_archive(cache, java) else ""
    told = f"Java {java.version} ({java.origin}), {len(jars)} Delta JARs{kept} in {cache}\n"
    sys.stdout.write(told)
    return 0


if __name__ == "__main__":
    sys.exit(main())
