"""Memories that were imported: which semantics they are of, and before which batch."""

from itertools import product
from typing import Final

from clwl_spark.algorithm.semantics import Semantics
from clwl_spark.delta.commits import mark_transaction
from clwl_spark.delta.lake import Lake
from clwl_spark.mq.vocabulary import Algorithm, Edition, NullOpenId
from clwl_spark.tables import ROUTER_MEMORY


def mark_imported(lake: Lake, semantics: Semantics, batch_id: int) -> None:
    """Say that the memory before a batch was imported, and of which semantics it is."""
    if lake.is_here:
        mark_transaction(lake.path(ROUTER_MEMORY.name), _imported(semantics), batch_id)


def imported_before(lake: Lake) -> int:
    """The last batch before which a memory was imported; 0 = none was since the first one."""
    of = ROUTER_MEMORY.name
    return max(0, *(lake.newest_transaction(of, _imported(x)) for x in _ALL))


def imported_semantics(lake: Lake) -> Semantics | None:
    """The semantics that `mark_imported` has said; None = nothing was imported."""
    if not lake.is_here:
        return None
    of = ROUTER_MEMORY.name
    return next((x for x in _ALL if lake.newest_transaction(of, _imported(x)) >= 0), None)


def _imported(semantics: Semantics) -> str:
    """The application of the transaction that an import of a memory is."""
    edition = "" if semantics.edition == Edition.FIRST else f"-{semantics.edition.value}"
    opens = f"-{semantics.null_open_id.value}" if semantics.shares_null_opens else ""
    return f"clwl-imported-{semantics.algorithm.value}{edition}{opens}"


_ALL: Final = tuple(Semantics(*x) for x in product(Algorithm, Edition, NullOpenId))
