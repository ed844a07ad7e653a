"""What holds of loading any bytes whatever."""

from pathlib import Path
from zoneinfo import ZoneInfo

from clwl_spark.mq.read.records import SHOWN_TEXT
from clwl_spark.studies.load.cells import Reading
from clwl_spark.studies.load.known import Known
from clwl_spark.studies.load.one_file import LoadOptions, file_with
from clwl_spark.studies.load.traced_files import read_records, traced_in
from clwl_spark.tables import TABLES

OPTIONS = LoadOptions(reading=Reading("QM9", ZoneInfo("UTC")))
FILE = Path("folder/file")


def read(data):
    """What `clwl load` reads of a file with these bytes; its rows by table, as they are written."""
    found = file_with(data, 0, FILE, Known(), OPTIONS)
    if found is None:
        return None, []
    read_records([found], lambda *_: None)
    traces = traced_in([found])
    traced = [("messages", traces.messages), ("observed_routes", traces.routes)] if traces else []
    return found, [*found.rows.items(), *traced]


def check_loading(data):
    """Read bytes as a file, and fail where a law is broken.

    Reading raises nothing, reads the same twice, gives rows that have the types of their tables,
    and says of each piece that it cannot use where it is and why.
    """
    found, tables = read(data)
    again, same_tables = read(data)
    assert tables == same_tables
    if found is None:
        return None
    assert (found.rejects, found.needless) == (again.rejects, again.needless)
    for name, rows in tables:
        table = TABLES[name]
        assert rows.schema.equals(table.arrow(table.names))
        rows.validate(full=True)
    for reject in found.rejects:
        assert reject.reason.strip()
        assert len(reject.text) <= SHOWN_TEXT
        assert 0 <= reject.line <= len(data) + 1
    return found
