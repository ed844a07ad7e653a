"""Which profiles decide whether an application may make a put: a note of an explanation.

A put to a cluster queue that its queue manager has no definition of is checked on
SYSTEM.CLUSTER.TRANSMIT.QUEUE, whatever transmission queue its channel has.

Source: CONTRACT, "What MQ's texts become", 13; the sources on transmission queues and aliases.
"""

from collections.abc import Sequence

from pyspark.sql import functions as F

from clwl_spark.algorithm.request import Request
from clwl_spark.delta.lake import Lake
from clwl_spark.mq.vocabulary import ObjectType, PlanKind, QueueType, Via
from clwl_spark.planning.put_authority import TRANSMIT_QUEUE, Put, put_authority
from clwl_spark.snapshots.views import EVERYBODY
from clwl_spark.studies.explain.planned import Planned
from clwl_spark.tables import AUTHORITIES, QUEUES
from clwl_spark.tables import columns as c


def authority_note(lake: Lake, asked: Request, found: Planned) -> str:
    """Say which profiles decide; '' where the snapshot has no authorities of the queue manager.

    Args:
        lake: with the snapshot.
        asked: the put.
        found: what it comes to.
    """
    is_put = asked.object_type == ObjectType.QUEUE and asked.via == Via.LOCAL
    if not is_put or found.plan[c.REASON] != 0 or not lake.exists(AUTHORITIES.name):
        return ""
    rows = lake.rows(AUTHORITIES.name, c.QMGR, [asked.qmgr])
    records = [x for x in rows if x[c.SNAPSHOT_ID] == asked.snapshot_id]
    if not records:
        return ""
    name, why = _checked(lake, asked, found)
    return f"authority to put is checked on {name}, {why}: {_told(put_authority(records, name))}"


def _checked(lake: Lake, asked: Request, found: Planned) -> tuple[str, str]:
    """The name whose profiles count, and why that."""
    is_named = asked.object_qmgr not in ("", asked.qmgr)
    if not is_named and _is_defined(lake, asked):
        return asked.object_name, f"which {asked.qmgr} defines"
    if found.plan[c.KIND] == PlanKind.LOCAL:
        return found.plan[c.RESOLVED_OBJECT], "a local queue"
    if found.plan[c.KIND] == PlanKind.XMITQ:
        return found.plan[c.XMITQ], f"its way to {asked.object_qmgr or asked.object_name}"
    if is_named:
        return TRANSMIT_QUEUE, f"as for every put to {asked.object_qmgr}: it has no name of its own"
    return TRANSMIT_QUEUE, f"as for all that {asked.qmgr} does not define"


def _is_defined(lake: Lake, asked: Request) -> bool:
    """Whether the queue manager has a queue of that name; an alias of a queue manager is none."""
    is_alias = (F.col(c.QTYPE) == QueueType.QREMOTE.value) & (F.coalesce(c.RNAME, F.lit("")) == "")
    own = (
        (F.col(c.QMGR) == asked.qmgr)
        & (F.col(c.QUEUE) == asked.object_name)
        & F.col(c.OBSERVER).isin(EVERYBODY, asked.qmgr)
    )
    queues = lake.read_or_empty(QUEUES.name, c.SNAPSHOT_ID, [asked.snapshot_id])
    return not queues.where(own & ~F.coalesce(is_alias, F.lit(False))).isEmpty()


def _told(puts: Sequence[Put]) -> str:
    """The profiles that decide, each with those whom it lets put and whom it does not."""
    by_profile: dict[tuple[str, bool], list[str]] = {}
    for put in puts:
        who = f"{put.entity_type.lower()} {put.entity}"
        by_profile.setdefault((put.profile, put.may_put), []).append(who)
    parts = [
        f"profile {profile} {'lets' if may else 'does not let'} {', '.join(names)} put"
        for (profile, may), names in sorted(by_profile.items())
    ]
    return "; ".join(parts) or "no profile fits it, so nobody but administrators may"
