"""Failures tried at once against each one made by hand in the tables and planned anew."""

import random
from collections import Counter, defaultdict
from copy import deepcopy
from dataclasses import asdict

import pytest
from reference import Reference
from small_worlds import proxy, queue, rcvr, topic
from small_worlds import sender as status_of
from small_worlds import tables as tables_of
from what_if.plain import requests_of, topology_of
from worlds import merged_tables, random_cases

from clwl_spark.algorithm.request import REQUEST, REQUEST_TYPES, Request
from clwl_spark.algorithm.semantics import Semantics
from clwl_spark.errors import InputError
from clwl_spark.mq.vocabulary import Algorithm
from clwl_spark.planning.plans import Ladder, make_plans, plan_id
from clwl_spark.spark.materialize import checkpoint
from clwl_spark.studies.shares.expected import route_shares
from clwl_spark.studies.sweep.outages import Channels, NothingHitError, Outage, Part, down_qmgrs
from clwl_spark.studies.sweep.survival import copies_of, survivals, waiting_already
from clwl_spark.studies.sweep.sweep import base_of, case_ends

SNAPSHOT = "S4"
FIGURES = (
    "messages_moved", "messages_waiting", "messages_not_put", "requests_hit", "requests_stranded",
)  # fmt: skip
TIERS = {
    "INACTIVE": 1, "RUNNING": 1, "BINDING": 2, "INITIALIZING": 2, "STARTING": 2, "STOPPING": 2,
    "RETRYING": 3, "REQUESTING": 4, "PAUSED": 4, "STOPPED": 4, "SWITCHING": 4,
}  # fmt: skip
LADDERS = {
    "v9": Ladder(),
    "v7": Ladder(Semantics(Algorithm.V7)),
    "exit": Ladder(exit_function=lambda rows: rows.where("dest_qmgr NOT LIKE '%QM1'")),
}


# ---- a failure made by hand --------------------------------------------------------------------


def channels_hit(outage, tables):
    """(queue manager, channel) that the failure hits, and the status that they get."""
    there = {(x["qmgr"], x["channel"], x["cluster"]) for x in tables["cluster_channels"]}
    if outage.part is Part.QMGR:
        return {(q, ch) for q, ch, _ in there if q == outage.name}, "RETRYING"
    if outage.part is Part.CLUSTER:
        return {(q, ch) for q, ch, cluster in there if cluster == outage.name}, "STOPPED"
    ends = {(q, ch) for q, ch, _ in there if ch == outage.name and outage.to in ("", q)}
    return ends, "STOPPED"


def broken(tables, outages, senders):
    """The channel_status rows while things are down: the worse of two states counts."""
    rows = {
        (x["qmgr"], x["channel"], x["chltype"], x["remote_qmgr"]): dict(x)
        for x in tables["channel_status"]
    }
    for outage in outages:
        hit, status = channels_hit(outage, tables)
        for sender in [outage.on] if outage.on else senders:
            for qmgr, channel in hit:
                key = (sender, channel, "CLUSSDR", qmgr)
                names = dict(zip(("qmgr", "channel", "chltype", "remote_qmgr"), key, strict=True))
                row = rows.setdefault(key, {**names, "status": None})
                if sender != qmgr and TIERS[row["status"] or "INACTIVE"] < TIERS[status]:
                    row["status"] = status
    return list(rows.values())


def one_by_one(spark, tables, requests, cases, ladder):
    """Ends of every request in every case, each case a snapshot of its own.

    A case has the requests of its part of the world alone: the prefix of names tells them apart.
    """
    of_case = defaultdict(list)
    for request in requests:
        of_case[request[1].split(".")[0]].append(request)
    several, asked = defaultdict(list), []
    for number, case in enumerate(cases):
        prefix = case[0].name.split(".")[0]
        senders = {request[1] for request in of_case[prefix]}
        own = {
            name: [x for x in rows if x.get("qmgr", "").startswith(f"{prefix}.")]
            for name, rows in tables.items()
        }
        own["channel_status"] = broken(own, case, senders)
        for name, rows in own.items():
            several[name] += [{**row, "snapshot_id": f"{number}"} for row in rows]
        asked += [(f"{number}", *request[1:]) for request in of_case[prefix]]
    frame = spark.createDataFrame(asked, REQUEST_TYPES)
    frame = checkpoint(frame.select(plan_id().alias("plan_id"), *REQUEST))
    topology = topology_of(spark, several)
    made = make_plans(frame, topology, ladder, checkpoint)
    ends = route_shares(made.plans, made.candidates, topology)
    return ends_by_request(ends.collect(), lambda row: int(row["snapshot_id"]))


def end_of(row):
    """(choice, reason, where to), which tells one end of a request from another."""
    names = ("choice", "reason", "dest_qmgr", "dest_object", "channel", "is_alias", "is_local")
    return tuple(row[name] for name in names)


def is_remote(end):
    return end[4] is not None and not end[6]


def waits(end, tier):
    return is_remote(end) and tier >= 3


def way_of(end):
    """The end; what stays on its queue manager is one way, by whichever of its CLUSRCVRs."""
    return (end[0], "stays") if end[6] else end


# ---- what it costs, counted --------------------------------------------------------------------


def cost_of(case, before, after, messages):
    """`Survival` of a case, less the case; requests are (qmgr, ...) without a snapshot."""
    down = {x.name for x in case if x.part is Part.QMGR}
    found = Counter()
    load_before, load_after = Counter(), Counter()
    for request, puts in messages.items():
        now = after.get(request, before[request])
        for end, (share, _) in before[request].items():
            load_before[end[2], end[4]] += puts * share if is_remote(end) else 0
        if request[0] in down:
            found["messages_not_put"] += puts
            continue
        for end, (share, _) in now.items():
            load_after[end[2], end[4]] += puts * share if is_remote(end) else 0
        moved, more, of_choice, earlier = 0.0, 0.0, defaultdict(float), defaultdict(float)
        for end, (share, tier) in before[request].items():
            earlier[end[0]] += share if waits(end, tier) else 0
        for choice in {end[0] for end in now}:
            ends = {end: x for end, x in now.items() if end[0] == choice}
            waiting = sum(share for end, (share, tier) in ends.items() if waits(end, tier))
            now_at, was_at = Counter(), Counter()
            for end, (share, tier) in ends.items():
                now_at[way_of(end)] += 0 if waits(end, tier) else share
            for end, (share, _) in before[request].items():
                was_at[way_of(end)] += share if end[0] == choice else 0
            kept = sum(min(share, was_at[way]) for way, share in now_at.items())
            of_choice[choice] = waiting
            more += max(waiting - earlier[choice], 0)
            moved += 1 - waiting - kept
        found["requests_hit"] += puts * (moved + more) > 1e-9
        found["messages_waiting"] += puts * more
        found["messages_moved"] += puts * moved
        stay = min(of_choice.values()) > 0.999
        found["requests_stranded"] += stay and not min(earlier.values()) > 0.999
    return found, load_before, load_after


def world(seed, cases):
    """Random clusters of one snapshot, and puts to their objects."""
    worlds = random_cases(seed, cases)
    tables = {
        name: [x for x in rows if x["snapshot_id"] == SNAPSHOT]
        for name, rows in deepcopy(merged_tables(worlds)).items()
    }
    rng = random.Random(seed)
    requests = [x for case in worlds for x in requests_of(case, [SNAPSHOT])]
    return tables, {request: rng.choice([1.0, 2.0, 30.0]) for request in requests}


def base_in(spark, tables, puts, ladder):
    schema = f"{REQUEST_TYPES}, messages double"
    traffic = spark.createDataFrame([(*Request(*x), count) for x, count in puts.items()], schema)
    traffic = traffic.select(plan_id().alias("plan_id"), *REQUEST, "messages")
    return base_of(traffic, topology_of(spark, tables), ladder)


def pairs(outages, rng, count):
    """Two failures of one part of the world at the same time, and one seen by one sender alone."""
    found = []
    while len(found) < count:
        first, second = rng.sample(outages, 2)
        if first.name.split(".")[0] == second.name.split(".")[0]:
            found.append((first, second))
    channels = [x for x in outages if x.part is Part.CHANNEL]
    for one in rng.sample(channels, count):
        other = next(x.name for x in outages if x.part is Part.QMGR and x.name != one.to)
        if other.split(".")[0] == one.to.split(".")[0]:
            found.append((Outage(one.part, one.name, one.to, on=other),))
    return found


def ends_by_request(rows, number):
    """Ends by (number of a row's case, request), each with its share and tier."""
    found = defaultdict(dict)
    for row in rows:
        key = (number(row), tuple(row[name] for name in REQUEST[1:]))
        found[key][end_of(row)] = (row["share"], row["status_tier"])
    return found


@pytest.mark.parametrize(("name", "cases"), [("v9", 8), ("v7", 3), ("exit", 3)])
def test_failures_at_once_are_what_each_is_by_itself(spark, name, cases):
    tables, puts = world(31, cases)
    base = base_in(spark, tables, puts, LADDERS[name])
    single = base.channels.outages()
    tried = [(x,) for x in single] + pairs(single, random.Random(5), 6)
    after = one_by_one(spark, tables, list(puts), tried, LADDERS[name])
    before = {x: ends for (_, x), ends in ends_by_request(base.ends.collect(), len).items()}
    rows = case_ends(base, tried).collect()
    swept = ends_by_request(rows, lambda row: row["case_id"])

    assert len({number for number, _ in swept}) > 10
    for (number, request), ends in after.items():
        if request[0] not in {x.name for x in tried[number] if x.part is Part.QMGR}:
            found = swept.get((number, request), before[request])
            assert found == ends, (tried[number], request)
    if name != "exit":
        messages = {request[1:]: count for request, count in puts.items()}
        compare_costs(base, tried, before, after, messages)


def compare_costs(base, tried, before, after, messages):
    seen = Counter()
    for number, (case, survival) in enumerate(zip(tried, survivals(base, tried), strict=True)):
        own = {request: ends for (of, request), ends in after.items() if of == number}
        cost, load_before, load_after = cost_of(case, before, own, messages)
        told = asdict(survival)
        for figure in FIGURES:
            assert told[figure] == pytest.approx(cost[figure], abs=1e-6), (case, figure)
            seen[figure] += bool(cost[figure])
        busiest = survival.busiest_qmgr, survival.busiest_channel
        assert survival.busiest_after == pytest.approx(max(load_after.values()), abs=1e-6)
        assert load_after[busiest] == pytest.approx(survival.busiest_after, abs=1e-6)
        assert load_before[busiest] == pytest.approx(survival.busiest_before, abs=1e-6)
    assert all(seen[figure] for figure in FIGURES)


# ---- small clusters ----------------------------------------------------------------------------

ORDERS = ("S1", "ME", "QUEUE", "Q", "", "LOCAL")


def stopped(spark, definitions, outage, ladder=None):
    """What one failure costs 12 messages that ME puts to Q."""
    base = base_in(spark, tables_of(rcvr("ME"), *definitions), {ORDERS: 12.0}, ladder or Ladder())
    return survivals(base, [(outage,)])[0]


def test_the_others_take_what_a_stopped_channel_had(spark):
    hosts = [rcvr("A"), rcvr("B"), rcvr("C"), *(queue(x, "Q", "K") for x in "ABC")]
    survival = stopped(spark, hosts, Outage(Part.CHANNEL, "TO.A", on="ME"))
    assert survival.to_json() == {
        "case": ["channel TO.A on ME stopped"], "messages_moved": 4.0, "messages_waiting": 0.0,
        "messages_not_put": 0.0, "requests_hit": 1, "requests_stranded": 0,
        "busiest_channel": "TO.B", "busiest_qmgr": "B", "busiest_before": 4.0,
        "busiest_after": 6.0,
    }  # fmt: skip


def test_what_stays_does_not_move_to_another_of_the_own_channels(spark):
    """ME has two CLUSRCVRs and the queue: a third of the messages leaves, and stays then."""
    own = [rcvr("ME", channel="TO.ME.2"), queue("ME", "Q", "K", clwluseq="ANY")]
    hosts = [*own, rcvr("A"), queue("A", "Q", "K", clwluseq="ANY")]
    survival = stopped(spark, hosts, Outage(Part.CHANNEL, "TO.A"))
    assert (survival.messages_moved, survival.messages_waiting) == (4.0, 0.0)


def test_a_sender_that_is_down_leaves_no_busiest_channel(spark):
    hosts = [rcvr("A"), rcvr("B"), queue("A", "Q", "K"), queue("B", "Q", "K")]
    survival = stopped(spark, hosts, Outage(Part.QMGR, "ME"))
    assert (survival.messages_not_put, survival.busiest_channel) == (12.0, "")
    assert (survival.busiest_before, survival.busiest_after) == (0.0, 0.0)


def test_copies_of_publications_are_what_moves_and_waits(spark):
    members = [rcvr("A"), rcvr("B"), topic("ME", "T", "a")]
    subscribers = [proxy("ME", "a", x) for x in ("A", "B")]
    published = {("S1", "ME", "TOPIC", "a", "", "LOCAL"): 3.0}
    base = base_in(spark, tables_of(rcvr("ME"), *members, *subscribers), published, Ladder())
    (found,) = survivals(base, [(Outage(Part.CLUSTER, "K"),)])
    assert (copies_of(base), found.messages_waiting) == (6.0, 6.0)


def test_what_waits_already_is_stranded_as_it_is(spark):
    """Half of Q's hosts are out of reach, and all of R's."""
    hosts = [rcvr("A"), rcvr("B"), queue("A", "Q", "K"), queue("B", "Q", "K"), queue("A", "R", "K")]
    down = [status_of("ME", "A", "STOPPED")]
    requests = {ORDERS: 12.0, ("S1", "ME", "QUEUE", "R", "", "LOCAL"): 5.0}
    base = base_in(spark, tables_of(rcvr("ME"), *hosts, *down), requests, Ladder())
    assert waiting_already(base) == (5.0, 1)
    (survival,) = survivals(base, [(Outage(Part.CHANNEL, "TO.B"),)])
    # What waited before is not lost by the failure; Q's messages are.
    assert (survival.messages_waiting, survival.requests_stranded) == (12.0, 1)


NETWORK_PRIORITY = [
    rcvr("A", channel="A.FAST", netprty=5),
    rcvr("A", channel="A.SLOW", clwlprty=9),
    rcvr("B", clwlprty=3),
    queue("A", "Q", "K"),
    queue("B", "Q", "K"),
]


def test_a_channel_without_traffic_may_let_a_better_one_in_when_it_stops(spark):
    """NETPRTY prefers A.FAST on A, and B beats that: with A.FAST stopped, A.SLOW beats B."""
    survival = stopped(spark, NETWORK_PRIORITY, Outage(Part.CHANNEL, "A.FAST"))
    assert (survival.messages_moved, survival.busiest_channel) == (12.0, "A.SLOW")


def test_the_reference_moves_everything_when_that_channel_stops():
    """So that the test above says what SEMANTICS 4 does, rules 8 to 13."""
    now = tables_of(rcvr("ME"), *NETWORK_PRIORITY)
    then = tables_of(rcvr("ME"), *NETWORK_PRIORITY, status_of("ME", "A", "STOPPED", "A.FAST"))
    routes = [Reference(x).plan(*ORDERS)["routes"] for x in (now, then)]
    assert [[route["channel"] for route in found] for found in routes] == [["TO.B"], ["A.SLOW"]]


def test_what_fails_before_and_after_does_not_move(spark):
    """The exit takes all destinations away: 2270, whatever happens to the channels."""
    nowhere = Ladder(exit_function=lambda rows: rows.where("1 = 0"))
    hosts = [rcvr("A"), queue("A", "Q", "K")]
    survival = stopped(spark, hosts, Outage(Part.CHANNEL, "TO.A"), nowhere)
    assert survival.messages_moved == 0.0


# ---- what fails --------------------------------------------------------------------------------

CHANNELS = Channels(
    frozenset(
        {("A", "TO.A", "K"), ("A", "TO.A", "L"), ("B", "TO.B", "K"), ("B", "ANY", ""),
         ("C", "ANY", "L")}
    )
)  # fmt: skip


def test_every_single_failure_is_listed_once_and_in_order():
    assert [str(x) for x in CHANNELS.outages()] == [
        "channel ANY to B stopped", "channel ANY to C stopped", "channel TO.A to A stopped",
        "channel TO.B to B stopped", "cluster K down", "cluster L down", "queue manager A down",
        "queue manager B down", "queue manager C down",
    ]  # fmt: skip
    assert [x.name for x in CHANNELS.outages([Part.CLUSTER])] == ["K", "L"]


@pytest.mark.parametrize(
    ("case", "hits"),
    [
        ([Outage(Part.CHANNEL, "ANY")], [("", "B", "ANY", 4), ("", "C", "ANY", 4)]),
        ([Outage(Part.CHANNEL, "ANY", to="C")], [("", "C", "ANY", 4)]),
        ([Outage(Part.CHANNEL, "ANY", on="B")], [("B", "C", "ANY", 4)]),
        ([Outage(Part.QMGR, "B")], [("", "B", "ANY", 3), ("", "B", "TO.B", 3)]),
        ([Outage(Part.CLUSTER, "K")], [("", "A", "TO.A", 4), ("", "B", "TO.B", 4)]),
        (
            [Outage(Part.QMGR, "B"), Outage(Part.CLUSTER, "K")],
            [("", "A", "TO.A", 4), ("", "B", "ANY", 3), ("", "B", "TO.B", 4)],
        ),
        (
            [Outage(Part.CLUSTER, "K"), Outage(Part.QMGR, "A")],
            [("", "A", "TO.A", 4), ("", "B", "TO.B", 4)],
        ),
    ],
)
def test_a_failure_hits_channels_and_the_worst_state_counts(case, hits):
    found = [(x.on, x.dest_qmgr, x.channel, x.tier) for x in CHANNELS.hits(case)]
    assert found == hits


@pytest.mark.parametrize(
    ("outage", "said"),
    [
        (Outage(Part.CHANNEL, "to.b"), "no such channel .case counts.; it has TO.B, ...$"),
        (Outage(Part.CHANNEL, "TO.B", to="A"), "channel TO.B to A stopped"),
        (Outage(Part.CHANNEL, "TO.B", on="B"), "channel TO.B on B stopped"),
        (Outage(Part.QMGR, "Z"), "no such queue manager .case counts.; it has A, B, C$"),
        (Outage(Part.CLUSTER, "M"), "no such cluster .case counts.; it has K, L$"),
    ],
)
def test_a_failure_of_what_is_not_there_is_bad_input(outage, said):
    with pytest.raises(NothingHitError, match=said) as raised:
        CHANNELS.hits([Outage(Part.QMGR, "A"), outage])
    assert isinstance(raised.value, InputError)


def test_a_queue_manager_without_a_cluster_channel_can_be_down_too():
    known = Channels(CHANNELS.rows, frozenset({"A", "ALONE"}))
    assert known.hits([Outage(Part.QMGR, "ALONE")]) == []
    with pytest.raises(NothingHitError):
        known.hits([Outage(Part.CHANNEL, "ALONE")])


def test_the_queue_managers_that_are_down_put_nothing():
    case = [Outage(Part.QMGR, "B"), Outage(Part.CLUSTER, "K"), Outage(Part.QMGR, "A")]
    assert down_qmgrs(case) == {"A", "B"}
