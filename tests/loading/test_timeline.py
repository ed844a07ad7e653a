"""Events become a line of snapshots, stored as changes: the same as whole ones, row for row."""

import json
import random
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from worlds import put_rows

from clwl_spark.cli import main
from clwl_spark.delta.lake import Lake
from clwl_spark.mq.traffic import records_of
from clwl_spark.snapshots.write import write_topology
from clwl_spark.studies.load.clocks import clock_differences, out_of_order
from clwl_spark.studies.synthetic import GenerateSpec, messages, topology
from clwl_spark.tables import MESSAGES, ROUTE_CANDIDATES, SNAPSHOT_CHANGES, SNAPSHOTS, TOPOLOGY
from clwl_spark.tables import columns as c

START = datetime(2026, 3, 2, 8, tzinfo=UTC)
SEED = random.SystemRandom().randrange(10**6)
REASONS = {
    "RUNNING": (2282, None),
    "STARTING": (2295, None),
    "RETRYING": (2283, "Channel Stopped Retry"),
    "STOPPED": (2283, "Channel Stopped Disabled"),
    "INACTIVE": (2283, "Channel Stopped OK"),
}


def event(seconds, qmgr, channel, status, **more):
    reason, qualifier = REASONS[status]
    data = {"queueMgrName": qmgr, "channelName": channel, **more}
    at = START + timedelta(seconds=seconds)
    return {
        "eventSource": {"objectName": "SYSTEM.ADMIN.CHANNEL.EVENT", "queueMgr": qmgr},
        "eventType": {"name": "Channel Event", "value": 46},
        "eventReason": {"name": "Channel", "value": reason},
        "eventCreation": {"epoch": int(at.timestamp())},
        "eventData": data | ({"reasonQualifier": qualifier} if qualifier else {}),
    }


def config(seconds, qmgr, kind, reason=2368, **data):
    at = START + timedelta(seconds=seconds)
    return {
        "eventSource": {"objectName": "SYSTEM.ADMIN.CONFIG.EVENT", "queueMgr": qmgr},
        "eventType": {"name": "Config Event", "value": 43},
        "eventReason": {"name": "Config", "value": reason},
        "eventCreation": {"epoch": int(at.timestamp())},
        "eventData": {"eventQueueMgr": qmgr, "objectType": kind, **data},
    } | ({"objectState": "After Change"} if reason == 2368 else {})


def write(path, events):
    path.write_text("".join(json.dumps(x) + "\n" for x in events))
    return path


def spec_of(seed):
    return GenerateSpec(
        messages=3_000, qmgrs=8, clusters=2, overlap=0.5, queues=6, instances=4, channels=2,
        non_default=0.2, bad_status=0.3, on_open=0.2, on_group=0.1, publications=0.15, topics=4,
        named_qmgr=0.1, unknown=0.05, put_disabled=0.1, seed=seed, start=START, rate=2.0,
    )  # fmt: skip


def generated(lake, spec):
    lake.create((SNAPSHOTS, *TOPOLOGY, MESSAGES))
    write_topology(lake, topology(lake.spark, spec))
    lake.append("messages", messages(lake.spark, spec))


def drawn(lake, rnd, number):
    """Events of channels of the lake, and of a few that it does not have."""
    rows = lake.in_memory("channel_status").to_pylist()
    channels = lake.in_memory("cluster_channels").to_pylist()
    events = []
    for at in sorted(rnd.randrange(1, 1_500) for _ in range(number)):
        row = rnd.choice(rows)
        status = rnd.choice([*REASONS])
        more = {}
        if rnd.random() < 0.3:
            more = {"remoteQueueMgrName": row["remote_qmgr"], "channelType": row["chltype"].title()}
        qmgr, channel = row["qmgr"], row["channel"]
        if rnd.random() < 0.1:
            other = rnd.choice(channels)
            qmgr, channel, more = rnd.choice(channels)["qmgr"], other["channel"], {}
        events.append(event(at, qmgr, channel, status, **more))
    return events


def whole_copy(lake, folder):
    """A lake with the same snapshots, each stored whole, and the same messages."""
    copy = Lake(lake.spark, str(folder))
    heads = lake.read("snapshots").drop("base", "changed_tables", "base_loaded_at")
    tables = {x.name: lake.read_or_empty(x.name) for x in TOPOLOGY}
    write_topology(copy, {"snapshots": heads, **tables})
    copy.create([MESSAGES])
    copy.append("messages", lake.read("messages"))
    return copy


def said(lake, table, *left_out):
    """The rows of a table in order, less some columns."""
    rows = lake.in_memory(table).to_pylist()
    return sorted(repr({x: y for x, y in row.items() if x not in left_out}) for row in rows)


def judged(lake):
    """Of each message its candidates, with status and the rule that eliminated them."""
    found = {}
    for row in lake.in_memory("route_candidates").to_pylist():
        key = {x: row[x] for x in ROUTE_CANDIDATES.names if x != c.PLAN_ID}
        found.setdefault(row[c.PLAN_ID], []).append(repr(key))
    outcomes = lake.in_memory("outcomes").to_pylist()
    return {(x["qmgr"], x["put_seq"]): sorted(found.get(x["plan_id"], [])) for x in outcomes}


def route(lake, engine):
    assert main(["route", "--lake", lake.root, "--engine", engine, "--quiet"]) == 0


def same_routing(lake, copy):
    assert said(lake, "outcomes", "plan_id") == said(copy, "outcomes", "plan_id"), SEED
    assert said(lake, "balance_history") == said(copy, "balance_history")
    assert judged(lake) == judged(copy), SEED


def line_and_copy(lake, tmp_path, seed, number, step="1m"):
    generated(lake, spec_of(seed))
    events = drawn(lake, random.Random(seed), number)
    path = write(tmp_path / "events.jsonl", events)
    load = ["load", str(path), "--lake", lake.root, "--timeline", "S1", "--step", step, "--quiet"]
    assert main(load) == 0
    return whole_copy(lake, tmp_path / "copy")


@pytest.mark.parametrize("step", ["1s", "1m"])
def test_routing_is_that_of_whole_snapshots_row_for_row(lake, tmp_path, step):
    copy = line_and_copy(lake, tmp_path, SEED, 150, step)
    route(lake, "embedded")
    route(copy, "embedded")
    same_routing(lake, copy)
    plans, whole = (len(x.in_memory("route_plans")) for x in (lake, copy))
    assert plans < whole, SEED
    assert main(["state", "verify", "--lake", lake.root, "--engine", "embedded", "--quiet"]) == 0


@pytest.mark.spark
def test_routing_by_spark_is_that_of_whole_snapshots(lake, tmp_path):
    copy = line_and_copy(lake, tmp_path, SEED, 40)
    route(copy, "arrow")
    route(lake, "spark")
    same_routing(lake, copy)


def test_messages_of_later_batches_are_routed_under_a_line_that_grew(lake, tmp_path):
    generated(lake, spec_of(SEED))
    events = drawn(lake, random.Random(SEED), 100)
    first = write(tmp_path / "1.jsonl", [x for x in events if _second(x) < 700])
    second = write(tmp_path / "2.jsonl", [x for x in events if _second(x) >= 700])
    later = lake.read("messages").where("put_seq > 100")
    rows = later.toArrow().cast(lake.arrow_schema("messages"))
    lake.delete("messages", "put_seq", *range(101, 4_000))
    for path, more in ((first, None), (second, rows)):
        assert main(["load", str(path), "--lake", lake.root, "--timeline", "S1", "--quiet"]) == 0
        if more is not None:
            lake.append("messages", more)
        route(lake, "embedded")
    copy = whole_copy(lake, tmp_path / "copy")
    copy_rows = copy.read("messages").where("put_seq > 100").toArrow()
    copy.delete("messages", "put_seq", *range(101, 4_000))
    route(copy, "embedded")
    copy.append("messages", copy_rows.cast(copy.arrow_schema("messages")))
    route(copy, "embedded")
    same_routing(lake, copy)


def test_changed_definitions_are_those_of_whole_snapshots(lake, tmp_path):
    generated(lake, spec_of(SEED))
    queues = [x for x in lake.in_memory("queues").to_pylist() if x["cluster"]]
    one, other = queues[0], queues[1]
    events = [
        config(100, one["qmgr"], "Queue", queueName=one["queue"], queueType="Local",
               clusterName=one["cluster"], inhibitPut="Put Inhibited"),
        config(400, other["qmgr"], "Queue", queueName=other["queue"], queueType="Local",
               clusterName=other["cluster"], clwlQueuePriority=7, defBind="Bind Not Fixed"),
        config(700, one["qmgr"], "Queue", 2369, queueName=one["queue"], queueType="Local"),
        config(900, one["qmgr"], "Queue Mgr", clwlUseq="Useq Any", clwlMruChannels=2),
    ]  # fmt: skip
    events += drawn(lake, random.Random(SEED), 40)
    path = write(tmp_path / "events.jsonl", sorted(events, key=_second))
    assert main(["load", str(path), "--lake", lake.root, "--timeline", "S1", "--quiet"]) == 0
    changed = {x["changed_tables"] for x in lake.rows("snapshots")}
    assert {"channel_status", None} < changed
    assert any("queues" in (x or "") for x in changed)
    copy = whole_copy(lake, tmp_path / "copy")
    route(lake, "embedded")
    route(copy, "embedded")
    same_routing(lake, copy)


def test_hops_follow_messages_of_a_line_too(lake, tmp_path):
    copy = line_and_copy(lake, tmp_path, SEED, 30)
    for one in (lake, copy):
        words = ["route", "--hops", "2", "--lake", one.root, "--engine", "embedded", "--quiet"]
        assert main(words) == 0
    assert said(lake, "hops", "plan_id") == said(copy, "hops", "plan_id"), SEED


def test_with_an_exit_each_snapshot_has_plans_of_its_own(lake, tmp_path):
    copy = line_and_copy(lake, tmp_path, SEED, 15)
    (channel, *_) = sorted(x["channel"] for x in lake.in_memory("cluster_channels").to_pylist())
    name = f"clwl_spark.rules.exit_examples:prefer_channel:{channel}"
    for one in (lake, copy):
        words = ["route", "--exit", name, "--lake", one.root, "--engine", "embedded", "--quiet"]
        assert main(words) == 0
    assert said(lake, "outcomes") == said(copy, "outcomes"), SEED


def _second(document):
    return document["eventCreation"]["epoch"] - int(START.timestamp())


def small(lake, load, tmp_path, events, *words, code=0, base=()):
    """Load events onto the snapshot of two queue managers that send to each other."""
    if not lake.exists("snapshots"):
        text = tmp_path / "qm.mqsc"
        text.write_text(
            "ALTER QMGR REPOS(K) CLWLUSEQ(LOCAL)\n"
            "DEFINE CHANNEL(TO.QM1) CHLTYPE(CLUSRCVR) CLUSTER(K) CONNAME('a')\n"
        )
        other = tmp_path / "qm2.mqsc"
        other.write_text(
            "ALTER QMGR CLWLUSEQ(LOCAL)\n"
            "DEFINE CHANNEL(TO.QM2) CHLTYPE(CLUSRCVR) CLUSTER(K) CONNAME('b')\n"
            "DEFINE QLOCAL(ORDERS) CLUSTER(K)\n"
        )
        for file, name in ((text, "QM1"), (other, "QM2")):
            assert main(["ingest", str(file), "--snapshot", "S", "--observer", name, "--valid-from",
                         START.isoformat(), "--lake", lake.root, "--quiet"]) == 0  # fmt: skip
        put_rows(lake, "channel_status", [{"snapshot_id": "S", **x} for x in base])
    path = tmp_path / f"{random.random()}.jsonl"
    return load(write(path, events), "--timeline", "S", *words, code=code)


def statuses(lake, snapshot_id):
    rows = lake.in_memory("channel_status", c.SNAPSHOT_ID, [snapshot_id]).to_pylist()
    return {(x["qmgr"], x["channel"], x["chltype"], x["remote_qmgr"]): x["status"] for x in rows}


def test_a_status_that_the_base_lacks_is_of_the_channel_s_owner(lake, load, tmp_path):
    said_ = small(lake, load, tmp_path, [event(30, "QM1", "TO.QM2", "RETRYING")])
    assert said_["timeline"] | {"clocks": []} == {
        "base": "S", "snapshots": 1, "changes": 1, "events": 1, "elsewhere": 0,
        "last": "S@2026-03-02T08:00:30Z", "last_from": "2026-03-02T08:00:30Z", "clocks": [],
    }  # fmt: skip
    assert statuses(lake, "S") == {}
    assert statuses(lake, "S@2026-03-02T08:00:30Z") == {
        ("QM1", "TO.QM2", "CLUSSDR", "QM2"): "RETRYING"
    }
    assert len(lake.in_memory(SNAPSHOT_CHANGES.name)) == 1
    assert len(lake.stored("channel_status").collect()) == 0


def test_a_channel_that_ran_in_between_has_no_known_backlog_any_more(lake, load, tmp_path):
    channel = {"qmgr": "QM1", "channel": "TO.QM2", "chltype": "CLUSSDR", "remote_qmgr": "QM2"}
    base = [{**channel, "status": "RETRYING", "backlog": 5}]
    events = [event(x, "QM1", "TO.QM2", y) for x, y in ((10, "RUNNING"), (20, "RETRYING"))]
    last = small(lake, load, tmp_path, events, "--step", "1m", base=base)["timeline"]["last"]
    (now,) = lake.in_memory("channel_status", c.SNAPSHOT_ID, [last]).to_pylist()
    assert (now["status"], now["backlog"]) == ("RETRYING", None)


@pytest.mark.parametrize("reporter", ["QM1", "QM9"])
def test_a_status_of_the_moment_that_defines_its_channel_is_taken_whoever_reports_it(
    lake, load, tmp_path, reporter
):
    receiver = {"channelName": "NEW.QM2", "channelType": "Clusrcvr", "clusterName": "K"}
    events = [
        event(70, reporter, "NEW.QM2", "RETRYING"), config(70, "QM2", "Channel", 2367, **receiver)
    ]  # fmt: skip
    found = small(lake, load, tmp_path, events)["timeline"]
    assert found["elsewhere"] == 0
    assert statuses(lake, found["last"]) == {(reporter, "NEW.QM2", "CLUSSDR", "QM2"): "RETRYING"}


def test_a_receiver_s_stop_is_of_all_its_instances(lake, load, tmp_path):
    events = [
        event(1, "QM2", "TO.QM2", "RUNNING", remoteQueueMgrName="QM1", channelType="CLUSRCVR"),
        event(2, "QM2", "TO.QM2", "RUNNING"),
        event(70, "QM2", "TO.QM2", "STOPPED"),
    ]
    found = small(lake, load, tmp_path, events)
    assert found["timeline"]["snapshots"] == 2
    assert set(statuses(lake, found["timeline"]["last"]).values()) == {"STOPPED"}


def test_the_same_events_again_change_nothing_and_new_ones_make_the_line_longer(
    lake, load, tmp_path
):
    first = [event(30, "QM1", "TO.QM2", "RETRYING"), event(300, "QM1", "TO.QM2", "RUNNING")]
    assert small(lake, load, tmp_path, first)["timeline"]["snapshots"] == 2
    assert small(lake, load, tmp_path, first[::1])["timeline"]["snapshots"] == 0
    more = [*first, event(600, "QM1", "TO.QM2", "STOPPED"), event(660, "QM1", "NO.SUCH", "RUNNING")]
    found = small(lake, load, tmp_path, more)
    assert (found["timeline"]["snapshots"], found["timeline"]["elsewhere"]) == (1, 1)
    assert found["rejects"] == []
    rows = lake.rows("snapshots")
    assert [x["base"] for x in sorted(rows, key=lambda x: x["valid_from"])] == [
        None, "S", "S@2026-03-02T08:00:30Z", "S@2026-03-02T08:05:00Z"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("seconds", "line", "why"),
    [
        ([-5, 10], 1, "before snapshot S"),
        ([10, 86_000, 20, 30], 2, "clock of QM1 jumped forward"),
        ([10, 20, 5, 30], 3, "was set back, or the file is not in order"),
    ],
)
def test_an_event_that_cannot_be_believed_is_a_reject(lake, load, tmp_path, seconds, line, why):
    words = ["RETRYING", "RUNNING"] * 2
    events = [event(x, "QM1", "TO.QM2", y) for x, y in zip(seconds, words, strict=False)]
    refused = small(lake, load, tmp_path, events, "--strict", code=2)
    assert why in refused
    found = small(lake, load, tmp_path, events)
    (reject,) = found["rejects"]
    assert reject["line"] == line
    assert why in reject["reason"]
    assert "TO.QM2" in reject["text"]
    assert len(lake.in_memory("status_events")) == len(events) - 1
    assert len(lake.in_memory("load_rejects")) == 1


def test_an_event_behind_the_end_of_the_line_is_a_reject(lake, load, tmp_path):
    small(lake, load, tmp_path, [event(300, "QM1", "TO.QM2", "RETRYING")])
    events = [event(x, "QM1", "TO.QM2", y) for x, y in ((200, "STOPPED"), (300, "RETRYING"))]
    found = small(lake, load, tmp_path, events)
    (reject,) = found["rejects"]
    assert "up to which the timeline goes already" in reject["reason"]
    assert found["timeline"]["snapshots"] == 0


def test_clocks_that_differ_are_told(lake, load, tmp_path):
    events = []
    for at in (10, 400, 900):
        events += [
            event(at, "QM1", "TO.QM2", "RUNNING"),
            event(at + 50, "QM1", "TO.QM2", "STOPPED"),
        ]
        events += [event(at + 3_600, "QM2", "TO.QM2", "RUNNING")]
    found = small(lake, load, tmp_path, events)
    (clock,) = found["timeline"]["clocks"]
    assert (clock["qmgr"], clock["other"], clock["seconds"], clock["pairs"]) == (
        "QM1", "QM2", 3_600, 3
    )  # fmt: skip


def test_what_others_follow_is_neither_dropped_nor_changed(lake, load, tmp_path, capsys):
    events = [event(x, "QM1", "TO.QM2", y) for x, y in ((30, "RETRYING"), (300, "RUNNING"))]
    last = small(lake, load, tmp_path, events)["timeline"]["last"]
    for name in ("S", "S@2026-03-02T08:00:30Z"):
        assert main(["snapshots", "--lake", lake.root, "--drop", name]) == 2
        assert "is followed by" in capsys.readouterr().err
    text = tmp_path / "more.mqsc"
    text.write_text("DEFINE QLOCAL(MORE) CLUSTER(K)\n")
    for name in ("S", last):
        words = ["ingest", str(text), "--snapshot", name, "--observer", "QM2", "--lake", lake.root]
        assert main(words) == 2
        assert "is of a timeline" in capsys.readouterr().err
    assert main(["snapshots", "--lake", lake.root, "--drop", last, "--quiet"]) == 0
    assert len(lake.in_memory(SNAPSHOT_CHANGES.name)) == 1
    assert small(lake, load, tmp_path, events[1:])["timeline"]["snapshots"] == 1


def test_every_reader_sees_whole_snapshots(lake, load, tmp_path, capsys):
    events = [event(x, "QM1", "TO.QM2", y) for x, y in ((30, "RETRYING"), (300, "RUNNING"))]
    last = small(lake, load, tmp_path, events)["timeline"]["last"]
    capsys.readouterr()
    assert main(["diff", "S", last, "--lake", lake.root, "--json"]) == 0
    counts = json.loads(capsys.readouterr().out)["counts"]
    assert counts == {"channel_status": {"added": 1, "removed": 0, "changed": 0}}
    assert main(["snapshots", "--lake", lake.root, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["snapshots"]
    assert [(x["rows"]["channel_status"], x["rows"]["queues"]) for x in rows] == [
        (0, 1), (1, 1), (1, 1)
    ]  # fmt: skip
    assert main(["validate", "--snapshot", last, "--lake", lake.root, "--quiet"]) == 0
    words = ["explain", "--from", "QM1", "--object", "ORDERS", "--snapshot", last, "--json"]
    assert main([*words, "--lake", lake.root]) == 0
    (candidate,) = json.loads(capsys.readouterr().out)["candidates"]
    assert (candidate["status"], candidate["dest_qmgr"]) == ("RUNNING", "QM2")


def rows_of(lake, table, snapshot_id):
    rows = lake.in_memory(table, c.SNAPSHOT_ID, [snapshot_id]).to_pylist()
    return [{x: y for x, y in row.items() if y is not None and x != "source"} for row in rows]


def test_an_image_after_a_change_is_what_the_object_is_then(lake, load, tmp_path):
    before = config(5, "QM2", "Queue", queueName="ORDERS", queueType="Local", clwlQueueRank=1)
    before["objectState"] = "Before Change"
    receiver = {"channelName": "NEW.QM2", "channelType": "Clusrcvr", "clusterName": "K"}
    events = [
        before,
        config(10, "QM2", "Queue", queueName="ORDERS", queueType="Local", clusterName="K",
               clwlQueueRank=3, clwlUseq="Useq As Queue Mgr", usage="Normal"),
        config(70, "QM2", "Channel", 2367, **receiver, clwlChannelWeight=20),
        event(75, "QM1", "NEW.QM2", "RUNNING"),
        config(200, "QM2", "Queue", queueName="ORDERS", queueType="Local", clusterName=""),
        config(300, "QM2", "Queue", 2369, queueName="ORDERS", queueType="Local"),
    ]  # fmt: skip
    found = small(lake, load, tmp_path, events)
    assert (found["rows"]["config_events"], found["timeline"]["snapshots"]) == (4, 4)
    first, second, third, fourth = sorted(
        x["snapshot_id"] for x in lake.rows("snapshots") if x["base"]
    )
    (queue,) = rows_of(lake, "queues", first)
    assert (queue["clwlrank"], queue["clwluseq"], queue["cluster"]) == (3, "QMGR", "K")
    new = [x for x in rows_of(lake, "cluster_channels", second) if x["channel"] == "NEW.QM2"]
    assert [(x["qmgr"], x["clwlwght"], x["qmtype"]) for x in new] == [("QM2", 20, "NORMAL")]
    assert statuses(lake, second) == {("QM1", "NEW.QM2", "CLUSSDR", "QM2"): "RUNNING"}
    assert [x["cluster"] for x in rows_of(lake, "queues", third)] == [""]
    assert rows_of(lake, "queues", fourth) == []


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ({"queueName": "Q", "clusterNamelist": "NL"}, "namelist of clusters"),
        ({"queueName": "Q", "defBind": "Bind Somehow"}, "defBind 'BIND SOMEHOW' is none of"),
        ({}, "it has no queueName"),
    ],
)
def test_a_configuration_event_that_cannot_be_used_is_refused(data, why):
    document = config(1, "QM1", "Queue", queueType="Local", **data)
    found = records_of(json.dumps(document))
    assert [why in reason for _, _, reason in found.refused] == [True]


FIELDS = st.dictionaries(
    st.sampled_from(["inhibitPut", "clwlUseq", "defBind", "usage", "clusterName", "clwlQueueRank",
                     "queueName", "queueType", "clusterNamelist"]),
    st.one_of(st.none(), st.integers(), st.text(max_size=8), st.just("Local"), st.just("Useq Any")),
)  # fmt: skip


@settings(deadline=None)
@given(st.sampled_from(["Queue", "Channel", "Queue Mgr", "Topic"]), st.integers(2366, 2371), FIELDS)
def test_any_configuration_event_gives_a_row_or_a_reason_or_nothing(kind, reason, data):
    found = records_of(json.dumps(config(1, "QM1", kind, reason, **data)))
    assert len(found.records) + len(found.refused) + found.needless.total() == 1


def test_a_base_that_is_none_is_refused(lake, load, tmp_path):
    last = small(lake, load, tmp_path, [event(30, "QM1", "TO.QM2", "RETRYING")])["timeline"]["last"]
    for base, why in (
        (last, "give the one that it begins with, 'S'"),
        ("T", "no snapshot 'T'"),
        ("S", "is QUARANTINED"),
    ):
        if base == "S":
            (row,) = lake.rows("snapshots", c.SNAPSHOT_ID, ["S"])
            named = tuple((row | {"status": "QUARANTINED"}).values())
            lake.merge("snapshots", lake.arrow_rows("snapshots", [named]))
        assert why in load("--timeline", base, code=2)
    assert "give whole seconds" in load("--timeline", "S", "--step", "10ms", code=2)


MOMENTS = st.lists(st.integers(0, 40).map(lambda x: START + timedelta(seconds=x)), max_size=30)


@settings(deadline=None)
@given(MOMENTS)
def test_what_is_left_is_in_order_and_no_fewer_would_do(moments):
    refused = {x.at for x in out_of_order(moments)}
    kept = [x for at, x in enumerate(moments) if at not in refused]
    assert kept == sorted(kept)
    best = [1] * len(moments)
    for at, moment in enumerate(moments):
        best[at] += max((best[x] for x in range(at) if moments[x] <= moment), default=0)
    assert len(kept) == max(best, default=0)


@settings(deadline=None)
@given(st.lists(st.integers(0, 10_000), min_size=3, unique=True), st.integers(-900, 900))
def test_clocks_differ_by_what_their_starts_are_apart(seconds, apart):
    mine = [START + timedelta(seconds=x) for x in sorted(seconds)]
    starts = {("A", "C"): mine, ("B", "C"): [x + timedelta(seconds=apart) for x in mine]}
    found = clock_differences(starts, [("A", "B", "C")])
    assert [x.seconds for x in found] == ([apart] if abs(apart) >= 5 else [])
