"""Texts that the tests of reading share."""

from collections.abc import Sequence

from readings import Reading, read_text

from clwl_spark.mq.read.keywords import DEFINED

UNUSED = sorted(DEFINED["queue", "QMODEL"] - {"REPLACE", "LIKE", "PUT", "USAGE", "QSGDISP"})[:30]
"""Attributes of queues that give no column."""

HEADER = "* Queue manager name: {qmgr}\n"


def read_own(text: str, qmgr: str = "QM1") -> Reading:
    """Read a script of one queue manager."""
    return read_text(text, "own.mqsc", qmgr)


def one(reading, table):
    (row,) = reading.rows[table]
    return row


def session(qmgr: str, *blocks: str) -> str:
    """A runmqsc session with these outputs."""
    start = (
        f"5724-H72 (C) Copyright IBM Corp. 1994, 2026.\nStarting MQSC for queue manager {qmgr}.\n"
    )
    return "\n".join(
        [start, *blocks, "One MQSC command read.", "All valid MQSC commands were processed."]
    )


def two_columns(header: str, attributes: Sequence[str]) -> str:
    """One displayed object in runmqsc's two columns."""
    lines = [header]
    for index in range(0, len(attributes), 2):
        pair = attributes[index : index + 2]
        lines.append("   " + "".join(part.ljust(40) for part in pair).rstrip())
    return "\n".join(lines)


def clusqmgr(*attributes: str) -> str:
    """One object of DISPLAY CLUSQMGR."""
    return two_columns("AMQ8441I: Display Cluster Queue Manager details.", attributes)


def chstatus(*attributes: str) -> str:
    """One object of DISPLAY CHSTATUS."""
    return two_columns("AMQ8417I: Display Channel Status details.", attributes)


def queue(*attributes: str) -> str:
    """One object of DISPLAY QUEUE."""
    return two_columns("AMQ8409I: Display Queue details.", attributes)


def dump(objects: int) -> str:
    """A dmpmqcfg -a dump of a queue manager with this many queues."""
    head = HEADER.format(qmgr="BIG")
    attributes = "".join(f"   {keyword}('a value') +\n" for keyword in UNUSED)
    body = (
        "*  ALTDATE(2026-01-02) +\n*  ALTTIME(03.04.05) +\n"
        + attributes
        + "   CLUSTER('K') +\n   CLWLPRTY(0) +\n   CLWLRANK(3) +\n   CLWLUSEQ(QMGR) +\n"
        + "   DEFBIND(NOTFIXED) +\n   HARDENBO +\n   PUT(ENABLED) +\n   REPLACE\n"
    )
    return head + "".join(f"DEFINE QLOCAL('Q.{number}') +\n{body}" for number in range(objects))
