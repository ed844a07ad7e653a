"""Re-allocation against the plain implementation, over random clusters and chains of events.

CLWL_SEED repeats a run; the seed is in every failure's message.
"""

import os
import random
from collections import Counter
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from random_clusters import SNAPSHOTS, START, Case
from random_events import random_stops, with_who_waits
from reference_reallocation import Reallocating
from reference_waiting import Stop
from small_worlds import at, message, qmgr, queue, rcvr, tables
from worlds import World, random_cases

from clwl_spark.algorithm.semantics import Semantics
from clwl_spark.mq.vocabulary import Algorithm, Edition
from clwl_spark.planning.plans import Ladder
from clwl_spark.studies.reallocate.events import ChannelEvent
from clwl_spark.studies.reallocate.run import reallocate
from clwl_spark.studies.reallocate.waiting import waiting_outcomes
from clwl_spark.tables.moments import micros

SEED = int(os.environ.get("CLWL_SEED", random.SystemRandom().randrange(10**6)))
CASES = int(os.environ.get("CLWL_CASES", "80"))
CLOSING = "SHUT."
COMPARED = (
    "at", "message_id", "put_seq", "qmgr", "from_channel", "to_channel", "from_xmitq", "to_xmitq",
    "outcome", "deciding_rule", "ineligible_reason",
)  # fmt: skip


class Chain:
    """A world, its references, and the events that happened."""

    def __init__(self, spark: SparkSession, folder: Path, wanted: Semantics, cases: int) -> None:
        algorithm, edition = wanted.algorithm.value, wanted.edition.value
        worlds = [*random_cases(SEED, cases, edition), closing_case()]
        self.wanted = wanted
        self.world = World.made(spark, folder, worlds, algorithm, edition)
        self.references = [
            Reallocating(x.tables, algorithm, edition=edition) for x in self.world.cases
        ]
        self.world.references = list(self.references)
        self.rng = random.Random(SEED)
        self.last: dict[str, datetime] = {}
        self.expected: Counter[tuple[Any, ...]] = Counter()

    def route(self, at: int) -> None:
        self.world.append("messages", self.world.batch(at), files=3)
        self.world.route()
        self.world.expected(at)

    def events(self, most: int) -> list[Stop]:
        """Some stops of channels that messages wait for, in order for each queue manager."""
        stops: list[Stop] = []
        for reference in self.references:
            found = random_stops(self.rng, reference.waiting, most, self.last)
            if self.wanted.edition is not Edition.FIRST:
                found = with_who_waits(self.rng, found, reference.waiting)
            stops += found
        return stops

    def closing(self) -> Stop:
        """A stop after which what waits in `closing_case` has nowhere to go."""
        sender = f"{CLOSING}A"
        at = max(START + timedelta(hours=20), self.last.get(sender, START))
        self.last[sender] = at
        return Stop(sender, f"TO.{CLOSING}B", "STOPPED", at, backlog=1)

    def run(self, stops: list[Stop]) -> Any:
        ordered = sorted(stops, key=in_order)
        of = {case.prefix: at for at, case in enumerate(self.world.cases)}
        for stop in ordered:
            reference = self.references[of[stop.qmgr[: stop.qmgr.index(".") + 1]]]
            self.expected.update(_comparable(row) for row in reference.run(stop))
        self.rng.shuffle(stops)
        wanted = [
            ChannelEvent(
                x.qmgr, x.channel, x.status, micros(x.at), x.since and micros(x.since), x.backlog
            )
            for x in stops
        ]
        return reallocate(self.world.lake, wanted, Ladder(self.wanted))

    def found(self) -> Counter[tuple[Any, ...]]:
        rows = self.world.lake.read("reallocations").collect()
        return Counter(_comparable(row.asDict()) for row in rows)

    def places(self) -> Counter[tuple[Any, ...]]:
        """What waits where, by the tables."""
        lake = self.world.lake
        pairs = lake.read("outcomes").select("qmgr", "channel")
        moved = lake.read("reallocations").selectExpr("qmgr", "to_channel AS channel")
        everywhere = pairs.union(moved).where("channel IS NOT NULL").distinct()
        rows = waiting_outcomes(lake, everywhere).select("qmgr", "put_seq", "channel", "xmitq")
        return Counter(tuple(row) for row in rows.collect())

    def expected_places(self) -> Counter[tuple[Any, ...]]:
        return Counter(
            (x.outcome["qmgr"], x.outcome["put_seq"], x.channel, x.xmitq)
            for reference in self.references
            for x in reference.waiting
            if x.channel is not None
        )


def in_order(stop: Stop) -> tuple[Any, ...]:
    """Of several at one moment that which says since when comes first, then that with a backlog."""
    told = (stop.since is None, stop.since or START, stop.backlog is None, stop.backlog or 0)
    return stop.at, stop.qmgr, stop.channel, stop.status, *told


def closing_case() -> Case:
    """A queue on one queue manager; in the last snapshot it takes no puts any more."""
    sender, owner = f"{CLOSING}A", f"{CLOSING}B"
    there = [qmgr(sender), *(rcvr(x, cluster=f"{CLOSING}K") for x in (sender, owner))]
    instance = queue(owner, f"{CLOSING}Q", f"{CLOSING}K")
    shut = queue(owner, f"{CLOSING}Q", f"{CLOSING}K", put_enabled=False)
    rows = tables(*at("S1", *there, instance), *at("S2", *there, instance), *at("S4", *there, shut))
    rows["snapshots"] = deepcopy(SNAPSHOTS)
    put = message(sender, f"{CLOSING}Q", put_time=START + timedelta(seconds=1))
    return Case(CLOSING, rows, [[put]])


def _comparable(row: dict[str, Any]) -> tuple[Any, ...]:
    values = [row[name] for name in COMPARED]
    at = values[0] if values[0].tzinfo is None else values[0].astimezone(UTC).replace(tzinfo=None)
    return (at, None if values[1] is None else bytes(values[1]), *values[2:])


@pytest.mark.parametrize(
    ("algorithm", "edition"),
    [
        (Algorithm.V9, Edition.FIRST),
        (Algorithm.V9, Edition.SECOND),
        (Algorithm.V7, Edition.SECOND),
    ],
)
def test_chains_of_events_between_batches_are_those_of_the_reference(
    spark: SparkSession, tmp_path: Path, algorithm: Algorithm, edition: Edition
) -> None:
    outcomes = _compare(spark, tmp_path, Semantics(algorithm, edition), CASES)
    assert outcomes == {"MOVED", "STILL_FAVOURED", "FAILED", "NOT_ELIGIBLE"}


@pytest.mark.spark
def test_spark_plays_chains_of_events_as_the_reference(spark: SparkSession, tmp_path: Path) -> None:
    """Fewer: what they are judged by is shown with all of them."""
    wanted = Semantics(Algorithm.V9, Edition.SECOND)
    assert "MOVED" in _compare(spark, tmp_path, wanted, CASES // 4, batches=2, events=(3,))


def _compare(
    spark: SparkSession,
    tmp_path: Path,
    wanted: Semantics,
    cases: int,
    batches: int | None = None,
    events: tuple[int, ...] = (1, 3),
) -> set[str]:
    """Compare the outcomes of events between batches, and where each message is then.

    Returns:
        The kinds of outcomes that there were.
    """
    print(f"CLWL_SEED={SEED} {wanted} clusters={cases}")  # noqa: T201
    chain = Chain(spark, tmp_path, wanted, cases)
    for batch in [*chain.world.batches()][:batches]:
        chain.route(batch)
        for most in events:
            stops = [*chain.events(most), *([chain.closing()] if most > 1 else [])]
            summary = chain.run(stops)
            assert len(summary.events) == len(stops), SEED
        found = chain.found()
        assert not (found - chain.expected), (SEED, list((found - chain.expected).items())[:3])
        assert not (chain.expected - found), (SEED, list((chain.expected - found).items())[:3])
    assert chain.places() == chain.expected_places(), SEED
    return {row[8] for row in chain.expected.elements()}
