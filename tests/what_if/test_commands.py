"""`clwl what-if`, `clwl shares` and `clwl assert` as they are called."""

import json
from xml.etree import ElementTree as ET

import pytest

from clwl_spark.cli import main


@pytest.fixture
def called(lake, capsys):
    """Call a command on the demo's lake; gives its document, and checks the exit code."""

    def call(command, *words, code=0):
        capsys.readouterr()
        assert main([command, *words, "--lake", lake.root, "--json"]) == code
        return json.loads(capsys.readouterr().out)

    return call


@pytest.fixture
def refused(lake, capsys):
    """Call a command that is bad input; gives what it says on standard error."""

    def call(command, *words):
        capsys.readouterr()
        assert main([command, *words, "--lake", lake.root]) == 2
        shown = capsys.readouterr()
        assert shown.out == ""
        return shown.err

    return call


# ---- what-if -----------------------------------------------------------------------------------


def test_a_change_is_answered_as_one_document(called):
    found = called("what-if", "--change", "ENDMQM HUB1", "--change", "ENDMQM HUB2")
    assert found["snapshot_id"] == "demo"
    assert found["changes"] == ["ENDMQM HUB1", "ENDMQM HUB2"]
    put_there = 700 + 200 + 150 + 120 + 40 + 100
    assert found["outcomes"]["before"] - found["outcomes"]["after"] == put_there
    requests = {(x["qmgr"], x["object_name"]) for x in found["stranded"]}
    assert ("SHOP2", "TARIFF.REQUEST") in requests
    assert found["waiting"]["after"] > found["waiting"]["before"]
    assert {"by_object", "by_queue_manager", "by_channel", "by_reason"} <= found.keys()


def test_a_new_host_comes_with_what_it_needs_beside(called):
    words = "DEFINE QLOCAL(PARCEL.BOOK) CLUSTER(FREIGHT) DEFBIND(NOTFIXED) ON HUB1"
    (host,) = called("what-if", "--change", words)["new_hosts"]
    assert (host["new_host"], host["object_name"], host["design"]) == (
        "HUB1", "PARCEL.BOOK", "SHARED_QUEUE"
    )  # fmt: skip
    assert host["hosts"] == ["DEPOT1", "DEPOT2"]
    stopped = "STOP CHANNEL(FREIGHT.DEPOT1) ON SHOP1"
    assert called("what-if", "--change", stopped)["new_hosts"] == []


def test_people_are_told_in_tables(lake, capsys):
    words = ["what-if", "--lake", lake.root, "--change", "STOP CHANNEL(FREIGHT.DEPOT1) ON SHOP1"]
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert "What if: STOP CHANNEL(FREIGHT.DEPOT1) ON SHOP1" in shown
    assert "go elsewhere" in shown
    busiest = " ".join(shown.split())
    assert "busiest channel before: FREIGHT.DEPOT1 to DEPOT1, 2,028 -> 800 messages" in busiest
    assert "after: FREIGHT.DEPOT2 to DEPOT2, 677 -> 1,905 messages" in busiest


def test_a_channel_that_stays_the_busiest_is_told_once(lake, capsys):
    words = ["what-if", "--lake", lake.root, "--change", "STOP CHANNEL(FREIGHT.DEPOT2) ON SHOP1"]
    assert main(words) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "busiest channel before and after: FREIGHT.DEPOT1 to DEPOT1, 2,028 -> " in shown


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "say what changes"),
        (["--change", "ENDMQM HUB1", "--to", "demo"], "one of the three"),
        (["--sweep", "all", "--to", "demo"], "one of the three"),
        (["--change", "ENDMQM HUB1", "--put", "SHOP1:Q"], "--put is traffic for --sweep"),
        (["--change", "ENDMQM HUB9"], "no queue manager HUB9"),
        (["--change", "ENDMQ HUB1"], "did you mean ENDMQM"),
        (["--change", "START CHANNEL(FREIGHT.DEPOT1) ON SHOP1"], "changes nothing"),
        (["--to", "demo"], "changes nothing"),
        (["--to", "tuesday"], "tuesday"),
        (["--change", "ALTER CHANNEL(FREIGHT.DEPOT2) CHLTYPE(CLUSRCVR) CLWLWGHT(100)"], "CLWLWGHT"),
        (["--sweep", "all", "--put", "SHOP1"], "say QM:OBJECT"),
        (["--sweep", "all", "--put", "SHOP1:Q=0"], "say QM:OBJECT"),
        (["--sweep", "all", "--put", ":Q"], "say QM:OBJECT"),
        (["--sweep", "all", "--put", "shop1:PARCEL.IN"], "no queue manager 'shop1'"),
    ],
)
def test_a_change_that_cannot_be_tried_is_bad_input(refused, words, said):
    assert said in refused("what-if", *words)


def test_where_nothing_can_be_written_another_folder_is_wanted(refused, tmp_path):
    (tmp_path / "file").touch()
    words = ["--change", "STOP CHANNEL(FREIGHT.DEPOT1) ON SHOP1"]
    said = refused("what-if", *words, "--set", f"checkpoints={tmp_path / 'file'}")
    assert "with --set checkpoints=DIR" in said


def test_a_sweep_tells_the_worst_first(called, lake, capsys):
    words = ["--sweep", "queue-managers", "--put", "SHOP1:PARCEL.IN=7", "--put", "HUB1:PARCEL.BOOK"]
    found = called("what-if", *words)
    assert found["messages"] == 8
    assert found["waiting_already"] == {"messages": 0, "requests_stranded": 0}
    cost = {x["case"][0]: x for x in found["cases"]}
    assert len(cost) == 7
    order = [(-x["messages_waiting"], -x["messages_not_put"]) for x in found["cases"]]
    assert order == sorted(order)
    assert cost["queue manager SHOP1 down"]["messages_not_put"] == 7
    one_depot = cost["queue manager DEPOT1 down"]
    assert (one_depot["requests_hit"], one_depot["requests_stranded"]) == (2, 0)
    assert one_depot["busiest_after"] == pytest.approx(8)

    assert main(["what-if", *words, "--lake", lake.root, "--limit", "2"]) == 0
    shown = capsys.readouterr().out
    assert "no single failure takes a request's last route" in shown
    assert "the first 2 of 7" in shown
    assert "end with an MQRC" not in shown


def test_a_sweep_tells_what_fails_anyhow(called, lake, capsys):
    words = ["--sweep", "clusters", "--put", "SHOP1:PARCEL.IN=7", "--put", "SHOP1:NO.SUCH=3"]
    found = called("what-if", *words)
    assert (found["messages"], found["failing_already"]) == (10, 3)
    assert max(x["messages_waiting"] + x["messages_moved"] for x in found["cases"]) == 7
    assert main(["what-if", *words, "--lake", lake.root]) == 0
    assert "3 messages end with an MQRC as it is" in capsys.readouterr().out


# ---- shares ------------------------------------------------------------------------------------


def test_shares_of_an_object_are_the_demos(called, lake, capsys):
    found = called("shares", "--from", "SHOP1", "--object", "PARCEL.IN=2", "--object", "PARCEL.IN")
    (request,) = found["requests"]
    assert request["messages"] == 3
    shares = {x["dest_qmgr"]: x["share"] for x in request["routes"]}
    assert shares == {"DEPOT1": pytest.approx(5 / 7), "DEPOT2": pytest.approx(2 / 7)}
    assert found["exact"] is True
    assert main(["shares", "--lake", lake.root, "--from", "SHOP1", "--object", "PARCEL.IN"]) == 0
    assert "71.43%" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "say whose shares"),
        (["--from", "SHOP1"], "say whose shares"),
        (["--object", "PARCEL.IN"], "say whose shares"),
        (["--traffic", "--from", "SHOP1", "--object", "PARCEL.IN"], "say whose shares"),
        (["--from", "SHOP1", "--object", "PARCEL.IN=0"], "say NAME or NAME=MESSAGES"),
        (["--from", "SHOP1", "--object", "=3"], "say NAME or NAME=MESSAGES"),
        (["--from", "SHOP9", "--object", "PARCEL.IN"], "SHOP9"),
        (["--from", "SHOP1", "--object", "PARCEL.IN", "--snapshot", "S9"], "S9"),
    ],
)
def test_shares_of_nothing_are_bad_input(refused, words, said):
    assert said in refused("shares", *words)


def test_the_lakes_traffic_is_expected_as_a_whole(called):
    found = called("shares", "--traffic")
    assert sum(x["share"] for x in found["queue_managers"]) == pytest.approx(1)
    assert found["messages"] == sum(
        x["expected"] for x in found["requests"]
    )  # each message of the demo makes one choice
    assert all(x["channel"] for x in found["channels"])
    stays = [x for x in found["requests"] if x["dest_qmgr"] == x["qmgr"]]
    assert {x["object_name"] for x in stays} >= {"TARIFF.REQUEST", "PARCEL.BOOK"}
    assert {x["channel"] for x in stays} == {None}


# ---- assert ------------------------------------------------------------------------------------

HOLDS = "share(PARCEL.IN from SHOP1 to DEPOT2) <= 40%"
FAILS = "destinations(PARCEL.IN from SHOP1) >= 3"
BROKEN = "reachable(PARCEL.INN from SHOP1)"
DOWN = "reachable(PARCEL.IN from SHOP1) when DEPOT1 down"


@pytest.mark.parametrize(
    ("facts", "code", "failures", "errors"),
    [([HOLDS, DOWN], 0, 0, 0), ([HOLDS, FAILS], 1, 1, 0), ([FAILS, BROKEN, HOLDS], 2, 1, 1)],
)
def test_facts_decide_the_exit_code(called, tmp_path, facts, code, failures, errors):
    file = tmp_path / "facts.yml"
    file.write_text("assertions:\n" + "".join(f'  - "{fact}"\n' for fact in facts))
    junit = tmp_path / "out" / "facts.xml"
    found = called("assert", str(file), "--junit", str(junit), code=code)
    assert found["snapshot_id"] == "demo"
    cases = list(ET.parse(junit).iter("testcase"))  # noqa: S314  (written above)
    assert len(cases) == len(facts)
    assert sum(x.find("failure") is not None for x in cases) == failures
    assert sum(x.find("error") is not None for x in cases) == errors


def test_a_quiet_run_says_of_what_nobody_can_say(lake, tmp_path, capsys):
    file = tmp_path / "facts.yml"
    file.write_text(f'assertions:\n  - "{BROKEN}"\n')
    assert main(["assert", str(file), "--lake", lake.root, "--quiet"]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert f"{file}:2: {BROKEN}: " in shown.err


def test_files_of_no_facts_are_bad_input(refused, tmp_path):
    assert "none.yml" in refused("assert", str(tmp_path / "none.yml"))
    (tmp_path / "facts.yml").write_text('assertions:\n  - "shares(Q from A)"\n')
    assert "facts.yml" in refused("assert", str(tmp_path))
