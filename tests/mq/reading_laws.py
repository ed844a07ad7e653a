"""What holds of reading any bytes whatever."""

import pickle

from readings import Reading, read_texts

from clwl_spark.mq.read import decode, read_states
from clwl_spark.mq.read.merge import KEYS
from clwl_spark.mq.read.records import SHOWN_TEXT

NAME = "folder/QM1.mqsc"
FRONT = "DEFINE QLOCAL(FRONT)\nDEFINE QLOCAL(NEXT)\n"
"""Two commands, since the text may begin with MQ's message that the one before it failed."""


def check_reading(data: bytes) -> None:
    """Read bytes as a file of QM1, and fail where a law is broken.

    Reading raises nothing and reads the same twice. Every row and reject has a line of the text,
    no two rows of a table have one key, and what one text says is fit for Spark's workers. A
    command in front of the text is read, or there is a reject that says why not.
    """
    text = decode(data)
    reading = _read(text)
    assert reading == _read(text)
    _check_places(reading, text.count("\n") + 1)
    for table, rows in reading.rows.items():
        keys = [tuple(row[column] for column in KEYS[table]) for row in rows]
        assert len(set(keys)) == len(keys)
    states = read_states(text, NAME, "{stem}")
    assert pickle.loads(pickle.dumps(states)) == states  # noqa: S301  (our own)
    more = _read(FRONT + text)
    assert more.rejects or "FRONT" in [row["queue"] for row in more.rows["queues"]]


def _read(text: str) -> Reading:
    return read_texts([(NAME, text)], "{stem}")


def _check_places(reading: Reading, lines: int) -> None:
    for reject in reading.rejects:
        assert reject.reason
        assert len(reject.text) <= SHOWN_TEXT
    rows = [str(row["source"]) for rows in reading.rows.values() for row in rows]
    for place in [*rows, *(f"{x.file}:{x.line}" for x in reading.rejects)]:
        file, _, line = place.rpartition(":")
        assert file == NAME
        assert 1 <= int(line) <= lines
