"""What holds of loading any bytes whatever."""

from pathlib import Path
from zoneinfo import ZoneInfo

from clwl_spark.mq.read.records import SHOWN_TEXT
from clwl_spark.studies.load.cells import Reading
from clwl_spark.studies.load.known import Known
from clwl_spark.studies.load.load_file import LoadOptions
from clwl_spark.studies.load.one_file import file_with
from clwl_spark.studies.load.traced_files import read_records
from clwl_spark.studies.load.traces import traced
from clwl_spark.tables import TABLES

OPTIONS = LoadOptions(reading=Reading("QM9", ZoneInfo("UTC")))
FILE = Path("folder/file")
NOTHING = Known()


def read(data, known=NOTHING):
    """What `clwl load` reads of a file with these bytes; its rows by table, as they are written."""
    found = file_with(data, 0, FILE, known, OPTIONS)
    if found is None:
        return None, []
    traces = traced(read_records([found], lambda *_: None), [found.name])
    told = [("messages", traces.messages), ("observed_routes", traces.routes)]
    return found, [*found.rows.items(), *((x, y) for x, y in told if y.num_rows)]


def check_loading(data):
    """Read bytes as a file, and as one that grew, and fail where a law is broken.

    Reading raises nothing, reads the same twice, gives rows that have the types of their tables,
    and says of each piece that it cannot use where it is and why. What is loaded is known, but for
    a last line without an end that was set aside, which may mean something when it stands alone.
    """
    found = _check(data)
    if found is not None and found.is_of_use:
        again, rows = read(data, _known(found))
        is_line_of_end = again is not None and len(again.rows.get("messages", ())) <= 1
        assert not rows or is_line_of_end
    half = data[: len(data) // 2]
    before, _ = read(half)
    if before is not None and before.is_of_use:
        _check(data, _known(before))
    return found


def _known(found):
    return Known({found.size: frozenset([found.part.content])})


def _check(data, known=NOTHING):
    found, tables = read(data, known)
    again, same_tables = read(data, known)
    assert tables == same_tables
    if found is None:
        return None
    assert (found.rejects, found.needless) == (again.rejects, again.needless)
    assert all(x.encode() for x in found.needless)
    for name, rows in tables:
        table = TABLES[name]
        assert rows.schema.equals(table.arrow(table.names))
        rows.validate(full=True)
    for reject in found.rejects:
        assert reject.reason.strip()
        assert len(reject.text) <= SHOWN_TEXT
        assert (reject.text + reject.reason).encode()
        assert 0 <= reject.line <= len(data) + 1
    return found
