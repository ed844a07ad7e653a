"""What a put asks for: the same for many messages, so that it is looked up once.

Source: SEMANTICS S1, P1, P38.
"""

from typing import Final, NamedTuple

from clwl_spark.mq.vocabulary import Via


class Request(NamedTuple):
    """A put, less what tells messages apart that go the same ways; after defaults.

    Attributes:
        snapshot_id: the snapshot in force.
        qmgr: where is put.
        object_type: QUEUE or TOPIC.
        object_name: queue name, or topic string.
        object_qmgr: object queue manager; blank = none named.
        via: LOCAL = put by an application, CLUSTER = received over a cluster channel.
        scope: QMGR = a publication that stays on its queue manager; None = anything else.
    """

    snapshot_id: str
    qmgr: str
    object_type: str
    object_name: str
    object_qmgr: str = ""
    via: str = Via.LOCAL.value
    scope: str | None = None

    @property
    def in_order(self) -> tuple[str, ...]:
        """What it is sorted by."""
        return tuple(x or "" for x in self)


REQUEST: Final = Request._fields
"""Its columns in tables, in order: the plan's id is a hash of them."""
REQUEST_TYPES: Final = ", ".join(f"{name} string" for name in REQUEST)
