"""`spark-submit jobs/advise.py ...`: the options, output and exit codes of `clwl advise ...`.

The session, its master and its memory are those that spark-submit was given.
"""

import sys
from collections.abc import Sequence

from clwl_spark import cli


def main(argv: Sequence[str] | None = None) -> int:
    """Find the weights that give wanted shares."""
    return cli.main(["advise", *(sys.argv[1:] if argv is None else argv)])


if __name__ == "__main__":
    sys.exit(main())
