"""How much memory loading takes hardly depends on how many puts there are."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

PUTS = 60_000
MOST_BYTES = 60
"""Of memory for each further put. What delta-rs writes it collects in memory, up to a row group of
Parquet, and is left out here."""
MOST_BYTES_OF_CSV = 300
"""The text itself, of some 90 bytes a row, is held in memory, and blocks of it are read ahead."""
PROGRAM = """
import sys
from clwl_spark.cli import main
from clwl_spark.studies.load import parts, spool
parts.HERE_BYTES = 1 << 40
parts.PART_BYTES = 1 << 20
spool.SLICE = 4096
sys.exit(main(sys.argv[1:]))
"""
"""It reads all by itself: workers come and go, and each has its libraries' memory."""


def written(file, puts):
    """A trace of two queue managers, whose connections take turns."""
    with file.open("w") as out:
        for sequence, first in enumerate(range(0, puts, 1000)):
            for at in range(2):
                numbers = range(first + at, first + 1000, 2)
                trace = [_put(x) for x in numbers]
                if not sequence:
                    trace.insert(0, {**_operation("Open", 0), "openOptions": {"options": 0x8010}})
                out.write(json.dumps(_event(f"QM{at}", sequence, trace)) + "\n")


def _event(qmgr, sequence, trace):
    return {
        "eventSource": {"objectName": "SYSTEM.ADMIN.TRACE.ACTIVITY.QUEUE", "queueMgr": qmgr},
        "eventType": {"name": "Activity Trace", "value": 209},
        "eventReason": {"name": "None", "value": 0},
        "eventCreation": {"timeStamp": "2026-09-14T08:00:00Z", "epoch": 1789372800},
        "eventData": {
            "queueMgrName": qmgr,
            "sequenceNumber": sequence,
            "connectionId": "1" * 48,
            "activityTrace": trace,
        },
    }


def _operation(name, at):
    return {
        "operationId": name,
        "hobj": 2,
        "objectName": "ORDERS",
        "objectType": "Queue",
        "reasonCode": {"name": "None", "value": 0},
        "highresTime": 1789372800000000 + at * 37,
    }


def _put(at):
    told = {"msgId": f"{at:048X}", "resolvedQueueName": "ORDERS", "resolvedQueueMgr": f"GW{at % 4}"}
    return {**_operation("Put", at), **told}


def table_written(file, puts):
    """A table of as many puts, as CSV."""
    with file.open("w") as out:
        out.write("qmgr,put_time,object_name,message_id\n")
        for at in range(puts):
            seconds = f"{at // 1_000_000 % 60:02d}.{at % 1_000_000:06d}"
            out.write(f"QM{at % 3},2026-09-14T08:00:{seconds}Z,ORDERS,{at:048X}\n")


def peak_of(folder, puts, write=written):
    """The most memory of its own, in bytes, that a process has that loads so many puts."""
    file = folder / f"{puts}.file"
    write(file, puts)
    words = ["load", str(file), "--lake", str(folder / f"lake-{puts}"), "--json", "--dry-run"]
    with (folder / f"{puts}.out").open("w+") as out:
        process = subprocess.Popen([sys.executable, "-c", PROGRAM, *words], stdout=out)
        most = 0
        while process.poll() is None:
            status = Path(f"/proc/{process.pid}/status").read_text()
            own = [int(x.split()[1]) for x in status.splitlines() if x.startswith("RssAnon")]
            most = max(most, *own, 0) if own else most
            time.sleep(0.02)
        out.seek(0)
        assert process.returncode == 0
        assert json.load(out)["rows"]["messages"] == puts
    return most * 1024


only_linux = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="it tells memory")


@only_linux
def test_a_table_s_rows_take_little_more_than_their_text(tmp_path):
    less, more = (peak_of(tmp_path, x, table_written) for x in (PUTS * 2, PUTS * 8))
    assert (more - less) / (6 * PUTS) < MOST_BYTES_OF_CSV, (less, more)


@only_linux
def test_four_times_as_many_puts_take_hardly_more_memory(tmp_path):
    less, more = peak_of(tmp_path, PUTS), peak_of(tmp_path, 4 * PUTS)
    assert (more - less) / (3 * PUTS) < MOST_BYTES, (less, more)
