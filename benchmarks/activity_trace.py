"""Load a generated activity trace of many puts, as amqsevt writes it; print what it took, as JSON.

python benchmarks/activity_trace.py --puts 1000000
python benchmarks/activity_trace.py --puts 200000 --pretty
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

START = datetime(2026, 9, 14, 8, tzinfo=UTC)
QUEUE_MANAGERS, PER_EVENT = 10, 500
OK = {"name": "Ok", "value": 0}
NONE = {"name": "None", "value": 0}
OPENED = {"options": 0x8010, "optionsString": ["out", "bind_not_fix"]}


def events(puts: int) -> Iterator[dict[str, Any]]:
    """Events of one connection per queue manager, in turn."""
    for sequence, first in enumerate(range(0, puts, QUEUE_MANAGERS * PER_EVENT)):
        for number in range(QUEUE_MANAGERS):
            own = range(first + number, min(first + QUEUE_MANAGERS * PER_EVENT, puts))[
                ::QUEUE_MANAGERS
            ]
            opens = [_open(first)] if sequence == 0 else []
            yield _event(f"QM{number}", number, sequence, [*opens, *map(_put, own)])


def _event(qmgr: str, number: int, sequence: int, trace: list[dict[str, Any]]) -> dict[str, Any]:
    source = {"objectName": "SYSTEM.ADMIN.TRACE.ACTIVITY.QUEUE", "objectType": "Queue"}
    data = {
        "queueMgrName": qmgr,
        "startDate": "2026-09-14",
        "startTime": "08.00.00",
        "sequenceNumber": sequence,
        "applName": "order-entry",
        "connectionId": f"{number:048X}",
        "activityTrace": trace,
    }
    return {
        "eventSource": {**source, "queueMgr": qmgr},
        "eventType": {"name": "Activity Trace", "value": 209},
        "eventReason": NONE,
        "eventCreation": {"timeStamp": "2026-09-14T08:00:00Z", "epoch": 1789372800},
        "eventData": data,
    }


def _operation(name: str, at: int) -> dict[str, Any]:
    when = START + timedelta(microseconds=at * 37)
    return {
        "operationId": name,
        "threadId": 1,
        "operationDate": f"{when:%Y-%m-%d}",
        "operationTime": f"{when:%H:%M:%S}",
        "hobj": 2,
        "compCode": OK,
        "reasonCode": NONE,
        "highresTime": round(when.timestamp() * 1_000_000),
    }


def _open(at: int) -> dict[str, Any]:
    named = {"objectType": "Queue", "objectName": "ORDERS", "openOptions": OPENED}
    return {**_operation("Open", at), **named}


def _put(at: int) -> dict[str, Any]:
    return {
        **_operation("Put", at),
        "putOptions": "0x00002000 ",
        "recsPresent": 0,
        "knownDestCount": 0,
        "unknownDestCount": 1,
        "invalidDestCount": 0,
        "objectName": "ORDERS",
        "resolvedQueueName": "ORDERS",
        "resolvedQueueMgr": f"GW{at % 4}",
        "resolvedLocalQueueName": "SYSTEM.CLUSTER.TRANSMIT.QUEUE",
        "resolvedLocalQueueMgr": f"QM{at % QUEUE_MANAGERS}",
        "report": 0,
        "msgType": 8,
        "expiry": "-1",
        "formatName": "MQSTR",
        "priority": 4,
        "persistence": 1,
        "msgId": f"{at:048X}",
        "correlId": "0" * 48,
        "replyToQueue": "",
        "replyToQueueMgr": "",
        "codedCharSetId": 1208,
        "encoding": "0x00000222 ",
        "putDate": "20260914",
        "putTime": "08000000",
        "msgLength": at % 4096,
    }


def main() -> None:
    """Generate, load, print."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--puts", type=int, default=1_000_000)
    words.add_argument("--pretty", action="store_true", help="as -o json, not json_compact")
    given = words.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "trace"
        with file.open("w", encoding="utf-8") as out:
            for event in events(given.puts):
                out.write(json.dumps(event, indent=2 if given.pretty else None) + "\n")
        command = [sys.executable, "-m", "clwl_spark.cli", "load", str(file), "--lake"]
        started = time.monotonic()
        command += [f"{folder}/lake", "--json"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
        seconds = time.monotonic() - started
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        told = {
            "megabytes": file.stat().st_size // 1_000_000,
            "rows": json.loads(done.stdout)["rows"],
            "seconds": round(seconds, 1),
            "main_process_cpu_seconds": round(used.ru_utime + used.ru_stime, 1),
            "main_process_mib": used.ru_maxrss // 1024,
        }
    print(json.dumps(told))


if __name__ == "__main__":
    main()
