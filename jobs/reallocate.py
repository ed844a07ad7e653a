"""`spark-submit jobs/reallocate.py ...`: options, output, exit codes of `clwl reallocate ...`.

The session, its master and its memory are those that spark-submit was given.
"""

import sys
from collections.abc import Sequence

from clwl_spark import cli


def main(argv: Sequence[str] | None = None) -> int:
    """Let the messages that wait for stopped channels choose anew."""
    return cli.main(["reallocate", *(sys.argv[1:] if argv is None else argv)])


if __name__ == "__main__":
    sys.exit(main())
