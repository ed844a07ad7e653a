"""`spark-submit jobs/state.py ...`: the options, output and exit codes of `clwl state ...`.

The session, its master and its memory are those that spark-submit was given.
"""

import sys
from collections.abc import Sequence

from clwl_spark import cli


def main(argv: Sequence[str] | None = None) -> int:
    """Show what the queue managers of the lake remember."""
    return cli.main(["state", *(sys.argv[1:] if argv is None else argv)])


if __name__ == "__main__":
    sys.exit(main())
