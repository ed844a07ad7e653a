"""`clwl assert`: facts about a configuration that must hold."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from clwl_spark.cli.options import Common, run_command
from clwl_spark.cli.shared_options import At, Exit, Snapshot


@dataclass(frozen=True, slots=True)
class AssertWords:
    """Options of `clwl assert`."""

    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH", help="Files of assertions, or folders.")
    ]
    junit: Annotated[
        Path | None, typer.Option("--junit", metavar="FILE", help="Write JUnit XML too.")
    ] = None
    snapshot: Snapshot = None
    at: At = None
    exit: Exit = None


def assert_(common: Common, options: AssertWords) -> int:
    """Check that facts hold in a snapshot, also while something is down.

    A file is YAML, a list `assertions` of facts like these:

    share(ORDERS from APP1 to QM1) <= 40% when QM2 down

    reachable(ORDERS from APP1) when any channel down

    never crosses cluster PUBLIC (AUDIT from APP1)

    destinations(ORDERS from APP1) >= 2, hops(ORDERS from APP1) <= 1, reason(OLD from APP1) = 2085

    Exit code 1 says that one does not hold, 2 that one names what is not there.

    [bold]Examples[/bold]

    clwl assert facts.yml --lake build/lake

    clwl assert facts/ --lake build/lake --snapshot tuesday --junit build/facts.xml
    """
    return run_command("assert_", common, options)
