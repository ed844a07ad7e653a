"""The blocks of one bucket, in bounded memory: beyond a limit they wait on local disk.

Blocks arrive in any order and messages are routed in the order of put_seq, so all of a batch's
blocks must be there before the first choice. One hot queue manager may have tens of millions of
messages in a batch; the worker still holds only a window of them.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from clwl_spark.routing.intake.blocks import from_ipc
from clwl_spark.tables import columns as c

BYTES_PER_MESSAGE: Final = 400
"""Working memory of a window: keys, orders, choices, codes (measured with 2 million messages)."""
SAMPLE_EVERY: Final = 1024


@dataclass(slots=True)
class Block:
    """A block that waits, and how far its messages have gone into windows.

    Attributes:
        messages: of it.
        split: that it was read from.
        keys: its keys, or where they are on disk: first byte, and the first behind them.
        payload: in the same way.
        taken: messages that are in windows.
    """

    messages: int
    split: str
    keys: bytes | tuple[int, int]
    payload: bytes | tuple[int, int]
    taken: int = 0


@dataclass(frozen=True, slots=True)
class Slice:
    """A part of a block that belongs to a window: rows `start` to `start + len(keys)`."""

    block: int
    start: int
    keys: pa.Table


class Spool:
    """All blocks of one bucket in one batch."""

    def __init__(self, memory_mib: int) -> None:
        """Hold at most half of `memory_mib` in memory; windows get the other half."""
        self._file = SpooledTemporaryFile(max_size=1)  # noqa: SIM115 - closed by close()
        self._most = memory_mib * 2**20 // 2
        self._window = max(self._most // BYTES_PER_MESSAGE, SAMPLE_EVERY)
        self._samples: list[NDArray[np.int64]] = []
        self._held = 0
        self._on_disk = 0
        self.blocks: list[Block] = []

    def add(self, keys: bytes, payload: bytes, split: str = "") -> pa.Table:
        """Put a block aside; its keys are returned, for those who look at them now."""
        table = from_ipc(keys)
        put_seq = table[c.PUT_SEQ].to_numpy()
        self.blocks.append(Block(len(put_seq), split, keys, payload))
        self._samples.append(np.append(put_seq[SAMPLE_EVERY - 1 :: SAMPLE_EVERY], put_seq[-1]))
        self._held += len(keys) + len(payload)
        if self._held > self._most:
            self._write()
        return table

    def windows(self) -> Iterator[list[Slice]]:
        """The messages in the order of put_seq, a window at a time; equal ones stay together."""
        for up_to in self._bounds():
            slices = [self._slice(at, up_to) for at in range(len(self.blocks))]
            yield [x for x in slices if x is not None]

    def payload(self, block: int) -> bytes:
        """The payload of a block, unread."""
        return self._read(self.blocks[block].payload)

    def keys(self, block: int) -> pa.Table:
        """The keys of a block."""
        return from_ipc(self._read(self.blocks[block].keys))

    def close(self) -> None:
        """Give memory and disk back."""
        self._file.close()

    def _bounds(self) -> list[int]:
        """Last put_seq of each window, from a sample of every block."""
        samples = np.sort(np.concatenate(self._samples))
        every = max(self._window // SAMPLE_EVERY, 1)
        bounds = np.unique(np.append(samples[every - 1 :: every], samples[-1]))
        return [int(x) for x in bounds]

    def _slice(self, at: int, up_to: int) -> Slice | None:
        """The rows of block `at` up to a put_seq that are in no window yet."""
        block = self.blocks[at]
        if block.taken == block.messages:
            return None
        keys = self.keys(at)
        end = int(np.searchsorted(keys[c.PUT_SEQ].to_numpy(), up_to, side="right"))
        start, block.taken = block.taken, max(end, block.taken)
        if start == block.taken:
            return None
        return Slice(at, start, keys.slice(start, block.taken - start))

    def _write(self) -> None:
        """Let what is in memory wait on disk."""
        for block in self.blocks[self._on_disk :]:
            block.keys, block.payload = map(self._written, (block.keys, block.payload))
        self._held, self._on_disk = 0, len(self.blocks)

    def _written(self, piece: bytes | tuple[int, int]) -> bytes | tuple[int, int]:
        """Where bytes are on disk."""
        if isinstance(piece, tuple):
            return piece
        start = self._file.seek(0, os.SEEK_END)
        self._file.write(piece)
        return start, start + len(piece)

    def _read(self, piece: bytes | tuple[int, int]) -> bytes:
        if not isinstance(piece, tuple):
            return piece
        start, end = piece
        self._file.seek(start)
        return self._file.read(end - start)
