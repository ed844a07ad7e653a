"""Blocks that wait: in memory as on disk they are the same, and come in windows of put_seq."""

import numpy as np
import pyarrow as pa
import pytest

from clwl_spark.routing.intake.blocks import to_ipc
from clwl_spark.routing.state.spool import Spool

BLOCKS, ROWS = 8, 20_000
"""A block has 160 KB of keys and a payload of 200; of one MiB half is for blocks that wait."""


def blocks():
    """Blocks of one queue manager whose put_seq are mixed, and what comes with them."""
    for at in range(BLOCKS):
        put_seq = np.arange(at, BLOCKS * ROWS, BLOCKS, dtype=np.int64)
        yield to_ipc(pa.table({"put_seq": put_seq})), f"payload {at} ".encode() * ROWS


def filled(memory_mib):
    spool = Spool(memory_mib)
    for at, (keys, payload) in enumerate(blocks()):
        assert spool.add(keys, payload, f"split {at}").num_rows == ROWS
    return spool


@pytest.mark.parametrize(("memory_mib", "on_disk"), [(512, 0), (1, BLOCKS)])
def test_blocks_are_what_was_put_aside(memory_mib, on_disk):
    spool = filled(memory_mib)
    assert sum(isinstance(x.keys, tuple) for x in spool.blocks) == on_disk
    assert sum(isinstance(x.payload, tuple) for x in spool.blocks) == on_disk
    for _ in range(2):  # reading moves in the file
        for at in (5, 0, 7, 3):
            keys, payload = list(blocks())[at]
            assert spool.payload(at) == payload
            assert to_ipc(spool.keys(at)) == keys
    spool.close()


def test_windows_give_each_message_once_in_order_whatever_waits_on_disk():
    spool = filled(1)
    greatest, met = -1, 0
    for slices in spool.windows():
        put_seq = np.concatenate([x.keys["put_seq"].to_numpy() for x in slices])
        assert put_seq.min() > greatest
        greatest, met = put_seq.max(), met + len(put_seq)
    assert met == BLOCKS * ROWS
    spool.close()


def test_what_comes_after_something_was_read_from_disk_goes_behind_it():
    spool = filled(1)
    first = spool.payload(0)
    keys, payload = next(blocks())
    for _ in range(4):
        spool.add(keys, payload)
    assert spool.payload(0) == first
    assert [spool.payload(BLOCKS + x) for x in range(4)] == [payload] * 4
    spool.close()
