"""Rule 15 as a frame's rule, against the kernel's own cut, on random histories.

CLWL_SEED repeats a run; the seed is in every failure's message.
"""

import os
import random
from dataclasses import dataclass

import numpy as np
from builders import dest
from pyspark.sql import SparkSession
from pyspark.sql.types import LongType, StringType, StructField, StructType

from clwl_spark.algorithm.choose import Choices, recent_routes
from clwl_spark.rules.recently_used import keep_most_recently_used
from clwl_spark.rules.routes import ROUTE_ORDER
from clwl_spark.spark.frames import frame_from_rows
from clwl_spark.tables import BALANCE_HISTORY, ROUTE_CANDIDATES

SEED = int(os.environ.get("CLWL_SEED", random.SystemRandom().randrange(10**6)))
CASES = 400
ALL = 999_999_999
CANDIDATES = StructType(
    [
        *ROUTE_CANDIDATES.schema,
        StructField("qmgr", StringType()),
        StructField("clwlmruc", LongType()),
    ]
)


@dataclass(frozen=True)
class Case:
    """One choice of one queue manager: rows in route order, its history and its CLWLMRUC."""

    qmgr: str
    rows: list[dict[str, object]]
    numbers: dict[tuple[str, str], int]
    clwlmruc: int

    def kept(self) -> list[bool]:
        """The kernel's answer, for the survivors in route order."""
        routes = [x for x in self.rows if x["eliminated_by"] is None]
        channels = sorted({(x["dest_qmgr"], x["channel"]) for x in routes})
        choices = Choices(
            np.array([0, 1], np.int32),
            np.array([0, len(routes)], np.int32),
            np.array([channels.index((x["dest_qmgr"], x["channel"])) for x in routes], np.int32),
            np.full(len(routes), 50, np.int64),
            np.array([x["is_local"] for x in routes], np.bool_),
            np.array([self.clwlmruc], np.int64),
        )
        numbers = np.array([self.numbers.get(x, 0) for x in channels], np.int64)
        if len(routes) <= self.clwlmruc:
            return [True] * len(routes)
        return list(recent_routes(0, len(routes), choices, self.clwlmruc, numbers, -1))


def case(rng: random.Random, qmgr: str) -> Case:
    """A choice with a local row or two, alias rows, rows that lost, and a history with ties."""
    rows, numbers = [], {}
    for at in range(rng.randint(1, 7)):
        dest_qmgr = qmgr if at == 0 and rng.random() < 0.5 else f"D{rng.randint(0, 3)}"
        channel = f"TO.{dest_qmgr}.{rng.randint(0, 1)}"
        if rng.random() < 0.7:
            numbers[dest_qmgr, channel] = rng.choice((0, 1, rng.randint(0, 9), 2**40))
        rows += [
            dest(
                dest_qmgr,
                channel=channel,
                dest_object=f"Q{rng.randint(0, 1)}",
                is_alias=rng.random() < 0.2,
                is_local=dest_qmgr == qmgr,
            )
            | {"eliminated_by": rng.choice((None, None, None, 3, 12))}
        ]
    by_route = {tuple(row[x] for x in ROUTE_ORDER): row for row in rows}
    return Case(qmgr, [by_route[x] for x in sorted(by_route)], numbers, rng.choice((1, 2, 3, ALL)))


def test_the_frames_cut_is_the_kernels_on_every_history(spark: SparkSession) -> None:
    rng = random.Random(SEED)
    cases = [case(rng, f"QM{at}") for at in range(CASES)]
    rows = [
        row | {"plan_id": at, "qmgr": x.qmgr, "clwlmruc": x.clwlmruc}
        for at, x in enumerate(cases)
        for row in x.rows
    ]
    history = [
        {"qmgr": x.qmgr, "dest_qmgr": to, "channel": channel, "dest_seq_number": number}
        for x in cases
        for (to, channel), number in x.numbers.items()
    ]
    shown = keep_most_recently_used(
        frame_from_rows(spark, rows, CANDIDATES),
        frame_from_rows(spark, history, BALANCE_HISTORY.schema),
    )
    assert shown.columns == CANDIDATES.names
    found: dict[tuple[object, ...], int | None] = {
        (row["plan_id"], *(row[x] for x in ROUTE_ORDER)): row["eliminated_by"]
        for row in shown.collect()
    }
    wanted = {}
    for at, x in enumerate(cases):
        kept = iter(x.kept())
        for row in x.rows:
            survives = row["eliminated_by"] is None
            key = (at, *(row[y] for y in ROUTE_ORDER))
            wanted[key] = 15 if survives and not next(kept) else row["eliminated_by"]
    wrong = {key[0] for key in wanted if found[key] != wanted[key]}
    assert [cases[at] for at in sorted(wrong)][:1] == [], SEED
    assert len(found) == len(wanted)
    assert list(wanted.values()).count(15) > CASES / 10, SEED
