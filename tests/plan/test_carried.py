"""Plans carried over to the next snapshot are those that planning anew makes, whatever differs.

CLWL_SEED repeats a run; the seed is in every failure's message.
"""

import os
import random
from copy import deepcopy
from pathlib import Path

import pytest
from lakes import lake_with
from pyspark.sql import SparkSession
from random_clusters import TABLES, Row, merged_tables
from worlds import put_rows, random_cases

from clwl_spark.algorithm.request import REQUEST, REQUEST_TYPES, Request
from clwl_spark.algorithm.semantics import Semantics
from clwl_spark.mq.vocabulary import Edition
from clwl_spark.planning.carried import carried_over
from clwl_spark.planning.plans import Ladder, make_plans, plan_id
from clwl_spark.snapshots.differences import Differences, pair_rows
from clwl_spark.snapshots.views import read_topology
from clwl_spark.spark.materialize import checkpoint

SEED = int(os.environ.get("CLWL_SEED", random.SystemRandom().randrange(10**6)))
CASES = 120
ALTERED = 2
"""Rows that differ from one snapshot to the next, in each case."""
FOLLOWING = {"B": "A", "C": "B"}
NOT_FOR_TOPICS = ("queue_managers", "channel_status", "queues", "subscriptions")
"""Tables that leave some cluster's publications alone; a topic or a channel touches them all."""
# Values that a row may take; () = those of the case's other rows.
DRAWN: dict[str, dict[str, tuple[object, ...]]] = {
    "queue_managers": {"clwluseq": ("LOCAL", "ANY"), "defxmitq": ("", "X.Y")},
    "cluster_channels": {
        "clwlwght": (1, 50, 70),
        "suspended": (True, False),
        "clwlrank": (0, 5),
        "cluster": (),
    },
    "channel_status": {"status": ("RUNNING", "STOPPED", "RETRYING")},
    "queues": {
        "put_enabled": (True, False),
        "clwlrank": (0, 2),
        "clwluseq": ("ANY", "LOCAL", "QMGR"),
        "defbind": ("OPEN", "NOTFIXED"),
        "qtype": ("QLOCAL", "QREMOTE", "QALIAS"),
        "usage": ("NORMAL", "XMITQ"),
    },
    "topics": {"clroute": ("DIRECT", "TOPICHOST"), "pub_enabled": (True, False)},
    "subscriptions": {"topicstr": ("/a/#", "b", "#"), "subtype": ("PROXY", "USER")},
}


@pytest.fixture(scope="module", params=list(Edition))
def planned(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, object]:
    """Plans and candidates of three snapshots made each anew, and what would be carried."""
    print(f"CLWL_SEED={SEED}")  # noqa: T201
    lake = lake_with(spark, Path(tmp_path_factory.mktemp("carried")))
    edition = request.param
    cases = random_cases(SEED, CASES, edition.value)
    rng = random.Random(SEED)
    state = {
        name: [row for row in rows if row["snapshot_id"] == "S1"]
        for name, rows in merged_tables(cases).items()
        if name != "snapshots"
    }
    asked = {tuple(x) for case in cases for message in case.messages if (x := _request(message))}
    for snapshot, tables in (("A", ()), ("B", NOT_FOR_TOPICS), ("C", TABLES[1:])):
        for prefix in (case.prefix for case in cases if tables for _ in range(ALTERED)):
            _alter(state, rng.choice(tables), rng, prefix)
        for name, rows in state.items():
            put_rows(lake, name, [{**x, "snapshot_id": snapshot} for x in rows])
    wanted = [Request(snapshot, *request) for snapshot in "ABC" for request in sorted(asked)]
    requests = spark.createDataFrame(wanted, REQUEST_TYPES)
    requests = checkpoint(requests.select(plan_id().alias("plan_id"), *REQUEST))
    topology = read_topology(lake, list("ABC"), checkpoint)
    made = make_plans(requests, topology, Ladder(Semantics(edition=edition)), checkpoint)
    later = requests.where("snapshot_id > 'A'")
    differences = Differences(pair_rows(spark, list(FOLLOWING.items())), topology, checkpoint)
    carried = carried_over(later, made.plans, differences, checkpoint, edition).collect()
    plans = {row["plan_id"]: row.asDict() for row in made.plans.collect()}
    rows: dict[int, list[str]] = {}
    for row in made.candidates.collect():
        rows.setdefault(row["plan_id"], []).append(str(_without_id(row.asDict())))
    return {"edition": edition, "carried": carried, "plans": plans, "candidates": rows}


def test_a_carried_plan_and_its_candidates_are_those_of_planning_anew(planned) -> None:
    plans, candidates = planned["plans"], planned["candidates"]
    for new_id, snapshot_id, old_id in planned["carried"]:
        new, old = plans[new_id], plans[old_id]
        assert old["snapshot_id"] == FOLLOWING[snapshot_id] == FOLLOWING[new["snapshot_id"]], SEED
        assert _without_id(new) == _without_id(old), (SEED, new, old)
        assert sorted(candidates.get(new_id, [])) == sorted(candidates.get(old_id, [])), (SEED, new)


def test_most_plans_that_did_not_change_are_carried(planned) -> None:
    plans, candidates = planned["plans"], planned["candidates"]
    carried = {row["plan_id"] for row in planned["carried"]}
    of = {tuple(x[name] for name in REQUEST): key for key, x in plans.items()}
    same = {"QUEUE": set(), "TOPIC": set()}
    changed = 0
    for (snapshot, *request), new_id in of.items():
        old_id = of.get((FOLLOWING.get(snapshot), *request))
        if old_id is None:
            continue
        if _without_id(plans[new_id]) != _without_id(plans[old_id]) or sorted(
            candidates.get(new_id, [])
        ) != sorted(candidates.get(old_id, [])):
            changed += 1
        elif snapshot == "B" or request[1] == "QUEUE":
            same[request[1]].add(new_id)
    assert changed > 20, SEED
    if planned["edition"] is not Edition.FIRST:
        # A user subscription to # touches the publications of all cases, which are one snapshot.
        del same["TOPIC"]
    for object_type, ids in same.items():
        assert len(ids & carried) > 0.4 * len(ids), (SEED, object_type, len(ids))


def _request(message: Row) -> tuple[str, ...] | None:
    """A message's request as routing would ask it; None where the message is odd."""
    kind, via = message["object_type"] or "QUEUE", message["via"] or "LOCAL"
    odd = not message["qmgr"] or not message["object_name"]
    if odd or kind not in ("QUEUE", "TOPIC") or via not in ("LOCAL", "CLUSTER"):
        return None
    return (message["qmgr"], kind, message["object_name"], message["object_qmgr"] or "", via)


def _alter(state: dict[str, list[Row]], table: str, rng: random.Random, prefix: str) -> None:
    """Change, remove, add or re-observe one row of a case."""
    rows = [row for row in state[table] if row["qmgr"].startswith(prefix)]
    if not rows:
        return
    row = rng.choice(rows)
    fresh = deepcopy(row)
    column = rng.choice(sorted(DRAWN[table]))
    drawn = DRAWN[table][column] or [x[column] for x in rows]
    fresh[column] = rng.choice([x for x in drawn if x != row[column]] or [row[column]])
    how = rng.random()
    if how < 0.6:
        row.update(fresh)
    elif how < 0.8:
        state[table].remove(row)
    elif "observer" in row:
        state[table].append({**fresh, "observer": rng.choice(rows)["qmgr"]})


def _without_id(row: Row) -> Row:
    return {name: x for name, x in row.items() if name not in ("plan_id", "snapshot_id")}
