"""Parquet files of any writer: their columns in the contract's types, cell by cell."""

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from clwl_spark.errors import SplitError
from clwl_spark.routing.intake.by_arrow import keys_of, rejected_rows, requests_of
from clwl_spark.routing.intake.requests import Requests
from clwl_spark.routing.intake.splits import Split, read_judged, read_split, split_rows
from clwl_spark.routing.output.outcome_files import _Statistics
from clwl_spark.tables import MESSAGES
from clwl_spark.tables.moments import FIRST, LAST, micros

AT = datetime(2026, 1, 1, 12, tzinfo=UTC)
NAMES = MESSAGES.arrow(["qmgr"])
WORDS = pa.array(["QM1", None, "QM2", "QM1"])
INT64 = pa.int64()


def split_of(folder: Path, columns: dict[str, Any], **options: Any) -> Split:
    """A file of these columns."""
    table = pa.table(columns)
    path = folder / "part.parquet"
    pq.write_table(table, path, **options)
    return Split(str(path), 0, table.num_rows)


def read(
    split: Split, name: str, dictionaries: tuple[str, ...] = ()
) -> tuple[list[Any], list[bool]]:
    """A column's cells, and which cannot be read."""
    schema = MESSAGES.arrow([name])
    (found,) = read_judged(split, schema, 1_000, dictionaries)
    batch, unread = found
    column = batch[name]
    if not dictionaries:
        assert column.type == schema.field(name).type
    return column.to_pylist(), list(unread.get(name, np.zeros(len(column), np.bool_)))


def bytes_as_text(*texts: bytes) -> pa.Array:
    """A column of strings that says so of any bytes."""
    return pa.array(texts, pa.binary()).view(pa.string())


@pytest.mark.parametrize("dictionaries", [(), ("qmgr",)])
@pytest.mark.parametrize(
    "cells",
    [
        WORDS,
        WORDS.cast(pa.large_string()),
        WORDS.cast(pa.string_view()),
        WORDS.cast(pa.binary()),
        WORDS.cast(pa.binary_view()),
        pa.array([b"QM1", None, b"QM2", b"QM1"], pa.binary(3)),
        WORDS.dictionary_encode(),
        pa.DictionaryArray.from_arrays(pa.array([0, None, 1, 0], pa.int8()), ["QM1", "QM2"]),
        pa.DictionaryArray.from_arrays(pa.array([0, None, 1, 0], pa.uint8()), [b"QM1", b"QM2"]),
    ],
    ids=lambda x: str(x.type),
)
def test_names_of_any_type_are_strings(
    tmp_path: Path, cells: pa.Array, dictionaries: tuple[str, ...]
) -> None:
    found, unread = read(split_of(tmp_path, {"qmgr": cells}), "qmgr", dictionaries)
    assert found == ["QM1", None, "QM2", "QM1"]
    assert not any(unread)


@pytest.mark.parametrize("dictionaries", [(), ("qmgr",)])
@pytest.mark.parametrize("kind", [pa.string(), pa.binary(), pa.large_string()], ids=str)
def test_a_name_that_is_not_utf8_is_told_of(
    tmp_path: Path, kind: pa.DataType, dictionaries: tuple[str, ...]
) -> None:
    texts = [b"QM1", b"Q\xff1", b"\xed\xa0\x80", b"QM1", "\ufffd".encode(), b"\xc3"]
    cells = bytes_as_text(*texts) if kind == pa.string() else pa.array(texts, pa.binary())
    if kind == pa.large_string():
        cells = pa.array(texts, pa.large_binary()).view(kind)
    found, unread = read(split_of(tmp_path, {"qmgr": cells}), "qmgr", dictionaries)
    assert found == [x.decode(errors="replace") for x in texts]
    assert unread == [False, True, True, False, False, True]


@pytest.mark.parametrize(
    "kind",
    [
        *(pa.int8(), pa.int16(), pa.int32(), INT64, pa.uint8(), pa.uint16(), pa.uint32()),
        *(pa.uint64(), pa.decimal128(20, 0), pa.decimal128(3, 0), pa.decimal256(60, 0)),
    ],
    ids=str,
)
def test_whole_numbers_of_any_type_are_long(tmp_path: Path, kind: pa.DataType) -> None:
    values = [1, None, 100]
    cells = pa.array(
        [x if x is None else Decimal(x) for x in values] if "dec" in str(kind) else values, kind
    )
    for column in (cells, cells.dictionary_encode()):
        assert read(split_of(tmp_path, {"put_seq": column}), "put_seq") == (values, [False] * 3)


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (pa.array([2**64 - 1, 5, None], pa.uint64()), [None, 5, None]),
        (
            pa.array([Decimal(2**63), Decimal(2**63 - 1), None], pa.decimal128(20, 0)),
            [None, 2**63 - 1, None],
        ),
        (
            pa.array([Decimal(-(2**63) - 1), Decimal(-(2**63)), None], pa.decimal128(20, 0)),
            [None, -(2**63), None],
        ),
        (pa.array([Decimal("1.5"), Decimal(2), None], pa.decimal128(20, 2)), [None, 2, None]),
    ],
    ids=lambda x: str(getattr(x, "type", "")),
)
def test_numbers_that_are_too_large_are_told_of(
    tmp_path: Path, cells: pa.Array, values: list[int | None]
) -> None:
    assert read(split_of(tmp_path, {"put_seq": cells}), "put_seq") == (values, [True, False, False])


def test_a_length_that_is_too_large_is_none(tmp_path: Path) -> None:
    split = split_of(tmp_path, {"msg_length": pa.array([2**40, 7])})
    assert read(split, "msg_length")[0] == [None, 7]


def test_flags_may_be_numbers(tmp_path: Path) -> None:
    split = split_of(tmp_path, {"persistent": pa.array([0, 1, None, 2], pa.int8())})
    assert read(split, "persistent") == ([False, True, None, True], [False] * 4)


MOMENTS = [
    datetime(1, 1, 1, tzinfo=UTC),
    datetime(1969, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC),
    None,
    AT,
]


@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin", "+05:30"])
@pytest.mark.parametrize("unit", ["s", "ms", "us", "int96"])
def test_moments_of_any_unit(tmp_path: Path, unit: str, zone: str | None) -> None:
    wanted = [x and x.replace(microsecond=0) for x in MOMENTS] if unit == "s" else MOMENTS
    cells = pa.array([x and micros(x) for x in wanted]).view(pa.timestamp("us"))
    kind = pa.timestamp("us" if unit == "int96" else unit, zone)
    split = split_of(
        tmp_path, {"put_time": cells.cast(kind)}, use_deprecated_int96_timestamps=unit == "int96"
    )
    assert read(split, "put_time") == (wanted, [False] * 4)


def test_nanoseconds_are_cut_off(tmp_path: Path) -> None:
    for zone in (None, "UTC", "Asia/Tokyo"):
        cells = pa.array([-1, 0, 1_999, None], INT64).view(pa.timestamp("ns", zone))
        split = split_of(tmp_path, {"put_time": cells})
        found = [x and micros(x) for x in read(split, "put_time")[0]]
        assert found == [-1, 0, 1, None]


def test_a_day_is_its_midnight(tmp_path: Path) -> None:
    days = [date(1, 1, 1), None, date(9999, 12, 31)]
    midnights = [x and datetime(x.year, x.month, x.day, tzinfo=UTC) for x in days]
    for kind in (pa.date32(), pa.date64()):
        split = split_of(tmp_path, {"put_time": pa.array(days, kind)})
        assert read(split, "put_time") == (midnights, [False] * 3)


SECONDS = [-(2**50), FIRST // 10**6, LAST // 10**6, 2**50, None]
MILLISECONDS = [-(2**62), FIRST // 1_000, LAST // 1_000, LAST // 1_000 + 1, None]
MICROSECONDS = [FIRST - 1, FIRST, LAST, LAST + 1, None]
YEARS = ["0000-12-31", "0001-01-01", "9999-12-31T23:59:59.9996", "10000-01-01", None]
TEXTS = ["soon", "2026-01-01 12:00:00+01", "2024-02-29T12:00Z", "2026-02-29", None]


@pytest.mark.parametrize(
    "cells",
    [
        pa.array(SECONDS, INT64).view(pa.timestamp("s")),
        pa.array(MILLISECONDS, INT64).view(pa.timestamp("ms")),
        pa.array(MICROSECONDS, INT64).view(pa.timestamp("us", "UTC")),
        pa.array(YEARS),
        pa.array(TEXTS, pa.large_string()),
        pa.array(TEXTS).dictionary_encode(),
    ],
    ids=lambda x: str(x.type),
)
def test_moments_that_delta_has_not_are_told_of(tmp_path: Path, cells: pa.Array) -> None:
    found, unread = read(split_of(tmp_path, {"put_time": cells}), "put_time")
    assert unread == [True, False, False, True, False]
    assert [x is None for x in found] == [True, False, False, True, True]


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("put_seq", pa.array(["one"])),
        ("put_seq", pa.array([1.5])),
        ("put_time", pa.array([1])),
        ("qmgr", pa.array([["QM1"]])),
        ("message_id", pa.array([{"id": 1}])),
    ],
)
def test_a_column_of_another_kind_is_refused(tmp_path: Path, name: str, cells: pa.Array) -> None:
    split = split_of(tmp_path, {name: cells})
    with pytest.raises(SplitError, match=f"column '{name}' of a file of messages is"):
        [*read_split(split, MESSAGES.arrow([name]), 10)]
    with pytest.raises(SplitError):
        split_rows(split, MESSAGES.arrow([name]), np.array([0], np.int32))


GOOD = {
    "put_seq": pa.array([1, 2, 3, 4]),
    "object_name": pa.array(["Q"] * 4),
    "put_time": pa.array([AT] * 4, pa.timestamp("us", "UTC")),
    "qmgr": pa.array(["QM1"] * 4),
}


def judged(split: Split) -> tuple[list[str | None], list[dict[str, Any]], int]:
    """Why rows are set aside, what is kept of those, and how many requests the others make."""
    requests = Requests(["S"], np.array([FIRST]))
    keys = pa.concat_tables(keys_of(split, requests))
    reasons = keys["reject"].to_pylist()
    rows = np.flatnonzero(np.array([x is not None for x in reasons])).astype(np.int32)
    kept = rejected_rows(split, rows, keys["reject"].filter(keys["reject"].is_valid()))
    return reasons, kept.to_pylist(), len(requests_of([split], requests))


@pytest.mark.fault(14)
def test_the_columns_that_must_be_there_are_enough(tmp_path: Path) -> None:
    assert judged(split_of(tmp_path, GOOD)) == ([None] * 4, [], 1)


@pytest.mark.fault(8)
def test_one_bad_row_is_set_aside_and_the_others_are_routed(tmp_path: Path) -> None:
    ids = pa.array([b"a" * 24, b"b" * 24, b"c" * 24, None], pa.binary(24))
    columns = GOOD | {
        "put_time": pa.array([LAST, LAST + 1, FIRST, FIRST]).view(pa.timestamp("us", "UTC")),
        "object_name": bytes_as_text(b"Q", b"Q", b"Q\xff", b"Q"),
        "message_id": ids,
    }
    reasons, kept, requests = judged(split_of(tmp_path, columns))
    assert reasons == [None, "BAD_PUT_TIME", "NOT_UTF8", None]
    assert requests == 1
    assert [x["put_time"] for x in kept] == [None, datetime(1, 1, 1, tzinfo=UTC)]
    assert [x["object_name"] for x in kept] == ["Q", "Q\ufffd"]
    assert [x["message_id"] for x in kept] == [b"b" * 24, b"c" * 24]


def test_the_first_reason_counts(tmp_path: Path) -> None:
    columns = GOOD | {
        "put_time": pa.array(["soon", None, "2026-01-01", "soon"]),
        "put_seq": pa.array([Decimal(10**19), None, Decimal(3), Decimal(4)], pa.decimal128(20, 0)),
        "bind": bytes_as_text(b"ON_OPEN", b"ON_OPEN", b"\xff", b"ON_GROUP"),
        "qmgr": bytes_as_text(b"QM1", b"QM1", b"\xff", b"\xff"),
    }
    reasons, _, requests = judged(split_of(tmp_path, columns))
    assert reasons == ["BAD_NUMBER", "NO_PUT_SEQ", "UNKNOWN_BIND", "BAD_PUT_TIME"]
    assert requests == 0


@pytest.mark.parametrize(
    ("latest", "said"),
    [
        (LAST, "9999-12-31T23:59:59.999999Z"),
        (LAST - 400, "9999-12-31T23:59:59.999999Z"),
        (LAST - 2_000, "9999-12-31T23:59:59.998Z"),
    ],
)
def test_statistics_cover_the_last_moment_and_the_first(latest: int, said: str) -> None:
    statistics = _Statistics()
    times = pa.array([FIRST, latest]).view(pa.timestamp("us", "UTC"))
    statistics.add(pa.record_batch({"put_seq": pa.array([1, 2]), "put_time": times}))
    found = statistics.to_json()
    assert found["numRecords"] == 2
    assert found["minValues"]["put_time"] == "0001-01-01T00:00:00.000Z"
    assert found["maxValues"]["put_time"] == said
    assert found["maxValues"]["put_seq"] == 2
