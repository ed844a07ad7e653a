"""Predictions beside what was seen: how many agree, and why the others do not."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import pandas as pd

from clwl_spark.delta.lake import Lake
from clwl_spark.errors import InputError
from clwl_spark.studies.conform.bearing import disagreement
from clwl_spark.studies.conform.causes import Trials
from clwl_spark.studies.conform.counted import counted
from clwl_spark.studies.conform.evidence import gathered
from clwl_spark.studies.conform.held import Sender
from clwl_spark.studies.conform.match import (
    AGREES,
    ALL,
    FIRST_SEQ,
    FIRST_TIME,
    MESSAGES_OF,
    TOLD,
    WHY_NOT,
    NotCompared,
    Wanted,
    lost,
    matched,
    tallied,
)
from clwl_spark.studies.conform.model import Conformity, Disagreement, Document
from clwl_spark.studies.conform.suppose import supposed
from clwl_spark.tables import OBSERVED_COUNTS, OBSERVED_ROUTES, OUTCOMES
from clwl_spark.tables import columns as c
from clwl_spark.tables.moments import moment_text

LOOKED_INTO: Final = 20
"""Queue managers whose first disagreement is explained, unless more are asked for."""


def conform(lake: Lake, wanted: Wanted, most: int = LOOKED_INTO) -> Conformity:
    """Hold what was foretold against what was seen.

    Args:
        lake: routed, with `observed_routes` or `observed_counts`.
        wanted: which records.
        most: queue managers whose first disagreement is explained, those with most of them.

    Raises:
        InputError: nothing was seen, or nothing was routed.
    """
    has_routes = lake.exists(OBSERVED_ROUTES.name)
    if not has_routes and not lake.exists(OBSERVED_COUNTS.name):
        raise InputError(
            f"lake {lake.root} has neither {OBSERVED_ROUTES.name} nor {OBSERVED_COUNTS.name}: load "
            "what MQ recorded with clwl load first"
        )
    if not lake.exists(OUTCOMES.name):
        raise InputError(f"lake {lake.root} has no outcomes: run clwl route first")
    counts = counted(lake, wanted)
    if not has_routes:
        return Conformity(0, 0, 0, [], [], [], [], [], counts)
    pairs = matched(lake, wanted)
    tally = _plain(tallied(pairs).toPandas())
    compared = tally[tally[WHY_NOT].isna()]
    return Conformity(
        seen=_sum(tally),
        compared=_sum(compared),
        agree=_sum(compared[compared[AGREES].astype(bool)]),
        by_object=_agreeing(compared, [c.QMGR, c.OBJECT_NAME]),
        by_queue_manager=_agreeing(compared, [c.QMGR]),
        by_channel=_by_channel(compared),
        not_compared=_not_compared(tally, lambda: lost(lake, pairs)),
        first_disagreements=_explained(lake, _first(compared), most),
        counts=counts,
    )


def agreement(lake: Lake) -> list[Document]:
    """How many messages went where they were foretold to, without looking into the others.

    Grain: one row per queue manager that has records which can be compared: qmgr, compared, agree;
    the one with most disagreements first. None where nothing was recorded.

    Args:
        lake: where `observed_routes` are, and outcomes.

    Raises:
        MissingLakeError: there are records, and no table of outcomes.
    """
    if lake.read_or_empty(OBSERVED_ROUTES.name).isEmpty():
        return []
    tally = _plain(tallied(matched(lake, ALL)).toPandas())
    return _agreeing(tally[tally[WHY_NOT].isna()], [c.QMGR])


def _plain(tally: pd.DataFrame) -> pd.DataFrame:
    """Without the differences that Arrow's and pandas' nulls make."""
    columns = {x: [None if pd.isna(y) else y for y in tally[x]] for x in tally}
    return pd.DataFrame(columns, dtype=object)


def _sum(rows: pd.DataFrame) -> int:
    return int(rows[MESSAGES_OF].sum())


def _agreeing(compared: pd.DataFrame, by: list[str]) -> list[Document]:
    """Grain: one row per key: compared and agree, the least agreeing first."""
    rows = compared.assign(agree=compared[MESSAGES_OF].where(compared[AGREES].astype(bool), 0))
    sums = rows.groupby(by, dropna=False)[[MESSAGES_OF, "agree"]].sum().reset_index()
    sums = sums.rename(columns={MESSAGES_OF: "compared"})
    found = [
        {**{x: _none(row[x]) for x in by}, **{x: int(row[x]) for x in ("compared", "agree")}}
        for row in sums.to_dict("records")
    ]
    return sorted(found, key=lambda x: (x["agree"] - x["compared"], *(str(x[y]) for y in by)))


def _none(value: Any) -> Any:  # noqa: ANN401
    return None if pd.isna(value) else value


def _by_channel(compared: pd.DataFrame) -> list[Document]:
    """Grain: one row per queue manager and channel; a record that agrees has gone by its own."""
    found: dict[tuple[str, str], Document] = {}
    for row in compared.to_dict("records"):
        own = row[c.CHANNEL] if row[AGREES] else None
        seen = row[f"seen_{c.CHANNEL}"] or own
        for name, value in (("predicted", row[c.CHANNEL]), ("seen", seen), ("agree", own)):
            if value is not None:
                key = {c.QMGR: row[c.QMGR], c.CHANNEL: value}
                entry = found.setdefault(
                    (row[c.QMGR], value), {**key, "predicted": 0, "seen": 0, "agree": 0}
                )
                entry[name] += int(row[MESSAGES_OF])
    return [found[key] for key in sorted(found)]


def _not_compared(tally: pd.DataFrame, without: Callable[[], int]) -> list[Document]:
    """Grain: one row per reason."""
    sums = tally[tally[WHY_NOT].notna()].groupby(WHY_NOT)[MESSAGES_OF].sum().to_dict()
    missing = NotCompared.NO_OUTCOME.value
    if missing in sums:
        unknown = without()
        sums[NotCompared.NO_MESSAGE.value] = unknown
        sums[missing] -= unknown
    return [
        {c.REASON: reason, "n": int(sums[reason])}
        for reason in sorted(sums, key=lambda x: (-sums[x], x))
        if sums[reason]
    ]


def _first(compared: pd.DataFrame) -> list[dict[str, Any]]:
    """The first disagreement of each queue manager, of those with most of them first."""
    rows = compared[~compared[AGREES].astype(bool)]
    if rows.empty:
        return []
    sums = rows.groupby(c.QMGR)[MESSAGES_OF].sum()
    order = rows.assign(seq=rows[FIRST_SEQ].astype("int64")).sort_values("seq", kind="stable")
    first = order.drop_duplicates(c.QMGR).set_index(c.QMGR, drop=False)
    qmgrs = sorted(first.index, key=lambda x: (-sums[x], x))
    return [first.loc[x].to_dict() for x in qmgrs]


def _explained(lake: Lake, first: Sequence[Mapping[str, Any]], most: int) -> list[Disagreement]:
    """The first disagreements; those of the first so many with what explains them."""
    looked_into = first[:most]
    seqs = {x[c.QMGR]: int(x[FIRST_SEQ]) for x in looked_into}
    evidence = gathered(lake, seqs) if seqs else []
    variants = supposed(lake.spark, evidence) if evidence else []
    ranked = {}
    for x, own in zip(evidence, variants, strict=True):
        sender = Sender(x, own, seqs[x.qmgr])
        ranked[x.qmgr] = (sender, Trials(sender).ranked())
    return disagreement(lake, [_ends(x) for x in first], ranked)


def _ends(row: Mapping[str, Any]) -> Disagreement:
    """A disagreement before it is explained."""
    at = row[FIRST_TIME]
    return Disagreement(
        qmgr=row[c.QMGR],
        put_seq=int(row[FIRST_SEQ]),
        put_time=None if at is None or pd.isna(at) else moment_text(_zoned(at)),
        object_name=row[c.OBJECT_NAME],
        predicted={x: _number(row[x]) for x in TOLD},
        seen={x: _number(row[f"seen_{x}"]) for x in TOLD},
        cause="",
        why="",
    )


def _zoned(at: Any) -> Any:  # noqa: ANN401
    moment = pd.Timestamp(at)
    return (moment.tz_localize("UTC") if moment.tzinfo is None else moment).to_pydatetime()


def _number(value: Any) -> Any:  # noqa: ANN401
    if value is None or (isinstance(value, float) and pd.isna(value)):
        return None
    return int(value) if isinstance(value, (int, float)) else value
