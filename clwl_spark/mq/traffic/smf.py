"""SMF 116 as mqsmfcsv prints it, CSV or JSON: puts by task and queue, messages by channel.

Source: ibm-messaging/mq-smf-csv: structures WQ (subtype 1) and QCST (subtype 10). Moments are in
the zone of the machine that formatted them; the first two columns are z/OS's own and not looked at.
A task's use of a queue, and a session of a channel, are counted where they have an end.
"""

import csv
import io
import re
from collections.abc import Iterator, Mapping
from typing import Final

from clwl_spark.mq.traffic.records import (
    ACCOUNTING,
    Document,
    Item,
    Items,
    LocalMoment,
    Needless,
    Record,
    RecordRefusedError,
    Unusable,
    count,
    local_moment,
)

SIGN: Final = re.compile(r'\A"?Date"?,"?Time"?,"?LPAR"?,"?QMgr"?,')
_SHOWN: Final = 200
_QUOTED: Final = re.compile(r'="([^"]*)"')
_NO_NAME: Final = frozenset(".")
_CLUSTER_SENDERS: Final = frozenset({"CLUSSDR", "CLUSTERSENDER", "CLUSSDRA", "CLUSSDRB"})
Cells = Mapping[str, str]
"""Name of a field, in small letters and digits alone -> text."""


def is_smf(document: Document) -> bool:
    """Whether a JSON document is a structure of an SMF record."""
    return "recordType" in document and "structure" in document


def smf_records(document: Document) -> Iterator[Record]:
    """The row of a structure in JSON, if it gives one.

    Raises:
        RecordRefusedError: something that the row needs is not there.
    """
    cells = {_plain(key): _text(x) for key, x in document.items()}
    item = _row(cells, str(document["structure"]))
    if isinstance(item, Record):
        yield item


def smf_items(text: str) -> Items:
    """The rows of a CSV of one kind of structure; lines may end in a comma."""
    lines = csv.reader(io.StringIO(text, newline=""))
    names = [_plain(x) for x in next(lines, [])]
    structure = next((x for x, its in _SIGNS.items() if its in names), "another structure")
    begins = lines.line_num + 1
    while True:
        try:
            row = next(lines)
        except StopIteration:
            return
        except csv.Error as error:
            yield begins, Unusable("", f"it is no line of CSV ({error})")
            begins = lines.line_num + 1
            continue
        line, begins = begins, lines.line_num + 1
        if len(row) != len(names):
            why = f"it has {len(row)} fields, not {len(names)}"
            yield line, Unusable(",".join(row)[:_SHOWN], why)
        else:
            cells = dict(zip(names, map(_text, row), strict=True))
            yield line, _item(cells, structure)


_SIGNS: Final = {"WQ": "putcount", "QCST": "msgallcount"}
"""Structure -> a field that only it has."""


def _item(cells: Cells, structure: str) -> Item:
    try:
        return _row(cells, structure)
    except RecordRefusedError as error:
        name = cells.get("openname") or cells.get("chlname", "")
        return Unusable(f"{structure} {name}", str(error))


def _row(cells: Cells, structure: str) -> Record | Needless:
    if structure == "WQ":
        return _puts(cells)
    if structure == "QCST":
        return _sent(cells)
    return Needless(f"SMF 116 {structure}")


def _puts(cells: Cells) -> Record | Needless:
    """Puts of a task to the queue that it opened, from open to close."""
    messages = count(cells.get("putcount")) + count(cells.get("put1count"))
    if not messages:
        return Needless("SMF 116 WQ without a put")
    begin, end = _interval(cells, ("open", "opendate", "opentime"), ("closedate", "closetime"))
    return _counted(cells, "QUEUE", _name(cells, "openname"), (begin, end), messages)


def _sent(cells: Cells) -> Record | Needless:
    """Messages of a session of a cluster sender, from start to stop."""
    if _plain(cells.get("type", "")).upper() not in _CLUSTER_SENDERS:
        return Needless("SMF 116 QCST of a channel that is no cluster sender")
    begin, end = _interval(cells, ("start", "startdate", "starttime"), ("stopdate", "stoptime"))
    messages = count(cells.get("msgallcount"))
    return _counted(cells, "CHANNEL", _name(cells, "chlname"), (begin, end), messages)


def _counted(
    cells: Cells, kind: str, name: str, interval: tuple[LocalMoment, LocalMoment], messages: int
) -> Record:
    remote = cells.get("remoteqmgrorapp", "") if kind == "CHANNEL" else ""
    return Record(
        "observed_counts",
        {
            "qmgr": _name(cells, "qmgr"),
            "object_type": kind,
            "object_name": name,
            "remote_qmgr": "" if set(remote) <= _NO_NAME else remote,
            "from_time": interval[0],
            "to_time": interval[1],
            "messages": messages,
        },
        ACCOUNTING,
    )


def _interval(
    cells: Cells, begin: tuple[str, str, str], end: tuple[str, str]
) -> tuple[LocalMoment, LocalMoment]:
    if not cells.get(end[0]):
        raise RecordRefusedError(
            f"it has no end: since when it counts is told only where {begin[0]} and end are"
        )
    found = (
        local_moment(cells.get(begin[1], ""), cells.get(begin[2], "")),
        local_moment(cells[end[0]], cells.get(end[1], "")),
    )
    if found[1].when < found[0].when:
        raise RecordRefusedError("it ends before it begins")
    return found


def _name(cells: Cells, field: str) -> str:
    if not cells.get(field):
        raise RecordRefusedError(f"it has no {field}")
    return cells[field]


def _plain(name: str) -> str:
    """A field's name as CSV and JSON have it alike: `Open (DATE)`, `openDate`."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _text(value: object) -> str:
    """A cell: padded, or as `="800"`, which keeps spreadsheets from reading a number."""
    text = "" if value is None else str(value)
    quoted = _QUOTED.fullmatch(text.strip())
    return (quoted[1] if quoted else text).strip()
