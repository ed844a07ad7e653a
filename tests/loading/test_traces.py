"""Application activity trace: what a cluster's queue managers record of puts loads back as it was."""

import copy
import json
from collections import Counter
from datetime import UTC, datetime, timedelta

import activity_traces as written
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clwl_spark.cli import main
from clwl_spark.cli.samples import sample_messages, samples_folder
from clwl_spark.delta.lake import Lake
from clwl_spark.mq.traffic import is_recorded, records_of, whole_size
from clwl_spark.studies.load.operations import operations_of
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


@pytest.fixture
def lake(spark, tmp_path):
    return Lake(spark, str(tmp_path / "lake"))


@pytest.fixture
def load(lake, capsys):
    def loaded(*words, code=0):
        capsys.readouterr()
        run("load", "--lake", lake.root, "--json", *words, code=code)
        shown = capsys.readouterr()
        return json.loads(shown.out) if code == 0 else shown.err

    return loaded


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
