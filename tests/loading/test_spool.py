"""What is worked on in slices comes to the same whatever the slices are."""

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clwl_spark.studies.load import spool
from clwl_spark.studies.load.cells import Reading
from clwl_spark.studies.load.numbering import numbered
from clwl_spark.studies.load.recorded import recorded
from clwl_spark.studies.load.traces import FILE, traced
from clwl_spark.tables import MESSAGES

START = datetime(2026, 9, 14, 8, tzinfo=UTC)
WORDS = st.sampled_from(["QM1", "QM2", "QM3", None])
SIZES = st.integers(1, 9)


@pytest.fixture(autouse=True)
def slices_as_they_are():
    size = spool.SLICE
    yield
    spool.SLICE = size


def table_of(words):
    rows = {
        "word": pa.array(words, pa.string()).dictionary_encode(),
        "at": pa.array(range(len(words)), pa.int64()),
    }
    return pa.table(rows)


@settings(deadline=None)
@given(st.lists(st.lists(WORDS, max_size=12), max_size=6), SIZES, st.data())
def test_rows_come_back_as_they_were_written_and_from_wherever_they_are(parts, size, data):
    spool.SLICE = size
    tables = [table_of(x) for x in parts]
    schema = table_of([]).schema
    found = spool.spooled(schema, tables)
    plain = pa.concat_tables([schema.empty_table(), *tables]).to_pylist()
    assert found.to_pylist() == plain
    places = [at + x for at, part in spool.slices(found) for x in range(part.num_rows)]
    assert places == [*range(len(plain))]
    assert [x for _, part in spool.slices(found) for x in part.to_pylist()] == plain
    assert all(part.num_rows <= size for _, part in spool.slices(found))
    wanted = data.draw(st.lists(st.integers(0, len(plain) - 1))) if plain else []
    taken = spool.Gatherer(found).take(np.array(wanted, dtype=np.int64))
    assert taken.to_pylist() == [plain[x] for x in wanted]


def plainly_numbered(puts, last):
    """put_seq of puts, in their order, without arrays."""
    greatest = {x: last.get(x, (0, 0))[0] for x, _, _ in puts}
    for qmgr, _, given_seq in puts:
        greatest[qmgr] = max(greatest[qmgr], given_seq or 0)
    numbers = {}
    for at in sorted(range(len(puts)), key=lambda x: puts[x][1]):
        qmgr, _, given_seq = puts[at]
        greatest[qmgr] += given_seq is None
        numbers[at] = greatest[qmgr] if given_seq is None else given_seq
    return [numbers[x] for x in range(len(puts))]


PUT = st.tuples(
    st.sampled_from(["QM1", "QM2", "QM3"]), st.integers(0, 8), st.none() | st.integers(1, 30)
)


@settings(deadline=None)
@given(st.lists(PUT, max_size=40), SIZES, st.integers(0, 5), st.integers(0, 8))
def test_messages_are_numbered_in_put_order_on_from_where_the_lake_ends(puts, size, seq, newest):
    spool.SLICE = size
    rows = [
        {"qmgr": x, "put_time": START + timedelta(microseconds=y), "put_seq": z, "object_name": "Q"}
        for x, y, z in puts
    ]
    table = pa.Table.from_pylist(rows, MESSAGES.arrow(MESSAGES.names))
    moment = int(START.timestamp()) * 1_000_000 + newest
    found = numbered(table, {"QM2": (seq, moment)})
    expected = plainly_numbered(puts, {"QM2": (seq, moment)})
    assert found.put_seq.tolist() == expected
    qmgrs = [*dict.fromkeys(x for x, _, _ in puts)]
    order = sorted(range(len(puts)), key=lambda x: (qmgrs.index(puts[x][0]), puts[x][1]))
    assert found.rows.to_pylist() == [
        {**table.slice(x, 1).to_pylist()[0], "put_seq": expected[x]} for x in order
    ]
    own = [puts[x] for x in order]
    pairs = pairwise(own)
    assert found.guessed == sum(x[:2] == y[:2] and y[2] is None for x, y in pairs)
    assert found.late == sum(x == "QM2" and y < newest and z is None for x, y, z in puts)


OPERATION = st.fixed_dictionaries(
    {
        "operationId": st.sampled_from(["Open", "Close", "Put", "Put", "Put", "Put1"]),
        "hobj": st.integers(2, 3),
        "highresTime": st.integers(1789372800000000, 1789372800000006) | st.none(),
        "operationDate": st.just("2026-09-14"),
        "operationTime": st.sampled_from(["08.00.00.10", "08.00.00.20"]),
        "objectName": st.sampled_from(["ORDERS", "PAY", ""]),
        "openOptions": st.sampled_from([0x10, 0x8010, 0x4010]),
        "reasonCode": st.sampled_from([0, 0, 0, 2085]),
        "msgId": st.sampled_from(["01", "02", "03", None]),
        "resolvedQueueMgr": st.sampled_from(["GW1", None]),
    }
)
EVENT = st.fixed_dictionaries(
    {
        "queueMgrName": st.sampled_from(["QM1", "QM2"]),
        "connectionId": st.sampled_from(["1A", "1B"]),
        "sequenceNumber": st.integers(0, 3),
        "activityTrace": st.lists(OPERATION, max_size=6),
    }
)


def operations_of(events):
    """The operations of events, each event a file of its own."""
    tables = []
    for at, data in enumerate(events):
        source = {"objectName": "SYSTEM.ADMIN.TRACE.ACTIVITY.QUEUE"}
        kind = {"name": "Activity Trace", "value": 209}
        text = json.dumps({"eventSource": source, "eventType": kind, "eventData": data})
        found = recorded(text, "trace", Reading(None, ZoneInfo("UTC"))).operations
        tables.append(found.append_column(FILE, pa.array([at] * found.num_rows, pa.int32())))
    return pa.concat_tables(tables)


def plain(found):
    return (
        found.messages.to_pylist(), found.routes.to_pylist(), found.message_of.tolist(),
        found.messages_of.tolist(), found.routes_of.tolist(), found.is_exact.tolist(),
        found.refused, found.repeated.tolist(), found.unopened, found.set_back,
    )  # fmt: skip


@settings(deadline=None, max_examples=200)
@given(st.lists(EVENT, min_size=1, max_size=8), SIZES)
def test_a_trace_tells_the_same_in_slices_of_any_size(events, size):
    operations = operations_of(events)
    names = [f"file {at}" for at in range(len(events))]
    spool.SLICE = 1 << 16
    whole = traced(operations, names)
    spool.SLICE = size
    assert plain(traced(operations, names)) == plain(whole)


@settings(deadline=None, max_examples=200)
@given(st.lists(EVENT, min_size=1, max_size=8), SIZES)
def test_a_put_belongs_to_the_mqopen_before_it_in_its_connection(events, size):
    """As a loop finds it that knows nothing of slices."""
    spool.SLICE = size
    operations = operations_of(events)
    found = traced(operations, ["file"] * len(events))
    rows = operations.to_pylist()
    binds = Counter(_bind(x) for x in _puts(rows))
    assert Counter(x["bind"] for x in found.messages.to_pylist()) == binds


BINDS = {0x10: "AS_Q_DEF", 0x8010: "NOT_FIXED", 0x4010: "ON_OPEN", None: None}


def _bind(put):
    return BINDS[put["options"]]


def _puts(rows):
    """Messages that a trace tells, each once, with the options that its handle is open by."""
    met, kept = set(), []
    for row in rows:
        exact = row["is_exact"] and row["msgid"] is not None
        at = (row["time"], row["msgid"]) if exact else (row["sequence"], row["place"])
        key = (row["qmgr"], row["connection"], row["hobj"], row["kind"], exact, *at)
        if key not in met:
            met.add(key)
            kept.append(row)
    handles = {}
    for row in sorted(kept, key=lambda x: x["sequence"]):
        handle = (row["qmgr"], row["connection"], row["hobj"])
        if row["kind"] == 0 and not row["reasoncode"]:
            handles[handle] = row
        elif row["kind"] == 1:
            handles.pop(handle, None)
        elif row["kind"] > 1 and not row["reasoncode"]:
            opened = handles.get(handle) if row["kind"] == 2 else None
            if row["objectname"] or (opened and opened["objectname"]):
                yield {"options": opened and opened["openoptions"]}
