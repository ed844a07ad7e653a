"""In which line of a text each of its records begins, where that is not simply line by line.

A blank line is no record, and a cell in quotes may have several lines. Pure Python and numpy.
"""

import csv
import io
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Longs = NDArray[np.int64]


def lines_of_csv(text: bytes, separator: str, records: int) -> Longs:
    """The line that each record of CSV begins in, the first line being 1.

    Args:
        text: UTF-8.
        separator: of its fields.
        records: how many there are, the names of the fields counted.

    Grain: one number per record; 1, 2, 3 ... where no such lines can be told.
    """
    found = np.arange(1, records + 1)
    if _lines(text) == records:
        return found
    try:
        told = [*_begin(text, separator)]
    except csv.Error:  # a cell without an end
        return found
    return np.array(told, dtype=np.int64) if len(told) == records else found


def _begin(text: bytes, separator: str) -> Iterator[int]:
    """Lines in which records begin."""
    lines = io.TextIOWrapper(io.BytesIO(text), "utf-8", errors="replace", newline="")
    reader = csv.reader(lines, delimiter=separator)
    before = 0
    for record in reader:
        if record:
            yield before + 1
        before = reader.line_num


def _lines(text: bytes) -> int:
    """How many lines a text has, whichever of the usual ends they have."""
    ends = text.count(b"\n") + text.count(b"\r") - text.count(b"\r\n")
    return ends + (not text.endswith((b"\n", b"\r")))


def lines_of_json(text: bytes, records: int) -> Longs:
    """The line that each document of JSON lines is in, the first line being 1.

    Args:
        text: UTF-8.
        records: how many documents there are.

    Grain: one number per document; 1, 2, 3 ... where there is not one in each line that has any.
    """
    found = np.arange(1, records + 1)
    if text.count(b"\n") + (not text.endswith(b"\n")) == records:
        return found
    told = [at for at, line in enumerate(io.BytesIO(text), 1) if line.strip()]
    return np.array(told, dtype=np.int64) if len(told) == records else found
