"""News that owners should have sent again: what the logs of other queue managers say of it.

Source: Hughson's deck, "Cluster Topic Hosts": 27 days after a host was lost, all members report
that an expected update has not come (AMQ9465 and AMQ9466; on z/OS CSQX465I and CSQX466I).
"""

from typing import Any, Final

from clwl_spark.studies.repository.state import Cluster, Node
from clwl_spark.studies.repository.words import Record
from clwl_spark.tables.moments import moment_text

CODES: Final = "AMQ9465/AMQ9466 (z/OS: CSQX465I/CSQX466I)"


def overdue_row(cluster: Cluster, node: Node, record: Record) -> dict[str, Any] | None:
    """The warning about an object of another queue manager; None = news of it came in time."""
    expected = record.published + cluster.periods.republish
    if record.key in node.own or expected >= cluster.now:
        return None
    due, expires = (moment_text(x, "seconds") for x in (expected, record.expires(cluster.periods)))
    text = (
        f"{CODES}: {node.name} expected {record.qmgr} to publish {record.key.kind.lower()} "
        f"{record.key.name} again by {due}, and nothing has come; it is used until {expires}"
    )
    return {
        "kind": record.key.kind.value,
        "name": record.key.name,
        "qmgr": record.qmgr,
        "qmid": record.key.owner,
        "expected": due,
        "expires": expires,
        "text": text,
    }
