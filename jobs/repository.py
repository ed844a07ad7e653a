"""`spark-submit jobs/repository.py ...`: what `clwl repository ...` does.

The session, its master and its memory are those that spark-submit was given.
"""

import sys
from collections.abc import Sequence

from clwl_spark import cli


def main(argv: Sequence[str] | None = None) -> int:
    """Show what a queue manager knows of its clusters."""
    return cli.main(["repository", *(sys.argv[1:] if argv is None else argv)])


if __name__ == "__main__":
    sys.exit(main())
