"""DISPLAY CHSTATUS: how many messages a cluster sender had sent at a moment.

Source: IBM MQ documentation, "DISPLAY CHSTATUS": MSGS counts from CHSTADA and CHSTATI on.
"""

import re
from typing import Final

from clwl_spark.mq.read.records import Attributes, Hint, Opening, Shown
from clwl_spark.mq.read.scan import scan
from clwl_spark.mq.traffic.counters import Counter, reading
from clwl_spark.mq.traffic.headings import Headings, Moment
from clwl_spark.mq.traffic.records import (
    Item,
    Items,
    Needless,
    RecordRefusedError,
    Unusable,
    count,
    local_moment,
)

SIGN: Final = re.compile(r"^\s*AMQ8417[A-Z]?:|^\s*CHSTATUS\(", re.MULTILINE)
_COUNTER: Final = "CHSTATUS MSGS"


def status_items(text: str) -> Items:
    """A reading of each cluster sender that is displayed, at the moment of the heading above."""
    headings = Headings(text)
    qmgr: str | None = None
    for event in scan(text):
        if isinstance(event, Opening | Hint):
            qmgr = event.qmgr
        elif isinstance(event, Shown) and event.kind == "status":
            yield event.line, _item(event.attributes, qmgr, headings.before(event.line))


def _item(shown: Attributes, qmgr: str | None, at: Moment | None) -> Item:
    channel = shown.get("CHANNEL") or shown.get("CHSTATUS", "")
    if shown.get("CHLTYPE") != "CLUSSDR":
        return Needless("CHSTATUS of a channel that is no CLUSSDR")
    if "MSGS" not in shown:
        return Needless("CHSTATUS without MSGS")
    if at is None:
        why = "no moment is above it: write one as in '* 2026-09-14T08:00:00Z'"
        return Unusable(f"CHSTATUS({channel})", why)
    counter = Counter(qmgr, "CHANNEL", channel, shown.get("RQMNAME", ""), _COUNTER)
    try:
        return reading(counter, at, count(shown["MSGS"]), _began(shown))
    except RecordRefusedError as error:
        return Unusable(f"CHSTATUS({channel})", str(error))


def _began(shown: Attributes) -> Moment | None:
    """When the channel started; None = it is not displayed."""
    if not shown.get("CHSTADA") or not shown.get("CHSTATI"):
        return None
    return local_moment(shown["CHSTADA"], shown["CHSTATI"])
