"""`spark-submit jobs/share_queue.py ...`: what `clwl share-queue ...` does.

The session, its master and its memory are those that spark-submit was given.
"""

import sys
from collections.abc import Sequence

from clwl_spark import cli


def main(argv: Sequence[str] | None = None) -> int:
    """Simulate who gets the messages of a shared queue."""
    return cli.main(["share-queue", *(sys.argv[1:] if argv is None else argv)])


if __name__ == "__main__":
    sys.exit(main())
