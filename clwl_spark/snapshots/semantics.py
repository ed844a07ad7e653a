"""Which semantics a lake is routed with, as its newest run says."""

from collections.abc import Mapping
from typing import Any

from clwl_spark.algorithm.semantics import NEWEST, Semantics
from clwl_spark.delta.lake import Lake
from clwl_spark.errors import LakeStateError
from clwl_spark.mq.vocabulary import Algorithm, Edition, NullOpenId
from clwl_spark.tables import RUNS


def semantics_of(lake: Lake) -> Semantics:
    """The semantics that the lake was first routed with; v9 and the newest edition if it was not.

    A lake that was routed before there were editions is of the first one, and one that does not
    say what messages without an open_id belong to is of opens of their own.
    """
    rows = lake.greatest(RUNS.name, "batch_id") if lake.exists(RUNS.name) else []
    if not rows:
        return NEWEST
    return semantics_in(rows[0])


def semantics_in(row: Mapping[str, Any]) -> Semantics:
    """The semantics that a row of `runs` says.

    Raises:
        LakeStateError: it says one that this version does not know.
    """
    try:
        return Semantics(
            Algorithm(row["algorithm"]),
            Edition(row.get("edition") or Edition.FIRST),
            NullOpenId(row.get("null_open_id") or NullOpenId.OWN),
        )
    except ValueError as error:
        raise LakeStateError(
            f"the lake was routed by another version of clwl, with what this one does not know "
            f"({error}): use that version, or a newer one"
        ) from error
