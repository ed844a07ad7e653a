"""The Python API: the commands' answers as frames, and explanations at once."""

import gc
import subprocess
import sys
from contextlib import contextmanager

import pandas as pd
import pytest
from small_worlds import (
    alias,
    message,
    messages,
    proxy,
    qmgr,
    queue,
    rcvr,
    remote,
    seen_by,
    sender,
    tables,
    topic,
)
from waiting_worlds import append, routed_lake

import clwl_spark as cw
from clwl_spark import api_opened
from clwl_spark.analysis import book as book_module
from clwl_spark.analysis.book import Book, explain_by
from clwl_spark.analysis.explain import ExplainRequest, MissingSnapshotError, explain
from clwl_spark.api_shown import HtmlTable, fragment, frame_of
from clwl_spark.errors import InputError, MissingLakeError, UsageError
from clwl_spark.schemas import ROUTE_CANDIDATES, ROUTE_PLANS

WORLD = tables(
    qmgr("GATE"), qmgr("QM1"), qmgr("QM2"), qmgr("APART"),
    rcvr("GATE"), rcvr("QM1"), rcvr("QM2"), rcvr("APART", "L"),
    *seen_by("QM2", rcvr("GATE"), queue("QM1", "Q", "K")),
    rcvr("QM1", channel="SLOW.QM1"), sender("GATE", "QM1", "RETRYING", channel="SLOW.QM1"),
    queue("QM1", "Q", "K", defbind="NOTFIXED"), queue("QM2", "Q", "K", defbind="NOTFIXED"),
    queue("QM1", "ONE", "K"), queue("GATE", "HERE"), queue("APART", "HIDDEN", "L"),
    alias("GATE", "IN", "Q"), alias("GATE", "CIRCLE", "CIRCLE"),
    remote("GATE", "FAR", "Q", "QM2"), remote("GATE", "NAMED", "", "QM1"),
    topic("QM1", "NEWS", "news"), proxy("GATE", "news/#", "QM1"),
)  # fmt: skip
NAMES = ("Q", "ONE", "HERE", "IN", "CIRCLE", "FAR", "NAMED", "HIDDEN", "NO.SUCH")


@pytest.fixture(scope="module")
def routed(spark, tmp_path_factory):
    """GATE puts to Q, to ONE, and to a name that leads nowhere."""
    puts = [*messages(12, "GATE", "Q"), message("GATE", "ONE", 13), message("GATE", "NO.SUCH", 14)]
    return routed_lake(spark, tmp_path_factory.mktemp("api") / "lake", WORLD, puts)


@pytest.fixture(scope="module")
def lake(routed):
    return cw.lake(routed.root, settings={"state_partitions": 2})


@pytest.fixture
def plannings(monkeypatch):
    """How many requests each pass of planning had."""
    counts = []

    def counted(requests, topology, ladder):
        counts.append(len(requests))
        return planned(requests, topology, ladder)

    planned = book_module.planned
    monkeypatch.setattr(book_module, "planned", counted)
    return counts


def test_the_book_says_for_every_name_what_explain_says(routed, plannings):
    requests = [ExplainRequest("GATE", name) for name in NAMES]
    requests += [
        ExplainRequest("GATE", "Q", "QM2"),
        ExplainRequest("GATE", "Q", via="CLUSTER", bind="ON_OPEN"),
        ExplainRequest("GATE", "news/sport", object_type="TOPIC"),
        ExplainRequest("GATE", "news", object_type="TOPIC"),
        ExplainRequest("QM2", "Q"),
        ExplainRequest("NOBODY", "Q"),
    ]
    book = Book()
    found = [explain_by(book, routed, request) for request in requests]
    assert found == [explain(routed, request) for request in requests]
    # The seven names that GATE has or sees; one each for HIDDEN, NO.SUCH, the named queue manager
    # and what came over a channel; two topic strings; QM2's two names; the stranger's one.
    assert plannings == [7, 1, 1, 1, 1, 2, 2, 1]


def test_the_second_question_plans_nothing_and_a_changed_lake_is_planned_anew(
    spark, plannings, tmp_path
):
    lake = routed_lake(spark, tmp_path / "lake", WORLD, [message("GATE", "Q")])
    opened = cw.lake(lake.root)
    assert set(opened.explain("GATE", "Q").routes["dest_qmgr"]) == {"QM1", "QM2"}
    assert len(plannings) == 1
    opened.explain("GATE", "IN")
    opened.explain("GATE", "FAR")
    assert len(plannings) == 1
    _, stopped = sender("GATE", "QM1", "STOPPED")
    append(lake, "channel_status", [{"snapshot_id": "S1", "observer": "*", **stopped}])
    assert list(opened.explain("GATE", "Q").routes["dest_qmgr"]) == ["QM2"]
    assert len(plannings) == 2


def test_what_an_explanation_is_changed_to_is_not_what_the_next_one_gets(routed):
    book, request = Book(), ExplainRequest("GATE", "Q")
    first = explain_by(book, routed, request)
    first.routes[0]["dest_qmgr"] = first.candidates[0]["dest_qmgr"] = first.plan["kind"] = "X"
    assert explain_by(book, routed, request) == explain(routed, request)


def test_an_exit_is_asked_each_time(lake, plannings):
    keeps = "clwl_spark.rules.exit_examples:prefer_channel:TO.QM2"
    found = lake.explain("GATE", "Q", exit_function=keeps)
    assert list(found.routes["dest_qmgr"]) == ["QM2"]
    assert plannings == []
    assert len(lake.explain("GATE", "Q").routes) == 2


def test_an_explanation_has_frames_a_text_and_a_page(lake):
    found = lake.explain("GATE", "IN")
    assert list(found.plan) == ROUTE_PLANS.names
    assert list(found.candidates) == [*ROUTE_CANDIDATES.names, "why"]
    lost = found.candidates.dropna(subset="eliminated_by")
    assert list(lost["channel"]) == ["SLOW.QM1"]
    assert lost["eliminated_by"].tolist() == [8]
    assert found.routes["expected_share"].tolist() == [0.5, 0.5]
    assert "GATE puts to IN: cluster queue Q, 2 routes from 3 candidates" in repr(found)
    html = found._repr_html_()
    assert "rule 8: channel RETRYING, while TO.QM1 is INACTIVE" in html
    assert "by way of IN &gt; Q" in html
    assert html.count('<tr class="strong">') == 2
    assert lake.explain("GATE", "NO.SUCH").candidates.empty


def test_shares_have_a_row_per_object_and_route(lake):
    found = lake.shares("GATE", {"Q": 3, "NO.SUCH": 1})
    assert list(found["object_name"]) == ["Q", "Q", "NO.SUCH"]
    assert found["share"].tolist()[:2] == [0.5, 0.5]
    assert found["reason"].tolist() == [0, 0, 2085]
    assert pd.isna(found["dest_qmgr"][2])
    assert lake.shares("GATE", "ONE")["dest_qmgr"].tolist() == ["QM1"]
    with pytest.raises(InputError, match="no queue manager 'gate'"):
        lake.shares("gate", "Q")
    for puts in ({}, {"Q": 0}, {"Q": 1.5}):
        with pytest.raises(UsageError):
            lake.shares("GATE", puts)


def test_traffic_is_that_of_the_messages(lake):
    found = lake.traffic_shares()
    assert found.messages == 14
    channels = found.by_channel.set_index("channel")["expected"].to_dict()
    assert channels == pytest.approx({"TO.QM1": 7, "TO.QM2": 6})
    assert found.by_queue_manager["share"].sum() == pytest.approx(1)
    assert found.by_request["expected"].sum() == pytest.approx(14)


def test_a_change_is_told_in_a_sentence_and_frames(lake):
    found = lake.what_if("STOP CHANNEL(TO.QM2) ON GATE")
    moved = found.by_queue_manager.set_index("dest_qmgr")[["before", "after"]].to_dict("index")
    assert moved == {"QM1": {"before": 7, "after": 13}, "QM2": {"before": 6, "after": 0}}
    assert found.failing[["object_name", "reason", "after"]].to_numpy().tolist() == [
        ["NO.SUCH", 2085, 1]
    ]
    assert found.stranded.empty
    assert set(found.by_channel["channel"]) == {"TO.QM1", "TO.QM2"}
    assert set(found.by_object["object_name"]) == {"Q", "ONE"}
    assert "of 14 outcomes on snapshot S1, 6 (42.9%) go elsewhere" in found.summary
    assert found.summary in repr(found)
    assert "<caption>by channel</caption>" in found._repr_html_()


def test_a_change_has_to_be_said_one_way(lake):
    with pytest.raises(UsageError, match="say what changes"):
        lake.what_if()
    with pytest.raises(UsageError, match="say what changes"):
        lake.what_if("ENDMQM QM1", to="S1")
    with pytest.raises(InputError, match="is not understood"):
        lake.what_if("PLEASE STOP")


def test_a_sweep_tells_the_worst_first(lake):
    found = lake.sweep("queue-managers")
    assert set(found["name"]) == {"GATE", "QM1", "QM2", "APART"}
    single = found[found["requests_stranded"] > 0]
    assert list(single["name"]) == ["QM1"]
    assert found.attrs["messages"] == 14
    told = lake.sweep("channels", puts={("GATE", "Q"): 5})
    assert told.attrs["messages"] == 5
    with pytest.raises(UsageError, match="did you mean 'channels'"):
        lake.sweep("channel")


def test_a_trace_comes_to_its_queues(lake):
    found = lake.trace("GATE", "IN")
    assert found.ends.set_index("qmgr")["share"].to_dict() == {"QM1": 0.5, "QM2": 0.5}
    assert found.dead_ends.empty
    assert found.hops["hop"].tolist() == [1, 1, 2, 2]
    assert found.hops["next_qmgr"].tolist()[:2] == ["QM1", "QM2"]
    assert "GATE" in repr(found)
    assert "<caption>hops</caption>" in found._repr_html_()


def test_assertions_are_judged(lake, tmp_path):
    facts = tmp_path / "facts.yml"
    facts.write_text(
        "assertions:\n"
        "  - fact: destinations(Q from GATE) >= 2\n"
        "  - fact: share(Q from GATE to QM1) <= 40%\n"
    )
    found = lake.assertions(facts)
    assert found["verdict"].tolist() == ["PASSED", "FAILED"]
    assert found.attrs["summary"] == "1 of 2 assertions hold, 1 do not"


def test_questions_tables_snapshots_and_the_report(lake, tmp_path):
    assert lake.ask("failures")["object_name"].tolist() == ["NO.SUCH"]
    assert lake.ask("failures").attrs["more"] is False
    with pytest.raises(UsageError):
        lake.ask("everything")
    assert lake.table("outcomes").count() == 14
    with pytest.raises(UsageError, match="no table 'outcome'"):
        lake.table("outcome")
    assert lake.snapshots()[["snapshot_id", "queues"]].to_numpy().tolist() == [
        ["S1", len(WORLD["queues"])]
    ]
    file = lake.report(tmp_path / "made" / "here")
    assert file.read_text().startswith("<!doctype html>")
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="give a folder"):
        lake.report(tmp_path / "file")


def test_routing_goes_on_where_it_ended(lake):
    assert lake.route().messages == 0
    with pytest.raises(UsageError, match="algorithm 'v8'"):
        lake.route(algorithm="v8")


def test_errors_are_the_package_s(lake, tmp_path):
    with pytest.raises(MissingSnapshotError, match="no snapshot 'S9'"):
        lake.explain("GATE", "Q", snapshot="S9")
    with pytest.raises(UsageError, match="via 'RADIO'"):
        lake.explain("GATE", "Q", via="RADIO")
    with pytest.raises(MissingLakeError):
        cw.lake(tmp_path / "none").explain("GATE", "Q")


def test_settings_are_those_of_the_commands(sessions, tmp_path):
    file = tmp_path / "own.toml"
    file.write_text("state_partitions = 3\nbinding_ttl = '7d'\n")
    found = cw.lake(tmp_path, config=file, settings={"state_partitions": 4}).settings
    assert (found.state_partitions, found.binding_ttl.days) == (4, 7)
    with pytest.raises(UsageError, match="unknown setting 'state_partition'"):
        cw.lake(tmp_path, settings={"state_partition": 4})
    assert sessions == ["started"]


def test_a_lake_has_one_place():
    with pytest.raises(UsageError, match="where is the lake"):
        cw.lake()
    with pytest.raises(UsageError, match="two lakes"):
        cw.lake("here", catalog="a.b")


@pytest.fixture
def sessions(monkeypatch):
    """No session runs; what is started and ended is told."""
    told = []

    @contextmanager
    def started(_settings, _name):
        told.append("started")
        yield f"session {len(told)}"
        told.append("ended")

    class Nothing:
        @staticmethod
        def getActiveSession():  # noqa: N802  (Spark's name)
            return None

    monkeypatch.setattr(api_opened, "SparkSession", Nothing)
    monkeypatch.setattr(api_opened, "spark_session", started)
    return told


def test_a_folder_that_is_not_there_starts_no_session(sessions, tmp_path):
    with pytest.raises(MissingLakeError):
        cw.lake(tmp_path / "none")
    assert sessions == []


def test_a_session_that_was_started_ends_with_the_block_and_not_before(sessions, tmp_path):
    with cw.lake(tmp_path) as lake:
        assert lake.tables.spark == "session 1"
        other = cw.lake(tmp_path)
        del other
        gc.collect()
        assert sessions == ["started", "started"]
    assert sessions == ["started", "started", "ended"]
    lake.close()
    assert sessions == ["started", "started", "ended"]


def test_a_session_that_is_given_goes_on(sessions, tmp_path):
    with cw.lake(tmp_path, spark="mine") as lake:
        assert lake.tables.spark == "mine"
    assert sessions == []


def test_importing_the_package_imports_nothing_heavy():
    script = (
        "import sys, clwl_spark as cw; "
        "print([x for x in ('pyspark', 'pandas', 'pyarrow', 'clwl_spark.api') if x in sys.modules])"
        "; print('lake' in dir(cw), hasattr(cw, 'pond'), cw.UsageError.__name__)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["[]", "True False UsageError"]


def test_whole_numbers_with_gaps_stay_whole():
    frame = frame_of([{"a": 1, "b": True}, {"a": None, "b": False}], ["a", "b"])
    assert str(frame["a"].dtype) == "Int64"
    assert frame["b"].dtype == bool
    assert list(frame_of([], ["x", "y"])) == ["x", "y"]


def test_names_are_text_in_the_page_and_colours_are_the_notebook_s():
    table = HtmlTable("<c>", ["<h>"], [["<script>alert(1)</script>"]])
    html = fragment("<b>", ["<i>"], [table, HtmlTable("empty", ["x"], [])])
    assert "<script" not in html
    for text in ("&lt;c&gt;", "&lt;h&gt;", "&lt;b&gt;", "&lt;i&gt;"):
        assert text in html
    assert "empty" not in html
    assert "#" not in html.split("</style>", maxsplit=1)[0]
    assert "background: none" in html
