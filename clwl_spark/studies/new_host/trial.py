"""What a new host gets when it has what it needs: its definitions carried out, and traced."""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from clwl_spark.algorithm.ladder import RECENTLY_USED
from clwl_spark.algorithm.request import Request
from clwl_spark.delta.lake import Lake
from clwl_spark.planning.plans import Ladder
from clwl_spark.snapshots.views import topology_of
from clwl_spark.studies.explain.planned import planned
from clwl_spark.studies.explain.wording import reasons_why
from clwl_spark.studies.trace.places import Network, Place
from clwl_spark.studies.trace.trace import TraceRequest, followed, network_of
from clwl_spark.studies.what_if.changed import changed_by_words, tables_of
from clwl_spark.tables import columns as c
from clwl_spark.tables.journeys import End

_NOWHERE: Final = "none of the queue managers on the way sees it as a host"


def tried(
    lake: Lake, request: TraceRequest, new: str, commands: Sequence[str]
) -> tuple[float, str]:
    """The share of a put's messages that a new host gets after some commands.

    Args:
        lake: with topology.
        request: the put; it names its snapshot.
        new: the new host.
        commands: MQSC, carried out on it.

    Returns:
        The share, 0 to 1; and where it is 0, why.

    Raises:
        InputError: MQ would refuse a command.
    """
    snapshot_id = str(request.snapshot_id)
    tables = tables_of(lake, snapshot_id)
    if commands:
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder) / "new_host.mqsc"
            lines = [f"Starting MQSC for queue manager {new}.", *commands]
            script.write_text("".join(f"{x}\n" for x in lines), encoding="utf-8")
            tables = changed_by_words(lake, snapshot_id, (), [script]).after
    network = network_of(lake, snapshot_id, request.links, of=topology_of(tables))
    found = followed(request, network)
    share = sum(x for end, x in found.ends.items() if (end.end, end.qmgr) == (End.QUEUE, new))
    if share > 0:
        return share, ""
    places = [hop.place for hop in found.hops]
    return 0.0, next(_losses(places, new, network, request.ladder), _NOWHERE)


def _losses(places: Sequence[Place], new: str, network: Network, ladder: Ladder) -> Iterator[str]:
    """Where a rule takes the new host away, and why, in the order of the way."""
    asked = [
        Request(network.snapshot_id, x.qmgr, x.object_type, x.object_name, x.object_qmgr, x.via)
        for x in places
    ]
    found = planned(asked, network.topology, ladder)
    for request in asked:
        here = found[request]
        rows = here.candidates
        words = reasons_why(rows, request.qmgr, request.via, ladder.semantics.algorithm)
        own = [
            (row[c.ELIMINATED_BY] or RECENTLY_USED, why)
            for row, why in zip(rows, words, strict=True)
            if row[c.DEST_QMGR] == new
        ]
        if own:
            number, why = max(own)
            limit = f"CLWLMRUC({here.clwlmruc}) of {request.qmgr} keeps messages to the other hosts"
            yield f"at {request.qmgr}, rule {number}: {why or limit}"
