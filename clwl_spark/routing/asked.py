"""What new messages ask for, read within this process where they are few.

10,000 messages take 30 ms so; a stream that looks at them takes a second before it sees the first,
and four where Java is cold.
"""

from typing import Final

from clwl_spark.delta_files import appended_files
from clwl_spark.errors import SplitError
from clwl_spark.routing.arrow_intake import Request, requests_of
from clwl_spark.routing.runs import Run
from clwl_spark.routing.splits import Split
from clwl_spark.routing.taken import taken_until
from clwl_spark.schemas import MESSAGES
from clwl_spark.storage import Lake

FEW_MESSAGES: Final = 200_000


def few_requests(lake: Lake, run: Run) -> list[Request] | None:
    """The distinct requests of the messages that no batch before the run's has taken.

    Args:
        lake: whose messages Arrow can read.
        run: a run that has begun.

    Returns:
        The requests in order; None where the messages are many, or only a stream can tell.
    """
    taken = taken_until(lake, run)
    files = None if taken is None else appended_files(lake.path(MESSAGES.name), taken)
    if files is None or sum(rows for _, rows in files) > FEW_MESSAGES:
        return None
    try:
        return sorted(requests_of([Split(path, 0, rows) for path, rows in files], run.pins))
    except (SplitError, OSError):
        return None
