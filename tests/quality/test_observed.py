"""Counts that MQ gave against outcomes: what is more than chance, and the likely cause of it.

Four applications, each in a cluster of its own, put 2,000 messages in 2,000 seconds to a queue on
two servers: every message chooses, or every 50th, or another queue takes the same channel, or the
history is reset on the way.
"""

import json
from datetime import timedelta

import pyarrow as pa
import pytest
from small_worlds import NOON, at, message, queue, rcvr, sender, snapshot, tables
from waiting_worlds import routed_lake
from worlds import put_rows

from clwl_spark.checks.quality.observed import comparisons
from clwl_spark.cli import main
from clwl_spark.tables import OBSERVED_COUNTS

PUTS = 2_000
END = NOON + timedelta(seconds=PUTS + 1)
APPLICATIONS = ("FREE", "BOUND", "MIXED", "MOVED")


def _topology():
    for app in APPLICATIONS:
        for name in (app, f"{app}1", f"{app}2"):
            yield rcvr(name, cluster=app)
        for name in (f"{app}1", f"{app}2"):
            yield queue(name, f"{app}.Q", app, defbind="OPEN")
    yield queue("MIXED1", "ONE.Q", "MIXED")


def _lake(spark, folder):
    world = tables(
        *at("S1", *_topology(), snapshot("S1")),
        *at("S2", *_topology(), snapshot("S2", hours=0.25)),
        *at("S1", sender("MOVED", "MOVED1", "RETRYING"), sender("MOVED", "MOVED2", "RETRYING")),
    )
    puts = []
    for app in APPLICATIONS:
        bind = {"bind": "ON_OPEN"} if app == "BOUND" else {}
        for seq in range(1, PUTS + 1):
            name = "ONE.Q" if app == "MIXED" and seq % 4 == 0 else f"{app}.Q"
            puts.append(message(app, name, seq, open_id=seq // 50, **bind))
    return routed_lake(spark, folder, world, puts)


@pytest.fixture(scope="module")
def lake(spark, tmp_path_factory):
    return _lake(spark, tmp_path_factory.mktemp("observed") / "lake")


def count(app, name, messages, kind="CHANNEL", **more):
    """A count of the whole time."""
    row = {"qmgr": app, "object_type": kind, "object_name": name, "remote_qmgr": ""}
    return row | {"from_time": NOON, "to_time": END, "messages": messages} | more


def sent(app, first, second):
    """What two channels sent."""
    return [count(app, f"TO.{app}1", first), count(app, f"TO.{app}2", second)]


def compared(lake, *counts):
    """Cause and expected figure by object."""
    types = {"messages": pa.int64(), "from_time": pa.timestamp("us", "UTC")}
    types["to_time"] = types["from_time"]
    schema = pa.schema([(x, types.get(x, pa.string())) for x in OBSERVED_COUNTS.names])
    cells = [{name: row.get(name) for name in schema.names} for row in counts]
    found = comparisons(lake, pa.Table.from_pylist(cells, schema)).to_pylist()
    return {(x["qmgr"], x["object_name"]): (x["cause"], x["expected"]) for x in found}


def test_what_chance_and_administration_explain_is_no_deviation(lake):
    found = compared(
        lake,
        *sent("FREE", 1_050, 960),
        count("FREE1", "FREE.Q", 1_050, "QUEUE"),
        count("FREE2", "FREE.Q", 950, "QUEUE"),
        count("FREE", "SYSTEM.CLUSTER.TRANSMIT.QUEUE", 2_005, "QUEUE"),
        count("FREE1", "SYSTEM.CLUSTER.COMMAND.QUEUE", 90_000, "QUEUE"),
        count("FREE", "TO.ELSEWHERE", 9),
    )
    assert {cause for cause, _ in found.values()} == {""}
    assert found["FREE", "TO.FREE1"][1] == 1_000
    assert found["FREE1", "FREE.Q"][1] == 1_000
    assert found["FREE", "SYSTEM.CLUSTER.TRANSMIT.QUEUE"][1] == 2_000


@pytest.mark.parametrize(
    ("app", "counts", "causes"),
    [
        ("FREE", (1_200, 800), {"UNKNOWN"}),
        ("BOUND", (1_200, 800), {"BIND_ON_OPEN"}),
        ("MIXED", (1_200, 800), {"SHARED_COUNTERS"}),
        ("MOVED", (1_200, 800), {"RESET"}),
        ("FREE", (1_200, 1_200), {"OTHER_TRAFFIC"}),
        ("FREE", (800, 800), {"NOT_COUNTED"}),
    ],
)
def test_a_deviation_has_its_cause(lake, app, counts, causes):
    found = compared(lake, *sent(app, *counts))
    assert {cause for cause, _ in found.values()} == causes


def test_opens_explain_so_much_and_no_more(lake):
    found = compared(lake, *sent("BOUND", 2_000, 0))
    assert {cause for cause, _ in found.values()} == {"UNKNOWN"}


def test_what_has_one_way_only_leaves_nothing_to_chance(lake):
    share = PUTS // 4
    found = compared(lake, count("MIXED1", "ONE.Q", share - 20, "QUEUE"))
    assert found["MIXED1", "ONE.Q"] == ("NOT_COUNTED", share)
    found = compared(lake, count("MIXED1", "ONE.Q", share + 20, "QUEUE"))
    assert found["MIXED1", "ONE.Q"] == ("OTHER_TRAFFIC", share)


def test_one_channel_alone_tells_of_traffic_only_beyond_all_messages(lake):
    assert compared(lake, sent("FREE", 1_200, 0)[0])["FREE", "TO.FREE1"][0] == "UNKNOWN"
    assert compared(lake, sent("FREE", 2_200, 0)[0])["FREE", "TO.FREE1"][0] == "OTHER_TRAFFIC"


def test_idle_channels_say_what_administration_comes_to(lake):
    busy = [count("FREE", f"TO.IDLE{n}", 150) for n in range(3)]
    found = compared(lake, *sent("FREE", 1_140, 1_140), *busy)
    assert {cause for cause, _ in found.values()} == {""}
    assert compared(lake, busy[0])["FREE", "TO.IDLE0"][0] == "OTHER_TRAFFIC"


def test_parts_of_the_time_are_counted_apart(lake):
    middle = NOON + timedelta(seconds=500)
    parts = [
        count("FREE", "TO.FREE1", 250, to_time=middle),
        count("FREE", "TO.FREE2", 750, from_time=middle, remote_qmgr="FREE2"),
        count("BOUND", "TO.BOUND1", 0, from_time=END, to_time=END + timedelta(hours=1)),
    ]
    assert compared(lake, *parts) == {
        ("FREE", "TO.FREE1"): ("", 250),
        ("FREE", "TO.FREE2"): ("", 751),
        ("BOUND", "TO.BOUND1"): ("", 0),
    }


def test_counts_that_say_nothing_are_left_out(lake):
    odd = [count("FREE", "TO.FREE1", None), count("FREE", "TO.FREE2", 1, to_time=NOON)]
    assert compared(lake, *odd) == {}


def test_validate_observed_names_each_cause_and_keeps_it(lake, capsys):
    words = ["validate", "--lake", lake.root, "--observed", "--json"]
    assert main(words) == 1
    report = json.loads(capsys.readouterr().out)
    assert {x["gate"] for x in report["results"] if x["verdict"] == "FAILED"} == {"observed.some"}

    put_rows(lake, "observed_counts", [*sent("BOUND", 1_200, 800), *sent("FREE", 1_010, 990)])
    assert main(words) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["scope"], report["errors"], report["warnings"]) == ("observed", 0, 1)
    failed = next(x for x in report["results"] if x["verdict"] == "FAILED")
    assert failed["gate"] == "observed.bind-on-open"
    assert failed["rows"][0]["detail"].startswith("1,200 counted, 1,000 expected; ")

    put_rows(lake, "observed_counts", sent("MIXED", 1_900, 1_900))
    assert main([*words[:-1], "--explain"]) == 1
    shown = capsys.readouterr().out
    assert "FAILED observed.other-traffic" in shown
    assert "qmgr MIXED, object_type CHANNEL, object_name TO.MIXED1" in shown
    kept = lake.read("gate_failures").where("gate = 'observed.other-traffic'").collect()
    assert len(kept) == 2
    assert {x.scope for x in lake.read("gate_results").collect()} == {"observed"}


def test_without_counts_there_is_nothing_to_compare(spark, tmp_path, capsys):  # noqa: ARG001
    assert main(["validate", "--lake", str(tmp_path), "--observed"]) == 2
    said = capsys.readouterr().err
    assert "no table 'observed_counts'" in said
    assert "make one with `clwl load`" in said
