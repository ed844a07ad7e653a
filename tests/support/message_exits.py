"""Exits that are asked for each message, for tests; workers import them."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def leave(destinations):
    """Leave all choices as they are."""
    assert destinations.num_rows


def leave_what_names_no_open(destinations):
    """Leave all choices as they are, which no message with an open_id has made."""
    assert destinations["open_id"].null_count == destinations.num_rows


def by_hand(destinations):
    """Choose as the algorithm does, from the numbers and factors that are told."""
    rows = destinations.to_pylist()
    taken = [False] * len(rows)
    by_choice = {}
    for at, row in enumerate(rows):
        by_choice.setdefault(row["choice"], []).append(at)
    for places in by_choice.values():
        weighted = any(rows[at]["clwlwght"] != 50 for at in places)

        def standing(at, weighted=weighted):
            row = rows[at]
            factor = row["dest_seq_factor"] if weighted else 0
            return factor, row["dest_seq_number"], at

        taken[min(places, key=standing)] = True
    assert taken == destinations["is_default"].to_pylist(), (
        "numbers and factors are not as they are"
    )
    return pa.array(taken)


def every_fifth(destinations, qmgr):
    """Send every fifth message to one queue manager."""
    to_it = pc.equal(destinations["dest_qmgr"], qmgr)
    fifth = np.array(destinations["put_seq"]) % 5 == 0
    return np.where(fifth, np.array(to_it), np.array(destinations["is_default"]))


def persistent_and_long(destinations, qmgr):
    """Send persistent messages of 1,000 bytes and more to one queue manager."""
    to_it = pc.equal(destinations["dest_qmgr"], qmgr)
    long = pc.greater_equal(destinations["msg_length"], 1_000)
    meant = pc.fill_null(pc.and_(destinations["persistent"], long), False)
    return pc.if_else(meant, to_it, destinations["is_default"])


def asks_for_what_is_not_there(destinations):
    """Ask for a column that no exit gets."""
    return destinations["expiry"]


def raises(destinations):
    """Fail."""
    raise ValueError("no such customer", destinations.num_rows)


def takes_all(destinations):
    """Take every destination."""
    return [True] * destinations.num_rows


def too_few(destinations):
    """Return one flag."""
    return destinations["is_default"][:1]
