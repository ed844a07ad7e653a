"""Files that are cut, altered or of other encodings: no crash, only rejects; for every reader.

`tests/support/fuzz.py` goes on from the same samples, guided by coverage.
"""

import gzip
import inspect
import json
import pkgutil
import sys
from importlib import import_module
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from deltalake import write_deltalake
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from loading.loading_laws import NOTHING, OPTIONS, check_loading, read
from loading.reader_samples import (
    CSV,
    SAMPLES,
    SERIES,
    TEXTS,
    spans,
    spans_in_columns,
    spans_in_json,
    spans_in_rows,
    typed_puts,
)
from loading.tool_texts import ALL

from clwl_spark.mq import traffic
from clwl_spark.mq.read import decode
from clwl_spark.mq.traffic import is_recorded, records_of
from clwl_spark.studies.load import cells, delta_tables, files, series, span_tables
from clwl_spark.studies.load.cells import Reading
from clwl_spark.studies.load.known import Known
from clwl_spark.studies.load.recorded import recorded

PARTLY = {"activity trace, amqsact"}
"""Its line for an MQPUT1 names no object."""
SIGNS = st.sampled_from(
    [
        *"0123456789.:-'\"{}[](),;=# \n\t\r\0\ud800Ā", "9" * 30, r"\ud800", "null", "-1", "1e400",
        "\N{ARABIC-INDIC DIGIT ZERO}", "MonitoringType: ", "9999-12-31T23:59:59.999999-23:59",
        "=" * 77 + "\n\n",
    ]
)  # fmt: skip


def altered_bytes(data, changes):
    for where, length, put in changes:
        at = int(where * len(data))
        data = data[:at] + put.encode(errors="surrogatepass") + data[at + length :]
    return data


CHANGES = st.lists(
    st.tuples(st.floats(0, 1), st.integers(0, 40), SIGNS | st.text(max_size=5)),
    min_size=1,
    max_size=4,
)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_whole_file_gives_rows_and_no_rejects(name):
    found, tables = read(SAMPLES[name])
    assert any(rows.num_rows for _, rows in tables)
    assert not found.rejects or name in PARTLY


@pytest.mark.parametrize("name", SAMPLES)
@settings(max_examples=20, deadline=None)
@given(st.floats(0, 1), st.floats(0, 1))
def test_a_part_of_a_file_gives_rows_or_rejects(name, begin, end):
    data = SAMPLES[name]
    first, last = sorted((int(begin * len(data)), int(end * len(data))))
    check_loading(data[first:last])
    check_loading(data[:last])


@pytest.mark.parametrize("name", SAMPLES)
@settings(max_examples=30, deadline=None)
@given(CHANGES)
@example([(ALL["dspmqrtj"].index('ORDERS"') / len(ALL["dspmqrtj"]), 0, r"\ud800")])
def test_an_altered_file_gives_rows_or_rejects(name, changes):
    check_loading(altered_bytes(SAMPLES[name], changes))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda x: st.lists(x, max_size=2) | st.dictionaries(st.text(max_size=5), x, max_size=2),
    max_leaves=4,
)
DOCUMENTS = {
    name: [json.loads(x) for x in text.splitlines()]
    for name, text in TEXTS.items()
    if text.startswith("{") and all(x.startswith("{") for x in text.splitlines())
} | {"dspmqrtj": [json.loads(TEXTS["dspmqrtj"])], "JSON list": json.loads(TEXTS["JSON list"])}


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


@pytest.mark.parametrize("name", DOCUMENTS)
@settings(max_examples=40, deadline=None)
@given(st.data())
def test_a_document_with_another_value_or_a_key_missing_gives_rows_or_rejects(name, data):
    documents = DOCUMENTS[name]
    path = data.draw(st.sampled_from(sorted(places(documents), key=str)))
    gone = data.draw(st.booleans())
    changed = altered(documents, path, data.draw(VALUES), gone=gone)
    lines = changed if isinstance(changed, list) else [changed]
    check_loading("\n".join(map(json.dumps, lines)).encode())


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(CHANGES, st.data())
def test_a_delta_table_that_is_damaged_gives_rows_or_rejects(tmp_path_factory, changes, data):
    folder = tmp_path_factory.mktemp("delta")
    for _ in range(2):
        write_deltalake(str(folder), typed_puts(), mode="append")
    victim = data.draw(st.sampled_from(sorted(x for x in folder.rglob("*") if x.is_file())))
    victim.write_bytes(altered_bytes(victim.read_bytes(), changes))
    found = delta_tables.table_of(folder, NOTHING, OPTIONS)
    assert found.rejects or found.rows["messages"].num_rows
    assert all(x.reason for x in found.rejects)


IN_TRAFFIC = [x.name for x in pkgutil.iter_modules(traffic.__path__, f"{traffic.__name__}.")]
READERS = [*map(import_module, IN_TRAFFIC), files, series, span_tables, cells, delta_tables]


def own_functions(module):
    """The functions and methods that a module has of its own: name -> code."""
    found = {}
    for name, value in vars(module).items():
        if inspect.isfunction(value) and value.__module__ == module.__name__:
            found[name] = inspect.unwrap(value).__code__
        elif inspect.isclass(value) and value.__module__ == module.__name__:
            for own, method in vars(value).items():
                if inspect.isfunction(method) and method.__code__.co_filename == module.__file__:
                    found[f"{name}.{own}"] = method.__code__
    return found


def test_every_reader_is_met(tmp_path):
    """A reader that comes along has no sample yet, so that its functions are not entered."""
    entered = set()

    def note(frame, kind, _):
        if kind == "call":
            entered.add(frame.f_code)

    folder = tmp_path / "delta"
    write_deltalake(str(folder), typed_puts())
    whole = delta_tables.table_of(folder, NOTHING, OPTIONS)
    write_deltalake(str(folder), typed_puts(1), mode="append")
    sys.setprofile(note)
    try:
        for data in SAMPLES.values():
            check_loading(data)
            check_loading(data + b'{"qmgr": "QM1"}\n}{?\n')
            check_loading(data.replace(b"1.0", b"one"))
        delta_tables.apart([folder / "part.parquet"])
        delta_tables.table_of(folder, Known({1: frozenset([whole.part.content])}), OPTIONS)
    finally:
        sys.setprofile(None)
    missing = {
        f"{Path(module.__file__).stem}.{name}"
        for module in READERS
        for name, code in own_functions(module).items()
        if code not in entered
    }
    assert sorted(missing) == []


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("name", ALL)
def test_a_text_may_be_in_any_unicode(name, encoding):
    data = ALL[name].encode(encoding)
    assert is_recorded(data)
    assert records_of(decode(data)) == records_of(ALL[name])


PAGES = {"cp037": "cp037", "cp500": "cp500", "cp1047": "cp037"}


def in_ebcdic(text, page, end="\x85"):
    """As z/OS has it: 1047 is 037 with other brackets and a few more signs."""
    data = text.replace("\n", end).encode(PAGES[page])
    swap = bytes.maketrans(b"\xba\xbb\xb0\x5f\xad\xbd", b"\xad\xbd\x5f\xb0\xba\xbb")
    return data.translate(swap) if page == "cp1047" else data


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("name", TEXTS)
def test_a_text_of_ebcdic_is_read_like_any_other(name, page):
    text = TEXTS[name]
    for end in ("\x85", "\n"):
        _, tables = read(in_ebcdic(text, page, end))
        assert tables == read(text.encode())[1]


def test_a_file_of_ebcdic_may_grow(lake, load, tmp_path):
    file = tmp_path / "puts.csv"
    file.write_bytes(in_ebcdic(CSV, "cp1047"))
    assert load("--time-zone", "UTC", file)["rows"] == {"messages": 3}
    more = CSV + "QM2,2026-09-14T09:00:00Z,STOCK,,,,,\nQM2,2026-09-14T0"
    file.write_bytes(in_ebcdic(more, "cp1047"))
    document = load(file)
    assert (document["rows"], len(document["rejects"])) == ({"messages": 1}, 1)
    assert load(file)["written"] is False
    assert lake.read("messages").count() == 4


def test_a_page_that_is_not_known_is_named_with_what_to_do(load, tmp_path):
    file = tmp_path / "puts.json"
    file.write_bytes(TEXTS["JSON lines"].encode("cp273"))
    said = load(file, code=2)
    assert "read as EBCDIC cp1047: if it is of another page, as IBM-273, iconv makes it" in said
    file.write_bytes(bytes(range(256)) * 9)
    assert "it is binary, no text: SMF is read as mqsmfcsv prints it" in load(file, code=2)
    file.write_bytes(gzip.compress(CSV.encode()))
    assert "it is packed by gzip: unpack it first" in load(file, code=2)


def test_a_csv_may_have_the_line_ends_of_old(load, tmp_path):
    file = tmp_path / "puts.csv"
    file.write_bytes(CSV.replace("\n", "\r").encode())
    assert load("--time-zone", "UTC", file)["rows"] == {"messages": 3}


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (",3,", ",99999999999999,", "count '99999999999999' is no number from 1 to 1,000,000"),
        (",2,\n", ",\u0660,\n", "per_open '\u0660' is no number from 1 to 1,000,000"),
        ("2026-09-14T08:00:00Z,2s", "9999-12-31T23:59:58Z,2s", "interval '2s' leads out of time"),
    ],
)
def test_a_series_that_leads_nowhere_is_set_aside(old, new, why):
    found = check_loading(SERIES.replace(old, new, 1).encode())
    assert [(x.line, x.reason) for x in found.rejects] == [(2, why)]


@pytest.mark.parametrize("form", [spans_in_rows, spans_in_columns, spans_in_json])
def test_a_table_of_spans_is_what_the_collector_s_lines_are(lake, load, tmp_path, form):
    write_deltalake(str(tmp_path / "traces"), form())
    load(tmp_path / "traces")
    found = {}
    for name in ("messages", "observed_routes"):
        rows = lake.rows(name)
        less = {x: y for x, y in rows[0].items() if x not in ("put_seq", "source")}
        found[name] = {x: y for x, y in less.items() if y is not None}
    lines = recorded(json.dumps(spans()), "file", OPTIONS.reading).rows
    for name, row in found.items():
        expected = lines[name].to_pylist()[0]
        assert {x: y for x, y in expected.items() if y is not None and x != "source"} == row


def test_times_without_a_zone_and_names_that_are_not_there_are_told_apart():
    why = {x.reason for x in recorded(TEXTS["amqsmon"], "file", Reading()).refused}
    assert why == {"its times have no time zone: give --time-zone"}
    text = TEXTS["CHSTATUS"].replace("Starting MQSC for queue manager QM1.", "")
    found = recorded(text, "file", Reading(zone=ZoneInfo("UTC")))
    assert [x.reason for x in found.refused] == ["it names no queue manager: give --observer"]
    rows = recorded(text, "file", OPTIONS.reading).rows["counter_readings"]
    assert rows["qmgr"].to_pylist() == ["QM9"]


def test_a_count_over_the_hour_that_comes_twice_ends_after_it_began():
    text = TEXTS["amqsmon"].replace("2026-09-14", "2026-10-25")
    text = text.replace("'10.00.00'", "'02.55.00'").replace("'10.15.00'", "'02.05.00'")
    rows = recorded(text, "file", Reading(zone=ZoneInfo("Europe/Paris"))).rows["observed_counts"]
    times = {tuple(f"{row[x]:%H:%M}" for x in ("from_time", "to_time")) for row in rows.to_pylist()}
    assert ("00:55", "01:05") in times
    assert all(begin < end for begin, end in times)


def test_of_what_cannot_be_used_only_the_beginning_is_shown():
    words = {"eventType": {"name": "N" * 300, "value": 46}, "eventReason": {"value": 1}}
    event = {"eventSource": {"queueMgr": "QM1"}, **words, "eventCreation": {}, "eventData": {}}
    (reject,) = check_loading(json.dumps(event).encode()).rejects
    assert reject.text == "N" * 200
