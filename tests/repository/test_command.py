"""`clwl repository`: its three questions, and what it says about wrong words."""

import json
from pathlib import Path

import pytest
from sharing.lakes import lake_of
from small_worlds import at, qmgr, queue, rcvr, seen_by, snapshot

from clwl_spark import cli

SCENARIOS = Path(__file__).parent / "scenarios"
LOST = str(SCENARIOS / "lost_queue_manager" / "events.toml")


def document(capsys, words):
    assert cli.main(["repository", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def shown(capsys, words):
    assert cli.main(["repository", *words]) == 0
    return capsys.readouterr().out


def complaint(capsys, words):
    assert cli.main(["repository", *words]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("clwl: ")
    assert said.err.count("\n") == 1
    return said.err


@pytest.fixture(scope="module")
def lake(spark, tmp_path_factory):
    cluster = (qmgr("FR1"), qmgr("QM1"), rcvr("FR1", qmtype="REPOS"), rcvr("QM1"))
    return lake_of(
        spark,
        tmp_path_factory.mktemp("repository") / "lake",
        snapshot("S1"),
        *at("S1", *cluster, queue("FR1", "Q", "K", put_enabled=False), queue("FR1", "R", "K")),
        *seen_by("QM1", queue("FR1", "Q", "K", put_enabled=True)),
    ).root


def test_a_lakes_view(capsys, lake):
    words = ["--lake", lake, "--qmgr", "QM1"]
    answer = document(capsys, [*words, "--at", "2024-05-06T14:00:00+02:00"])
    assert answer["at"] == "2024-05-06T12:00:00Z"
    assert answer["repositories"] == {"K": "PARTIAL"}
    assert [x["why"] for x in answer["missing"]] == ["NEVER_SEEN"]
    assert [(x["name"], x["differs"], x["at_least"]) for x in answer["stale"]] == [
        ("Q", ["put_enabled"], True)
    ]
    text = shown(capsys, words)
    assert "QM1 (partial in K) sees 3 objects at 2024-05-06T12:00:00Z" in text
    assert "its own view and the full repositories' view" in text
    assert "not opened there yet" in text
    assert "REFRESH CLUSTER(K) would send at most" in text


def test_what_a_lake_does_not_have_is_bad_input(capsys, lake):
    words = ["--lake", lake, "--qmgr", "QM1"]
    assert "of queue manager X in" in complaint(capsys, ["--lake", lake, "--qmgr", "X"])
    early = complaint(capsys, [*words, "--at", "2020-01-01T00:00:00Z"])
    assert "is before the first valid snapshot" in early
    assert "has no time zone" in complaint(capsys, [*words, "--at", "2024-05-06T12:00:00"])
    assert "whose view? give --qmgr QM" in complaint(capsys, ["--lake", lake])


def test_a_simulated_cluster(capsys):
    answer = document(capsys, ["--events", LOST, "--qmgr", "QM3", "--at", "32d"])
    (knowledge,) = answer["queue_managers"]
    assert knowledge["repository"] == "PARTIAL"
    assert {x["name"] for x in knowledge["stale"]} == {"Q", "QM1"}
    assert answer["messages"]["publication"] > 0
    only = document(capsys, ["--events", LOST, "--qmgr", "QM3", "--object", "Q", "--at", "32d"])
    assert [x["name"] for x in only["queue_managers"][0]["known"]] == ["Q"]
    everybody = document(capsys, ["--events", LOST, "--at", "2026-02-02T00:00:00Z"])
    assert [x["qmgr"] for x in everybody["queue_managers"]] == ["FR1", "FR2", "QM1", "QM3"]
    text = shown(capsys, ["--events", LOST, "--qmgr", "QM3", "--at", "32d"])
    assert "QM3, partial repository" in text
    assert "has none" in text
    assert "2 days" in text


def test_stories_that_cannot_be_are_one_sentence(capsys, tmp_path):
    def told(*lines):
        path = tmp_path / "events.toml"
        path.write_text("\n".join(('cluster = "K"', *lines)))
        return complaint(capsys, ["--events", str(path)])

    def events(*each):
        return [f"[[events]]\nat = '{at}'\n{rest}" for at, rest in each]

    full = ("0d", "do = 'join'\nqmgr = 'FR1'\nfull = true")
    assert "events: Field required" in told()
    assert "events.0: at: '5' is no moment" in told(*events(("5", "do = 'wait'")))
    assert "events.0.do" in told(*events(("0d", "do = 'explode'\nqmgr = 'X'")))
    assert "define: give queue or topic" in told(*events(("0d", "do = 'define'\nqmgr = 'X'")))
    assert "reset: give qmid" in told(*events(("0d", "do = 'reset'\nqmgr = 'X'")))
    assert "no full repository" in told(*events(("0d", "do = 'join'\nqmgr = 'QM1'")))
    assert "it is in cluster K already" in told(*events(full, full))
    assert "no queue manager QM7 in cluster K" in told(
        *events(full, ("1d", "do = 'open'\nqmgr = 'QM7'\nqueue = 'Q'"))
    )
    assert "FR1 does not define it" in told(
        *events(full, ("1d", "do = 'alter'\nqmgr = 'FR1'\nqueue = 'Q'"))
    )
    assert "it is the last full repository" in told(
        *events(full, ("1d", "do = 'demote'\nqmgr = 'FR1'"))
    )
    assert "it is stopped; start it first" in told(
        *events(full, ("1d", "do = 'stop'\nqmgr = 'FR1'"), ("2d", "do = 'refresh'\nqmgr = 'FR1'"))
    )
    partial = ("1d", "do = 'join'\nqmgr = 'QM1'")
    assert "run it on FR1" in told(
        *events(full, partial, ("2d", "do = 'reset'\nqmgr = 'QM1'\nqmid = 'X'"))
    )
    assert "give another queue manager's" in told(
        *events(full, partial, ("2d", "do = 'reset'\nqmgr = 'FR1'\nqmid = 'X'"))
    )


def test_other_wrong_words_are_one_sentence(capsys, tmp_path):
    assert "No such file" in complaint(capsys, ["--events", str(tmp_path / "none.toml")])
    assert "no queue manager QM9" in complaint(capsys, ["--events", LOST, "--qmgr", "QM9"])
    assert "is before the first event" in complaint(
        capsys, ["--events", LOST, "--at", "2001-01-01T00:00:00Z"]
    )
    assert "--at 'soon' is no moment" in complaint(capsys, ["--events", LOST, "--at", "soon"])
    assert "leave one out" in complaint(capsys, ["--events", LOST, "--refresh-cost", "5"])
    assert "give whole numbers" in complaint(capsys, ["--refresh-cost", "5,x"])
    assert "at least one full and one partial" in complaint(capsys, ["--refresh-cost", "2"])


def test_costs_by_size(capsys):
    answer = document(capsys, ["--refresh-cost", "10,100"])
    assert [row["client"] for row in answer["refresh"]] == [105, 117]
    assert "220,598" in shown(capsys, ["--refresh-cost", "10,100"])
