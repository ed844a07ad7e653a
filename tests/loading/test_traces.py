"""Application activity trace: what queue managers record of puts loads back as it was."""

import copy
import shutil
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import activity_traces as written
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clwl_spark.cli import main
from clwl_spark.cli.samples import sample_messages, samples_folder
from clwl_spark.delta.lake import Lake
from clwl_spark.mq.traffic import is_recorded, records_of, whole_size
from clwl_spark.studies.load import parts
from clwl_spark.studies.load.operations import operations_of
from clwl_spark.studies.load.traces import FILE, traced
from clwl_spark.tables import MESSAGES

UNTIL = datetime(2026, 9, 14, 8, 12, tzinfo=UTC)
FORMS = {
    "json": written.as_json,
    "json at the left": written.as_raw_json,
    "json_compact": written.as_compact,
    "amqsact": written.as_amqsact,
}
COMPARED = (
    "qmgr", "message_id", "put_time", "object_type", "object_name", "object_qmgr", "group_id",
    "logical_order", "via", "persistent", "msg_length",
)  # fmt: skip


def run(*words, code=0):
    assert main([*map(str, words)]) == code


@pytest.fixture(scope="module")
def routed(spark, tmp_path_factory):
    """The demo's cluster with the first minutes of its traffic: the lake, and the puts."""
    lake = Lake(spark, str(tmp_path_factory.mktemp("routed") / "lake"))
    topology = samples_folder() / "topology"
    words = ["--snapshot", "demo", "--valid-from", "2026-09-14T06:00:00Z", "--quiet"]
    run("ingest", topology, "--lake", lake.root, *words)
    names = MESSAGES.names
    rows = [
        dict(zip(names, x, strict=True)) for x in sample_messages(samples_folder() / "messages.csv")
    ]
    rows = [x for x in rows if x["put_time"] < UNTIL and x["object_name"] and x["object_type"]]
    lake.create([MESSAGES])
    lake.append(
        "messages", MESSAGES.arrow(names).empty_table().from_pylist(rows, MESSAGES.arrow(names))
    )
    run("route", "--lake", lake.root, "--quiet")
    by_id = {}
    for x in lake.read("outcomes").collect():
        by_id.setdefault((x.qmgr, bytes(x.message_id)), x.asDict())
    puts = []
    for row in rows:
        went = by_id.get((row["qmgr"], row["message_id"]))
        if went is not None:
            names = ("reason", "dest_qmgr", "dest_object", "xmitq", "is_local")
            puts.append({**row, **{x: went[x] for x in names}})
    return lake, puts


def plain(value):
    return bytes(value) if isinstance(value, bytearray) else value


def identities(rows):
    """What a message is, where defaults are told as null or not."""
    defaults = {"object_type": "QUEUE", "object_qmgr": "", "via": "LOCAL", "logical_order": False}
    return Counter(
        tuple(
            plain(row[x]).astimezone(UTC) if x == "put_time" else plain(row[x]) or defaults.get(x)
            for x in COMPARED
        )
        for row in rows
    )


def opens(rows):
    """Which messages belong together, and how they are bound."""
    found = {}
    for row in rows:
        key = row["open_id"] if row["open_id"] is not None else plain(row["message_id"])
        found.setdefault((row["qmgr"], key), []).append(plain(row["message_id"]))
    return {frozenset(x) for x in found.values()}


def routes(rows):
    names = ("qmgr", "message_id", "reason", "dest_qmgr", "xmitq")
    return Counter(tuple(plain(x[y]) for y in names) for x in rows)


@pytest.mark.parametrize("form", FORMS)
def test_messages_and_their_routes_load_back_as_they_were(routed, lake, load, tmp_path, form):
    _, puts = routed
    file = tmp_path / "trace"
    file.write_text(FORMS[form](written.events_of(puts)))
    document = load(file)
    good = [x for x in puts if x["reason"] == 0]
    assert document["rejects"] == []
    assert (document["repeated"], document["unopened"], document["set_back"]) == (0, 0, {})
    messages = [x.asDict() for x in lake.read("messages").collect()]
    assert identities(messages) == identities(good)
    assert opens(messages) == opens(good)
    assert {x["bind"] for x in messages} > {"NOT_FIXED", "AS_Q_DEF"}
    told = [x for x in puts if x["reason"] or (x["dest_qmgr"] and x["object_type"] != "TOPIC")]
    observed = [x.asDict() for x in lake.read("observed_routes").collect()]
    assert routes(observed) == routes(told)
    numbers = {plain(x["message_id"]): x["put_seq"] for x in messages}
    assert all(x["put_seq"] == numbers.get(plain(x["message_id"])) for x in observed)
    assert load(file)["known"] == 1


RECORDS = samples_folder() / "records"
SAMPLE_UNTIL = datetime(2026, 9, 14, 8, 8, tzinfo=UTC)
SAMPLES = {
    "shop1.activity.json": ("SHOP1", written.as_json),
    "hub1.activity.jsonl": ("HUB1", written.as_compact),
}


def sample_of(puts, name):
    """A sample of records: what the demo's router says of a queue manager's first puts."""
    qmgr, form = SAMPLES[name]
    own = [x for x in puts if x["qmgr"] == qmgr and x["put_time"] < SAMPLE_UNTIL]
    return form(written.events_of(own))


@pytest.mark.parametrize("name", SAMPLES)
def test_the_sample_of_records_is_what_the_demo_s_router_says(routed, name):
    _, puts = routed
    assert (RECORDS / name).read_text() == sample_of(puts, name)


def test_routing_the_sample_gives_what_it_observed(lake, load):
    topology = samples_folder() / "topology"
    words = ["--snapshot", "demo", "--valid-from", "2026-09-14T06:00:00Z", "--quiet"]
    run("ingest", topology, "--lake", lake.root, *words)
    document = load(RECORDS)
    assert (document["rejects"], document["unopened"]) == ([], 0)
    run("route", "--lake", lake.root, "--quiet")
    names = ("qmgr", "put_seq", "dest_qmgr", "xmitq")
    seen = lake.read("observed_routes").select(*names).collect()
    queues = lake.read("outcomes").where("object_type = 'QUEUE'")
    assert len(seen) > 300
    assert {*map(tuple, seen)} == {*map(tuple, queues.select(*names).collect())}


def test_bodies_and_users_are_not_stored(routed, lake, load, tmp_path):
    _, puts = routed
    events = written.events_of(puts[:40])
    for event in events:
        for operation in event["eventData"]["activityTrace"]:
            operation["messageData"] = b"very secret".hex()
    (tmp_path / "trace").write_text(written.as_json(events))
    load(tmp_path / "trace")
    for name in ("messages", "observed_routes", "load_rejects"):
        assert not lake.exists(name) or "secret" not in str(lake.rows(name))
        assert not lake.exists(name) or "clerk" not in str(lake.rows(name))


PUT = {
    "qmgr": "QM1", "put_time": datetime(2026, 9, 14, 8, 0, 0, 250_000, tzinfo=UTC),
    "object_type": "QUEUE", "object_name": "ORDERS", "object_qmgr": "", "bind": "NOT_FIXED",
    "open_id": 1, "group_id": None, "persistent": True, "msg_length": 20, "message_id": b"\1" * 24,
    "reason": 0, "dest_qmgr": "QM2", "dest_object": "ORDERS", "is_local": False, "xmitq": "XMIT",
}  # fmt: skip


def puts_of(count, **more):
    """Puts a second apart."""
    start = PUT["put_time"]
    return [
        {**PUT, "put_time": start + timedelta(seconds=x), "message_id": bytes([x + 1] * 24), **more}
        for x in range(count)
    ]


def messages_of(lake):
    return lake.read("messages").orderBy("qmgr", "put_seq").collect()


@pytest.mark.parametrize("form", FORMS)
def test_half_a_record_at_the_end_is_taken_when_the_rest_has_come(lake, load, tmp_path, form):
    text = FORMS[form](written.events_of(puts_of(20), per_event=8))
    last = text.rindex('{\n"eventSource' if form == "json at the left" else
                       {"json": '{\n "eventSource', "json_compact": '{"eventSource'}.get(
                           form, "MonitoringType"))  # fmt: skip
    file = tmp_path / "trace"
    file.write_text(text[: (last + len(text)) // 2])
    first = load(file)
    (reject,) = first["rejects"]
    assert reject["reason"] == "a record that breaks off; it is taken when it is whole"
    assert reject["line"] == text[:last].count("\n") + 1
    before = first["rows"]["messages"]
    again = load(file)
    assert (again["written"], [x["why"] for x in again["passed_over"]]) == (
        False, ["nothing in it is new but a piece that breaks off"]
    )  # fmt: skip
    file.write_text(text)
    rest = load(file)
    assert (rest["rejects"], rest["rows"]["messages"], rest["unopened"]) == ([], 20 - before, 0)
    found = messages_of(lake)
    assert [x.put_seq for x in found] == [*range(1, 21)]
    assert [bytes(x.message_id)[0] for x in found] == [*range(1, 21)]
    assert {(x.bind, x.open_id) for x in found} == {("NOT_FIXED", found[0].open_id)}


@pytest.mark.parametrize("form", ["json at the left", "amqsact"])
def test_a_large_file_is_mapped_and_read_in_parts_by_workers(
    lake, load, tmp_path, monkeypatch, form
):
    events = written.events_of(puts_of(60), per_event=7)
    text = FORMS[form](events)
    lines = [text[:x].count("\n") + 1 for x in _starts(text)]
    monkeypatch.setattr(parts, "PART_BYTES", 3000)
    monkeypatch.setattr(parts, "MAPPED_BYTES", 1)
    monkeypatch.setattr(parts, "HERE_BYTES", 1)
    file = tmp_path / "trace"
    half = _starts(text)[4]
    file.write_text(text[: half + 700])
    first = load(file)
    file.write_text(text)
    document = load(file)
    assert first["rows"]["messages"] + document["rows"]["messages"] == 60
    assert (len(first["rejects"]), document["rejects"], document["unopened"]) == (1, [], 0)
    found = messages_of(lake)
    assert [bytes(x.message_id)[0] for x in found] == [*range(1, 61)]
    assert len({x.open_id for x in found}) == 1
    seen = lake.read("observed_routes").collect()
    assert {int(x.source.rpartition(":")[2]) for x in seen} == set(lines)


def _starts(text):
    sign = "MonitoringType" if text.startswith("M") else '{\n"eventSource"'
    return [x for x in range(len(text)) if text.startswith(sign, x)]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16 with \\r\\n"])
@pytest.mark.parametrize("form", ["json", "amqsact"])
def test_a_trace_may_be_in_the_encodings_of_windows(lake, load, tmp_path, form, encoding):
    text = FORMS[form](written.events_of(puts_of(6), per_event=3))
    if "with" in encoding:
        text = text.replace("\n", "\r\n")
    file = tmp_path / "trace"
    file.write_bytes(text[:-300].encode(encoding.split(" with", maxsplit=1)[0]))
    first = load(file)
    assert len(first["rejects"]) == 1
    file.write_bytes(text.encode(encoding.split(" with", maxsplit=1)[0]))
    rest = load(file)
    assert rest["rejects"] == []
    assert (
        first["rows"]["messages"] + rest["rows"]["messages"] == lake.read("messages").count() == 6
    )


def test_what_comes_a_second_time_counts_once_and_is_told(lake, load, tmp_path):
    events = written.events_of(puts_of(30), per_event=10)
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text(written.as_json([*events, events[1]]))
    two.write_text(written.as_compact(events[:2]))
    document = load(one, two)
    assert (document["rows"]["messages"], document["repeated"]) == (30, 10 + 18)
    assert document["rows"]["observed_routes"] == 30
    later = tmp_path / "later"
    more = written.events_of(puts_of(32), per_event=10)
    later.write_text(written.as_amqsact(more))
    document = load(later)
    assert (document["rows"]["messages"], document["repeated"]) == (2, 30)
    assert lake.read("observed_routes").count() == 32
    assert load(later)["known"] == 1
    only_old = tmp_path / "only old"
    only_old.write_text(written.as_compact(more[:1]))
    assert load(only_old)["repeated"] == 8
    assert load(only_old)["known"] == 1
    assert lake.read("messages").count() == 32


def test_where_puts_of_other_programs_went_is_loaded_once(lake, load, tmp_path):
    """The lake has the puts, and no record of them: their trace tells where they went."""
    forms = (written.as_json, written.as_compact, written.as_amqsact)
    for name, form in zip("abc", forms, strict=True):
        (tmp_path / name).write_text(form(written.events_of(puts_of(3))))
    assert load(tmp_path / "a")["rows"] == {"messages": 3, "observed_routes": 3}
    shutil.rmtree(Path(lake.root, "observed_routes"))
    document = load(tmp_path / "b")
    assert (document["rows"], document["repeated"]) == ({"messages": 0, "observed_routes": 3}, 3)
    assert len(messages_of(lake)) == 3
    rows = lake.read("observed_routes").collect()
    assert [x.put_seq for x in rows] == [None] * 3
    assert {x.message_id for x in rows} == {x.message_id for x in messages_of(lake)}
    assert load(tmp_path / "c")["rows"] == {"messages": 0}


def test_opens_of_another_file_and_of_handles_used_again(lake, load, tmp_path):
    """Handle 2 is opened three times, and the last open is told by another file."""
    puts = [{**x, "open_id": None, "bind": "ON_OPEN"} for x in puts_of(3)]
    events = written.events_of(puts, per_event=8)
    assert [len(x["eventData"]["activityTrace"]) for x in events] == [8, 2]
    for name, event in zip("ba", events, strict=True):
        (tmp_path / name).write_text(written.as_json([event]))
    document = load(tmp_path / "a", tmp_path / "b")
    assert document["unopened"] == 0
    found = messages_of(lake)
    assert [x.bind for x in found] == ["ON_OPEN"] * 3
    assert len({x.open_id for x in found}) == 3


def test_a_clock_that_is_set_back_is_told(lake, load, tmp_path):
    events = written.events_of(puts_of(6))
    *_, last = events[0]["eventData"]["activityTrace"]
    last["highresTime"] -= 10_000_000
    (tmp_path / "trace").write_text(written.as_json(events))
    assert load(tmp_path / "trace")["set_back"] == {"QM1": 1}
    assert bytes(messages_of(lake)[0].message_id)[0] == 6


def test_terse_text_gives_what_it_has(lake, load, tmp_path):
    file = tmp_path / "trace"
    file.write_text(written.as_terse(written.events_of(puts_of(3))))
    assert "give --time-zone" in load(file, code=2)
    document = load(file, "--time-zone", "UTC")
    assert (document["rows"], document["unopened"]) == ({"messages": 3}, 3)
    assert {(x.object_name, x.bind, x.message_id) for x in messages_of(lake)} == {
        ("ORDERS", None, None)
    }
    cut = file.read_text()[:-90]
    (tmp_path / "cut").write_text(cut)
    assert whole_size(cut.encode()) == 0


def event_with(change, count=2):
    """An event of an MQOPEN and puts, changed."""
    (event,) = written.events_of(puts_of(count))
    change(event, event["eventData"], event["eventData"]["activityTrace"])
    return event


def in_put(**more):
    """Changes the first put; None takes the field away."""

    def change(_event, _data, trace):
        operation = next(x for x in trace if x["operationId"] == "Put")
        operation.update(more)
        for name in [x for x, y in more.items() if y is None]:
            del operation[name]

    return change


def without_opens(_event, data, trace):
    data["activityTrace"] = [x for x in trace if x["operationId"] != "Open"]


BAD: dict = {
    "no MQOPEN, and no name": (without_opens, 0, "neither it nor an MQOPEN of its handle names"),
    "no queue manager": (
        lambda event, data, _: (data.pop("queueMgrName"), event["eventSource"].pop("queueMgr")),
        0, "it has no queueMgrName",
    ),
    "no list": (lambda _, data, __: data.update(activityTrace=7), 0, "is no list of operations"),
    "no operation": (lambda _, __, trace: trace.append("Put"), 2, "it is no operation"),
    "unknown operation": (
        lambda _, __, trace: trace.append({"operationId": "Teleport"}), 2,
        "it is no operation that is known",
    ),
    "operation without a name": (lambda _, __, trace: trace.append({}), 2, "it is no operation"),
    "sequence": (
        lambda _, data, __: data.update(sequenceNumber="x"), 0, "sequenceNumber 'x' is no number"
    ),
    "numbers as texts": (in_put(hobj="100", msgLength="20", persistence="1"), 2, None),
    "reason as a number": (in_put(reasonCode=0), 2, None),
    "a reason alone": (in_put(reasonCode="2053", resolvedQueueMgr=None), 1, None),
    "length in words": (in_put(msgLength="long"), 1, "msglength 'long' cannot be read"),
    "length out of range": (in_put(msgLength=1 << 40), 1, "msglength 1099511627776 is out of"),
    "identifier": (in_put(msgId="XYZ"), 1, "msgid 'XYZ' cannot be read"),
    "no identifier": (in_put(msgId=None), 2, None),
    "a list for a name": (in_put(resolvedQueueName=[1]), 1, "resolvedqname [1] cannot be read"),
    "a name that is no text": (in_put(resolvedQueueName="\ud800"), 1, "cannot be read"),
    "moment": (in_put(highresTime=-5), 1, "highresTime -5 is no moment"),
    "no moment but without a zone": (in_put(highresTime=None), 1, "give --time-zone"),
    "no moment": (
        in_put(highresTime=None, operationDate=None), 1, "it has no highresTime, and no operation"
    ),
    "put date": (in_put(highresTime=None, putDate="20260914", putTime="08000025"), 2, None),
    "put date of another": (
        in_put(highresTime=None, putDate="20260914", putTime="08000025", putOptions="0x00000800 "),
        1, "give --time-zone",
    ),
    "no persistence": (in_put(persistence=2), 2, None),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD)
def test_what_cannot_be_used_is_set_aside_and_the_rest_is_taken(load, tmp_path, kind):
    change, usable, reason = BAD[kind]
    (tmp_path / "trace").write_text(written.as_json([event_with(change)]))
    (tmp_path / "puts.csv").write_text("qmgr,put_time,queue\nQM9,2026-09-14T08:00:00Z,X\n")
    if reason:
        told = load("--strict", tmp_path / "trace", tmp_path / "puts.csv", code=2)
        assert "piece(s) cannot be used" in told
    document = load(tmp_path / "trace", tmp_path / "puts.csv")
    assert document["rows"]["messages"] == usable + 1
    reasons = [x["reason"] for x in document["rejects"]]
    assert len(reasons) == (0 if reason is None else 2 if usable == 0 and "MQOPEN" in reason else 1)
    assert all(reason in x for x in reasons)


def test_a_trace_without_opens_has_the_default_and_says_so(lake, load, tmp_path):
    event = event_with(without_opens, 5)
    for operation in event["eventData"]["activityTrace"]:
        operation["objectName"] = "ORDERS"
    (tmp_path / "trace").write_text(written.as_json([event]))
    document = load(tmp_path / "trace")
    assert (document["rows"]["messages"], document["unopened"]) == (5, 5)
    found = messages_of(lake)
    assert {x.bind for x in found} == {None}
    assert len({x.open_id for x in found}) == 1


def test_a_topic_is_its_string_and_a_cluster_receiver_is_told(lake, load, tmp_path):
    topics = puts_of(2, object_type="TOPIC", object_name="/prices/DE")
    received = puts_of(1, qmgr="QM2", via="CLUSTER", is_local=True, dest_qmgr="QM2", xmitq=None)
    (tmp_path / "trace").write_text(written.as_json(written.events_of([*topics, *received])))
    load(tmp_path / "trace")
    assert [(x.object_type, x.object_name, x.via) for x in messages_of(lake)] == [
        ("TOPIC", "/prices/DE", "LOCAL"), ("TOPIC", "/prices/DE", "LOCAL"),
        ("QUEUE", "ORDERS", "CLUSTER"),
    ]  # fmt: skip
    (route,) = lake.read("observed_routes").collect()
    assert (route.dest_qmgr, route.xmitq, route.put_seq) == ("QM2", None, 1)


def test_an_mqopen_that_fails_is_a_route_with_its_reason(lake, load, tmp_path):
    def fail(_event, data, trace):
        failed = {"name": "Unknown Object Name", "value": 2085}
        data["activityTrace"] = [
            {**x, "reasonCode": failed, "hobj": "-1"} for x in trace if x["operationId"] == "Open"
        ]

    event = event_with(fail)
    (tmp_path / "trace").write_text(written.as_json([event]))
    load(tmp_path / "trace")
    (route,) = lake.read("observed_routes").collect()
    assert (route.object_name, route.reason, route.put_seq) == ("ORDERS", 2085, None)
    # It comes again in another file.
    (tmp_path / "other").write_text(written.as_compact([event]))
    assert load(tmp_path / "other")["repeated"] == 1
    assert lake.read("observed_routes").count() == 1
    # A put that fails later is another one.
    puts = puts_of(3, reason=2053)
    for count in (2, 3):
        (tmp_path / "puts").write_text(written.as_compact(written.events_of(puts[:count])))
        assert load(tmp_path / "puts")["repeated"] == {2: 0, 3: 2}[count]
    assert lake.read("observed_routes").count() == 4


TEXTS = [
    form(written.events_of(puts_of(3), per_event=4)) for form in (*FORMS.values(), written.as_terse)
]


NOISE = [
    '"', "{", "}", "[", "\\", "-1", "null", "\ud800", "9" * 30, "\n", "'", "=" * 77 + "\n\n", "e5",
    "",
]  # fmt: skip


def taken(text):
    """What a reader makes of any text; what it cannot use is refused."""
    data = text.encode(errors="replace")
    assert 0 <= whole_size(data) <= len(data)
    is_recorded(data)
    found = records_of(data.decode(errors="replace"))
    table, refused = operations_of(found.operations, ZoneInfo("UTC"))
    assert table.num_rows + len(refused) == len(found.operations.rows)
    table = table.append_column(FILE, pa.array([0] * table.num_rows, pa.int32()))
    return traced(table, ["trace"])


@settings(deadline=None, max_examples=150)
@given(st.sampled_from(TEXTS), st.data())
def test_any_cut_and_any_change_of_a_file_is_read_without_a_crash(text, data):
    start = data.draw(st.integers(0, len(text)))
    stop = data.draw(st.integers(start, min(len(text), start + 40)))
    noise = data.draw(st.sampled_from(NOISE) | st.text(max_size=5))
    taken(text[:start] + noise + text[stop:])
    taken(text[:start])
    assert len(taken(text).messages) == 3


@settings(deadline=None, max_examples=100)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
        lambda x: st.lists(x, max_size=3) | st.dictionaries(st.text(max_size=8), x, max_size=3),
        max_leaves=6,
    ),
    st.data(),
)
def test_any_value_in_any_field_is_read_without_a_crash(value, data):
    (event,) = copy.deepcopy(written.events_of(puts_of(2)))
    told = event["eventData"]
    where = data.draw(st.sampled_from([event, told, *told["activityTrace"]]))
    where[data.draw(st.sampled_from(sorted(where)))] = value
    taken(written.as_json([event]))
