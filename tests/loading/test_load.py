"""Puts in many forms become messages, each content once; what cannot be read is told."""

import hashlib
import json
from collections import Counter
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from loading.loading_laws import read

from clwl_spark.cli.samples import sample_messages, samples_folder
from clwl_spark.studies.load.cells import Reading, messages_of
from clwl_spark.studies.load.known import Known
from clwl_spark.tables import LOADS, MESSAGES

PUTS = """qmgr,put_time,object_name,bind,open_id,message_id,persistent,msg_length
QM1,2026-09-14T08:00:00Z,ORDERS,NOT_FIXED,,0A0B,true,100
QM1,2026-09-14T08:00:02.5+00:00,ORDERS,ON_OPEN,7,,no,
QM2,2026-09-14T10:00:01+02:00,STOCK,,,,,
QM1,2026-09-14T08:00:01Z,STOCK,as_q_def,,,,5
"""
EXPECTED = [
    ("QM1", 1, "08:00:00", "ORDERS", "NOT_FIXED", None),
    ("QM1", 2, "08:00:01", "STOCK", "AS_Q_DEF", None),
    ("QM1", 3, "08:00:02", "ORDERS", "ON_OPEN", 7),
    ("QM2", 1, "08:00:01", "STOCK", None, None),
]


def messages(lake):
    rows = lake.read("messages").orderBy("qmgr", "put_seq").collect()
    return [
        (
            x.qmgr, x.put_seq, x.put_time.astimezone(UTC).strftime("%H:%M:%S"), x.object_name,
            x.bind, x.open_id,
        )
        for x in rows
    ]  # fmt: skip


def rows_of(text):
    head, *lines = text.splitlines()
    return [dict(zip(head.split(","), x.split(","), strict=True)) for x in lines]


def as_json_lines(path):
    docs = [{k: v for k, v in x.items() if v} for x in rows_of(PUTS)]
    path.write_text("".join(json.dumps(x) + "\n" for x in docs))


def as_typed(path, write):
    rows = rows_of(PUTS)
    when = [datetime.fromisoformat(x["put_time"]) for x in rows]
    table = pa.table(
        {
            "Queue Manager": [x["qmgr"] for x in rows],
            "When": pa.array(when, pa.timestamp("us", "UTC")),
            "Queue": [x["object_name"] for x in rows],
            "bind": [x["bind"] or None for x in rows],
            "open_id": pa.array([int(x["open_id"]) if x["open_id"] else None for x in rows]),
        }
    )
    write(table, path)


WRITERS = {
    "comma": lambda path: path.write_text(PUTS),
    "semicolon": lambda path: path.write_text(PUTS.replace(",", ";")),
    "tab and BOM": lambda path: path.write_bytes(
        b"\xef\xbb\xbf" + PUTS.replace(",", "\t").replace("\n", "\r\n").encode()
    ),
    "UTF-16": lambda path: path.write_bytes(PUTS.encode("utf-16")),
    "JSON lines": as_json_lines,
    "Parquet": lambda path: as_typed(path, pq.write_table),
    "Arrow": lambda path: as_typed(path, lambda x, y: pa.feather.write_feather(x, str(y))),
}


@pytest.mark.parametrize("form", WRITERS)
def test_every_form_gives_the_same_messages_once(lake, load, tmp_path, form):
    file = tmp_path / "puts.any"
    WRITERS[form](file)
    document = load(file)
    assert (document["files"], document["rows"], document["rejects"]) == (1, {"messages": 4}, [])
    assert (document["from"], document["to"]) == (
        "2026-09-14T08:00:00Z", "2026-09-14T08:00:02.500000Z"
    )  # fmt: skip
    assert messages(lake) == EXPECTED
    again = tmp_path / "other name"
    again.write_bytes(file.read_bytes())
    document = load(file, again)
    assert (document["files"], document["known"], document["written"]) == (0, 2, False)
    assert messages(lake) == EXPECTED


def test_cells_have_the_contract_s_types(lake, load, tmp_path):
    (tmp_path / "puts.csv").write_text(PUTS)
    load(tmp_path / "puts.csv")
    first, _, last, _ = lake.read("messages").orderBy("qmgr", "put_seq").collect()
    assert (bytes(first.message_id), first.persistent, first.msg_length) == (b"\n\x0b", True, 100)
    assert (last.message_id, last.persistent, last.msg_length) == (None, False, None)
    assert lake.read("messages").columns == MESSAGES.names


def test_of_a_file_that_grew_the_new_lines_are_loaded_and_numbers_go_on(lake, load, tmp_path):
    file = tmp_path / "puts.csv"
    file.write_text(PUTS)
    load(file)
    file.write_text(PUTS + "QM2,2026-09-14T09:00:00Z,STOCK,,,,,\nQM1,noon,ORDERS,,,,,\n")
    document = load(file)
    assert document["rows"] == {"messages": 1}
    assert [(x["line"], x["text"][:9]) for x in document["rejects"]] == [(7, "QM1,noon,")]
    assert messages(lake) == [*EXPECTED, ("QM2", 2, "09:00:00", "STOCK", None, None)]
    earlier = tmp_path / "late.csv"
    earlier.write_text("qmgr,put_time,queue\nQM2,2026-09-14T07:00:00Z,STOCK\n")
    document = load(earlier)
    assert document["late"] == 1
    assert messages(lake)[-1] == ("QM2", 3, "07:00:00", "STOCK", None, None)
    earlier.write_text(f"{earlier.read_text()}\n\n")
    assert load(earlier)["rows"] == {"messages": 0}
    assert load(earlier)["known"] == 1


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_file_may_grow_in_any_encoding(lake, load, tmp_path, encoding):
    file = tmp_path / "puts.csv"
    file.write_bytes(PUTS.encode(encoding))
    load(file)
    file.write_bytes((PUTS + "QM2,2026-09-14T09:00:00Z,STOCK,,,,,\n").encode(encoding))
    assert load(file)["rows"] == {"messages": 1}
    assert messages(lake) == [*EXPECTED, ("QM2", 2, "09:00:00", "STOCK", None, None)]


def test_a_last_line_that_is_cut_is_set_aside_and_taken_when_it_is_whole(lake, load, tmp_path):
    file = tmp_path / "puts.csv"
    file.write_text(PUTS + "QM1,2026-09-14T09:00:00Z,OR")
    document = load(file)
    assert document["rows"] == {"messages": 4}
    assert [x["line"] for x in document["rejects"]] == [6]
    assert document["rejects"][0]["reason"].endswith("; it is taken when it is whole")
    document = load(file)
    assert (document["written"], len(document["passed_over"])) == (False, 1)
    assert lake.read("load_rejects").count() == 1
    file.write_text(
        PUTS + "QM1,2026-09-14T09:00:00Z,ORDERS,,,,,\nQM2,2026-09-14T09:00:00Z,B,,,,,\n"
    )
    document = load(file)
    assert (document["rows"], document["rejects"]) == ({"messages": 2}, [])
    assert messages(lake)[-1] == ("QM2", 2, "09:00:00", "B", None, None)
    assert load(file)["set_aside"] == 0


def test_what_cannot_be_read_is_set_aside_with_its_line(lake, load, tmp_path):
    lines = [
        "qmgr,put_time,object_name,bind,open_id,message_id,persistent",
        "QM1,2026-09-14T08:00:00Z,ORDERS,NOT_FIXED,1.0,0A,1",
        ",2026-09-14T08:00:00Z,ORDERS,,,,",
        "QM1,2026-09-14T08:00:00,ORDERS,,,,",
        "QM1,2026-09-14T08:00:00Z,,,,,",
        "QM1,2026-09-14T08:00:00Z,ORDERS,SOMEHOW,,,",
        "QM1,2026-09-14T08:00:00Z,ORDERS,,many,,",
        "QM1,2026-09-14T08:00:00Z,ORDERS,,,XYZ,",
        "QM1,2026-09-14T08:00:00Z,ORDERS,,,,perhaps",
        "QM1,2026-09-14T08:00:00Z",
        "QM1,2026-09-14T08:00:00Z,ORDERS,,,,0.0",
    ]
    file = tmp_path / "puts.csv"
    file.write_text("\n".join(lines) + "\n")
    document = load(file)
    assert document["rows"] == {"messages": 2}
    assert [x.persistent for x in lake.read("messages").orderBy("put_seq").collect()] == [
        True,
        False,
    ]
    reasons = {x["line"]: x["reason"] for x in document["rejects"]}
    assert reasons[3] == "it has no queue manager"
    assert "has no time zone: give --time-zone" in reasons[4]
    assert reasons[5] == "it has no object"
    assert reasons[6].startswith("bind 'SOMEHOW' is none of")
    assert reasons[7] == "open_id 'many' is no whole number in range"
    assert reasons[8] == "message_id 'XYZ' is no identifier in hexadecimal"
    assert reasons[9] == "persistent 'perhaps' is neither true nor false"
    assert reasons[10] == "it has 2 fields, not 7"
    assert lake.read("load_rejects").count() == 8
    other = tmp_path / "other.csv"
    other.write_text("\n".join([lines[0], lines[1].replace("ORDERS", "B"), lines[3]]) + "\n")
    assert "1 piece(s) cannot be used" in load("--strict", other, code=2)
    assert load("--time-zone", "Europe/Paris", other)["rows"] == {"messages": 2}
    assert [x[2] for x in messages(lake)] == ["08:00:00", "08:00:00", "06:00:00", "08:00:00"]


PUT = "QM1,2026-09-14T08:00:00Z,ORDERS\n"
PUT_IN_JSON = '{"qmgr": "QM1", "put_time": "2026-09-14T08:00:00Z", "queue": "ORDERS"}\n'


@pytest.mark.parametrize(
    ("head", "put", "before"),
    [
        ("qmgr,put_time,queue\n", PUT, "\n\r\n"),
        ("qmgr,put_time,queue\n", PUT, '"QM\n\n1",2026-09-14T08:00:00Z,ORDERS\n'),
        ("qmgr,put_time,queue\n", PUT, "QM1,2026-09-14T08:00:00Z\n"),
        ("", PUT_IN_JSON, " \n\n"),
        ("\n", PUT_IN_JSON, ""),
    ],
)
def test_lines_are_counted_as_editors_do_and_a_cut_one_is_not_lost(head, put, before):
    """Behind blank lines, lines of more fields or fewer, and cells of several lines."""
    whole = head + put + before + put
    late = whole.count("\n") + 1
    found, _ = read((whole + put.replace("2026", "soon") + put).encode())
    assert [x.line for x in found.rejects if "soon" in x.reason] == [late]
    found, _ = read((whole + put[:12]).encode())
    assert found.size == len(whole)
    known = Known({found.size: frozenset([found.part.content])})
    found, ((_, rows),) = read((whole + put).encode(), known)
    assert (rows.num_rows, found.rejects) == (1, [])


def test_what_was_set_aside_is_told_when_the_file_comes_again(load, tmp_path):
    put = tmp_path / "puts.csv"
    put.write_text(PUTS + "QM1,2026-09-14 08:00:09,ORDERS,,,,,\n")
    assert load(put)["set_aside"] == 0
    again = load(put, "--time-zone", "UTC")
    assert (again["known"], again["set_aside"], again["written"]) == (1, 1, False)


def test_json_that_breaks_off_and_a_list_are_read_as_far_as_they_go(load, tmp_path):
    put = {"qmgr": "QM1", "put_time": "2026-09-14T08:00:00Z", "queue": "ORDERS", "n": 1}
    file = tmp_path / "puts.json"
    file.write_text(
        json.dumps(put) + "\n" + "7\n" + json.dumps({**put, "queue": "B"}) + '\n{"qmgr"'
    )
    document = load(file)
    assert document["rows"] == {"messages": 2}
    assert [x["line"] for x in document["rejects"]] == [2, 4]
    (tmp_path / "list.json").write_text(json.dumps([put, {**put, "queue": "C"}]))
    assert load(tmp_path / "list.json")["rows"] == {"messages": 2}


def test_whole_seconds_in_json_lines_keep_their_time_zone(lake, load, tmp_path):
    """Names that read like a date are texts as well."""
    moments = ["2026-09-14T08:00:00Z", "2026-09-14T10:00:01+02:00", "2026-09-14T08:00:02"]
    puts = [{"qmgr": "QM1", "queue": "2026-09-14", "put_time": x} for x in moments]
    file = tmp_path / "puts.jsonl"
    file.write_text("".join(json.dumps(x) + "\n" for x in puts))
    load(file, "--time-zone", "America/New_York")
    assert [x[2:4] for x in messages(lake)] == [
        (x, "2026-09-14") for x in ("08:00:00", "08:00:01", "12:00:02")
    ]


@pytest.mark.parametrize(
    ("zone", "text", "moment"),
    [
        (None, "2026-09-14", None),
        ("Europe/Paris", "2026-09-14", "2026-09-13 22:00:00"),
        ("Europe/Paris", "2026-03-29 02:15:00", "2026-03-29 01:15:00"),
        ("Europe/Paris", "2026-03-29 02:30:00", "2026-03-29 01:30:00"),
        ("Europe/Paris", "2026-10-25 02:30:00", "2026-10-25 00:30:00"),
        ("America/New_York", "9999-12-31 23:59:59", None),
        (None, "9999-12-31T23:59:59-05:00", None),
        ("UTC", 20260914, None),
        ("UTC", "20260914", None),
        ("UTC", 80000120.0, None),
        (None, 1789369201, "2026-09-14 07:00:01"),
        (None, "1789369201", "2026-09-14 07:00:01"),
    ],
)
def test_a_moment_is_in_its_zone_whatever_it_looks_like(zone, text, moment):
    """A day alone ends like an offset; an hour that a zone leaves out keeps its minutes."""
    puts = pa.table({"put_time": [text], "qmgr": ["QM1"], "object_name": ["ORDERS"]})
    how = Reading(zone=ZoneInfo(zone) if zone else None)
    cells = messages_of(puts, {x: x for x in puts.column_names}, how)
    found = cells.rows["put_time"][0]
    assert (moment and f"{moment}.000000Z") == found.cast(pa.string()).as_py()
    assert (moment is None) == bool(cells.reasons)


def test_numbers_of_json_lines_keep_their_digits_beside_any_others():
    put = {"qmgr": "QM1", "queue": "ORDERS", "put_time": "2026-09-14T08:00:00Z"}
    numbers = [2**53 + 1, 1.0, 2**63, float("nan"), -(2**53) - 1]
    data = "".join(json.dumps({**put, "open_id": x}) + "\n" for x in numbers)
    for lines in (data.replace("NaN", "null"), data):
        found, ((_, rows),) = read(lines.encode())
        assert rows["open_id"].to_pylist() == [2**53 + 1, 1, None, -(2**53) - 1]
        assert [(x.line, x.reason) for x in found.rejects] == [
            (3, "open_id '9223372036854775808' is no whole number in range")
        ]


@pytest.mark.parametrize("kind", [pa.binary(24), pa.binary_view(), pa.large_binary()])
def test_bytes_of_any_width_are_identifiers_and_names(kind):
    """MsgId and MQ's names have a width of their own, which Parquet and Arrow can tell."""
    name = b"ORDERS.OF.EUROPE.PART.24"
    puts = pa.table(
        {
            "qmgr": ["QM1"] * 2,
            "put_time": [1789369201.0] * 2,
            "put_seq": [float("nan"), 2.0],
            "object_name": pa.array([name, name], kind),
            "message_id": pa.array([b"AMQ " * 6, None], kind),
        }
    )
    cells = messages_of(puts, {x: x for x in puts.column_names}, Reading())
    assert cells.reasons is None
    assert cells.rows["object_name"].to_pylist() == [name.decode()] * 2
    assert cells.rows["message_id"].to_pylist() == [b"AMQ " * 6, None]
    assert cells.rows["put_seq"].to_pylist() == [None, 2]


def test_fields_are_found_or_named_and_what_would_be_loaded_is_shown(lake, load, tmp_path):
    file = tmp_path / "puts.csv"
    file.write_text("When;Ziel\n2026-09-14 08:00:00,25;ORDERS\n")
    told = load(file, code=2)
    assert "no field is qmgr or object_name (When, Ziel)" in told
    assert "--map object_name=FIELD and --observer QM" in told
    words = ["--map", "object_name=Ziel", "--observer", "QM1", "--time-zone", "UTC"]
    dry = load(file, *words, "--dry-run")
    assert dry["mappings"] == {str(file): {"put_time": "When", "object_name": "Ziel"}}
    assert (dry["rows"], dry["written"]) == ({"messages": 1}, False)
    assert not lake.exists("messages")
    load(file, *words)
    assert messages(lake) == [("QM1", 1, "08:00:00", "ORDERS", None, None)]
    file.write_text("When;Ziel\n2026-09-14 09:00:00;ORDERS\n")
    assert "no field 'Zeil': did you mean 'Ziel'?" in load(
        file, "--map", "object_name=Zeil", code=2
    )
    assert "has no column target" in load(file, "--map", "target=Ziel", code=2)
    assert "no such zone" in load(file, "--time-zone", "Mars", code=2)


def test_a_run_that_was_killed_is_gone_on_with(lake, load, tmp_path):
    """A content is known when all of its tables have the run's transaction."""
    file = tmp_path / "puts.csv"
    file.write_text(PUTS)
    content = hashlib.sha256(file.read_bytes()).hexdigest()
    lake.create([LOADS])
    row = (content, "messages", len(PUTS), "x", 4, datetime(2026, 9, 14, tzinfo=UTC), "killed")
    whole = (None, None, None)
    lake.append("loads", lake.arrow_rows("loads", [(*row, *whole)]))
    assert load(file)["rows"]["messages"] == 4
    assert [x["load_id"] != "killed" for x in lake.rows("loads")] == [True]
    assert load(file)["known"] == 1
    assert messages(lake) == EXPECTED


@pytest.mark.parametrize("text", ["", "prose of no table\nand more", "a\tb\n\x00\x01"])
def test_what_is_no_table_is_refused(load, tmp_path, text):
    file = tmp_path / "puts.csv"
    file.write_text(text)
    assert "nothing in 1 file(s) can be used" in load(file, code=2)


def test_the_sample_of_series_gives_the_messages_of_the_demo(lake, load):
    """But for those that routing would set aside: a bind that MQ does not have, no object."""
    sample = samples_folder() / "messages.csv"
    expected = [dict(zip(MESSAGES.names, x, strict=True)) for x in sample_messages(sample)]
    document = load(sample)
    assert document["rows"]["messages"] == len(expected) - len(document["rejects"])
    kept = ("qmgr", "object_name", "object_qmgr", "open_id", "message_id", "group_id")
    of_demo = Counter(tuple(row[x] or None for x in kept) for row in expected)
    found = Counter(
        tuple(bytes(x) if isinstance(x, bytearray) else x or None for x in row)
        for row in lake.read("messages").select(*kept).collect()
    )
    assert not found - of_demo
    assert (of_demo - found).total() == len(document["rejects"]) < 5


def test_a_line_of_a_series_that_is_none_is_set_aside(load, tmp_path):
    file = tmp_path / "series.csv"
    head = "qmgr,count,object_name,start,interval,per_open,per_group"
    good = "QM1,3,ORDERS,2026-09-14T08:00:00Z,2s,2,"
    bad = [
        "QM1,many,B,2026-09-14T08:00:00Z,2s,,",
        "QM1,3,C,noon,2s,,",
        "QM1,3,D,2026-09-14T08:00:00Z,soon,,",
    ]
    file.write_text("\n".join([head, good, *bad]) + "\n")
    document = load(file)
    assert document["rows"] == {"messages": 3}
    assert [x["line"] for x in document["rejects"]] == [3, 4, 5]
