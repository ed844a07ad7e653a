"""The small cluster that the tests of the Python API ask about."""

from small_worlds import (
    alias,
    message,
    messages,
    proxy,
    qmgr,
    queue,
    rcvr,
    remote,
    seen_by,
    sender,
    tables,
    topic,
)

WORLD = tables(
    qmgr("GATE"), qmgr("QM1"), qmgr("QM2"), qmgr("APART"),
    rcvr("GATE"), rcvr("QM1"), rcvr("QM2"), rcvr("APART", "L"),
    *seen_by("QM2", rcvr("GATE"), queue("QM1", "Q", "K")),
    rcvr("QM1", channel="SLOW.QM1"), sender("GATE", "QM1", "RETRYING", channel="SLOW.QM1"),
    queue("QM1", "Q", "K", defbind="NOTFIXED"), queue("QM2", "Q", "K", defbind="NOTFIXED"),
    queue("QM1", "ONE", "K"), queue("GATE", "HERE"), queue("APART", "HIDDEN", "L"),
    alias("GATE", "IN", "Q"), alias("GATE", "CIRCLE", "CIRCLE"),
    remote("GATE", "FAR", "Q", "QM2"), remote("GATE", "NAMED", "", "QM1"),
    topic("QM1", "NEWS", "news"), proxy("GATE", "news/#", "QM1"),
)  # fmt: skip
PUTS = [*messages(12, "GATE", "Q"), message("GATE", "ONE", 13), message("GATE", "NO.SUCH", 14)]
"""GATE puts to Q, to ONE, and to a name that leads nowhere."""
