"""Memories that were imported: which algorithm they are of, and before which batch."""

from clwl_spark.delta.commits import mark_transaction
from clwl_spark.delta.lake import Lake
from clwl_spark.mq.vocabulary import Algorithm
from clwl_spark.tables import ROUTER_MEMORY


def mark_imported(lake: Lake, algorithm: Algorithm, batch_id: int) -> None:
    """Say that the memory before a batch was imported, and of which algorithm it is."""
    if lake.is_here:
        mark_transaction(lake.path(ROUTER_MEMORY.name), _imported(algorithm), batch_id)


def imported_before(lake: Lake) -> int:
    """The last batch before which a memory was imported; 0 = none was since the first one."""
    of = ROUTER_MEMORY.name
    return max(0, *(lake.newest_transaction(of, _imported(x)) for x in Algorithm))


def imported_algorithm(lake: Lake) -> Algorithm | None:
    """The algorithm that `mark_imported` has said; None = nothing was imported."""
    if not lake.is_here:
        return None
    of = ROUTER_MEMORY.name
    return next((x for x in Algorithm if lake.newest_transaction(of, _imported(x)) >= 0), None)


def _imported(algorithm: Algorithm) -> str:
    """The application of the transaction that an import of a memory is."""
    return f"clwl-imported-{algorithm.value}"
