"""`clwl metrics`: a lake's figures for Prometheus and OpenTelemetry."""

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from typing import Any, Final

from prometheus_client import make_wsgi_app, start_http_server

from clwl_spark.cli.commands.metrics import MetricsFormat, MetricsWords
from clwl_spark.cli.failures import failure
from clwl_spark.cli.options import Common
from clwl_spark.cli.screen import note
from clwl_spark.cli.work import Work, at_work
from clwl_spark.cli.written import write_whole
from clwl_spark.errors import UsageError
from clwl_spark.present.metrics.exposing import otlp, prometheus_text, registry_of
from clwl_spark.present.metrics.reading import Figures, read_figures
from clwl_spark.storage.secrets import without_secrets
from clwl_spark.tables import GATE_RESULTS, MESSAGES, RUNS

_READ: Final = (RUNS.name, GATE_RESULTS.name)
_App = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
_PORTS: Final = range(1, 65_536)


def run(common: Common, options: MetricsWords) -> int:
    """Write the figures, or serve them until the command is stopped, and return the exit code."""
    address = None if options.serve is None else address_of(options.serve)
    if address is not None and (options.out or options.format is not MetricsFormat.PROMETHEUS):
        raise UsageError("--serve answers Prometheus: leave --out and --format out")
    # Standard output is Prometheus' alone: no line on the engine.
    alone = replace(common, quiet=True)
    with at_work("metrics", alone, needs=MESSAGES.name, reads=_READ) as work:
        if address is not None:
            _serve(work, *address)
            return 0
        found = read_figures(work.lake)
        text = _text(found, work.lake.root, options.format)
        if options.out is not None:
            write_whole(options.out, text, "--out")
        elif not common.as_json:
            work.screen.out.write(text)
        work.screen.document({"at": found.at.isoformat(), **_document(found)})
    return 0


def address_of(text: str) -> tuple[str, int]:
    """Host and port of `[HOST:]PORT`; on this machine alone unless a host is given.

    Raises:
        UsageError: it is neither.
    """
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or int(port) not in _PORTS:
        raise UsageError(f"--serve {text}: give [HOST:]PORT, like --serve 9464")
    return host.strip("[]") or "127.0.0.1", int(port)


def _serve(work: Work, host: str, port: int) -> None:
    """Answer scrapes until the process is told to end."""
    registry = registry_of(lambda: read_figures(work.lake))
    try:
        server, thread = start_http_server(port, host, registry)
    except OSError as error:
        raise UsageError(f"--serve {host}:{port}: {error.strerror}; give another port") from error
    server.set_app(_refusing(make_wsgi_app(registry)))
    note(f"serving http://{host}:{port}/metrics; end with Ctrl-C")
    try:
        thread.join()
    finally:
        server.shutdown()
        server.server_close()


def _refusing(answer: _App) -> _App:
    """What answers scrapes, and says in one sentence, there and here, why it cannot."""

    def answered(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        try:
            return answer(environ, start)
        except Exception as error:  # noqa: BLE001  (the next scrape may find a lake again)
            sentence, _ = failure(error)
            said = without_secrets(sentence)
        note(f"clwl: {said}")
        start("503 Service Unavailable", [("Content-Type", "text/plain; charset=utf-8")])
        return [f"{said}\n".encode()]

    return answered


def _text(found: Figures, lake: str, wanted: MetricsFormat) -> str:
    if wanted is MetricsFormat.PROMETHEUS:
        return prometheus_text(found)
    return json.dumps(otlp(found, lake), ensure_ascii=False) + "\n"


def _document(found: Figures) -> dict[str, object]:
    """The figures of `clwl metrics --json`."""
    return {"figures": [asdict(x) for x in found.figures]}
