"""Whole commands over Spark Connect give what they give with a session of this process."""

from pathlib import Path
from typing import Any

import pytest
from connect.sides import INGEST, Clwl, comparable, here, over, put, rows, tables

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

HALF = 2000
PUT = ["--from", "SHOP1", "--object", "PARCEL.IN"]
DOWN = "STOP CHANNEL(FREIGHT.DEPOT1) ON DEPOT1"


def worked_on(clwl: Clwl, folder: Path) -> dict[str, Any]:
    """What each command says that is run on a lake, one after the other."""
    lake = folder / "lake"
    at = ["--lake", str(lake)]
    said = {"ingest": clwl([*INGEST, *at]), "validate": clwl(["validate", *at])}
    put(lake, 0, HALF)
    said["route"] = clwl(["route", *at])
    put(lake, HALF, 10_000)
    said["route on"] = clwl(["route", *at, "--hops", "3"])
    said["nothing to route"] = clwl(["route", *at])
    said["explain"] = clwl(["explain", *at, *PUT])
    said["what-if"] = clwl(["what-if", *at, "--change", DOWN])
    said["report"] = clwl(["report", *at, "--out", str(folder / "report")])
    said["ask"] = clwl(["ask", "busiest-channels", *at])
    return said


@pytest.fixture(scope="module")
def classic(spark, tmp_path_factory):  # noqa: ARG001  (its session is used)
    folder = tmp_path_factory.mktemp("classic")
    return folder, worked_on(here, folder)


@pytest.fixture(scope="module")
def connect(server, tmp_path_factory):
    folder = tmp_path_factory.mktemp("connect")
    return folder, worked_on(over(server), folder)


def test_commands_say_the_same(classic, connect):
    assert connect[1]["route"]["messages"] == HALF
    for command, said in classic[1].items():
        assert comparable(connect[1][command]) == comparable(said), command


def test_tables_are_the_same(classic, connect):
    lakes = [folder / "lake" for folder, _ in (classic, connect)]
    assert tables(lakes[1]) == tables(lakes[0])
    for table in tables(lakes[0]):
        assert rows(lakes[1], table) == rows(lakes[0], table), table


def test_nothing_is_left_of_a_what_if(connect):
    assert not [*connect[0].glob("lake/_checkpoints/what-if*")]
