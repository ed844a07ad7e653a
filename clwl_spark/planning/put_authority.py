"""Who may put to a queue, by authority records alone.

SQL has no way to match generic profiles that all engines share, so it is worked out here.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import pyarrow as pa

from clwl_spark.algorithm.authority import deciding
from clwl_spark.tables import columns as c

TABLE: Final = "put_authority"
SCHEMA: Final = pa.schema(
    [
        ("qmgr", pa.string()),
        ("entity_type", pa.string()),
        ("entity", pa.string()),
        ("profile", pa.string()),
        ("may_put", pa.bool_()),
    ]
)
DDL: Final = "qmgr string, entity_type string, entity string, profile string, may_put boolean"
TRANSMIT_QUEUE: Final = "SYSTEM.CLUSTER.TRANSMIT.QUEUE"
PUT: Final = "PUT"


class Put(NamedTuple):
    """Whether somebody may put to an object, by which profile; fields as in `SCHEMA`."""

    qmgr: str
    entity_type: str
    entity: str
    profile: str
    may_put: bool


def put_authority(rows: Iterable[Mapping[str, Any]], name: str = TRANSMIT_QUEUE) -> list[Put]:
    """Whether each principal and group may put to a queue of this name.

    Args:
        rows: of the table `authorities`, of any queue managers.
        name: of the queue that is looked at.

    Grain: one per queue manager and entity of which a profile fits, in their order.
    """
    records: dict[tuple[str, str, str], dict[str, str]] = {}
    for row in rows:
        if row[c.OBJTYPE] == "QUEUE":
            whose = (row[c.QMGR], row[c.ENTITY_TYPE], row[c.ENTITY])
            records.setdefault(whose, {})[row[c.PROFILE]] = row[c.AUTHORITIES] or ""
    found = []
    for whose, profiles in sorted(records.items()):
        profile = deciding(profiles, name)
        if profile is not None:
            found.append(Put(*whose, profile, PUT in profiles[profile].split(",")))
    return found
