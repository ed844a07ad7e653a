"""All messages of a lake followed hop by hop; each hop is routed like the first put.

Exactly once (`routing.hops.following`); the next hop's messages are routed with everything that
routing promises (`routing.run`). So a run that was killed anywhere is gone on with by the next one,
and running twice adds nothing.

A way that goes in circles is followed for `most_hops` and then cut off, so nothing hangs.
"""

from dataclasses import replace
from typing import Any, Final

from pyspark.sql import functions as F

from clwl_spark.delta.lake import Lake
from clwl_spark.errors import UsageError
from clwl_spark.logs import OnProgress
from clwl_spark.mq.vocabulary import Duplicates
from clwl_spark.routing.engines.batch import RouteOptions, of_lake
from clwl_spark.routing.hops.following import Following
from clwl_spark.routing.hops.lakes import lake_at
from clwl_spark.routing.ledger.runs import DONE
from clwl_spark.routing.run import route
from clwl_spark.tables import HOP_BATCHES, HOPS, MESSAGES, OUTCOMES, RUNS, XMITQ_LINKS
from clwl_spark.tables import columns as c
from clwl_spark.tables.journeys import CUT_OFF, ENDS, HOP

MOST_HOPS: Final = 64
GOES_ON: Final = "GOES_ON"


def check_hops(most_hops: int) -> None:
    """Refuse a number of hops that cannot be followed.

    Raises:
        UsageError: not 1 to 64.
    """
    if not 1 <= most_hops <= MOST_HOPS:
        raise UsageError(f"--hops {most_hops}: give 1 to {MOST_HOPS}")


def follow_messages(
    lake: Lake, options: RouteOptions, most_hops: int, progress: OnProgress | None = None
) -> None:
    """Follow what is routed on, hop by hop; `hops` has a row per message and hop.

    Args:
        lake: already routed (`routing.run.route`).
        options: how the first hop was routed; the semantics are the lake's.
        most_hops: 1 to 64; more hops than an earlier run go on where that one cut off.
        progress: is told (stage, done, of).

    Raises:
        LakeStateError: the outcomes, or the checkpoint, of a hop do not belong to the lake, or
            another run follows it at this moment.
        UsageError: no such number of hops.
    """
    check_hops(most_hops)
    tell = progress or (lambda _stage, _done, _of: None)
    lake.create([HOPS, HOP_BATCHES, XMITQ_LINKS])
    _take_up_again(lake, most_hops)
    options = replace(of_lake(options, lake), duplicates=Duplicates.KEEP, is_onward=True)
    for hop in range(1, most_hops + 1):
        tell("hops", hop - 1, most_hops)
        here = lake_at(lake, hop)
        if hop > 1 and _has_more_messages(here):
            route(here, options)
        if not here.exists(OUTCOMES.name):
            break
        Following(lake, here, hop, is_last=hop == most_hops).run()
        if not lake_at(lake, hop + 1).exists(MESSAGES.name):
            break
    tell("hops", most_hops, most_hops)


def hop_figures(lake: Lake) -> list[dict[str, Any]]:
    """How many messages of the lake took each hop, and how their ways end there.

    Returns:
        (hops,) documents: hop, messages, and a count for each ending; GOES_ON = none.
    """
    ends = F.coalesce(ENDS, F.lit(GOES_ON)).alias(ENDS)
    counted = lake.read(HOPS.name).groupBy(HOP, ends).count().orderBy(HOP, ENDS).collect()
    figures: dict[int, dict[str, int]] = {}
    for row in counted:
        figures.setdefault(row[HOP], {})[row[ENDS]] = row["count"]
    return [
        {HOP: hop, "messages": sum(by_end.values()), ENDS: by_end}
        for hop, by_end in figures.items()
    ]


def _take_up_again(lake: Lake, most_hops: int) -> None:
    """Where an earlier run cut off after fewer hops, the ways go on now."""
    cut = [end.value for end in CUT_OFF]
    of_these = (F.col(HOP) < most_hops) & F.col(ENDS).isin(cut)
    if lake.read(HOPS.name).where(of_these).isEmpty():
        return
    lake.clear(HOPS.name, ENDS, {HOP: range(1, most_hops), ENDS: cut})


def _has_more_messages(lake: Lake) -> bool:
    """Whether the hop has messages that no run has finished routing."""
    runs = lake.read_or_empty(RUNS.name)
    done = runs.where(F.col(c.STATUS) == DONE).agg(F.sum("messages")).first()
    routed = done[0] if done and done[0] is not None else 0
    unfinished = not runs.where(F.col(c.STATUS) != DONE).isEmpty()
    return unfinished or lake.read(MESSAGES.name).count() != routed
