"""What bears on the choices of some queue managers, brought here: puts, records, plans, statuses.

Rows come to this process, so they are of the queue managers that are looked into, and of each its
messages up to some way behind the first disagreement.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from clwl_spark.algorithm.semantics import Semantics
from clwl_spark.delta.lake import Lake
from clwl_spark.planning.facts import PLAN_COLUMNS, senders
from clwl_spark.routing.state.plan_steps import InForce, in_force
from clwl_spark.routing.state.resets import resets_among
from clwl_spark.snapshots.catalog import snapshot_catalog
from clwl_spark.snapshots.changes import neighbours
from clwl_spark.snapshots.semantics import semantics_of
from clwl_spark.snapshots.views import VIEWER, read_topology
from clwl_spark.spark.frames import frame_from_rows, to_arrow
from clwl_spark.studies.conform.match import TOLD, WHY_NOT, matched, within
from clwl_spark.studies.explain.planned import CANDIDATE_ORDER
from clwl_spark.tables import MESSAGES, OUTCOMES, ROUTE_CANDIDATES, ROUTE_PLANS
from clwl_spark.tables import columns as c

BEHIND: Final = 10_000
"""Messages behind the first disagreement that are looked at, about."""
MOST: Final = 1_000_000
"""Messages of a queue manager that are looked at, at the most."""
SEEN: Final = tuple(f"seen_{name}" for name in TOLD)
IS_SEEN: Final = "is_seen"
BY_PLAN: Final = [(x, "ascending") for x in (c.PLAN_ID, *CANDIDATE_ORDER)]
"""What candidates are sorted by: plan after plan, in route order."""
_BINDING: Final = (c.BIND, c.OPEN_ID, c.GROUP_ID)
_PUT: Final = (c.QMGR, c.PUT_SEQ, c.PUT_TIME, c.PLAN_ID)


@dataclass(frozen=True, slots=True)
class Evidence:
    """Of one queue manager.

    Attributes:
        qmgr: its name.
        puts: a row per message in order: put_seq, put_time in microseconds, plan_id, bind, open_id,
            group_id, `seen_*`, `is_seen`.
        strays: records of puts that no message is known of: object_name, put_time in microseconds,
            `seen_*`.
        plans: rows of route_plans: PLAN_COLUMNS.
        candidates: rows of route_candidates.
        senders: rows of `planning.facts.senders`, by snapshot.
        snapshots: all that are used, in order.
        resets: those that reset its history.
        semantics: the lake's.
        in_force: tells the snapshot of a put; None = its plan does.
    """

    qmgr: str
    puts: pd.DataFrame
    strays: pd.DataFrame
    plans: pa.Table
    candidates: pa.Table
    senders: Sequence[Mapping[str, Any]]
    snapshots: Sequence[str]
    resets: Sequence[str]
    semantics: Semantics
    in_force: InForce | None = None


def gathered(lake: Lake, first: Mapping[str, int]) -> list[Evidence]:
    """The evidence on queue managers, in their order.

    Args:
        lake: routed.
        first: by queue manager, put_seq of its first disagreement.
    """
    bounds = _bounds(lake, first)
    puts = _puts(lake, bounds)
    near = matched(lake, bounds=bounds)
    seen = _pandas(near.where(F.col(WHY_NOT).isNull()).select(c.QMGR, c.PUT_SEQ, *SEEN))
    strays = _strays(near, puts)
    ids = sorted({int(x) for x in puts[c.PLAN_ID].unique()})
    plans, candidates = _plans(lake, ids)
    used = sorted(set(plans[c.SNAPSHOT_ID].to_pylist()))
    rows = _senders(lake, plans)
    catalog = snapshot_catalog(lake)
    pins = [x.snapshot_id for x in catalog.pins]
    snapshots = [*pins, *(x for x in used if x not in pins)]
    resets = resets_among(lake, neighbours(pins))
    told = puts.merge(
        _one_each(seen).assign(**{IS_SEEN: True}),
        on=[c.QMGR, c.PUT_SEQ],
        how="left",
    )
    told[IS_SEEN] = told[IS_SEEN].notna()
    by_qmgr = dict(list(told.groupby(c.QMGR)))
    owner = dict(zip(plans[c.PLAN_ID].to_pylist(), plans[c.QMGR].to_pylist(), strict=True))
    plan_rows, candidate_rows = _split(plans, owner), _split(candidates, owner)
    semantics = semantics_of(lake)
    return [
        Evidence(
            qmgr=qmgr,
            puts=by_qmgr[qmgr].sort_values(c.PUT_SEQ, kind="stable").reset_index(drop=True),
            strays=strays[strays[c.QMGR] == qmgr].reset_index(drop=True),
            plans=plan_rows[qmgr].select(PLAN_COLUMNS),
            candidates=candidate_rows.get(qmgr, candidates.slice(0, 0)),
            senders=[x for x in rows if x[VIEWER] == qmgr],
            snapshots=snapshots,
            resets=resets.get(qmgr, ()),
            semantics=semantics,
            in_force=in_force(catalog.pins),
        )
        for qmgr in first
        if qmgr in by_qmgr
    ]


def _bounds(lake: Lake, first: Mapping[str, int]) -> dict[str, int]:
    """By queue manager, the put_seq up to which its messages are looked at."""
    spread = (
        lake.read(OUTCOMES.name)
        .where(F.col(c.QMGR).isin(list(first)))
        .groupBy(c.QMGR)
        .agg(F.min(c.PUT_SEQ), F.max(c.PUT_SEQ), F.count(F.lit(1)))
    )
    found = {}
    for qmgr, least, greatest, count in spread.collect():
        pace = max((greatest - least) / count, 1)
        found[qmgr] = int(min(first[qmgr] + BEHIND * pace, least + MOST * pace))
    return found


def _puts(lake: Lake, bounds: Mapping[str, int]) -> pd.DataFrame:
    """The messages, each once, with what binds them."""
    near = within(lake.read(OUTCOMES.name).select(*_PUT), bounds).distinct()
    messages = lake.read_or_empty(MESSAGES.name)
    there = [x for x in _BINDING if x in messages.columns]
    of = messages.select(
        F.col(c.QMGR).cast("string").alias(c.QMGR),
        F.col(c.PUT_SEQ).cast("long").alias(c.PUT_SEQ),
        *there,
    )
    bound = [F.col(x).isNotNull() for x in there if x != c.BIND]
    if bound:
        binds = bound[0] if len(bound) == 1 else bound[0] | bound[1]
        by = within(of.where(binds), bounds)
        near = near.join(by, [c.QMGR, c.PUT_SEQ], "left")
    found = _pandas(near)
    for name in _BINDING:
        if name not in found:
            found[name] = None
    return _one_each(found)


def _one_each(rows: pd.DataFrame) -> pd.DataFrame:
    """One row per put_seq of a queue manager; of several, whatever order they came in, the same."""
    key = [c.QMGR, c.PUT_SEQ]
    several = rows[rows.duplicated(key, keep=False)]
    order = several.map(repr).sort_values([*several.columns], kind="stable").index
    return pd.concat([rows.drop(several.index), several.loc[order].drop_duplicates(key)])


def _strays(near: DataFrame, puts: pd.DataFrame) -> pd.DataFrame:
    """Records of puts that no message is known of, up to the last put that is looked at."""
    of = near.where(F.col(WHY_NOT).isNotNull() & F.col(c.PUT_TIME).isNotNull())
    told = of.where(F.col(SEEN[1]).isNotNull() | F.col(SEEN[2]).isNotNull())
    found = _pandas(told.select(c.QMGR, c.OBJECT_NAME, c.PUT_TIME, *SEEN).limit(MOST))
    found = found.sort_values([c.PUT_TIME, c.QMGR, c.OBJECT_NAME, *SEEN], kind="stable")
    last = found[c.QMGR].map(puts.groupby(c.QMGR)[c.PUT_TIME].max())
    return found[(found[c.PUT_TIME] <= last).fillna(value=False).astype(bool)]


def _pandas(frame: DataFrame) -> pd.DataFrame:
    """Rows with whole numbers that may be null, and moments in microseconds."""
    table = to_arrow(frame)
    if c.PUT_TIME in table.column_names:
        at = table.schema.get_field_index(c.PUT_TIME)
        moments = table[c.PUT_TIME].cast(pa.timestamp("us", "UTC")).cast(pa.int64())
        table = table.set_column(at, c.PUT_TIME, moments)
    whole = {pa.int64(): pd.Int64Dtype(), pa.int32(): pd.Int64Dtype()}
    rows: pd.DataFrame = table.to_pandas(types_mapper=whole.get)
    return rows


def _plans(lake: Lake, ids: Sequence[int]) -> tuple[pa.Table, pa.Table]:
    """The rows of plans, and their candidates, in an order of their own."""
    of = F.broadcast(frame_from_rows(lake.spark, [(x,) for x in ids], f"{c.PLAN_ID} long"))
    plans = lake.read(ROUTE_PLANS.name).join(of, c.PLAN_ID, "left_semi")
    rows = lake.read(ROUTE_CANDIDATES.name).join(of, c.PLAN_ID, "left_semi")
    of_each = to_arrow(rows.select(*ROUTE_CANDIDATES.names))
    return to_arrow(plans).sort_by(c.PLAN_ID), of_each.sort_by(BY_PLAN)


def _split(rows: pa.Table, owner: Mapping[int, str]) -> dict[str, pa.Table]:
    """Rows with a plan_id by the queue manager that the plan is of."""
    places: dict[str, list[int]] = {}
    for at, plan in enumerate(rows[c.PLAN_ID].to_pylist()):
        places.setdefault(owner[plan], []).append(at)
    return {qmgr: rows.take(pa.array(at)) for qmgr, at in places.items()}


def _senders(lake: Lake, plans: pa.Table) -> list[Mapping[str, Any]]:
    of = {*zip(plans[c.SNAPSHOT_ID].to_pylist(), plans[c.QMGR].to_pylist(), strict=True)}
    asked = frame_from_rows(lake.spark, sorted(of), f"{c.SNAPSHOT_ID} string, {VIEWER} string")
    topology = read_topology(lake, sorted({x for x, _ in of}))
    return [x.asDict(recursive=True) for x in senders(asked, topology).collect()]
