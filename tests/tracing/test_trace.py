"""Traces against what an administrator expects of the seed's clusters."""

import pytest
from tracing.way_files import FOLDER, lake_of_all, puts, way_names

from clwl_spark.studies.trace.places import Place
from clwl_spark.studies.trace.trace import TraceRequest, trace

PUTS = [(name, at) for name in way_names() for at in range(len(puts(name)))]


@pytest.fixture(scope="module")
def lake(spark, tmp_path_factory):
    return lake_of_all(spark, tmp_path_factory.mktemp("ways") / "lake")


@pytest.mark.parametrize(("name", "at"), PUTS)
def test_a_put_takes_the_way_that_is_expected(lake, name, at):
    put = puts(name)[at]
    place = Place(
        put["from"], put["object"], put.get("object_qmgr", ""),
        object_type=put.get("object_type", "QUEUE"),
    )  # fmt: skip
    document = trace(lake, TraceRequest(place, snapshot_id=name)).to_json()

    assert [f"{x['qmgr']} {x['kind']} {x['via']}" for x in document["hops"]] == put["hops"]
    ends = {f"{x['qmgr']} {x['queue']}": x["share"] for x in document["ends"]}
    assert ends == pytest.approx(put.get("ends", {}), abs=1e-6)
    dead = {f"{x['qmgr']} {x['reason'] or x['end']}": x["share"] for x in document["dead_ends"]}
    assert dead == pytest.approx(put.get("dead_ends", {}), abs=1e-6)
    for key, is_closed in (("loops", False), ("closed_loops", True)):
        loops = {
            " ".join(place["qmgr"] for place in loop["places"]): loop["share"]
            for loop in document["loops"]
            if loop["is_closed"] == is_closed
        }
        assert loops == pytest.approx(put.get(key, {}), abs=1e-6)
    assert document["loop"] == bool(document["loops"])
    total = sum(x["share"] for x in (*document["ends"], *document["dead_ends"]))
    closed = sum(loop["share"] for loop in document["loops"] if loop["is_closed"])
    assert total + closed == pytest.approx(1)


@pytest.mark.parametrize("name", way_names())
def test_a_scenario_cites_its_source(name):
    lines = (FOLDER / name / "scenario.md").read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("# ")
    assert "Hughson's deck" in " ".join(lines)
