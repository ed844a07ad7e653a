"""What each event does to a cluster: one function an event. No Spark.

What is sent arrives at once, unless the receiver is stopped: then it waits, in order.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Final

from clwl_spark.studies.repository import connections, definitions, membership
from clwl_spark.studies.repository.delivery import deliver
from clwl_spark.studies.repository.events import Do, Event, Story
from clwl_spark.studies.repository.renewal import let_pass
from clwl_spark.studies.repository.state import Cluster, RepositoryError
from clwl_spark.studies.repository.words import Periods


def play(story: Story, until: datetime | None = None, periods: Periods | None = None) -> Cluster:
    """The cluster after the events up to a moment, by default up to the last one.

    Raises:
        RepositoryError: an event that cannot happen, or a moment before the first one.
    """
    events = story.in_order()
    end = events[-1][0] if until is None else until
    if end < events[0][0]:
        raise RepositoryError(
            f"{end.isoformat()} is before the first event, {events[0][0].isoformat()}: "
            "give that moment or a later one"
        )
    cluster = Cluster(story.cluster, events[0][0], periods or Periods())
    for at, event in events:
        if at <= end:
            let_pass(cluster, at)
            happen(cluster, event)
    let_pass(cluster, end)
    return cluster


def happen(cluster: Cluster, event: Event) -> None:
    """Let one event happen now.

    Raises:
        RepositoryError: it cannot happen.
    """
    _EVENTS[event.do](cluster, event)
    deliver(cluster)


def _wait(_cluster: Cluster, _event: Event) -> None:
    """Nothing but time."""


_EVENTS: Final[dict[Do, Callable[[Cluster, Event], None]]] = {
    Do.JOIN: membership.join,
    Do.LEAVE: membership.leave,
    Do.LOSE: membership.lose,
    Do.RECREATE: membership.recreate,
    Do.STOP: membership.stop,
    Do.START: membership.start,
    Do.SUSPEND: membership.suspend,
    Do.RESUME: membership.suspend,
    Do.PROMOTE: membership.change_role,
    Do.DEMOTE: membership.change_role,
    Do.REFRESH: membership.refresh,
    Do.RESET: membership.reset,
    Do.DEFINE: definitions.define,
    Do.ALTER: definitions.alter,
    Do.DELETE: definitions.delete,
    Do.OPEN: definitions.open_object,
    Do.BACKUP: membership.backup,
    Do.RESTORE: membership.restore,
    Do.PURGE: connections.purge,
    Do.DISCONNECT: connections.disconnect,
    Do.CONNECT: connections.connect,
    Do.CONNAME: definitions.alter_conname,
    Do.WAIT: _wait,
}
