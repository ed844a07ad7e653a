"""Records are matched, compared in what they tell, and explained: against small worlds by hand."""

import json
import sys
from dataclasses import replace
from datetime import timedelta
from types import ModuleType

import pytest
from lakes import lake_with
from orders_worlds import HOSTS, TOLD, ways, world
from pyspark.sql import functions as F
from reference import Reference
from small_worlds import (
    NOON,
    at,
    message,
    messages,
    proxy,
    qmgr,
    queue,
    rcvr,
    snapshot,
    tables,
    topic,
)
from waiting_worlds import SECOND, routed_lake
from worlds import put_rows

from clwl_spark.cli import main
from clwl_spark.errors import InputError
from clwl_spark.studies.conform.find import conform
from clwl_spark.studies.conform.match import NotCompared, Wanted
from clwl_spark.studies.conform.wording import summary
from clwl_spark.tables.moments import micros


@pytest.fixture
def lake_of(spark, tmp_path):
    def made(model, puts, records, **others):
        lake = routed_lake(spark, tmp_path, model, puts, SECOND)
        put_rows(lake, "observed_routes", records)
        for name, rows in others.items():
            put_rows(lake, name, rows)
        return lake

    return made


def only(found):
    (one,) = found.first_disagreements
    return one


def test_records_are_matched_by_put_seq_or_message_id_and_told_apart_where_not(lake_of):
    puts = messages(8, "APP1", "ORDERS")
    puts[6]["message_id"] = puts[7]["message_id"] = b"same"
    records = ways(world(), puts)
    for record in records[2:]:
        record["put_seq"] = None
    nameless = {**records[0], "put_seq": None, "message_id": None}
    untold = {**records[1], "dest_qmgr": None, "channel": ""}
    unknown = {**records[2], "message_id": b"nobody's"}
    unrouted = message("APP1", "ORDERS", 99)
    lake = lake_of(world(), puts, [*records, nameless, untold, unknown])
    put_rows(lake, "messages", [unrouted])
    put_rows(lake, "observed_routes", [{**records[0], "put_seq": 99}])
    found = conform(lake, Wanted())
    assert (found.seen, found.compared, found.agree) == (12, 6, 6)
    assert {x["reason"]: x["n"] for x in found.not_compared} == {
        NotCompared.AMBIGUOUS.value: 2,
        NotCompared.NAMELESS.value: 1,
        NotCompared.UNTOLD.value: 1,
        NotCompared.NO_MESSAGE.value: 1,
        NotCompared.NO_OUTCOME.value: 1,
    }


def test_only_what_a_record_tells_is_compared(lake_of):
    puts = messages(6, "APP1", "ORDERS")
    records = ways(world(), puts)
    records[0]["channel"] = None
    records[1]["dest_qmgr"] = None
    records[2] |= {"dest_qmgr": None, "channel": None, "xmitq": "SYSTEM.CLUSTER.TRANSMIT.QUEUE"}
    records[3] |= {"dest_qmgr": None, "channel": None, "xmitq": "ANOTHER"}
    records[4] |= {"reason": 2053}
    found = conform(lake_of(world(), puts, records), Wanted())
    assert (found.compared, found.agree) == (6, 4)
    assert only(found).put_seq == 4
    assert only(found).seen["xmitq"] == "ANOTHER"


def test_a_message_waits_on_the_transmission_queue_of_its_own_snapshot(lake_of):
    others = {x: y for x, y in world().items() if x not in ("snapshots", "queue_managers")}
    there = [(name, row) for name, rows in others.items() for row in rows]
    model = tables(
        snapshot("S1"), *at("S1", qmgr("APP1", defclxq="SCTQ"), *there),
        snapshot("S2", 1), *at("S2", qmgr("APP1", defclxq="CHANNEL"), *there),
    )  # fmt: skip
    puts = messages(40, "APP1", "ORDERS")
    for put in puts[20:]:
        put["put_time"] += timedelta(hours=1)
    records = [
        {**x, "xmitq": y["xmitq"]}
        for x, y in zip(ways(model, puts), Reference(model, edition=2).route(puts), strict=True)
    ]
    assert len({x["xmitq"] for x in records}) == 1 + len(HOSTS)
    records[-1] |= {"channel": "ANOTHER"}
    found = conform(lake_of(model, puts, records), Wanted())
    assert (found.compared, found.agree) == (40, 39)
    (unknown,) = (x for x in only(found).hypotheses if x["cause"] == "UNKNOWN")
    assert (unknown["fits"], unknown["of"]) == (39, 40)


def test_of_several_records_of_a_put_the_order_does_not_matter(spark, tmp_path):
    puts = messages(12, "APP1", "ORDERS")
    records = ways(world(), puts)
    records.insert(4, {**records[4], "channel": "ANOTHER"})
    told = []
    for name, rows in (("as-is", records), ("turned", records[::-1])):
        lake = routed_lake(spark, tmp_path / name, world(), puts, SECOND)
        put_rows(lake, "observed_routes", rows)
        told.append(conform(lake, Wanted()).first_disagreements)
    assert told[0] == told[1]


def test_copies_of_a_publication_agree_with_any_of_theirs(lake_of):
    model = world()
    more = tables(
        topic("APP1", "T", "prices"),
        *(proxy("APP1", "prices", host) for host in HOSTS[:2]),
    )
    for name in ("topics", "subscriptions"):
        model[name] = more[name]
    put = message("APP1", "prices", 1, object_type="TOPIC")
    copies = ways(model, [put])
    assert {x["dest_qmgr"] for x in copies} == {"SRV1", "SRV2"}
    wrong = {**copies[0], "dest_qmgr": "SRV3", "channel": "TO.SRV3"}
    found = conform(lake_of(model, [put], [*copies, wrong]), Wanted())
    assert (found.compared, found.agree) == (3, 2)


def test_a_copy_that_went_another_way_is_held_against_the_one_to_its_queue_manager(lake_of):
    model = world()
    more = tables(
        topic("APP1", "T", "prices"), *(proxy("APP1", "prices", host) for host in HOSTS[:2])
    )
    for name in ("topics", "subscriptions"):
        model[name] = more[name]
    put = message("APP1", "prices", 1, object_type="TOPIC")
    other = [{**x, "channel": f"OTHER.{x['dest_qmgr']}"} for x in ways(model, [put])]
    found = conform(lake_of(model, [put], other), Wanted())
    assert (found.compared, found.agree) == (2, 0)
    channels = {x["channel"]: (x["predicted"], x["seen"]) for x in found.by_channel}
    assert channels == {
        "TO.SRV1": (1, 0), "TO.SRV2": (1, 0), "OTHER.SRV1": (0, 1), "OTHER.SRV2": (0, 1)
    }  # fmt: skip


def test_another_rank_of_a_queue_moves_no_publication_to_topic_hosts(lake_of):
    model = world()
    hosts = [topic(x, "T", "prices", clroute="TOPICHOST") for x in HOSTS]
    model["topics"] = tables(*hosts)["topics"]
    puts = messages(60, "APP1", "ORDERS")
    for put in puts[::3]:
        put |= {"object_type": "TOPIC", "object_name": "prices"}
    known = {**model, "queues": [{**x, "clwlrank": 1} for x in model["queues"]]}
    ranks = [{**x, "clwlrank": 0 if x["qmgr"] == HOSTS[-1] else 1} for x in model["queues"]]
    one = only(conform(lake_of(known, puts, ways({**model, "queues": ranks}, puts)), Wanted()))
    assert (one.cause, one.fits, one.of) == ("WEIGHT", 60, 60)
    assert f"CLWLRANK of the queue on {HOSTS[-1]} is less than known" in one.why


@pytest.fixture
def without_srv3(monkeypatch):
    """The name of an exit that never lets SRV3 be chosen."""
    module = ModuleType("exit_without_srv3")
    module.chooses = lambda destinations: destinations.where(F.col("dest_qmgr") != "SRV3")
    monkeypatch.setitem(sys.modules, "exit_without_srv3", module)
    return "exit_without_srv3:chooses"


@pytest.mark.parametrize(
    ("hosts", "weight", "cause"),
    [(HOSTS, None, "EXIT"), (HOSTS[:2], {"SRV1": 20}, "WEIGHT")],
)
def test_what_an_exit_takes_away_is_looked_into(
    spark, tmp_path, without_srv3, hosts, weight, cause
):
    puts = messages(60, "APP1", "ORDERS")
    lake = lake_with(spark, tmp_path / "lake")
    for name, rows in {**world(), "messages": puts}.items():
        put_rows(lake, name, rows)
    put_rows(lake, "observed_routes", ways(world(hosts, weight), puts))
    assert main(["route", "--lake", lake.root, "--exit", without_srv3]) == 0
    one = only(conform(lake, Wanted()))
    assert (one.cause, one.fits, one.of) == (cause, 60, 60)


def test_object_queue_manager_and_time_narrow_it(lake_of):
    puts = messages(9, "APP1", "ORDERS")
    lake = lake_of(world(), puts, ways(world(), puts))
    since, until = (micros(NOON + timedelta(seconds=x)) for x in (3, 5))
    assert conform(lake, Wanted(since=since, until=until)).seen == 3
    assert conform(lake, Wanted(object_name="ORDERS", qmgr="APP1")).agree == 9
    assert conform(lake, Wanted(object_name="OTHER")).seen == 0
    assert conform(lake, Wanted(qmgr="APP2")).seen == 0


def test_a_history_before_the_trace_is_estimated_and_told(lake_of):
    puts = messages(60, "APP1", "ORDERS")
    weight = {"SRV2": 20}
    records = ways(world(weight=weight), puts)[7:]
    found = conform(lake_of(world(weight=weight), puts[7:], records), Wanted())
    one = only(found)
    assert (one.cause, one.fits, one.of) == ("HISTORY_BEFORE_TRACE", 53, 53)
    assert found.start == [
        {"qmgr": "APP1", "counters": list(one.start), "fits": one.fits, "of": one.of}
    ]
    assert one.start
    assert all(x["dest_seq_factor"] > 0 or x["dest_seq_number"] > 0 for x in one.start)


def test_a_status_for_some_time_is_told_with_the_event_near_it(lake_of):
    puts = messages(90, "APP1", "ORDERS")
    stopped = ways(world(status={"SRV1": "STOPPED"}), puts)
    records = [*ways(world(), puts)[:30], *stopped[30:]]
    event = {
        "qmgr": "APP1", "at": puts[29]["put_time"], "channel": "TO.SRV1", "status": "STOPPED",
    }  # fmt: skip
    one = only(conform(lake_of(world(), puts, records, status_events=[event]), Wanted()))
    assert one.cause == "STATUS_KNOWN_LATE"
    assert "TO.SRV1 to SRV1 was not up" in one.why
    assert one.hypotheses[0]["from_put_seq"] in (29, 30, 31)
    assert [x["status"] for x in one.status_events] == ["STOPPED"]


@pytest.mark.parametrize("known", [False, True])
def test_a_queue_manager_is_suspended_and_resumed_with_all_of_its_channels(lake_of, known):
    """SRV1 has two; as it is suspended, nothing tells it from one where PUT is disabled."""
    puts = messages(60, "APP1", "ORDERS")

    def two_ways(*, suspended):
        model = world()
        both = [rcvr("SRV1", channel=x, suspended=suspended) for x in ("TO.SRV1", "TWO.SRV1")]
        others = [x for x in model["cluster_channels"] if x["qmgr"] != "SRV1"]
        return {**model, "cluster_channels": others + tables(*both)["cluster_channels"]}

    records = ways(two_ways(suspended=not known), puts)
    one = only(conform(lake_of(two_ways(suspended=known), puts, records), Wanted()))
    assert (one.cause, one.fits, one.of) == ("STATUS_KNOWN_LATE", 60, 60)
    assert one.why.startswith(f"SRV1 was {'not ' if known else ''}suspended: 60 of 60")
    assert one.settle.startswith("on APP1: DISPLAY CLUSQMGR(SRV1) SUSPEND of that time")
    assert ("PUT is disabled on SRV1" in one.hypotheses[0]["also"]) == (not known)


def test_of_two_causes_what_each_alone_leaves_unexplained_is_told(lake_of):
    """A weight that is another all of the time, and a channel that stops for the last few puts."""
    puts = messages(240, "APP1", "ORDERS")
    weight = {"SRV2": 20}
    both = ways(world(weight=weight, status={"SRV1": "STOPPED"}), puts)
    records = [*ways(world(weight=weight), puts)[:200], *both[200:]]
    one = only(conform(lake_of(world(), puts, records), Wanted()))
    weights = [x for x in one.hypotheses if x["cause"] == "WEIGHT"]
    assert "CLWLWGHT of TO.SRV2 to SRV2 is 20, not 50: 200 of 240 messages" in str(weights[0])
    assert one.cause in {"WEIGHT", "OTHER_PUTTERS"}
    assert f"{one.fits} of {one.of}" in one.why


@pytest.mark.parametrize("weights", [(50, 10), (20, 67)])
@pytest.mark.parametrize("known", ["before", "after"])
@pytest.mark.parametrize("status", ["RUNNING", "STARTING"])
def test_a_weight_that_is_altered_on_the_way_is_told_with_where(lake_of, weights, known, status):
    """The lake knows the one of before, or the one of now; SRV2's tier says whether it resets."""
    puts = messages(240, "APP1", "ORDERS")
    statuses = dict.fromkeys(HOSTS, status)
    before, after = (world(weight={"SRV2": x}, status=statuses) for x in weights)
    records = ways(one_after_the_other(before, after, puts[120]["put_time"]), puts)
    model = before if known == "before" else after
    own, other = weights if known == "before" else reversed(weights)
    one = only(conform(lake_of(model, puts, records), Wanted()))
    assert (one.cause, one.fits, one.of) == ("WEIGHT", 240, 240)
    told = f"CLWLWGHT of TO.SRV2 to SRV2 was altered: it is {other}, not {own}, from put_seq"
    assert told in one.why
    first = one.hypotheses[0]
    span = (120, 240) if known == "before" else (1, 120)
    assert [first["from_put_seq"], first["to_put_seq"]] == pytest.approx(span, abs=3)


def one_after_the_other(before, after, at):
    """A model whose snapshot is followed by that of another one."""
    found = {
        name: [*rows, *({**x, "snapshot_id": "LATER"} for x in after[name])]
        for name, rows in before.items()
    }
    found["snapshots"][-1]["valid_from"] = at
    return found


def test_a_destination_that_is_no_candidate_is_a_view_that_is_partial(lake_of):
    puts = messages(60, "APP1", "ORDERS")
    one = only(conform(lake_of(world(HOSTS[:2]), puts, ways(world(), puts)), Wanted()))
    assert (one.cause, one.fits, one.of) == ("PARTIAL_VIEW", 60, 60)
    assert "SRV3 by TO.SRV3" in one.why


@pytest.mark.parametrize(
    ("object_name", "cause"),
    [("SYSTEM.ADMIN.EVENT", "ADMINISTRATION"), ("INVOICES", "OTHER_PUTTERS")],
)
def test_records_of_puts_that_messages_lack_explain_gaps(lake_of, object_name, cause):
    puts = messages(90, "APP1", "ORDERS")
    records = ways(world(), puts)
    own = [x for x in puts if x["put_seq"] % 7 not in {2, 3}]
    for record in records:
        if record["put_seq"] % 7 in {2, 3}:
            record |= {"object_name": object_name, "put_seq": None, "message_id": b"x"}
    one = only(conform(lake_of(world(), own, records), Wanted()))
    assert (one.cause, one.fits) == (cause, one.of)


def test_the_other_order_of_the_rules_is_the_version(lake_of):
    """v7 looks at suspension of remote ones only, and at the rank after the local queue."""
    model = world()
    model["queues"] += tables(queue("APP1", "ORDERS", "K", defbind="NOTFIXED"))["queues"]
    for row in model["cluster_channels"]:
        if row["qmgr"] in HOSTS[:2]:
            row["clwlrank"] = 5
    puts = messages(60, "APP1", "ORDERS")
    outcomes = Reference(model, algorithm="v7", edition=2).route([dict(x) for x in puts])
    records = [{x: row[x] for x in TOLD} for row in outcomes]
    one = only(conform(lake_of(model, puts, records), Wanted()))
    assert one.cause in {"VERSION", "WEIGHT"}
    assert "VERSION" in {x["cause"] for x in one.hypotheses}
    assert one.fits == one.of


def test_counts_of_channels_stand_beside_outcomes(lake_of):
    puts = messages(30, "APP1", "ORDERS")
    count = {
        "qmgr": "APP1", "object_type": "CHANNEL", "object_name": "TO.SRV1", "remote_qmgr": "",
        "from_time": NOON, "to_time": NOON + timedelta(seconds=16), "messages": 7,
    }  # fmt: skip
    found = conform(lake_of(world(), puts, [], observed_counts=[count]), Wanted())
    (row,) = found.counts
    assert (row["channel"], row["counted"], row["predicted"]) == ("TO.SRV1", 7, 5)
    assert (row["from"], row["to"]) == ("2024-05-06T12:00:00Z", "2024-05-06T12:00:16Z")


def test_nothing_seen_is_said(spark, tmp_path):
    lake = routed_lake(spark, tmp_path, world(), messages(1, "APP1", "ORDERS"), SECOND)
    assert conform(lake, Wanted()).seen == 0
    for name in ("observed_routes", "observed_counts"):
        lake.remove_folder(lake.path(name))
    with pytest.raises(InputError, match="clwl load"):
        conform(lake, Wanted())


def test_the_command_tells_and_writes_a_page(lake_of, tmp_path, capsys):
    puts = messages(60, "APP1", "ORDERS")
    truth = world(weight={"SRV2": 20})
    lake = lake_of(world(), puts, ways(truth, puts))
    file = tmp_path / "pages" / "conform.html"
    assert main(["conform", "--lake", lake.root, "--json", "--html", str(file)]) == 0
    document = json.loads(capsys.readouterr().out)
    assert {"seen", "compared", "agree", "by_object", "first_disagreements"} <= document.keys()
    (first,) = document["first_disagreements"]
    assert {"qmgr", "put_seq", "predicted", "seen", "cause"} <= first.keys()
    assert first["cause"] == "WEIGHT"
    assert "CLWLWGHT of TO.SRV2 to SRV2 is 20, not 50" in file.read_text(encoding="utf-8")
    assert main(["conform", "--lake", lake.root]) == 0
    assert "WEIGHT" in capsys.readouterr().out


def test_a_share_that_has_to_agree_is_held_by_the_exit_code(lake_of, capsys):
    puts = messages(4, "APP1", "ORDERS")
    records = ways(world(), puts)
    records[3]["dest_qmgr"] = "SRV9"
    words = ["conform", "--lake", lake_of(world(), puts, records).root, "--explain", "0"]
    assert main([*words, "--fail-under", "0.75"]) == 0
    capsys.readouterr()
    assert main([*words, "--fail-under", "0.76", "--json"]) == 1
    shown = capsys.readouterr()
    assert "--fail-under 0.76: 3 of 4 agree" in shown.err
    (first,) = json.loads(shown.out)["first_disagreements"]
    assert (first["put_seq"], first["cause"]) == (4, "")
    assert main([*words, "--fail-under", "0", "--from", "NOBODY"]) == 1
    assert "none is compared" in capsys.readouterr().err
    assert main([*words, "--fail-under", "75"]) == 2


def test_a_put_that_was_foretold_to_fail_is_told_what_the_snapshot_lacks(lake_of, capsys):
    puts = messages(4, "STRANGER", "ORDERS")
    end = {"reason": 0, "dest_qmgr": "SRV1", "channel": None}
    lake = lake_of(world(), puts, [{**x, **end} for x in ways(world(), puts)])
    one = only(conform(lake, Wanted()))
    assert (one.cause, one.predicted["reason"]) == ("UNKNOWN", 2085)
    assert one.settle.startswith(
        "ingest the definitions of STRANGER, and what DISPLAY QCLUSTER(ORD"
    )
    turned = ["--since", "2024-01-02T00:00:00Z", "--until", "2024-01-01T00:00:00Z"]
    assert main(["conform", "--lake", lake.root, *turned]) == 2
    assert "--since is after --until" in capsys.readouterr().err


def test_nearly_all_is_not_all(lake_of):
    puts = messages(3, "APP1", "ORDERS")
    found = conform(lake_of(world(), puts, ways(world(), puts)), Wanted())
    for agree, told in ((0, "0.00%"), (1, "<0.01%"), (99_999, ">99.99%"), (100_000, "100.00%")):
        assert f"({told})" in summary(replace(found, compared=100_000, agree=agree))


def test_a_first_disagreement_far_behind_the_start_is_held_from_near_it(lake_of, monkeypatch):
    """What comes before goes into the history, and nothing is held against it."""
    monkeypatch.setattr("clwl_spark.studies.conform.held.LOOKED_AT", 200)
    monkeypatch.setattr("clwl_spark.studies.conform.held.BEFORE", 20)
    puts = messages(500, "APP1", "ORDERS")
    weight = {"SRV1": 30}
    truth = world(weight=weight)
    later = world(weight=weight, status={"SRV2": "STOPPED"})
    for name, rows in later.items():
        truth[name] = [*truth[name], *({**x, "snapshot_id": "S2"} for x in rows)]
    truth["snapshots"][1]["valid_from"] = puts[400]["put_time"]
    model = world(weight=weight)
    one = only(conform(lake_of(model, puts, ways(truth, puts)), Wanted()))
    assert 400 < one.put_seq < 410
    assert (one.cause, one.fits, one.of) == ("STATUS_KNOWN_LATE", one.of, one.of)
    assert one.of < 200
    first = one.hypotheses[0]
    assert first["from_put_seq"] is None or 380 < first["from_put_seq"] <= one.put_seq
