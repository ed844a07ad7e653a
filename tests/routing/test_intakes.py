"""Messages of any writer's types: read by Arrow as by Spark's functions, row by row.

No Java: the embedded session runs Spark's side.
"""

import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from clwl_spark.delta.commits import DataFile, commit_files, unreadable
from clwl_spark.delta.files import active_files, newest_version
from clwl_spark.delta.lake import Lake
from clwl_spark.mq.vocabulary import RejectError
from clwl_spark.routing.intake.by_arrow import keys_of, requests_of
from clwl_spark.routing.intake.by_spark import distinct_requests, for_blocks
from clwl_spark.routing.intake.reject_rules import REJECT_RULES, Condition, RejectRule
from clwl_spark.routing.intake.requests import Requests
from clwl_spark.routing.intake.splits import Split
from clwl_spark.snapshots.catalog import Pin
from clwl_spark.tables import MESSAGES
from clwl_spark.tables.moments import micros

UTC_MICROS = pa.timestamp("us", tz="UTC")
PINS = [
    Pin("S1", micros(datetime(2020, 1, 1, tzinfo=UTC))),
    Pin("S2", micros(datetime(2026, 1, 1, tzinfo=UTC))),
]
KEYS = ("qmgr", "put_seq", "put_time", "open_id", "group_id", "plan_id", "bind")
Column = tuple[pa.DataType, st.SearchStrategy[Any]]


def _cells(kind: pa.DataType, values: st.SearchStrategy[Any]) -> Column:
    return kind, st.none() | values


def _word(*words: str) -> list[Column]:
    names = st.sampled_from([*words, "", "ß" * 9, "nope"])
    return [
        _cells(pa.string(), names),
        _cells(pa.large_string(), names),
        _cells(pa.binary(), names.map(str.encode)),
    ]


def _numbers() -> list[Column]:
    return [
        *(_cells(x, st.integers(-(2**y), 2**y - 1)) for x, y in (
            (pa.int8(), 7), (pa.int16(), 15), (pa.int32(), 31), (pa.int64(), 63),
        )),
        _cells(pa.decimal128(20, 0), st.integers(-(10**20) + 1, 10**20 - 1).map(Decimal)),
        _cells(pa.decimal128(3, 0), st.integers(-999, 999).map(Decimal)),
    ]  # fmt: skip


MOMENTS = st.datetimes() | st.datetimes(
    datetime.fromisoformat("2019-01-01"), datetime.fromisoformat("2027-01-01")
)
ZONES = st.sampled_from(
    ["", "Z", "+01:00", "-0530", "+14", "-17:59", " ", "Europe/Paris", "+18:00"]
)
TEXTS = st.builds(
    lambda at, sep, spec, zone: at.isoformat(sep, spec) + zone,
    MOMENTS,
    st.sampled_from(["T", " ", "t"]),
    st.sampled_from(["minutes", "seconds", "milliseconds", "microseconds"]),
    ZONES,
)
ODD_TEXTS = st.sampled_from(
    [
        "2026-01-02",
        "2026-02-30",
        "2026-02-29",
        "2024-02-29T01:02",
        "0000-01-01T00:00",
        "10000-01-01",
        "9999-12-31T23:59:59.9996",
        "9999-12-31T23:59:59.9999999",
        "9999-12-31T23:59-01:00",
        "0001-01-01T00:00:00+01:00",
        "2026-01-02T03:04:05.123456789Z",
        "2026-1-2",
        "12:00",
        "",
        "now",
        "2026-01-02T24:00",
        "2026-01-02T23:59:60",
        " 2026-01-02 ",
        "2026-01-02Z",
        "2026-01-02T03:04\n",
        "2026-06-31 00:00:00",
        "\uff12026-01-01",
    ]
)
COLUMNS: dict[str, list[Column]] = {
    "qmgr": _word("QM1", "QM2"),
    "put_seq": _numbers(),
    "message_id": [_cells(pa.binary(), st.binary(max_size=4))],
    "put_time": [
        _cells(UTC_MICROS, MOMENTS.map(lambda x: x.replace(tzinfo=UTC))),
        _cells(pa.timestamp("us"), MOMENTS),
        _cells(pa.date32(), st.dates()),
        _cells(pa.string(), TEXTS | ODD_TEXTS),
    ],
    "object_type": _word("QUEUE", "TOPIC"),
    "object_name": _word("Q", "A/B"),
    "object_qmgr": _word("QM2"),
    "bind": _word("AS_Q_DEF", "ON_OPEN", "NOT_FIXED", "ON_GROUP"),
    "open_id": _numbers(),
    "group_id": [_cells(pa.binary(), st.binary(max_size=4))],
    "logical_order": [_cells(pa.bool_(), st.booleans()), _cells(pa.int32(), st.integers(0, 2))],
    "via": _word("LOCAL", "CLUSTER"),
    "persistent": [_cells(pa.bool_(), st.booleans()), _cells(pa.int8(), st.integers(-1, 1))],
    "msg_length": _numbers(),
    "theirs": [_cells(pa.float64(), st.floats())],
}
MUST_BE = ("qmgr", "put_seq", "put_time", "object_name")


@st.composite
def tables(draw: Callable[..., Any]) -> pa.Table:
    """Messages with the columns that must be there and some others, each of some type."""
    rows = draw(st.integers(1, 8))
    others = draw(st.sets(st.sampled_from(sorted(COLUMNS.keys() - set(MUST_BE)))))
    names = draw(st.permutations([*MUST_BE, *sorted(others)]))
    columns = {}
    for name in names:
        kind, cells = draw(st.sampled_from(COLUMNS[name]))
        columns[name] = pa.array(draw(st.lists(cells, min_size=rows, max_size=rows)), kind)
    return pa.table(columns)


def _rows(found: pa.Table, error: str) -> list[tuple[Any, ...]]:
    """The rows in some order; plan and option mean nothing in one that is set aside."""
    rows = zip(*(found[x].to_pylist() for x in (*KEYS, error)), strict=True)
    return sorted((x if x[-1] is None else (*x[:-3], None, None, x[-1]) for x in rows), key=repr)


def _by_arrow(folder: str) -> tuple[list[tuple[Any, ...]], set[Any]]:
    """What Arrow makes of a table's rows, and the requests of those that can be routed."""
    requests = Requests.under(PINS)
    splits = [
        Split(path, 0, rows) for path, rows in active_files(folder, newest_version(folder)) or []
    ]
    keys = pa.concat_tables(table for split in splits for table in keys_of(split, requests))
    return _rows(keys, "reject"), requests.of(requests_of(splits, requests))


def _by_frames(messages: DataFrame) -> tuple[list[tuple[Any, ...]], set[Any]]:
    """The same by Spark's functions."""
    error = F.get_json_object("reject", "$.error").alias("error")
    found = for_blocks(messages, PINS).select(*KEYS, error).toArrow()
    asked = distinct_requests(messages, PINS).drop("plan_id").toArrow().to_pylist()
    return _rows(found, "error"), {tuple(x.values()) for x in asked}


@given(tables())
@settings(max_examples=80, deadline=None)
def test_both_intakes_say_the_same_of_every_row(spark: SparkSession, messages: pa.Table) -> None:
    with tempfile.TemporaryDirectory() as root:
        lake = Lake(spark, root)
        write_deltalake(lake.path("messages"), messages)
        assert unreadable(lake.path("messages"), MESSAGES) == ""
        rows, asked = _by_arrow(lake.path("messages"))
        spark_rows, spark_asked = _by_frames(lake.read("messages"))
    assert rows == spark_rows
    assert asked >= spark_asked


def test_rules_are_looked_for_in_the_order_of_their_reasons() -> None:
    reasons = [x.error for x in REJECT_RULES]
    assert [*reasons, RejectError.DUPLICATE] == list(RejectError)


def _broken(rule: RejectRule) -> dict[str, Any]:
    """What a message has in a rule's column that the rule rejects."""
    (column, *_), bad = rule.columns, {
        Condition.EMPTY: "",
        Condition.ABSENT: None,
        Condition.UNKNOWN: "NO.SUCH",
        Condition.UNREAD: b"\xff",
    }  # fmt: skip
    if column == "snapshot_id":
        return {"put_time": datetime(2019, 1, 1, tzinfo=UTC)}
    if rule.condition is Condition.UNREAD and column in ("put_seq", "put_time"):
        return {column: {"put_seq": Decimal(2**63), "put_time": "never"}[column]}
    return {column: bad[rule.condition]}


@pytest.mark.parametrize("rule", REJECT_RULES, ids=lambda x: x.error.value)
def test_both_intakes_have_every_rule(
    spark: SparkSession, tmp_path: Path, rule: RejectRule
) -> None:
    at = datetime(2026, 5, 1, tzinfo=UTC)
    good = {"qmgr": b"QM1", "put_seq": Decimal(1), "put_time": at, "object_name": "Q"}
    types = {"qmgr": pa.binary(), "put_seq": pa.decimal128(20, 0), "put_time": UTC_MICROS}
    message = good | _broken(rule)
    if isinstance(message["put_time"], str):
        types["put_time"] = pa.string()
    cells = {x: pa.array([y], types.get(x)) for x, y in message.items()}
    lake = Lake(spark, str(tmp_path))
    write_deltalake(lake.path("messages"), pa.table(cells))
    ((*_, by_arrow),) = _by_arrow(lake.path("messages"))[0]
    assert by_arrow == rule.error
    if rule.error != RejectError.NOT_UTF8:  # Sail's texts always are
        ((*_, by_frames),) = _by_frames(lake.read("messages"))[0]
        assert by_frames == rule.error


def test_names_that_are_not_utf8_do_not_keep_a_table_from_being_read(
    spark: SparkSession, tmp_path: Path
) -> None:
    lake = Lake(spark, str(tmp_path))
    lake.create([MESSAGES])
    names = pa.array([b"QM1", b"\xff"], pa.binary()).view(pa.string())
    file = tmp_path / "messages" / "part.parquet"
    pq.write_table(pa.table({"qmgr": names, "put_seq": [1, 2]}), file)
    added = DataFile(file.name, file.stat().st_size, {"numRecords": 2})
    commit_files(lake.path("messages"), [added], "test", 1)
    assert {x.qmgr for x in lake.read("messages").collect()} == {"QM1", "\ufffd"}
