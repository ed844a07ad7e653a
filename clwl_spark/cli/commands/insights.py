"""`clwl insights`: its options and help."""

from dataclasses import dataclass

from clwl_spark.cli.options import Common, run_command
from clwl_spark.cli.shared_options import At, Exit, Limit, Snapshot


@dataclass(frozen=True, slots=True)
class InsightsWords:
    """Options of `clwl insights`."""

    snapshot: Snapshot = None
    at: At = None
    limit: Limit = 15
    exit: Exit = None


def insights(common: Common, options: InsightsWords) -> int:
    """Show what decides the traffic of a whole topology, and what deceives.

    Which rule decides how much; attributes that are set and decide nothing; queues whose several
    hosts are no availability (rank, binding, disabled puts); own views that differ from what
    owners define; where a queue manager of MQ 7 and one of MQ 9 would send differently.

    [bold]Examples[/bold]

    clwl insights --lake build/lake

    clwl insights --lake build/lake --snapshot tuesday --json
    """
    return run_command("insights", common, options)
