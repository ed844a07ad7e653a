"""Explain against the reference: candidates, routes, and shares that routing then shows."""

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from io import StringIO

import pytest
from lakes import lake_with
from pyspark.sql import functions as F
from pyspark.sql.types import StructField, StructType
from reference import Reference
from rich.console import Console
from scenario_files import read_scenario
from small_worlds import at, qmgr, queue, rcvr, tables, topic
from worlds import put_rows

from clwl_spark.algorithm.semantics import Semantics
from clwl_spark.delta.lake import Lake
from clwl_spark.errors import MissingLakeError, UsageError
from clwl_spark.mq.vocabulary import Algorithm, Edition
from clwl_spark.snapshots.catalog import MissingSnapshotError
from clwl_spark.snapshots.write import write_topology
from clwl_spark.studies.explain.plan_cache import PlanCache, explain_by
from clwl_spark.studies.explain.rendering import headline, render
from clwl_spark.studies.explain.request import ExplainRequest, explain
from clwl_spark.tables import (
    BALANCE_HISTORY,
    ROUTE_CANDIDATES,
    ROUTE_PLANS,
    SNAPSHOT_RESETS,
    TABLES,
)

# Which of a scenario's different requests.
REQUESTS = {
    "weights": 0,
    "suspended": 0,
    "most_recently_used": 0,
    "local_eighty_percent": 0,
    "between_clusters_5_queue_manager_alias": 0,
    "topic_direct": 2,
    "topic_hosts": 0,
    "transmission_queues": 0,
    "names_that_lead_nowhere": 0,
}
ROUTE_KEYS = [
    "dest_qmgr", "dest_object", "channel", "cluster", "xmitq", "is_local", "clwlwght",
    "expected_share",
]  # fmt: skip


@pytest.fixture(scope="module")
def scenarios():
    return {name: read_scenario(name) for name in REQUESTS}


@pytest.fixture(scope="module")
def lake(spark, tmp_path_factory, scenarios):
    """Each scenario is a snapshot of its own name, an hour after the one before."""
    rows = {}
    for hours, (name, scenario) in enumerate(sorted(scenarios.items())):
        for table, found in scenario.tables.items():
            own = [{**row, "snapshot_id": name} for row in found]
            if table == "snapshots":
                own = [{**x, "valid_from": x["valid_from"] + timedelta(hours=hours)} for x in own]
            rows.setdefault(table, []).extend(own)
    lake = Lake(spark, str(tmp_path_factory.mktemp("explain") / "lake"))
    frames = {}
    for table, found in rows.items():
        fields = [StructField(x.name, x.dataType) for x in TABLES[table].schema]
        tuples = [tuple(row.get(field.name) for field in fields) for row in found]
        frames[table] = spark.createDataFrame(tuples, StructType(fields))
    write_topology(lake, frames)
    return lake


def requested(scenario):
    """The different requests of a scenario's messages, in order."""
    keys = ("qmgr", "object_name", "object_qmgr", "object_type", "via")
    defaults = ("", "", "", "QUEUE", "LOCAL")
    asked = [
        tuple(message[key] or default for key, default in zip(keys, defaults, strict=True))
        for message in scenario.messages
    ]
    return [
        ExplainRequest(qmgr, name, object_qmgr, object_type, via=via)
        for qmgr, name, object_qmgr, object_type, via in dict.fromkeys(asked)
    ]


def candidate_key(row):
    names = ("dest_qmgr", "dest_object", "channel", "instance_cluster", "channel_cluster")
    return (*(row[name] for name in names), row["is_alias"], row["eliminated_by"])


def routed(scenario, request, messages):
    """How many of so many outcomes of one request go where, by the reference."""
    first = scenario.messages[0]
    asked = {
        "qmgr": request.qmgr, "object_name": request.object_name, "via": request.via,
        "object_qmgr": request.object_qmgr, "object_type": request.object_type,
        "bind": "NOT_FIXED",
    }  # fmt: skip
    batch = [
        {**first, **asked, "put_seq": number, "put_time": first["put_time"]}
        for number in range(1, messages + 1)
    ]
    outcomes = Reference(scenario.tables).route(batch)
    found = Counter((x["dest_qmgr"], None if x["is_local"] else x["channel"]) for x in outcomes)
    return {key: count / len(outcomes) for key, count in found.items()}


@pytest.mark.parametrize(("name", "at"), REQUESTS.items())
def test_a_request_is_explained_as_the_reference_plans_it(name, at, lake, scenarios):
    scenario = scenarios[name]
    request = replace(requested(scenario)[at], snapshot_id=name, empty_history=True)
    explanation = explain(lake, request)
    document = explanation.to_json()
    asked = (
        "S1", request.qmgr, request.object_type, request.object_name, request.object_qmgr,
        request.via,
    )  # fmt: skip
    expected = Reference(scenario.tables).plan(*asked)
    cut = [x for rows in Reference(scenario.tables).cut({}, *asked) for x in rows]
    assert bool(cut) == (name == "most_recently_used")
    taken = Counter(candidate_key(row | {"eliminated_by": None}) for row in cut)

    assert list(document) == ["plan", "candidates", "routes", "view", "notes", "warnings"]
    assert list(document["plan"]) == ROUTE_PLANS.names
    for key in ("kind", "reason", "resolved_object", "resolved_qmgr", "xmitq"):
        assert document["plan"][key] == expected[key]
    found = Counter(map(candidate_key, document["candidates"]))
    assert found == Counter(map(candidate_key, expected["candidates"])) - taken + Counter(
        map(candidate_key, cut)
    )
    for row in document["candidates"]:
        assert list(row) == [*ROUTE_CANDIDATES.names, "why"]
        assert bool(row["why"]) == (row["eliminated_by"] is not None)
    ends = [(x["dest_qmgr"], x["channel"], x["cluster"]) for x in document["routes"]]
    wanted = [(x["dest_qmgr"], x["channel"], x["cluster"]) for x in expected["routes"]]
    assert ends == wanted
    assert all(list(route) == ROUTE_KEYS for route in document["routes"])
    if ends:
        shares = Counter()
        for route in document["routes"]:
            channel = None if route["is_local"] else route["channel"]
            shares[route["dest_qmgr"], channel] += route["expected_share"]
        assert shares.total() == pytest.approx(1)
        shown = routed(scenario, request, 600)
        assert {key: share for key, share in shares.items() if share} == pytest.approx(
            shown, abs=0.01
        )


def test_the_last_valid_snapshot_is_the_default_and_resets_up_to_it_count(lake, spark, scenarios):
    names = sorted(scenarios)
    rows = [
        ("GATE", names[-1], names[-2], True),
        ("GATE", names[-2], names[-3], True),
        ("GATE", names[-3], names[-4], False),
        ("GATE", names[-1], names[-4], True),
        ("OTHER", names[-1], names[-2], True),
    ]
    lake.create([SNAPSHOT_RESETS])
    lake.append("snapshot_resets", spark.createDataFrame(rows, SNAPSHOT_RESETS.schema))
    asked = replace(requested(scenarios[names[-1]])[0], qmgr="GATE")
    explanation = explain(lake, asked)
    assert explanation.plan["snapshot_id"] == names[-1]
    assert explanation.plan["reset_epoch"] == 2


def test_a_queue_manager_that_nobody_defined_is_answered_with_a_warning(lake):
    explanation = explain(lake, ExplainRequest("NOBODY", "ORDERS", snapshot_id="suspended"))
    assert explanation.plan["reason"] == 2085
    assert "NOBODY" in explanation.warnings[0]
    assert "2085 MQRC_UNKNOWN_OBJECT_NAME" in headline(explanation)
    known = explain(lake, ExplainRequest("GATE", "NO.SUCH", snapshot_id="suspended"))
    assert known.plan["reason"] == 2085
    assert known.warnings == []


def test_algorithm_and_exit_are_the_request_s(lake):
    request = ExplainRequest(
        "GATE", "ORDERS", snapshot_id="suspended", semantics=Semantics(Algorithm.V7),
        exit_function=lambda rows: rows.where(F.col("dest_qmgr") != "QM3"),
    )  # fmt: skip
    explanation = explain(lake, request)
    whys = {row["dest_qmgr"]: row["why"] for row in explanation.candidates if row["why"]}
    assert whys["QM3"] == "taken away by the exit"
    assert [route["dest_qmgr"] for route in explanation.routes] == ["QM2"]


def test_the_rendering_says_it_all_in_a_hundred_columns(lake):
    explanation = explain(lake, ExplainRequest("GATE", "ORDERS", snapshot_id="suspended"))
    console = Console(file=StringIO(), width=100)
    console.print(render(explanation))
    text = console.file.getvalue()
    assert "GATE puts to ORDERS: cluster queue ORDERS, 2 routes from 5 candidates" in text
    assert "rule 7: suspended in cluster" in text
    assert "while QM2 is not" in text
    assert "50.0%" in text
    assert "DEFBIND(OPEN), bound on open" in text
    assert max(map(len, text.splitlines())) <= 100


def test_what_cannot_be_asked_is_refused_with_the_remedy(lake, spark, tmp_path):
    with pytest.raises(MissingSnapshotError, match=r"no snapshot 'S9'.*weights"):
        explain(lake, ExplainRequest("GATE", "ORDERS", snapshot_id="S9"))
    with pytest.raises(UsageError, match="via 'RADIO' is not one of"):
        explain(lake, ExplainRequest("GATE", "ORDERS", via="RADIO"))
    with pytest.raises(MissingLakeError):
        explain(Lake(spark, str(tmp_path / "none")), ExplainRequest("GATE", "ORDERS"))


def test_rule_15_is_as_of_the_history_or_of_an_empty_one(lake, scenarios):
    request = replace(
        requested(scenarios["most_recently_used"])[0], snapshot_id="most_recently_used"
    )
    lake.create([BALANCE_HISTORY])
    put_rows(
        lake,
        "balance_history",
        [
            {"qmgr": qmgr, "dest_qmgr": to, "channel": f"TO.{to}", "dest_seq_number": number}
            for qmgr, to, number in (("GATE", "QM3", 8), ("GATE", "QM4", 9), ("FREE", "QM1", 99))
        ],
    )
    for is_empty, words, cut in (
        (False, "the history after the last routed batch", ["QM1", "QM2"]),
        (True, "an empty history", ["QM3", "QM4"]),
    ):
        found = explain(lake, replace(request, empty_history=is_empty))
        lost = {x["dest_qmgr"]: x["why"] for x in found.candidates if x["eliminated_by"] == 15}
        assert list(lost) == cut
        assert all(x.startswith("CLWLMRUC(2) of GATE: 2 other routes") for x in lost.values())
        assert found.notes == [
            f"rule 15 as of {words}; shares are those in the long run",
            "view: others as they are defined",
        ]
        assert [x["dest_qmgr"] for x in found.routes] == ["QM1", "QM2", "QM3", "QM4"]


def test_a_first_open_and_a_scope_are_told(spark, tmp_path):
    sees = {"observer": "APP2", "qmgr": "QM1", "queue": "OTHER", "cluster": "K"}
    there = [qmgr("APP2"), *(rcvr(x) for x in ("APP2", "QM1")), rcvr("FR1", qmtype="REPOS")]
    there += [topic("QM1", "T", "a"), topic("APP2", "HOST", "h", clroute="TOPICHOST")]
    there.append(topic("APP2", "HOME", "a/home", "", pub_scope="QMGR"))
    lake = lake_with(spark, tmp_path / "lake")
    for name, rows in tables(*at("S1", *there, queue("QM1", "Q.NEW", "K"))).items():
        put_rows(lake, name, rows)
    put_rows(lake, "queues", [{"snapshot_id": "S1", "qtype": "QLOCAL", **sees}])
    second = Semantics(edition=Edition.SECOND)
    found = explain(lake, ExplainRequest("APP2", "Q.NEW", semantics=second))
    assert [x["dest_qmgr"] for x in found.routes] == ["QM1"]
    told, view = found.notes
    assert told.startswith("first open: APP2 has not asked for Q.NEW,")
    assert told.endswith("FR1 would tell it")
    assert view == "view: queues of others as APP2 itself shows them"
    assert found.view == {"cluster_channels": "*", "queues": "APP2", "topics": "*"}
    first = ExplainRequest("APP2", "Q.NEW", semantics=Semantics(edition=Edition.FIRST))
    assert explain(lake, first).notes == [view]
    kept = ExplainRequest("APP2", "news", object_type="TOPIC", scope="QMGR", semantics=second)
    alone = "it goes to subscribers of APP2 alone"
    assert explain(lake, kept).notes == [f"scope QMGR: {alone}", view]
    plan_cache = PlanCache()
    for string, edition, why in (
        ("a/home/x", 2, f"PUBSCOPE(QMGR) of topic HOME of APP2 (not shared): {alone}"),
        ("a/home/x", 1, "topic T is CLROUTE(DIRECT), and no other queue manager subscribes to it"),
        ("a/b", 2, "topic T is CLROUTE(DIRECT), and no other queue manager subscribes to it"),
        ("h/x", 2, "APP2 is itself a topic host of HOST: it makes no choice"),
        ("news", 2, "no topic object of APP2's clusters is at or above news"),
    ):
        semantics = Semantics(edition=Edition(edition))
        asked = ExplainRequest("APP2", string, object_type="TOPIC", semantics=semantics)
        assert explain(lake, asked).notes == [why, view]
        assert explain_by(plan_cache, lake, asked).notes == [why, view]
