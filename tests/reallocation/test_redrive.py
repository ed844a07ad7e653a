"""One queue manager's chain of events, without Spark: no message is lost, and history goes on."""

import json
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clwl_spark.errors import LakeStateError
from clwl_spark.routing.intake.blocks import from_ipc
from clwl_spark.studies.reallocate import redrive
from clwl_spark.studies.reallocate.redrive import Redrive
from clwl_spark.studies.reallocate.waiting import REASONS

CHANNELS = ("TO.A", "TO.B", "TO.C")
STOPPED_EACH = [(channel, "STOPPED") for channel in CHANNELS]
REQUESTS = (7, 8, 9)  # Q leads to all three, R to the first two, S to the local queue


def documents(events, past=None):
    """Plans of each request while each channel is stopped: the others are routes."""
    plans, routes, situations = [], [], []
    for number, (stopped, status) in enumerate(STOPPED_EACH):
        for request in REQUESTS:
            plan_id = 100 * (number + 1) + request
            is_local = request == 9
            plans.append(
                {
                    "plan_id": plan_id, "snapshot_id": "S1", "object_type": "QUEUE",
                    "object_name": f"Q{request}", "object_qmgr": "", "reason": 0,
                    "kind": "LOCAL" if is_local else "QUEUE", "resolved_object": f"Q{request}",
                    "resolved_qmgr": "", "bind_default": "NOTFIXED", "xmitq": None, "choices": 1,
                }
            )  # fmt: skip
            ends = {7: CHANNELS, 8: CHANNELS[:2], 9: ()}[request]
            left = [x for x in ends if x != stopped] or list(ends)
            routes += [
                {
                    "plan_id": plan_id, "choice": 0, "dest_qmgr": x[-1], "dest_object": "Q",
                    "channel": x, "is_alias": False, "channel_cluster": "K", "is_local": False,
                    "clwlwght": 50,
                }
                for x in left
            ]  # fmt: skip
            situations.append(
                {
                    "plan_id": plan_id, "snapshot_id": "S1", "stopped_channel": stopped,
                    "stopped_status": status, "request_key": request, "is_direct": False,
                    "deciding_rule": 0,
                }
            )  # fmt: skip
    sender = {"snapshot_id": "S1", "clwlmruc": 999, "defclxq": "CHANNEL"}
    return {
        "facts": json.dumps(
            {"plans": by_column(plans), "routes": by_column(routes), "senders": [sender]}
        ),
        "situations": json.dumps(situations),
        "events": json.dumps(events),
        "past": json.dumps(past or {"counter": 0, "balance": [], "resetting": []}),
    }


def by_column(rows):
    return pa.Table.from_pylist(rows).to_pydict()


def event(number, channel, at):
    return {
        "event_id": f"E{number}", "number": number, "channel": channel, "status": "STOPPED",
        "at": at, "snapshot_id": "S1",
    }  # fmt: skip


def messages(rows):
    """(request, ineligible, channel) of each message, put one microsecond after the other."""
    count = len(rows)
    request, ineligible, channel = zip(*rows, strict=True) if rows else ((), (), ())
    return pa.table(
        {
            "put_seq": pa.array(range(count), pa.int64()),
            "message_id": pa.array([b"%24d" % x for x in range(count)], pa.binary()),
            "put_time": pa.array(range(count), pa.int64()),
            "message_key": pa.array(range(count), pa.int64()),
            "duplicate": pa.array([0] * count, pa.int32()),
            "plan_id": pa.array([1] * count, pa.int64()),
            "request_key": pa.array(request, pa.int64()),
            "ineligible": pa.array(ineligible, pa.int8()),
            "is_publication": pa.array([False] * count, pa.bool_()),
            "channel": pa.array(channel, pa.string()),
            "xmitq": pa.array([f"SYSTEM.CLUSTER.TRANSMIT.{x}" for x in channel], pa.string()),
        }
    )


def run(rows, events, past=None):
    """(rows of all events, figures by event)."""
    blocks = list(Redrive("L", messages(rows), documents(events, past)).run())
    said = [json.loads(block.figures) for block in blocks if block.figures]
    return [row for block in blocks for row in from_ipc(block.data).to_pylist()], said


def test_a_stop_moves_messages_in_turn_to_what_is_left():
    rows, (figures,) = run([(7, 0, "TO.A")] * 4, [event(1, "TO.A", 10)])
    assert [row["to_channel"] for row in rows] == ["TO.B", "TO.C", "TO.B", "TO.C"]
    assert {row["outcome"] for row in rows} == {"MOVED"}
    assert rows[0]["to_xmitq"] == "SYSTEM.CLUSTER.TRANSMIT.TO.B"
    assert figures["choices"] == [["B", "TO.B", 2, 3, 40], ["C", "TO.C", 2, 4, 40]]
    assert figures["choices_made"] == 4


def test_the_history_of_earlier_events_goes_on():
    past = {"counter": 9, "balance": [["B", "TO.B", 9, 60]], "resetting": []}
    rows, _ = run([(7, 0, "TO.A")] * 2, [event(1, "TO.A", 10)], past)
    assert [row["to_channel"] for row in rows] == ["TO.C", "TO.B"]


def test_only_what_was_put_by_then_waits():
    rows, figures = run([(7, 0, "TO.A")] * 3, [event(1, "TO.A", 1), event(2, "TO.A", 2)])
    assert [(row["event_id"], row["put_seq"]) for row in rows] == [("E1", 0), ("E1", 1), ("E2", 2)]
    assert [x["waiting"] for x in figures] == [2, 1]


def test_ineligible_and_local_and_still_favoured_messages():
    rows, (figures,) = run([(7, 1, "TO.A"), (9, 0, "TO.A"), (8, 0, "TO.A")], [event(1, "TO.A", 10)])
    assert [row["outcome"] for row in rows] == ["NOT_ELIGIBLE", "MOVED", "MOVED"]
    assert [row["ineligible_reason"] for row in rows] == ["BIND_ON_OPEN", None, None]
    assert [row["to_channel"] for row in rows] == ["TO.A", None, "TO.B"]
    assert [row["to_xmitq"] is None for row in rows] == [False, True, False]
    assert figures["reasons"] == {"BIND_ON_OPEN": 1}


def test_no_message_at_all_still_gives_figures():
    rows, (figures,) = run([], [event(1, "TO.A", 10)])
    assert rows == []
    assert (figures["waiting"], figures["choices_made"]) == (0, 0)


def test_a_plan_that_is_missing_is_said_and_nothing_is_guessed():
    with pytest.raises(LakeStateError, match="run the command again"):
        run([(77, 0, "TO.A")], [event(1, "TO.A", 10)])


@settings(deadline=None, max_examples=60)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(REQUESTS[:2]), st.sampled_from((0, 0, 0, 1)), st.sampled_from(CHANNELS)
        ),
        max_size=30,
    ),
    st.lists(st.tuples(st.sampled_from(CHANNELS), st.integers(0, 5)), max_size=8),
    st.sampled_from((1, 4, 100)),
)
def test_no_message_is_lost_or_doubled_over_any_chain_of_events(rows, chain, block):
    events, at = [], 0
    for number, (channel, pause) in enumerate(chain, 1):
        at += pause
        events.append(event(number, channel, at))
    before = redrive.ROWS_AT_A_TIME
    redrive.ROWS_AT_A_TIME = block
    try:
        found, figures = run(rows, events)
    finally:
        redrive.ROWS_AT_A_TIME = before
    place = dict(enumerate(channel for _, _, channel in rows))
    for happened, said in zip(events, figures, strict=True):
        of_event = [row for row in found if row["event_id"] == happened["event_id"]]
        waits = [x for x, channel in place.items() if channel == happened["channel"]]
        waits = [x for x in waits if x <= happened["at"]]
        assert [row["put_seq"] for row in of_event] == waits
        counts = Counter(row["outcome"].lower() for row in of_event)
        assert all(said[name] == count for name, count in counts.items())
        assert said["waiting"] == len(waits)
        for row in of_event:
            if rows[row["put_seq"]][1]:
                assert row["to_channel"] == row["from_channel"]
                assert row["ineligible_reason"] == REASONS[1]
            place[row["put_seq"]] = row["to_channel"]
    assert len(place) == len(rows)
    assert all(channel in CHANNELS for channel in place.values())
    assert sum(x["choices_made"] for x in figures) == sum(
        chosen for x in figures for _, _, chosen, _, _ in x["choices"]
    )


def test_many_messages_are_one_block_of_columns():
    count = 100_000
    rows = messages([(7, 0, "TO.A")] * 10)
    table = rows.take(pa.array(np.zeros(count, dtype=np.int64)))
    (block,) = Redrive("L", table, documents([event(1, "TO.A", 10)])).run()
    assert from_ipc(block.data).num_rows == count
