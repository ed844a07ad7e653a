"""Texts of tools that are cut, altered or of other encodings: no crash, only rejects."""

import json
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from loading.tool_texts import ALL

from clwl_spark.mq.read import decode
from clwl_spark.mq.traffic import is_recorded, records_of
from clwl_spark.studies.load.cells import Reading
from clwl_spark.studies.load.recorded import recorded
from clwl_spark.tables import TABLES

READING = Reading("QM9", ZoneInfo("UTC"))
SIGNS = st.sampled_from(
    [*"0123456789.:-'\"{}[](),=# \n\t\0\ud800Ā", "9" * 30, r"\ud800", "null", "-1", "1e400"]
)
EVENT = {
    "eventType": {"name": "Accounting Queue", "value": 168},
    "eventReason": {"name": "None", "value": 0},
    "eventCreation": {"epoch": 1789372805},
    "eventData": {
        "queueMgrName": "QM1", "startDate": "2026-09-14", "startTime": "10.00.00",
        "endDate": "2026-09-14", "endTime": "10.15.00",
        "queueAccountingData": [{"queueName": "ORDERS", "puts": [1, 0], "put1s": [0, 0]}],
    },
}  # fmt: skip
TEXTS = {**ALL, "amqsevt": json.dumps(EVENT)}


def rows_or_rejects(text):
    """Load a text whatever it is; all that it gives has the tables' types."""
    found = recorded(text, "file", READING)
    for name, rows in found.rows.items():
        assert rows.schema.names == TABLES[name].names
    return found


@pytest.mark.parametrize("name", TEXTS)
def test_a_whole_text_gives_rows_and_no_rejects(name):
    found = rows_or_rejects(TEXTS[name])
    assert found.rows
    assert not found.refused


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(TEXTS)), st.floats(0, 1), st.floats(0, 1))
def test_a_part_of_a_text_gives_rows_or_rejects(name, begin, end):
    text = TEXTS[name]
    first, last = sorted((int(begin * len(text)), int(end * len(text))))
    rows_or_rejects(text[first:last])


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(sorted(TEXTS)),
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 12), SIGNS), min_size=1, max_size=4),
)
@example("dspmqrtj", [(ALL["dspmqrtj"].index('ORDERS"') / len(ALL["dspmqrtj"]), 0, r"\ud800")])
def test_an_altered_text_gives_rows_or_rejects(name, changes):
    text = TEXTS[name]
    for where, length, put in changes:
        at = int(where * len(text))
        text = text[:at] + put + text[at + length :]
    rows_or_rejects(text)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda x: st.lists(x, max_size=2) | st.dictionaries(st.text(max_size=5), x, max_size=2),
    max_leaves=4,
)


def places(document, path=()):
    """The way to every value of a document."""
    yield path
    if isinstance(document, list):
        document = dict(enumerate(document))
    for key, value in document.items() if isinstance(document, dict) else ():
        yield from places(value, (*path, key))


def altered(document, path, value, *, gone):
    if not path:
        return value
    copy = dict(document) if isinstance(document, dict) else list(document)
    if gone and len(path) == 1:
        del copy[path[0]]
    else:
        copy[path[0]] = altered(copy[path[0]], path[1:], value, gone=gone)
    return copy


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_a_document_with_another_value_or_a_key_missing_gives_rows_or_rejects(data):
    name = data.draw(st.sampled_from(["amqsevt", "OTLP metrics", "dspmqrtj"]))
    document = json.loads(TEXTS[name])
    path = data.draw(st.sampled_from(sorted(places(document), key=str)))
    gone = data.draw(st.booleans())
    rows_or_rejects(json.dumps(altered(document, path, data.draw(VALUES), gone=gone)))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("name", TEXTS)
def test_a_text_may_be_in_any_unicode(name, encoding):
    data = TEXTS[name].encode(encoding)
    assert is_recorded(data)
    assert records_of(decode(data)) == records_of(TEXTS[name])


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_of_ebcdic_is_no_record_and_no_crash(name):
    data = TEXTS[name].encode("cp037")
    assert not is_recorded(data)
    assert not records_of(decode(data)).records


def test_times_without_a_zone_and_names_that_are_not_there_are_told_apart():
    why = {x.reason for x in recorded(TEXTS["amqsmon"], "file", Reading()).refused}
    assert why == {"its times have no time zone: give --time-zone"}
    text = TEXTS["CHSTATUS"].replace("Starting MQSC for queue manager QM1.", "")
    found = recorded(text, "file", Reading(zone=ZoneInfo("UTC")))
    assert [x.reason for x in found.refused] == ["it names no queue manager: give --observer"]
    assert rows_or_rejects(text).rows["counter_readings"]["qmgr"].to_pylist() == ["QM9"]
