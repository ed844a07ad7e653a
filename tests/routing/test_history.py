"""What queue managers remember goes into a state and comes back as it was."""

from dataclasses import replace
from datetime import UTC, datetime

import pyarrow as pa
import pytest

from clwl_spark.errors import LakeStateError
from clwl_spark.mq.vocabulary import Algorithm
from clwl_spark.routing.intake.blocks import bucket_of
from clwl_spark.routing.ledger.run_record import Run
from clwl_spark.routing.state.history import (
    STATE_SCHEMA,
    Memory,
    chosen_channels,
    from_bytes,
    from_state,
    history_table,
    to_bytes,
    to_state,
)

FRESH = Memory()
USED = Memory(
    counter=7,
    highest_put_seq=2**40,
    brought={"S1", "S2"},
    balance={("QM2", "TO.QM2"): (7, 140)},
    bindings={
        (False, 2**62, "Q", ""): (("QM2", "Q", "TO.QM2", "C", False), 1_700_000_000_000_000),
        (True, b"\x00\xff", "Q", "QM2"): (("QM1", "Q", "", "", True), 5),
    },
)


@pytest.mark.parametrize("memory", [FRESH, USED])
def test_a_memory_comes_back(memory: Memory) -> None:
    assert from_bytes(to_bytes(memory)) == memory


def test_a_bucket_keeps_its_queue_managers_apart() -> None:
    memories = {"QM1": to_bytes(USED), "QM9": to_bytes(FRESH)}
    found = from_state("17", *to_state(memories))
    assert {qmgr: from_bytes(x) for qmgr, x in found.items()} == {"QM1": USED, "QM9": FRESH}


def test_a_state_of_one_queue_manager_is_read_as_it_was_written() -> None:
    """Lakes that were routed before there were buckets go on."""
    assert from_state("QM1", 1, to_bytes(USED)) == {"QM1": to_bytes(USED)}


@pytest.mark.fault(15)
def test_a_state_of_a_later_version_is_refused() -> None:
    with pytest.raises(LakeStateError, match="version 3, this package writes 2"):
        from_state("17", 3, b"")


def test_the_schema_of_the_state_never_changes() -> None:
    assert STATE_SCHEMA == "version int, payload binary"


def test_the_history_has_the_channels_that_were_chosen() -> None:
    never = {("QM3", "TO.QM3"): (0, 0)}
    memory = replace(USED, balance=USED.balance | never)
    assert history_table("QM1", chosen_channels(memory)).to_pylist() == [
        {
            "qmgr": "QM1",
            "dest_qmgr": "QM2",
            "channel": "TO.QM2",
            "dest_seq_number": 7,
            "dest_seq_factor": 140,
        }
    ]
    none = history_table("QM1", chosen_channels(FRESH))
    assert (none.num_rows, none.schema.field("qmgr").type) == (0, pa.string())


def test_the_bucket_of_a_queue_manager_is_the_same_for_ever() -> None:
    """Another would lose its memory."""
    names = ("QM1", "QM2", "", "QM.ÄÖ")
    assert [bucket_of(x, 256) for x in names] == ["231", "93", "0", "226"]
    assert bucket_of("QM1", 0) == "QM1"


@pytest.mark.parametrize(("router_id", "buckets"), [("256-0af", 256), ("0af", 0), ("0-0af", 0)])
def test_a_checkpoint_says_how_many_buckets_it_has(router_id: str, buckets: int) -> None:
    now = datetime.now(UTC)
    assert Run("R", 0, (), Algorithm.V9, router_id, now).buckets == buckets
