"""`spark-submit jobs/clwl.py COMMAND ...`: as `clwl COMMAND ...`, in the session of spark-submit.

The session, its master and its memory are those that spark-submit was given; options, output and
exit codes are the command's. The jobs beside it do one command each.
"""

import sys

from clwl_spark.cli import main

if __name__ == "__main__":
    sys.exit(main())
