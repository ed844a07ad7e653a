"""Weights that are advised, against the messages that the reference routes with them."""

import json
from collections import Counter

import pytest
from reference import Reference
from small_worlds import alias, message, qmgr, queue, rcvr, remote, tables
from what_if.plain import topology_of

from clwl_spark.cli import main
from clwl_spark.errors import UsageError
from clwl_spark.planning.plans import Ladder
from clwl_spark.studies.shares.advice import NotAdvisableError, advise, wanted_shares
from clwl_spark.studies.shares.traffic import Puts
from clwl_spark.studies.what_if.words import understood

MESSAGES = 3_000
ORDERS = Puts("ME", "ORDERS")


def world(weights=None):
    """ORDERS on A, B and C; BILLS shares A and B, OTHER is on C alone."""
    known = {"A": 50, "B": 50, "C": 20} | (weights or {})
    return tables(
        qmgr("ME"),
        rcvr("ME"),
        *(rcvr(x, clwlwght=weight) for x, weight in known.items()),
        *(queue(x, "ORDERS", "K") for x in known),
        queue("A", "BILLS", "K"), queue("B", "BILLS", "K"), queue("C", "OTHER", "K"),
    )  # fmt: skip


def advised(spark, **wanted):
    return advise(ORDERS, wanted, "S1", topology_of(spark, world()), Ladder())


@pytest.mark.parametrize("wanted", [{"A": 1, "B": 2, "C": 4}, {"A": 5, "B": 3, "C": 1}])
def test_messages_go_as_advised(spark, wanted):
    found = advised(spark, **wanted)
    weights = {x["dest_qmgr"]: x["advised"] for x in found.weights}
    puts = [message("ME", "ORDERS", number) for number in range(1, MESSAGES + 1)]
    counts = Counter(x["dest_qmgr"] for x in Reference(world(weights)).route(puts))
    for row in found.shares:
        assert counts[row["dest_qmgr"]] / MESSAGES == pytest.approx(row["after"], abs=0.003)
        assert row["after"] == pytest.approx(row["wanted"], rel=float(found.error) + 1e-9)


def test_others_that_move_are_told_and_those_that_stay_are_not(spark):
    found = advised(spark, A=1, B=3, C=1)
    assert [x["object_name"] for x in found.others] == ["BILLS"]
    (bills,) = found.others
    assert bills["before"] == {"A": 0.5, "B": 0.5}
    assert bills["after"]["B"] == pytest.approx(0.75, rel=float(found.error) + 1e-9)
    assert bills["moved"] == pytest.approx(bills["after"]["B"] - 0.5)
    assert found.objects == 3


def test_what_is_as_wanted_stays(spark):
    found = advise(
        Puts("ME", "BILLS"), {"A": 1, "B": 1}, "S1", topology_of(spark, world()), Ladder()
    )
    assert (found.commands, found.error, found.others) == ([], 0, [])


@pytest.mark.parametrize(
    ("weights", "more", "wanted", "is_met"),
    [
        ({"A": 20, "B": 20}, {}, {"A": 1, "B": 1}, True),
        ({"A": 40, "B": 20}, {}, {"A": 2, "B": 1}, True),
        ({"A": 20, "B": 20}, {}, {"A": 997, "B": 991}, False),
        ({"A": 99, "B": 1}, {"A": 1}, {"A": 101, "B": 1}, True),
    ],
    ids=[
        "not 50",
        "other steps",
        "as near as any",
        "nearer than any that are alike on a host's channels",
    ],
)
def test_weights_of_now_that_come_as_near_stay(spark, weights, more, wanted, is_met):
    tables = world(weights)
    row = next(x for x in tables["cluster_channels"] if x["qmgr"] == "A")
    tables["cluster_channels"] += [
        {**row, "qmgr": x, "channel": f"MORE.{x}", "clwlwght": weight} for x, weight in more.items()
    ]
    found = advise(Puts("ME", "BILLS"), wanted, "S1", topology_of(spark, tables), Ladder())
    assert (found.commands, found.others, found.error == 0) == ([], [], is_met)
    for x in found.shares:
        assert x["after"] == x["before"] == pytest.approx(x["wanted"], rel=float(found.error))


@pytest.mark.parametrize(
    ("name", "wanted", "words"),
    [
        ("ORDERS", {"A": 1, "B": 1}, "C has no wanted share"),
        ("ORDERS", {"A": 1, "B": 1, "C": 1, "Z": 1}, "Z is none that it chooses from"),
        ("OTHER", {"C": 1}, "has not several routes"),
        ("NOWHERE", {"C": 1}, "ends with 2085"),
    ],
)
def test_what_cannot_be_advised(spark, name, wanted, words):
    with pytest.raises(NotAdvisableError, match=words):
        advise(Puts("ME", name), wanted, "S1", topology_of(spark, world()), Ladder())


@pytest.mark.parametrize("words", ["A", "A=0", "A=1,A=2", "=1", "A=1.5", "A=1,", ""])
def test_words_that_say_no_shares(words):
    with pytest.raises(UsageError, match="say each queue manager once"):
        wanted_shares(words)


def test_aliases_of_the_queue_manager_are_among_the_others(spark):
    tables = world()
    more = (
        alias("ME", "MY.A", "ORDERS"),
        remote("ME", "MY.R", "BILLS", ""),
        alias("ME", "X", "OTHER"),
    )
    tables["queues"] += [{**row, "snapshot_id": "S1", "observer": "*"} for _, row in more]
    found = advise(ORDERS, {"A": 1, "B": 3, "C": 1}, "S1", topology_of(spark, tables), Ladder())
    assert {x["object_name"] for x in found.others} == {"BILLS", "MY.A", "MY.R"}
    assert found.objects == 6


def test_weights_that_clwlmruc_makes_void_are_not_advised(spark):
    tables = world()
    tables["queue_managers"][0]["clwlmruc"] = 2
    with pytest.raises(NotAdvisableError, match=r"CLWLMRUC\(2\) of ME keeps ORDERS to 2 of 3"):
        advise(ORDERS, {"A": 1, "B": 1, "C": 2}, "S1", topology_of(spark, tables), Ladder())


def test_names_in_lower_case_are_in_quotes(spark):
    tables = world()
    for row in tables["cluster_channels"]:
        row["channel"] = row["channel"].lower()
    found = advise(ORDERS, {"A": 1, "B": 1, "C": 1}, "S1", topology_of(spark, tables), Ladder())
    assert found.commands == ["ALTER CHANNEL('to.c') CHLTYPE(CLUSRCVR) CLWLWGHT(50) ON C"]


@pytest.mark.usefixtures("spark")
def test_the_command_gives_words_that_what_if_takes(tmp_path, capsys):
    text = tmp_path / "ME.mqsc"
    text.write_text(
        "* Queue manager name: ME\nALTER QMGR REPOS(K)\n"
        "DEF CHL(TO.ME) CHLTYPE(CLUSRCVR) CONNAME(me) CLUSTER(K)\n"
    )
    for name in ("A", "B"):
        (tmp_path / f"{name}.mqsc").write_text(
            f"* Queue manager name: {name}\n"
            f"DEF CHL(TO.{name}) CHLTYPE(CLUSRCVR) CONNAME({name}) CLUSTER(K)\n"
            "DEF QL(ORDERS) CLUSTER(K)\n"
            "DEF CHL(TO.ME) CHLTYPE(CLUSSDR) CONNAME(me) CLUSTER(K)\n"
        )
    lake = ["--lake", str(tmp_path / "lake"), "--json"]
    texts = [str(tmp_path / f"{x}.mqsc") for x in ("ME", "A", "B")]
    assert (
        main(["ingest", *texts, *lake, "--snapshot", "S1", "--valid-from", "2026-01-01T00:00:00Z"])
        == 0
    )
    capsys.readouterr()
    assert main(["advise", *lake, "--from", "ME", "--object", "ORDERS", "--want", "A=2,B=1"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [x["after"] for x in found["shares"]] == pytest.approx([2 / 3, 1 / 3])
    (change,) = (understood(x) for x in found["commands"])
    assert (change.on, change.command.attributes) == (
        "B",
        {"CHLTYPE": "CLUSRCVR", "CLWLWGHT": "25"},
    )


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("", "no weights give these shares"),
        (
            "DEF CHL(MORE.A) CHLTYPE(CLUSRCVR) CONNAME(A) CLUSTER(K)\n",
            "no weights that are alike on all channels of a host give these shares",
        ),
    ],
)
def test_several_channels_of_a_host_have_one_weight_and_that_is_told(tmp_path, capsys, more, said):
    channel = (
        "* Queue manager name: {0}\nDEF CHL(TO.{0}) CHLTYPE(CLUSRCVR) CONNAME({0}) CLUSTER(K)\n"
    )
    text = tmp_path / "all.mqsc"
    hosts = channel.format("A") + more + "DEF QL(Q) CLUSTER(K)\n" + channel.format("B")
    text.write_text(channel.format("ME") + hosts + "DEF QL(Q) CLUSTER(K)\n")
    lake = ["--lake", str(tmp_path / "lake")]
    when = ("--snapshot", "S1", "--valid-from", "2026-01-01T00:00:00Z")
    assert main(["ingest", str(text), *lake, *when, "--quiet"]) == 0
    capsys.readouterr()
    wish = ("--from", "ME", "--object", "Q", "--want", "A=997,B=991")
    assert main(["advise", *lake, *wish]) == 0
    assert said in " ".join(capsys.readouterr().out.split())
