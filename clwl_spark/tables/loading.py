"""What was loaded, and what could not be: tables of `clwl load`.

Source: CONTRACT, `clwl load`. `loads` is this package's own table.
"""

from typing import Final

from clwl_spark.tables import columns as c
from clwl_spark.tables.declare import Column, Table, key, text

CONTENT: Final = "content"
BYTES: Final = "bytes"
FILE: Final = "file"
LINE: Final = "line"
TEXT: Final = "text"
ROWS: Final = "rows"
LOAD_ID: Final = "load_id"

LOADS: Final = Table(
    "loads",
    "One row per content of a file that was loaded; a file that grew has several",
    (
        key(CONTENT, "SHA-256 of the file's first `bytes` bytes, in hexadecimal"),
        Column(BYTES, "bigint", "How many bytes were loaded by then"),
        text(FILE, "The file, as it was named"),
        Column(ROWS, "bigint", "Messages that it gave"),
        Column(c.LOADED_AT, "timestamp", "When it was loaded"),
        text(LOAD_ID, "The run that loaded it: the transaction of its append to messages"),
    ),
)
LOAD_REJECTS: Final = Table(
    "load_rejects",
    "One row per piece of a file that could not be loaded",
    (
        text(FILE, "The file, as it was named"),
        Column(LINE, "bigint", "Its line; of a table without lines, the row, from 1"),
        text(TEXT, "The piece, shortened"),
        text(c.REASON, "Why it was not usable"),
    ),
)
