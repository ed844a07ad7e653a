"""Log lines on standard error: JSON for machines, text for a terminal.

Whatever is bound with `structlog.contextvars.bind_contextvars`, such as `run_id`, is in each line.
"""

import logging
import sys
from collections.abc import Callable
from enum import StrEnum

import structlog
from structlog.typing import EventDict, Processor

from clwl_spark.storage.secrets import without_secrets

OnProgress = Callable[[str, int, int], None]
"""Is told (stage, done, of) as work goes on."""


def tell_nobody(_stage: str, _done: int, _of: int) -> None:
    """An `OnProgress` for work that nobody waits for."""


class LogFormat(StrEnum):
    """How a log line is written."""

    AUTO = "auto"
    TEXT = "text"
    JSON = "json"


class Loudness(StrEnum):
    """How much is told on standard error."""

    QUIET = "quiet"
    NORMAL = "normal"
    VERBOSE = "verbose"


def configure_logs(form: LogFormat, loudness: Loudness) -> None:
    """Send the package's log lines to standard error.

    Args:
        form: `AUTO` means text on a terminal and JSON elsewhere.
        loudness: `QUIET` leaves errors; on a terminal `NORMAL` leaves warnings, since progress
            and summary are shown there, elsewhere every step is a line.
    """
    on_terminal = sys.stderr.isatty()
    as_text = form is LogFormat.TEXT or (form is LogFormat.AUTO and on_terminal)
    last: Processor = structlog.processors.JSONRenderer(ensure_ascii=False)
    if as_text:
        last = structlog.dev.ConsoleRenderer(colors=on_terminal)
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            _without_secrets,
            last,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(
            _level(loudness, quiet_terminal=on_terminal and as_text)
        ),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )


def _without_secrets(_logger: object, _name: str, event: EventDict) -> EventDict:
    """A line in which *** stands for what is secret."""
    return {x: without_secrets(y) if isinstance(y, str) else y for x, y in event.items()}


def _level(loudness: Loudness, *, quiet_terminal: bool) -> int:
    """The least level that is told."""
    if loudness is Loudness.NORMAL:
        return logging.WARNING if quiet_terminal else logging.INFO
    return logging.ERROR if loudness is Loudness.QUIET else logging.DEBUG
