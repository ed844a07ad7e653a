"""The commands of `clwl`; `words` declares them, so that `--help` starts no Spark."""

from clwl_spark.cli.entry import app, job, main, program

__all__ = ["app", "job", "main", "program"]
