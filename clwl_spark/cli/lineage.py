"""What a command reads and writes, told to a lineage server by OpenLineage.

Where events go is the client's to know: `OPENLINEAGE_URL`, `OPENLINEAGE_CONFIG` or its other
variables, or a file `openlineage.yml`.
"""

import importlib.metadata
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import structlog

from clwl_spark.delta.files import newest_version
from clwl_spark.delta.lake import Lake
from clwl_spark.storage.places import is_uri
from clwl_spark.tables import TABLES

if TYPE_CHECKING:
    from openlineage.client.event_v2 import RunState

_NAMESPACE: Final = "clwl"
_PRODUCER: Final = "urn:clwl-spark:"


@contextmanager
def lineage_of(command: str, lake: Lake, reads: Iterable[str]) -> Iterator[None]:
    """Tell that a command has begun, and how it ended, with the tables that it read and wrote.

    A server that cannot be told keeps nobody from working: it is a line in the log.

    Args:
        command: the job's name.
        lake: whose tables they are.
        reads: names of the tables whose rows it reads.

    Raises:
        ImportError: the client is not installed.
    """
    told = _Told(command, lake, tuple(dict.fromkeys(reads)))
    told.start()
    try:
        yield
    except BaseException:
        told.end("FAIL")
        raise
    told.end("COMPLETE")


class _Told:
    """The events of one run of a command."""

    def __init__(self, command: str, lake: Lake, reads: tuple[str, ...]) -> None:
        from openlineage.client import OpenLineageClient  # noqa: PLC0415  (5 s that few want)
        from openlineage.client.uuid import generate_new_uuid  # noqa: PLC0415

        self._client = OpenLineageClient()
        self._run_id = str(generate_new_uuid())
        self._job = command
        self._lake = lake
        self._reads = reads
        self._before = _versions(lake)

    def start(self) -> None:
        self._emit("START", ())

    def end(self, state: str) -> None:
        after = _versions(self._lake)
        written = [x for x, version in after.items() if version != self._before[x]]
        self._emit(state, written)
        self._client.close()

    def _emit(self, state: str, written: Iterable[str]) -> None:
        from openlineage.client import event_v2 as ol  # noqa: PLC0415

        kind: RunState = ol.RunState[state]
        event = ol.RunEvent(
            eventType=kind,
            eventTime=datetime.now(UTC).isoformat(),
            run=ol.Run(runId=self._run_id),
            job=ol.Job(namespace=_NAMESPACE, name=self._job),
            producer=_PRODUCER + importlib.metadata.version("clwl-spark"),
            inputs=[ol.InputDataset(*_named(self._lake, x)) for x in self._reads if self._is(x)],
            outputs=[ol.OutputDataset(*_named(self._lake, x)) for x in written],
        )
        try:
            self._client.emit(event)
        except Exception as error:  # noqa: BLE001  (whatever a transport raises)
            logger: Any = structlog.get_logger()
            logger.warning("lineage", untold=state, why=str(error))

    def _is(self, table: str) -> bool:
        """Whether a table is there; of a catalog's one that is read, it is taken for granted."""
        return not self._lake.is_here or self._before[table] is not None


def _versions(lake: Lake) -> Mapping[str, int | None]:
    """The newest version of each table; None = it is not there, or in a catalog."""
    if not lake.is_here:
        return dict.fromkeys(TABLES)
    return {x: newest_version(lake.path(x)) for x in TABLES}


def _named(lake: Lake, table: str) -> tuple[str, str]:
    """A table by OpenLineage's rules: the namespace of its store, and its name there."""
    if lake.in_catalog:
        return "catalog", f"{lake.root}.{table}"
    place = lake.path(table)
    if not is_uri(place):
        return "file", place
    parts = urlsplit(place)
    return f"{parts.scheme}://{parts.netloc}", parts.path.strip("/")
