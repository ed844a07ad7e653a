"""A snapshot's rows as texts: read back, they are the same rows, but for what is named."""

import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from random_clusters import random_case
from readings import read_texts

from clwl_spark.mq.read.merge import KEYS
from clwl_spark.snapshots.diff import default_of
from clwl_spark.snapshots.owned import owner
from clwl_spark.snapshots.spelling import key_of
from clwl_spark.snapshots.texts import texts_of

MQ_NAMES = st.text("ABCabc019./_%", min_size=1, max_size=20)
STRINGS = st.text("ab/+#*() '-\"&<>[]{}=,;:é", max_size=30).map(lambda x: " ".join(x.split()))
BALANCED = STRINGS.filter(lambda x: "(" not in x and ")" not in x)
"""DISPLAY writes values without quotes, so that a long one has to close what it opens."""


def told(tables):
    """The texts of all queue managers, and what they leave out."""
    by_owner = {}
    for table, rows in tables.items():
        for row in rows:
            by_owner.setdefault(owner(row), {}).setdefault(table, []).append(row)
    sources, left_out = [], []
    for qmgr in sorted(by_owner):
        texts, missing = texts_of(qmgr, by_owner[qmgr])
        sources += [(f"{qmgr}~{at}.mqsc", text) for at, text in enumerate(texts)]
        left_out += missing
    return sources, left_out


def differences(tables, reading):
    """(row, column) in which the rows read differ; column '' = the row is on one side alone."""
    want = {(t, *(row[k] for k in KEYS[t])): row for t, rows in tables.items() for row in rows}
    got = {(t, *(row[k] for k in KEYS[t])): row for t, rows in reading.rows.items() for row in rows}
    found = {(key_of(key[0], {**want, **got}[key]), "") for key in want.keys() ^ got.keys()}
    for key in want.keys() & got.keys():
        for column in want[key].keys() & got[key].keys():
            default = default_of(key[0], column)
            sides = {default if x[key][column] is None else x[key][column] for x in (want, got)}
            if len(sides) > 1 and column not in ("source", "altered"):
                found.add((key_of(key[0], want[key]), column))
    return found


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**31), st.sampled_from(["S1", "S4"]))
def test_random_clusters_come_back_but_for_what_is_said_to_be_left_out(seed, snapshot_id):
    tables = {
        table: [
            {name: value for name, value in row.items() if name != "snapshot_id"}
            for row in rows
            if row["snapshot_id"] == snapshot_id
        ]
        for table, rows in random_case(random.Random(seed), "C.").tables.items()
        if table != "snapshots"
    }
    sources, left_out = told(tables)
    reading = read_texts(sources)
    assert reading.rejects == []
    assert differences(tables, reading) == {(x.row, x.column) for x in left_out}


@settings(max_examples=60, deadline=None)
@given(MQ_NAMES, MQ_NAMES, STRINGS, BALANCED, st.sampled_from(["PROXY", "USER", None]))
@example("QM1", "T", "'", "''", None)
def test_names_and_strings_of_any_kind_come_back(qmgr, name, topicstr, sub_topic, subtype):
    everyone = {"observer": "*", "qmgr": qmgr}
    tables = {
        "topics": [{**everyone, "topic": name, "cluster": "K", "topicstr": topicstr}],
        "queues": [
            {**everyone, "queue": name, "cluster": cluster, "qtype": "QALIAS", "target": "A 'b'"}
            for cluster in ("K1", "K2")
        ],
        "subscriptions": [
            {"qmgr": qmgr, "sub_name": f"s {name}", "topicstr": sub_topic, "subtype": subtype}
        ],
    }
    sources, left_out = told(tables)
    reading = read_texts(sources)
    assert (reading.rejects, left_out) == ([], [])
    assert differences(tables, reading) == set()


def test_when_an_object_was_altered_comes_back():
    row = {"observer": "*", "qmgr": "QM1", "qmid": "QM1_1", "altered": "2024-05-06 12.13.14"}
    seen = {"observer": "QM1", "qmgr": "QM2", "qmid": "QM2_1", "altered": "2024-05-07"}
    (source,), left_out = told({"queue_managers": [row, seen]})
    reading = read_texts([source])
    assert [x["qmid"] for x in reading.rows["queue_managers"]] == ["QM1_1", "QM2_1"]
    stamps = reading.altered["queue_managers"]
    assert (stamps, left_out) == (["2024-05-06 12.13.14", "2024-05-07"], [])


@pytest.mark.parametrize(
    ("table", "row", "column"),
    [
        ("queues", {"observer": "*", "queue": "Q", "cluster": "K", "target": "T"}, "target"),
        ("queues", {"observer": "QM9", "queue": "Q", "cluster": ""}, ""),
        ("cluster_channels", {"observer": "*", "channel": "C", "cluster": ""}, ""),
        ("queue_managers", {"observer": "QM9", "qmid": None, "clwlmruc": 3}, ""),
    ],
)
def test_what_no_text_can_say_is_named(table, row, column):
    _, (missing,) = told({table: [{"qmgr": "QM1", **row}]})
    assert (missing.column, missing.row) == (column, key_of(table, {"qmgr": "QM1", **row}))
    assert str(missing).startswith(missing.row)


def test_sender_and_server_channels_come_back():
    altered = {"altered": "2024-05-06 12.13.14"}
    tables = {
        "message_channels": [
            {"qmgr": "QM1", "channel": "A", "chltype": "SDR", "xmitq": "Far.Q", "conname": "a(1)"},
            {"qmgr": "QM1", "channel": "B", "chltype": "SVR", "xmitq": None, **altered},
            {"qmgr": "QM2", "channel": "A", "chltype": "SVR", "xmitq": "", "conname": "b,c(2)"},
        ],
        "cluster_senders": [{"observer": "*", "qmgr": "QM1", "channel": "A", "cluster": "K"}],
    }
    sources, left_out = told(tables)
    assert [name for name, _ in sources] == ["QM1~0.mqsc", "QM1~1.mqsc", "QM2~0.mqsc"]
    reading = read_texts(sources[:1] + sources[2:])
    assert differences({**tables, "message_channels": tables["message_channels"][1:]}, reading) == (
        set()
    )
    assert (reading.rejects, left_out) == ([], [])
    stamps = reading.altered["message_channels"]
    assert sorted(stamps) == ["", "2024-05-06 12.13.14"]


def test_a_queue_manager_whose_name_mq_cannot_have_is_left_out():
    row = {"observer": "*", "qmgr": "QM 'one'", "queue": "Q", "cluster": "K"}
    sources, (missing,) = told({"queues": [row]})
    assert sources == []
    assert "no name" in missing.why


def test_whole_views_counts_and_scopes_come_back():
    tables = {
        "cluster_channels": [
            {"observer": "QM1", "qmgr": "QM2", "channel": "TO.QM2", "cluster": "K"},
            {"observer": "QM3", "qmgr": "QM2", "channel": "TO.QM2", "cluster": "K"},
        ],
        "queues": [{"observer": "QM1", "qmgr": "QM2", "queue": "Q", "cluster": "K"}],
        "topics": [
            {
                "observer": observer,
                "qmgr": "QM2",
                "topic": "T",
                "cluster": "K",
                "topicstr": "a",
                "pub_scope": "QMGR",
                "sub_scope": "ALL",
            }
            for observer in ("*", "QM1")
        ],
        "subscriptions": [
            {"qmgr": "QM1", "sub_name": "S", "topicstr": "a", "sub_scope": "QMGR"},
        ],
        "channel_status": [
            {
                "qmgr": "QM1",
                "channel": "TO.QM2",
                "chltype": "CLUSSDR",
                "remote_qmgr": "QM2",
                "status": "RUNNING",
                "backlog": 0,
            }
        ],
        "views": [
            {"observer": "QM1", "table": "cluster_channels", "whole": True},
            {"observer": "QM1", "table": "queues", "whole": True},
            {"observer": "QM3", "table": "cluster_channels", "whole": True},
            {"observer": "QM3", "table": "queues", "whole": True},
            {"observer": "QM1", "table": "topics", "whole": True},
            {"observer": "QM4", "table": "queues", "whole": False},
        ],
    }
    sources, left_out = told(tables)
    assert {x.row for x in left_out} == {
        "views (QM3, queues)", "views (QM1, topics)", "views (QM4, queues)",
    }  # fmt: skip
    reading = read_texts(sources)
    assert reading.rejects == []
    assert differences(tables, reading) == {(x.row, x.column) for x in left_out}
