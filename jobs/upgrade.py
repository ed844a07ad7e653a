"""`clwl upgrade`, its options, output and exit codes, as a job of spark-submit."""

import sys

from clwl_spark.cli import job

main = job("upgrade")

if __name__ == "__main__":
    sys.exit(main())
