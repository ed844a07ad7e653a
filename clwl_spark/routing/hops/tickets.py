"""What a message carries along, so that each hop knows whose it is and where it has been.

Routing hands a message's `message_id` on unread. From the second hop on it is a ticket: the queue
manager and put_seq of the first put, the real message_id, and a hash of each place been at. So a
hop's outcomes need no join with its messages, which would shuffle both.

Layout: put_seq (8 bytes, big-endian) | bytes of the trail (2) | bytes of the name (2) | 1 where
there is a message_id (1) | trail, 8 bytes a place | name of the queue manager | message_id.
"""

from functools import reduce
from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F

from clwl_spark.tables import columns as c

TRAIL: Final = "trail"
_HASH: Final = 8
_HEADER: Final = 13
_HEX: Final = 16


def place_hash(qmgr: str, object_name: str, object_qmgr: str) -> Column:
    """Eight bytes for a put at a queue manager, from the columns of these names."""
    return _to_bytes(F.xxhash64(qmgr, object_name, object_qmgr), _HASH)


def has_been_at(trail: Column, place: Column, count: int) -> Column:
    """Whether a place's hash is in a trail of so many places."""
    there = (_part(trail, F.lit(at * _HASH + 1), F.lit(_HASH)) == place for at in range(count))
    return reduce(Column.__or__, there, F.lit(False))


def ticket(qmgr: Column, put_seq: Column, message_id: Column, trail: Column) -> Column:
    """Pack a ticket; `message_id` may be null."""
    name = F.encode(qmgr, "UTF-8")
    return F.concat(
        _to_bytes(put_seq, 8),
        _to_bytes(F.octet_length(trail), 2),
        _to_bytes(F.octet_length(name), 2),
        _to_bytes(message_id.isNotNull().cast("int"), 1),
        trail,
        name,
        F.coalesce(message_id, no_trail()),
    )


def unpacked(packed: Column) -> dict[str, Column]:
    """What a ticket says: columns qmgr, put_seq, message_id and `TRAIL`."""
    trail_bytes = _to_number(packed, 9, 2).cast("int")
    name_bytes = _to_number(packed, 11, 2).cast("int")
    has_id = _to_number(packed, 13, 1) == 1
    name_at = F.lit(_HEADER + 1) + trail_bytes
    id_at = name_at + name_bytes
    rest = F.octet_length(packed) - id_at + 1
    return {
        c.QMGR: F.decode(_part(packed, name_at, name_bytes), "UTF-8"),
        c.PUT_SEQ: F.shiftleft(_to_number(packed, 1, 4), 32).bitwiseOR(_to_number(packed, 5, 4)),
        c.MESSAGE_ID: F.when(has_id, _part(packed, id_at, rest)),
        TRAIL: _part(packed, F.lit(_HEADER + 1), trail_bytes),
    }


def no_trail() -> Column:
    """The trail of a first put."""
    return F.unhex(F.lit(""))


def _to_bytes(number: Column, count: int) -> Column:
    return F.unhex(F.lpad(F.hex(number.cast("bigint")), 2 * count, "0"))


def _part(packed: Column, start: Column, count: Column) -> Column:
    """Some of the bytes, from 1; through hexadecimal digits, since Sail cuts text alone."""
    return F.unhex(_digits(packed, start, count))


def _digits(packed: Column, start: Column, count: Column) -> Column:
    return F.substring(F.hex(packed), start * 2 - 1, count * 2)


def _to_number(packed: Column, start: int, count: int) -> Column:
    """Up to four bytes as a number."""
    return F.conv(_digits(packed, F.lit(start), F.lit(count)), _HEX, 10).cast("bigint")
