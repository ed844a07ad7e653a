"""`spark-submit jobs/explain_reallocation.py ...`: as `clwl explain-reallocation ...`.

The session, its master and its memory are those that spark-submit was given.
"""

import sys
from collections.abc import Sequence

from clwl_spark import cli


def main(argv: Sequence[str] | None = None) -> int:
    """Say why a waiting message stayed where it was, or where it went."""
    return cli.main(["explain-reallocation", *(sys.argv[1:] if argv is None else argv)])


if __name__ == "__main__":
    sys.exit(main())
