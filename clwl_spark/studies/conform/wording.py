"""Causes in an administrator's words, and what would settle them. Pure Python, no Spark."""

from collections.abc import Mapping
from typing import Any, Final

from clwl_spark.mq.vocabulary import reason_text
from clwl_spark.studies.conform.causes import Hypothesis
from clwl_spark.studies.conform.model import Conformity, Disagreement
from clwl_spark.studies.conform.suppose import Cause
from clwl_spark.tables import columns as c

_NOTHING: Final = "no hypothesis that was tried explains more than the plans as they are"


def words(x: Hypothesis) -> str:
    """A hypothesis and how far it goes, in one sentence."""
    told = x.told or _NOTHING
    if x.span is not None:
        told = f"{told} from put_seq {x.span[0]} to {x.span[1]}"
    return f"{told}: {x.fits:,} of {x.seen:,} messages went where that leads"


def settles(x: Hypothesis, qmgr: str) -> str:
    """What would settle whether it is so."""
    host, channel = x.of or ("*", "the channel")
    if x.told.endswith(" suspended"):
        return (
            f"on {qmgr}: DISPLAY CLUSQMGR({host}) SUSPEND of that time, and ingest a snapshot that "
            "is in force then"
        )
    said = {
        Cause.STATUS_KNOWN_LATE: (
            f"load the channel events of {qmgr}, or a DISPLAY CHSTATUS({channel}) of that time, "
            "and ingest a snapshot that is in force then"
        ),
        Cause.HISTORY_BEFORE_TRACE: (
            f"trace {qmgr} from its start, or import its memory (clwl state import)"
        ),
        Cause.ADMINISTRATION: (
            f"load the puts to SYSTEM objects on {qmgr} as messages, too: they share its history"
        ),
        Cause.OTHER_PUTTERS: (
            f"trace all applications and channels of {qmgr}: puts that are not recorded share its "
            "history"
        ),
        Cause.WEIGHT: (
            f"on {qmgr}: DISPLAY CLUSQMGR(*) CHANNEL({channel}) ALL, and DISPLAY QCLUSTER for the "
            "queue, and ingest what they show"
        ),
        Cause.PARTIAL_VIEW: (
            f"on {qmgr}: DISPLAY QCLUSTER(*) ALL and DISPLAY CLUSQMGR(*) ALL, and ingest them with "
            f"--observer {qmgr}"
        ),
        Cause.EXIT: f"on {qmgr}: DISPLAY QMGR CLWLEXIT CLWLDATA, and route with that exit, or none",
        Cause.VERSION: f"on {qmgr}: DISPLAY QMGR VERSION CMDLEVEL, and route with that --algorithm",
        Cause.UNKNOWN: f"trace all of {qmgr} from its start, with its channel events",
    }
    return said[x.cause]


def lacking(told: Disagreement) -> str:
    """What would settle why a put was foretold to fail that did not; blank = it was not."""
    if not told.predicted[c.REASON] or told.seen[c.REASON]:
        return ""
    return (
        f"ingest the definitions of {told.qmgr}, and what DISPLAY QCLUSTER({told.object_name}) ALL "
        "and DISPLAY CLUSQMGR(*) ALL show there: in the snapshot in force such a put ends with "
        f"{reason_text(int(told.predicted[c.REASON]))}"
    )


def summary(found: Conformity) -> str:
    """What it comes to, in one sentence."""
    if not found.seen:
        return f"no records of single messages; {len(found.counts):,} counts of channels"
    return (
        f"{found.agree:,} of {found.compared:,} messages went where they were foretold to"
        f"{_share(found)}; {found.seen:,} records seen"
    )


def _share(found: Conformity) -> str:
    """The share that agrees; nearly all is not all, and little is not nothing."""
    if not found.compared:
        return ""
    told = f"{found.agree / found.compared:.2%}"
    if told == "100.00%" and found.agree < found.compared:
        told = ">99.99%"
    return f" ({'<0.01%' if told == '0.00%' and found.agree else told})"


def end(told: Mapping[str, Any]) -> str:
    """Where a message went, as far as it is told."""
    if told[c.REASON]:
        return reason_text(int(told[c.REASON]))
    to = [f"to {told[c.DEST_QMGR]}"] if told[c.DEST_QMGR] else []
    by = [f"by {told[c.CHANNEL]}"] if told[c.CHANNEL] else []
    on = [f"on {told[c.XMITQ]}"] if told[c.XMITQ] and not by else []
    return " ".join([*to, *by, *on]) or "an end that is not told"
