"""The Python API: what the commands answer, as frames, as text and as pages."""

import pandas as pd
import pytest
from api.api_worlds import WORLD

import clwl_spark as cw
from clwl_spark.errors import IngestError, InputError, MissingLakeError, UsageError
from clwl_spark.snapshots.catalog import MissingSnapshotError
from clwl_spark.tables import ROUTE_CANDIDATES, ROUTE_PLANS


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
    with pytest.raises(InputError, match="no queue manager 'gate'"):
        lake.sweep("channels", puts={("gate", "Q"): 5})
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
    for words in ({"via": "RADIO"}, {"object_type": "STREAM"}):
        with pytest.raises(UsageError, match="is not one of"):
            lake.trace("GATE", "Q", **words)
    for ask in (lake.explain, lake.trace):
        with pytest.raises(UsageError, match="no option 'snapshots': did you mean 'snapshot'"):
            ask("GATE", "Q", snapshots="S1")
    with pytest.raises(UsageError, match="no option 'qmgrs'"):
        lake.conform(qmgrs="GATE")
    with pytest.raises(UsageError, match="no option 'when'"):
        lake.where("GATE:1", when="2026-03-02T14:00:00Z")
    with pytest.raises(IngestError, match="no such file or folder: nothing"):
        lake.what_if(scripts="nothing")
    with pytest.raises(MissingLakeError):
        cw.lake(tmp_path / "none").explain("GATE", "Q")
