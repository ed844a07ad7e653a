"""The small cluster of `data/samples`: its texts, and its messages from a compact list."""

import csv
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from clwl_spark.studies.load.series import Series
from clwl_spark.tables import MESSAGES
from clwl_spark.tables import columns as c


def samples_folder() -> Path:
    """The samples: within the package, or beside it in a checkout."""
    package = Path(__file__).parents[1]
    packaged = package / "samples"
    return packaged if packaged.is_dir() else package.parent / "data" / "samples"


def sample_messages(path: Path) -> list[tuple[Any, ...]]:
    """The messages of the list, in the order of the contract's columns.

    `put_seq` counts each queue manager's messages by put_time.
    """
    with path.open(encoding="utf-8", newline="") as lines:
        series = [Series(number, words) for number, words in enumerate(csv.DictReader(lines), 1)]
    puts = sorted((put for one in series for put in one.puts()), key=_by_time)
    return [tuple(map(put.get, MESSAGES.names)) for put in _numbered(puts)]


def _numbered(puts: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The messages with the put_seq that each queue manager gives them."""
    last: defaultdict[str, int] = defaultdict(int)
    for put in puts:
        last[put[c.QMGR]] += 1
        yield {**put, c.PUT_SEQ: last[put[c.QMGR]]}


def _by_time(put: Mapping[str, Any]) -> datetime:
    put_time: datetime = put[c.PUT_TIME]
    return put_time
