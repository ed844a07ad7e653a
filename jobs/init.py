"""`spark-submit jobs/init.py ...`: the options, output and exit codes of `clwl init ...`.

The session, its master and its memory are those that spark-submit was given.
"""

import sys
from collections.abc import Sequence

from clwl_spark import cli


def main(argv: Sequence[str] | None = None) -> int:
    """Make the lake's tables, empty."""
    return cli.main(["init", *(sys.argv[1:] if argv is None else argv)])


if __name__ == "__main__":
    sys.exit(main())
