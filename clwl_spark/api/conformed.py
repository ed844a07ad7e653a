"""Predictions held against what was seen, as the Python API asks for it."""

from datetime import datetime
from typing import TypedDict

from clwl_spark.delta.lake import Lake
from clwl_spark.errors import UsageError
from clwl_spark.studies.conform.find import LOOKED_INTO, conform
from clwl_spark.studies.conform.match import Wanted
from clwl_spark.studies.conform.model import Conformity
from clwl_spark.tables.moments import micros


class ConformOptions(TypedDict, total=False):
    """Options of `OpenLake.conform`, those of `clwl conform`.

    Attributes:
        object_name: only what was put to it.
        qmgr: only what this queue manager put.
        since: only what was put from then on, a moment with its zone.
        until: only what was put up to then.
        explain: queue managers whose first disagreement is looked into.
    """

    object_name: str | None
    qmgr: str | None
    since: datetime | None
    until: datetime | None
    explain: int


def conformed(lake: Lake, options: ConformOptions) -> Conformity:
    """Hold what was foretold against what was seen.

    Raises:
        UsageError: a moment without its zone.
        InputError: nothing was seen, or nothing was routed.
    """
    wanted = Wanted(
        options.get("object_name"),
        options.get("qmgr"),
        _micros(options.get("since")),
        _micros(options.get("until")),
    )
    return conform(lake, wanted, options.get("explain", LOOKED_INTO))


def _micros(moment: datetime | None) -> int | None:
    if moment is None:
        return None
    if moment.tzinfo is None:
        raise UsageError(f"{moment}: a moment needs its zone, such as datetime.UTC")
    return micros(moment)
