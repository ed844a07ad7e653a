"""`spark-submit jobs/explain.py ...`: the options, output and exit codes of `clwl explain ...`.

The session, its master and its memory are those that spark-submit was given.
"""

import sys
from collections.abc import Sequence

from clwl_spark import cli


def main(argv: Sequence[str] | None = None) -> int:
    """Show the candidates of a put and the rules that eliminated them."""
    return cli.main(["explain", *(sys.argv[1:] if argv is None else argv)])


if __name__ == "__main__":
    sys.exit(main())
