"""`spark-submit jobs/trace.py ...`: the options, output and exit codes of `clwl trace ...`.

The session, its master and its memory are those that spark-submit was given.
"""

import sys
from collections.abc import Sequence

from clwl_spark import cli


def main(argv: Sequence[str] | None = None) -> int:
    """Follow a put hop by hop to its final queues."""
    return cli.main(["trace", *(sys.argv[1:] if argv is None else argv)])


if __name__ == "__main__":
    sys.exit(main())
